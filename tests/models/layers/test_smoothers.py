"""The smoothers against what they do to one wave."""

import math

import pytest
import torch
from model_variants import band_limited, grid

from resolvent.models.calvello2024.patched_neural_operators import InverseLaplacianSmoother, LearnedSmoother

EPSILON, EXPONENT = 1e-3, 1.001


def inverse_laplacian(boundary="periodic", epsilon=EPSILON, exponent=EXPONENT):
    return InverseLaplacianSmoother(epsilon=epsilon, exponent=exponent, boundary=boundary)


@pytest.mark.parametrize("length", [1.0, 2 * math.pi])
@pytest.mark.parametrize("wave", [(0, 0), (1, 0), (0, 3), (2, -3), (-5, 4), (8, 0), (0, 7)])
def test_a_wave_is_damped_by_its_symbol(wave, length):
    """The k are integers on [0, 2π]², as in figure 18, and 2π times integers on the unit square."""
    x = length * grid(16, torch.float64, dim=2)[:, :14] * torch.tensor([1, 16 / 14], dtype=torch.float64)
    k = 2 * math.pi / length * torch.tensor(wave, dtype=torch.float64)
    z = torch.cos(x @ k + (0.3 if max(map(abs, wave)) < 7 else 0.0))[None, ..., None]
    expected = (1 + EPSILON * float(k @ k)) ** -EXPONENT * z
    torch.testing.assert_close(inverse_laplacian()(z, x), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("wave", [(0, 0), (1, 0), (3, 2), (0, 7)])
def test_a_cosine_is_damped_by_its_symbol_with_even_boundary(wave):
    """cos(πkx/L) at cell centres is its own mirror image."""
    x = 2.0 * (grid(12, torch.float64, dim=2) + 1 / 24)
    k = math.pi / 2.0 * torch.tensor(wave, dtype=torch.float64)
    z = (torch.cos(k[0] * x[..., 0]) * torch.cos(k[1] * x[..., 1]))[None, ..., None]
    expected = (1 + EPSILON * float(k @ k)) ** -EXPONENT * z
    torch.testing.assert_close(inverse_laplacian("even")(z, x), expected, rtol=1e-12, atol=1e-12)


def test_solves_the_equation_of_its_definition():
    """Take α = 1, ε and h: (I - εΔ)z = input, Δ by the Fourier symbol and so by differences up to O(h²)."""
    n, epsilon = 256, 1e-2
    x = grid(n, torch.float64, dim=2)
    u = band_limited(x, 1, 1)
    z = inverse_laplacian(epsilon=epsilon, exponent=1.0)(u, x)
    neighbours = sum(z.roll(step, axis) for step in (-1, 1) for axis in (1, 2))
    back = z - epsilon * (neighbours - 4 * z) * n**2
    torch.testing.assert_close(back, u, rtol=0, atol=2e-3)


def test_smooths_jumps_and_keeps_the_mean():
    x = grid(32, torch.float64, dim=2)
    z = torch.sign(x[..., 0] - 0.4)[None, ..., None]
    for boundary in ("periodic", "even"):
        smooth = inverse_laplacian(boundary)(z, x)
        torch.testing.assert_close(smooth.mean(), z.mean())
        assert smooth.diff(dim=1).abs().max() < 0.8 * z.diff(dim=1).abs().max()


def test_even_boundary_joins_no_opposite_sides():
    """A ramp jumps across the period: damping it there is wrong for data that are not periodic."""
    x = grid(64, torch.float64, dim=2)
    ramp = x[..., :1][None]
    periodic, even = (inverse_laplacian(boundary)(ramp, x) for boundary in ("periodic", "even"))
    assert (periodic - ramp)[:, 0].abs().max() > 0.2
    assert (even - ramp)[:, 0].abs().max() < 0.05


def test_is_the_same_operator_on_every_grid():
    coarse, fine = (
        inverse_laplacian()(band_limited(x, 2, 3), x)
        for x in (grid(n, torch.float64, dim=2) for n in (8, 24))
    )
    torch.testing.assert_close(coarse, fine[:, ::3, ::3], rtol=1e-12, atol=1e-12)


def test_the_axes_may_be_swapped_in_the_coordinates():
    """x may run along the last axis: the spacing is that between neighbours, whichever component changes."""
    x = grid(12, torch.float64, dim=2)[:, :10]
    z = torch.randn(1, 12, 10, 1, dtype=torch.float64)
    assert torch.equal(inverse_laplacian()(z, x), inverse_laplacian()(z, x.flip(-1)))


def test_learned_smoother_adds_its_convolution():
    torch.manual_seed(0)
    smoother = LearnedSmoother(channels=1, modes=3).double()
    assert sum(p.numel() for p in smoother.parameters()) == 2 * 2 * 3 * 3
    assert smoother.convolution.weight.min() >= 0
    assert smoother.convolution.weight.max() > 0.5
    x = grid(12, torch.float64, dim=2)
    z = torch.randn(2, 12, 12, 1, dtype=torch.float64)
    coefficients = torch.fft.fft2(z[..., 0])
    weight = torch.view_as_complex(smoother.convolution.weight.detach())[..., 0, 0]
    added = torch.zeros_like(z[..., 0])
    for k1 in range(-3, 3):
        for k2 in range(3):
            wave = torch.exp(2j * math.pi * (x @ torch.tensor([k1, k2], dtype=torch.float64)))
            term = (coefficients[:, k1, k2, None, None] * weight[k1, k2] * wave).real / 144
            added += term if k2 == 0 else 2 * term
    torch.testing.assert_close(smoother(z, x), z + added[..., None], rtol=1e-10, atol=1e-10)


def test_learned_smoother_of_64_modes_needs_128_points():
    smoother = LearnedSmoother(channels=1, modes=64)
    assert smoother(torch.randn(1, 128, 128, 1), grid(128, dim=2)).shape == (1, 128, 128, 1)
    with pytest.raises(ValueError, match=r"^64 modes need at least 128 x 126 points; got 104 x 104$"):
        smoother(torch.randn(1, 104, 104, 1), grid(104, dim=2))


def test_both_stay_in_float32_under_autocast():
    x = grid(12, dim=2)
    z = torch.randn(1, 12, 12, 1)
    for smoother in (LearnedSmoother(channels=1, modes=3), inverse_laplacian(), inverse_laplacian("even")):
        expected = smoother(z, x)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert torch.equal(smoother(z, x), expected)
            assert smoother(z.bfloat16(), x).dtype == torch.float32
