"""Spectral convolutions in one and two dimensions against torch's FFT, frequency by frequency."""

import math

import pytest
import torch
from model_variants import grid

from resolvent.models.calvello2024.patched_neural_operators import InverseLaplacianSmoother
from resolvent.models.layers.spectral_convolution import SpectralConvolution, SpectralConvolution2d


def convolution(dim, modes, channels=(3, 2), initialisation="li", **more):
    torch.manual_seed(0)
    return (SpectralConvolution, SpectralConvolution2d)[dim - 1](
        in_channels=channels[0], out_channels=channels[1], modes=modes, initialisation=initialisation, **more
    )


def by_fft(layer, u):
    """Each frequency that the grid resolves, -n1/2 ≤ k₁ < n1/2 and 0 ≤ k₂ ≤ n2/2, once."""
    weight, space = torch.view_as_complex(layer.weight), u.shape[1:-1]
    axes = tuple(range(1, 1 + len(space)))
    coefficients = torch.fft.rfftn(u, dim=axes)
    out = torch.zeros(*coefficients.shape[:-1], weight.shape[-1], dtype=coefficients.dtype)
    if len(space) == 1:
        frequencies = [(k,) for k in range(layer.modes)]
    else:
        both = ((k1, k2) for k1 in range(-layer.modes, layer.modes) for k2 in range(layer.modes))
        frequencies = [(k1, k2) for k1, k2 in both if -space[0] <= 2 * k1 < space[0] and 2 * k2 <= space[1]]
    for k in frequencies:
        out[(slice(None), *k)] = coefficients[(slice(None), *k)] @ weight[k]
    return torch.fft.irfftn(out, s=space, dim=axes)


def assert_same_with_gradients(layer, u, expected):
    ours, cotangent = layer(u), torch.randn_like(expected)
    torch.testing.assert_close(ours, expected, rtol=1e-12, atol=1e-12)
    gradients = (torch.autograd.grad(one, (u, layer.weight), cotangent) for one in (ours, expected))
    for a, b in zip(*gradients, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(
    ("sides", "modes"),
    [((30,), 1), ((30,), 7), ((30,), 16), ((31,), 16), ((512,), 16),
     ((8, 6), 4), ((8, 7), 4), ((9, 6), 4), ((11, 20), 3), ((5, 4), 1)],
)  # fmt: skip
def test_is_the_truncated_fft(sides, modes):
    layer = convolution(len(sides), modes).double()
    u = torch.randn(4, *sides, 3, dtype=torch.float64, requires_grad=True)
    assert_same_with_gradients(layer, u, by_fft(layer, u))


@pytest.mark.parametrize(
    ("n1", "n2"), [(16, 16), (16, 40), (40, 16), (7, 9), (23, 22), (24, 22), (1, 1), (2, 1), (1, 2), (5, 8)]
)
def test_resolved_band_has_every_mode_of_a_coarse_grid_once(n1, n2):
    """12 modes on 16 points: -8..7, not -12..11 with the two blocks on top of each other."""
    layer = convolution(2, 12, band="resolved").double()
    u = torch.randn(2, n1, n2, 3, dtype=torch.float64)
    torch.testing.assert_close(layer(u), by_fft(layer, u), rtol=1e-12, atol=1e-12)
    assert layer(u).abs().max() > 0


@pytest.mark.parametrize(("n1", "n2", "modes"), [(8, 6, 4), (7, 5, 3), (8, 7, 20)])
def test_even_extension_is_that_of_the_doubled_function(n1, n2, modes):
    layer = convolution(2, modes, band="resolved", extension="even").double()
    u = torch.randn(2, n1, n2, 3, dtype=torch.float64, requires_grad=True)
    rows = torch.cat([u, u.flip(1)], dim=1)
    doubled = torch.cat([rows, rows.flip(2)], dim=2)
    assert_same_with_gradients(layer, u, by_fft(layer, doubled)[:, :n1, :n2])


@pytest.mark.parametrize(
    "layer",
    [
        convolution(1, 4),
        convolution(2, 3),
        *(InverseLaplacianSmoother(epsilon=1e-3, exponent=1.0, boundary=b) for b in ("periodic", "even")),
    ],
)
def test_stays_in_float32_under_autocast(layer):
    one = isinstance(layer, SpectralConvolution)
    x = grid(12, dim=1 if one else 2)
    u = torch.randn(2, *x.shape[:-1], 3)
    given = (x,) if isinstance(layer, InverseLaplacianSmoother) else ()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        v, from_half = layer(u, *given), layer(u.bfloat16(), *given)
    assert torch.equal(v, layer(u, *given))
    assert torch.equal(from_half, layer(u.bfloat16().float(), *given))


@pytest.mark.parametrize(
    ("layer", "least", "less"),
    [
        (convolution(1, 16), (30,), [(29,)]),
        (convolution(2, 5), (10, 8), [(9, 8), (10, 7)]),
        (convolution(2, 5, extension="even"), (5, 4), [(4, 4)]),
    ],
)
def test_too_many_modes(layer, least, less):
    layer(torch.randn(1, *least, 3))
    for sides in less:
        with pytest.raises(
            ValueError, match=rf"at least {' x '.join(map(str, least))} points; got .*{sides[-1]}$"
        ):
            layer(torch.randn(1, *sides, 3))


@pytest.mark.parametrize("dim", [1, 2])
def test_initial_weights(dim):
    li = convolution(dim, 8, (20, 30)).weight * (20 * 30)
    assert li.min() >= 0
    assert li.max() < 1
    assert li.mean().item() == pytest.approx(0.5, abs=0.01)
    cao = convolution(dim, 8, (20, 30), "cao").weight
    # Xavier's normal distribution on a block (in, out, modes, 2) or (in, out, modes, modes, 2).
    reference, gain = torch.empty(20, 30, *[8] * dim, 2), math.sqrt(20 + 30) if dim == 2 else 1
    torch.nn.init.xavier_normal_(reference, gain=gain / (20 * 30))
    assert cao.mean().abs().item() < 0.05 * cao.std().item()
    assert cao.std().item() == pytest.approx(reference.std().item(), rel=0.03)


def test_maps_computed_at_once_have_the_distribution_of_one():
    one, four = convolution(2, 6, (20, 30)).weight, convolution(2, 6, (20, 120), maps=4).weight
    assert four.max().item() == pytest.approx(one.max().item(), rel=1e-3)
