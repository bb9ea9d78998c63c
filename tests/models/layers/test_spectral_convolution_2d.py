"""The spectral convolution in two dimensions against explicit sums, torch's FFT and the 1-D one."""

import math

import numpy as np
import pytest
import torch
from model_variants import band_limited, grid

from resolvent.models.layers.spectral_convolution import SpectralConvolution, SpectralConvolution2d


def convolution(modes, in_channels=3, out_channels=2, initialisation="li"):
    torch.manual_seed(0)
    return SpectralConvolution2d(
        in_channels=in_channels, out_channels=out_channels, modes=modes, initialisation=initialisation
    )


def by_fft(layer, u):
    """The two corner blocks of `rfft2`: the first and the last `modes` rows, the first `modes` columns."""
    n1, n2 = u.shape[1:3]
    coefficients = torch.fft.rfft2(u, dim=(1, 2), norm="ortho")
    weight = torch.view_as_complex(layer.weight)
    out = torch.zeros(*coefficients.shape[:3], weight.shape[3], dtype=coefficients.dtype)
    for k1 in range(-layer.modes, layer.modes):
        for k2 in range(layer.modes):
            out[:, k1, k2] = coefficients[:, k1, k2] @ weight[k1, k2]
    return torch.fft.irfft2(out, s=(n1, n2), dim=(1, 2), norm="ortho")


@pytest.mark.parametrize(("n1", "n2", "modes"), [(8, 6, 4), (8, 7, 4), (9, 6, 4), (11, 20, 3), (5, 4, 1)])
def test_is_the_truncated_fft(n1, n2, modes):
    layer = convolution(modes).double()
    u = torch.randn(4, n1, n2, 3, dtype=torch.float64, requires_grad=True)
    ours, expected = layer(u), by_fft(layer, u)
    torch.testing.assert_close(ours, expected, rtol=1e-12, atol=1e-12)
    cotangent = torch.randn_like(ours)
    for a, b in zip(
        torch.autograd.grad(ours, (u, layer.weight), cotangent),
        torch.autograd.grad(expected, (u, layer.weight), cotangent),
        strict=True,
    ):
        torch.testing.assert_close(a, b, rtol=1e-11, atol=1e-11)


def test_is_the_explicit_sum_over_modes_and_points():
    n1, n2, modes = 7, 9, 2
    layer = convolution(modes).double()
    u = torch.randn(1, n1, n2, 3, dtype=torch.float64)
    values, weight = u[0].numpy(), torch.view_as_complex(layer.weight.detach()).numpy()
    x1, x2 = np.meshgrid(np.arange(n1) / n1, np.arange(n2) / n2, indexing="ij")
    expected = np.zeros((n1, n2, 2))
    for k1 in (-2, -1, 0, 1):
        for k2 in (0, 1):
            wave = np.exp(2j * np.pi * (k1 * x1 + k2 * x2))[..., None]
            coefficient = (values * wave.conj()).mean((0, 1)) @ weight[k1, k2]
            expected += (1 if k2 == 0 else 2) * (wave * coefficient).real  # k and its conjugate -k
    np.testing.assert_allclose(layer(u)[0].detach().numpy(), expected, rtol=1e-12, atol=1e-12)


def in_one_dimension(weight):
    layer = SpectralConvolution(in_channels=3, out_channels=2, modes=len(weight), initialisation="li")
    layer.weight.data = torch.view_as_real(weight)
    return layer


def test_of_functions_of_the_second_variable_is_the_one_dimensional():
    layer = convolution(4).double()
    u = torch.randn(2, 1, 12, 3, dtype=torch.float64).expand(-1, 10, -1, -1)
    expected = in_one_dimension(torch.view_as_complex(layer.weight.detach())[0])(u[:, 0])
    torch.testing.assert_close(layer(u), expected[:, None].expand(-1, 10, -1, -1), rtol=1e-12, atol=1e-12)


def test_of_functions_of_the_first_variable_is_the_one_dimensional():
    """There k₂ = 0, and k₁ and -k₁ carry one coefficient of a real function, with a weight each."""
    layer = convolution(4).double()
    u = torch.randn(2, 10, 1, 3, dtype=torch.float64).expand(-1, -1, 12, -1)
    column = torch.view_as_complex(layer.weight.detach())[:, 0]
    weight = torch.stack(
        [column[0]] + [(column[k] + column[-k].conj()) / 2 for k in (1, 2, 3)] + [column[-4].conj() / 2]
    )
    expected = in_one_dimension(weight)(u[:, :, 0])
    torch.testing.assert_close(layer(u), expected[:, :, None].expand(-1, -1, 12, -1), rtol=1e-12, atol=1e-12)


def test_is_the_same_operator_on_every_grid():
    layer = convolution(4).double()
    coarse, fine = (layer(band_limited(grid(n, torch.float64, dim=2), 2, 3)) for n in (10, 30))
    torch.testing.assert_close(coarse, fine[:, ::3, ::3], rtol=1e-12, atol=1e-12)


