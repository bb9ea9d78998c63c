"""The spectral convolution against torch's FFT."""

import math

import pytest
import torch
from model_variants import band_limited, grid

from resolvent.models.layers.spectral_convolution import SpectralConvolution


def convolution(modes, in_channels=3, out_channels=2, initialisation="li"):
    torch.manual_seed(0)
    return SpectralConvolution(
        in_channels=in_channels, out_channels=out_channels, modes=modes, initialisation=initialisation
    )


def by_fft(layer, u):
    coefficients = torch.fft.rfft(u, dim=1, norm="ortho")
    out = torch.zeros(len(u), coefficients.shape[1], layer.weight.shape[2], dtype=coefficients.dtype)
    for k in range(layer.modes):
        out[:, k] = coefficients[:, k] @ torch.view_as_complex(layer.weight)[k]
    return torch.fft.irfft(out, n=u.shape[1], dim=1, norm="ortho")


@pytest.mark.parametrize(("n", "modes"), [(30, 1), (30, 7), (30, 16), (31, 16), (512, 16)])
def test_is_the_truncated_fft(n, modes):
    layer = convolution(modes).double()
    u = torch.randn(4, n, 3, dtype=torch.float64, requires_grad=True)
    ours, expected = layer(u), by_fft(layer, u)
    torch.testing.assert_close(ours, expected, rtol=1e-12, atol=1e-12)
    cotangent = torch.randn_like(ours)
    for a, b in zip(
        torch.autograd.grad(ours, (u, layer.weight), cotangent),
        torch.autograd.grad(expected, (u, layer.weight), cotangent),
        strict=True,
    ):
        torch.testing.assert_close(a, b, rtol=1e-11, atol=1e-11)


def test_is_the_same_operator_on_every_grid():
    layer = convolution(8).double()
    coarse, fine = (layer(band_limited(grid(n, torch.float64), 2, 3)) for n in (32, 96))
    torch.testing.assert_close(coarse, fine[:, ::3], rtol=1e-12, atol=1e-12)


def test_stays_in_float32_under_autocast():
    layer, u = convolution(8), torch.randn(2, 32, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        v = layer(u)
        from_half = layer(u.bfloat16())
    assert v.dtype == from_half.dtype == torch.float32
    assert torch.equal(v, layer(u))
    assert torch.equal(from_half, layer(u.bfloat16().float()))


def test_trains_after_inference_mode():
    """The cached matrices, made in inference mode, must still serve a backward pass."""
    layer, u = convolution(5), torch.randn(2, 77, 3)  # a size no other test puts into the cache
    with torch.inference_mode():
        layer(u)
    layer(u).sum().backward()
    assert layer.weight.grad is not None


def test_too_many_modes():
    with pytest.raises(ValueError, match=r"^16 modes need at least 30 points; got n=29$"):
        convolution(16)(torch.randn(1, 29, 3))
    convolution(16)(torch.randn(1, 30, 3))


def test_initial_weights():
    li = convolution(16, 20, 30, "li").weight * (20 * 30)
    assert li.min() >= 0
    assert li.max() < 1
    assert li.mean().item() == pytest.approx(0.5, abs=0.01)
    cao = convolution(16, 20, 30, "cao").weight
    # Xavier's normal distribution on an array (in, out, modes, 2), with torch's fans.
    reference = torch.empty(20, 30, 16, 2)
    torch.nn.init.xavier_normal_(reference, gain=1 / (20 * 30))
    assert cao.mean().abs().item() < 0.05 * cao.std().item()
    assert cao.std().item() == pytest.approx(reference.std().item(), rel=0.03)
    assert cao.std().item() == pytest.approx(math.sqrt(2 / (50 * 32)) / 600, rel=0.03)
