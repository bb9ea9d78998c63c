"""AFNO against its formulas written out, and what ties it to its grid."""

from functools import partial

import pytest
import torch
from model_variants import grid, scrambled
from torch.nn import functional

from resolvent.models.build import build

# Larger weights than the initial ones, so that the soft threshold and ReLU both act and let pass.
small = partial(scrambled, "afno")


def mixed(network, y):
    """The network at every coefficient in real arithmetic, a full matrix with zeros off the blocks."""
    blocks, size = network.weights.shape[1:3]
    n1, n2, width = y.shape[1:]
    matrices = torch.zeros(2, 2, width, width, dtype=y.dtype)  # layer, real or imaginary
    for layer in range(2):
        for block in range(blocks):
            at = slice(block * size, (block + 1) * size)
            for part in range(2):
                matrices[layer, part, at, at] = network.weights[layer, block, :, :, part]
    coefficients = torch.fft.rfft2(y, dim=(1, 2)) / (n1 * n2) ** 0.5
    real, imaginary = coefficients.real, coefficients.imag
    for layer, activation in enumerate((torch.relu, lambda t: t.sign() * (t.abs() - 0.01).clamp(min=0))):
        w, b = matrices[layer], network.biases[layer].reshape(width, 2)
        real, imaginary = (
            activation(real @ w[0] - imaginary @ w[1] + b[:, 0]),
            activation(imaginary @ w[0] + real @ w[1] + b[:, 1]),
        )
    return torch.fft.irfft2(torch.complex(real, imaginary), s=(n1, n2), dim=(1, 2)) * (n1 * n2) ** 0.5 + y


def written_out(operator, u, x):
    def affine(layer, y):
        return y @ layer.weight.T + (0 if layer.bias is None else layer.bias)

    def normed(norm, y):
        deviation = y - y.mean(-1, keepdim=True)
        variance = deviation.square().mean(-1, keepdim=True)
        return deviation / torch.sqrt(variance + 1e-6) * norm.weight + norm.bias

    y = affine(operator.lifting, torch.cat([u, x.expand(len(u), -1, -1, -1)], -1)) + operator.positions
    for layer in operator.layers:
        y = y + mixed(layer.spectral, normed(layer.spectral_norm, y))
        first, _, last = layer.feedforward
        y = y + affine(last, functional.gelu(affine(first, normed(layer.feedforward_norm, y))))
    return affine(operator.projection, y)


def test_is_the_formulas_written_out():
    operator = small(in_channels=2, out_channels=3)
    x, u = grid(12, torch.float64, dim=2), torch.randn(2, 12, 12, 2, dtype=torch.float64)
    with torch.no_grad():
        torch.testing.assert_close(operator(u, x), written_out(operator, u, x), rtol=1e-10, atol=1e-10)


def test_takes_its_own_grid_alone():
    operator, x = small(), grid(24, dim=2).double()
    for n1, n2 in ((24, 24), (12, 24)):
        with pytest.raises(ValueError, match=rf"^the table of positions is for 12 x 12 .* got {n1} x {n2}$"):
            operator(torch.zeros(1, n1, n2, 1, dtype=torch.float64), x[:n1, :n2])


def test_initial_weights():
    operator = build("afno", {}, 0)
    layer = operator.layers[0]
    for drawn in (layer.spectral.weights, layer.spectral.biases, layer.feedforward[0].weight):
        assert drawn.std().item() == pytest.approx(0.02, rel=0.1)
    assert operator.positions.std().item() == pytest.approx(0.02, rel=0.1)
    assert layer.feedforward[0].bias.abs().max() == 0
    assert operator.projection.bias is None