def test_stays_in_float32_under_autocast():
    layer, u = convolution(3), torch.randn(2, 12, 10, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        v = layer(u)
        from_half = layer(u.bfloat16())
    assert v.dtype == from_half.dtype == torch.float32
    assert torch.equal(v, layer(u))
    assert torch.equal(from_half, layer(u.bfloat16().float()))


def test_too_many_modes():
    layer = convolution(5)
    layer(torch.randn(1, 10, 8, 3))
    for n1, n2 in ((9, 8), (10, 7)):
        with pytest.raises(ValueError, match=rf"^5 modes need at least 10 x 8 points; got {n1} x {n2}$"):
            layer(torch.randn(1, n1, n2, 3))


def test_initial_weights():
    li = convolution(6, 20, 30, "li").weight * (20 * 30)
    assert li.min() >= 0
    assert li.max() < 1
    assert li.mean().item() == pytest.approx(0.5, abs=0.01)
    cao = convolution(6, 20, 30, "cao").weight
    # Xavier's normal distribution on a block (in, out, modes, modes, 2), with torch's fans.
    reference = torch.empty(20, 30, 6, 6, 2)
    torch.nn.init.xavier_normal_(reference, gain=math.sqrt(20 + 30) / (20 * 30))
    assert cao.mean().abs().item() < 0.05 * cao.std().item()
    assert cao.std().item() == pytest.approx(reference.std().item(), rel=0.03)
    assert cao.std().item() == pytest.approx(1 / (20 * 30 * 6), rel=0.03)


def by_fft_of_what_is_resolved(layer, u):
    """k by k, from the full FFT of a periodic u: each frequency -n1/2 ≤ k₁ < n1/2, 0 ≤ k₂ ≤ n2/2 once."""
    n1, n2 = u.shape[1:3]
    coefficients = torch.fft.rfft2(u, dim=(1, 2))
    weight = torch.view_as_complex(layer.weight)
    out = torch.zeros(*coefficients.shape[:3], weight.shape[3], dtype=coefficients.dtype)
    seen = torch.zeros(out.shape[1:3])
    for k1 in range(-layer.modes, layer.modes):
        for k2 in range(layer.modes):
            if -n1 <= 2 * k1 < n1 and 2 * k2 <= n2:
                out[:, k1, k2] = coefficients[:, k1, k2] @ weight[k1, k2]
                seen[k1, k2] += 1
    assert seen.max() == 1
    return torch.fft.irfft2(out, s=(n1, n2), dim=(1, 2))


@pytest.mark.parametrize(
    ("n1", "n2"), [(16, 16), (16, 40), (40, 16), (7, 9), (23, 22), (24, 22), (1, 1), (2, 1), (1, 2), (5, 8)]
)
def test_resolved_band_has_every_mode_of_a_coarse_grid_once(n1, n2):
    """12 modes on 16 points: -8..7, not -12..11 with the two blocks on top of each other."""
    layer = SpectralConvolution2d(
        in_channels=3, out_channels=2, modes=12, initialisation="li", band="resolved"
    ).double()
    u = torch.randn(2, n1, n2, 3, dtype=torch.float64)
    torch.testing.assert_close(layer(u), by_fft_of_what_is_resolved(layer, u), rtol=1e-12, atol=1e-12)
    assert layer(u).abs().max() > 0


@pytest.mark.parametrize("n", [8, 5, 2])
def test_negative_frequencies_keep_their_own_weights_on_a_coarse_grid(n):
    """Set the weights of k₁ < 0 alone: a wave that has none of them gives nothing."""
    layer = SpectralConvolution2d(
        in_channels=1, out_channels=1, modes=6, initialisation="li", band="resolved"
    ).double()
    layer.weight.data[:6] = 0
    k1 = (n - 1) // 2
    x = grid(n, torch.float64, dim=2)
    wave = torch.cos(2 * torch.pi * (k1 * x[..., 0] + x[..., 1]))  # k₂ = 1 stands for k₁ alone
    assert layer(wave[None, ..., None]).abs().max() < 1e-14


@pytest.mark.parametrize(("n1", "n2", "modes"), [(8, 6, 4), (7, 5, 3), (8, 7, 20)])
def test_even_extension_is_that_of_the_doubled_function(n1, n2, modes):
    torch.manual_seed(0)
    layer = SpectralConvolution2d(
        in_channels=3, out_channels=2, modes=modes, initialisation="li", band="resolved", extension="even"
    ).double()
    u = torch.randn(2, n1, n2, 3, dtype=torch.float64, requires_grad=True)
    rows = torch.cat([u, u.flip(1)], dim=1)
    doubled = torch.cat([rows, rows.flip(2)], dim=2)
    expected = by_fft_of_what_is_resolved(layer, doubled)[:, :n1, :n2]
    torch.testing.assert_close(layer(u), expected, rtol=1e-12, atol=1e-12)
    cotangent = torch.randn_like(expected)
    for a, b in zip(
        torch.autograd.grad(layer(u), (u, layer.weight), cotangent),
        torch.autograd.grad(expected, (u, layer.weight), cotangent),
        strict=True,
    ):
        torch.testing.assert_close(a, b, rtol=1e-11, atol=1e-11)


def test_even_extension_carries_the_modes_on_half_the_points():
    layer = SpectralConvolution2d(
        in_channels=1, out_channels=1, modes=5, initialisation="li", extension="even"
    )
    layer(torch.randn(1, 5, 4, 1))
    with pytest.raises(ValueError, match=r"^5 modes need at least 5 x 4 points; got 4 x 4$"):
        layer(torch.randn(1, 4, 4, 1))


def test_maps_computed_at_once_have_the_distribution_of_one():
    one = convolution(6, 20, 30).weight
    torch.manual_seed(0)
    four = SpectralConvolution2d(
        in_channels=20, out_channels=120, modes=6, initialisation="li", maps=4
    ).weight
    assert four.max().item() == pytest.approx(one.max().item(), rel=1e-3)
