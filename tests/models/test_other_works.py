"""FNO, DeepONet, U-Net and Transolver against what they are said to compute, written out anew."""

import model_variants
import numpy as np
import pytest
import torch
from model_variants import SMALL, grid, points
from torch import nn

from resolvent.models.other_works.deeponet import at_sensors
from resolvent.models.other_works.transolver import EPSILON


def scrambled(architecture, **settings):
    return model_variants.scrambled(architecture, **settings).requires_grad_(False)


@pytest.mark.parametrize(("boundary", "n"), [("periodic", 45), ("periodic", 8), ("edges", 45), ("edges", 8)])
def test_sensors_interpolate_as_numpy_does(boundary, n):
    values = np.random.default_rng(0).normal(size=n)
    if boundary == "periodic":
        expected = np.interp(np.arange(12) / 12, np.arange(n) / n, values, period=1.0)
    else:
        expected = np.interp(np.linspace(0, 1, 12), np.linspace(0, 1, n), values)
    found = at_sensors(torch.tensor(values)[None, :, None], 1, 12, boundary)
    np.testing.assert_allclose(found[0, :, 0], expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("architecture", ["fno1d", "fno2d"])
def test_fno_has_a_relu_between_its_layers_and_none_behind_the_last(architecture):
    operator, x = scrambled(architecture), points(architecture, 16, torch.float64)
    u = torch.randn(2, *x.shape[:-1], 1, dtype=torch.float64)
    v = operator.lifting(torch.cat([u, x.expand(2, *x.shape)], dim=-1))
    first, *others = operator.layers
    v = first(v)
    for layer in others:
        v = layer(v.clamp(min=0))
    assert v.min() < 0
    torch.testing.assert_close(operator(u, x), operator.projection(v))


def test_deeponet_is_a_sum_of_products():
    operator = scrambled("deeponet2d", in_channels=2, out_channels=3, sensors=5, boundary="edges")
    x = torch.stack(torch.meshgrid(*[torch.linspace(0, 1, 5, dtype=torch.float64)] * 2, indexing="ij"), -1)
    u = torch.randn(2, 5, 5, 2, dtype=torch.float64)
    found = operator(u, x)
    basis = SMALL["deeponet2d"]["basis"]
    for sample, channel, i, j in [(0, 0, 0, 0), (1, 2, 4, 1)]:
        factors = operator.branch(u[sample].reshape(-1))
        functions = operator.trunk(x[i, j]).clamp(min=0)
        places = [3 * k + channel for k in range(basis)]
        expected = sum(factors[k] * functions[k] for k in places) + operator.bias[channel]
        torch.testing.assert_close(found[sample, i, j, channel], expected)


@pytest.mark.parametrize("architecture", ["unet1d", "unet2d"])
def test_a_periodic_unet_moves_with_its_input(architecture):
    """Shift by whole cells of the coarsest grid; with zeros beyond the grid it does not move."""
    x = (
        points(architecture, 32, torch.float64)[..., :24, :]
        if architecture == "unet2d"
        else grid(32).double()
    )
    u = torch.randn(2, *x.shape[:-1], 1, dtype=torch.float64)
    shift, axes = [8] * x.shape[-1], list(range(1, u.ndim - 1))
    for boundary in ("periodic", "edges"):
        operator = scrambled(architecture, boundary=boundary)
        moved = operator(u.roll(shift, axes), x)
        expected = operator(u, x).roll(shift, axes)
        assert torch.allclose(moved, expected, rtol=1e-10, atol=1e-12) == (boundary == "periodic")
        assert not torch.allclose(operator(u.roll(1, 1), x), operator(u, x).roll(1, 1), rtol=1e-3)


def test_unet_joins_what_it_passed_on_the_way_down():
    """Compare with one level, written with numbers alone, on an odd number of points, zeros beyond."""
    operator = scrambled("unet1d", num_levels=1, width=2, boundary="edges")
    u = torch.randn(1, 9, 1, dtype=torch.float64)

    def block(part, v):  # (channels, points)
        for convolution, norm in ((part[0], part[1]), (part[3], part[4])):
            padded = np.pad(v, ((0, 0), (1, 1)))
            windows = np.stack([padded[:, k : k + v.shape[1]] for k in range(3)], axis=-1)
            v = np.einsum("oik,ink->on", convolution.weight.numpy(), windows)
            v = v + convolution.bias.numpy()[:, None]
            v = (v - v.mean()) / np.sqrt(v.var() + 1e-5)
            v = v * norm.weight.numpy()[:, None] + norm.bias.numpy()[:, None]
            v = nn.functional.gelu(torch.tensor(v)).numpy()
        return v

    fine = block(operator.down[0], u[0].T.numpy())
    pairs = np.pad(fine, ((0, 0), (0, 1)), constant_values=-np.inf).reshape(2, 5, 2)
    coarse = block(operator.down[1], pairs.max(axis=-1))
    weight, bias = operator.finer[0].weight.numpy(), operator.finer[0].bias.numpy()
    back = np.einsum("cn,cok->onk", coarse, weight).reshape(2, 10) + bias[:, None]
    joined = block(operator.up[0], np.concatenate([fine, back[:, :9]]))
    expected = operator.projection.weight.numpy() @ joined + operator.projection.bias.numpy()[:, None]
    np.testing.assert_allclose(operator(u, grid(9).double())[0].T, expected, rtol=1e-11)


def test_slices_are_weighed_mixed_and_given_back():
    """Compare with one attention of Transolver by loops over heads, slices and points."""
    attention = scrambled("transolver1d").layers[0].attention
    y = torch.randn(1, 7, 16, dtype=torch.float64)
    maps = {name: part.weight.numpy() for name, part in attention.named_modules() if hasattr(part, "weight")}
    points_, values = ((part(y)[0].numpy().reshape(7, 2, 8)) for part in (attention.points, attention.values))
    given = np.zeros((7, 2, 8))
    for head in range(2):
        scores = points_[:, head] @ maps["slices"].T + attention.slices.bias.numpy()
        weights = np.exp(scores / attention.temperature[head].item())
        weights /= weights.sum(axis=1, keepdims=True)
        tokens = []
        for column in weights.T:
            total = sum(w * value for w, value in zip(column, values[:, head], strict=True))
            tokens.append(total / (column.sum() + EPSILON))
        tokens = np.array(tokens)
        q, k, v = (tokens @ maps[name].T for name in ("queries", "keys", "tokens"))
        attended = np.exp(q @ k.T / np.sqrt(8))
        attended /= attended.sum(axis=1, keepdims=True)
        given[:, head] = weights @ (attended @ v)
    expected = given.reshape(7, 16) @ maps["out.0"].T + attention.out[0].bias.numpy()
    np.testing.assert_allclose(attention(y)[0], expected, rtol=1e-11)
