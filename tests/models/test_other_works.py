"""The architectures of neither paper against what they are said to compute, written out anew.

The wrapped models of neuraloperator are the package's own, with real parameters.
"""

import contextlib
import io
from functools import partial

import model_variants
import numpy as np
import pytest
import torch
from model_variants import SMALL, band_limited, grid, points
from neuralop import models as package
from torch import nn
from torch.nn import functional

from resolvent.models.build import build
from resolvent.models.other_works.deeponet import at_sensors
from resolvent.models.other_works.transolver import EPSILON
from resolvent.models.other_works.unet import _max_pool3d


def scrambled(architecture, **settings):
    return model_variants.scrambled(architecture, **settings).requires_grad_(False)


@pytest.mark.parametrize(("boundary", "n"), [("periodic", 45), ("periodic", 8), ("edges", 45), ("edges", 8)])
def test_sensors_interpolate_as_numpy_does(boundary, n):
    values = np.random.default_rng(0).normal(size=n)
    if boundary == "periodic":
        x = np.arange(n) / n
        expected = np.interp(np.arange(12) / 12, x, values, period=1.0)
    else:
        x = np.linspace(0, 1, n)
        expected = np.interp(np.linspace(0, 1, 12), x, values)
    found = at_sensors(torch.tensor(values)[None, :, None], torch.tensor(x), 1, 12, boundary)
    np.testing.assert_allclose(found[0, :, 0], expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("boundary", ["periodic", "edges"])
def test_of_uneven_points_the_sensors_go_from_the_first_to_the_last(boundary):
    x = np.sort(np.random.default_rng(1).uniform(2, 5, size=17))
    values = np.random.default_rng(0).normal(size=(3, 17))
    expected = np.stack([np.interp(np.linspace(x[0], x[-1], 12), x, one) for one in values], axis=1)
    found = at_sensors(torch.tensor(values.T)[None], torch.tensor(x), 1, 12, boundary)
    np.testing.assert_allclose(found[0], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("architecture", ["fno1d", "fno2d", "fno3d"])
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


@pytest.mark.parametrize("sizes", [(4, 6, 8), (5, 7, 3)])
def test_pooling_by_planes_is_that_of_torch_also_where_values_are_equal(sizes):
    v = torch.randint(3, (2, 3, *sizes)).double().requires_grad_()
    ours, theirs = (pool(v, 2, ceil_mode=True) for pool in (_max_pool3d, functional.max_pool3d))
    weights = torch.randn_like(ours)
    gradients = [torch.autograd.grad((one * weights).sum(), v)[0] for one in (ours, theirs)]
    assert torch.equal(ours, theirs)
    assert torch.equal(*gradients)


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


# Larger weights than the initial ones, so that the soft threshold and ReLU both act and let pass.
afno = partial(model_variants.scrambled, "afno")


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
        y = y + affine(last, nn.functional.gelu(affine(first, normed(layer.feedforward_norm, y))))
    return affine(operator.projection, y)


def test_is_the_formulas_written_out():
    operator = afno(in_channels=2, out_channels=3)
    x, u = grid(12, torch.float64, dim=2), torch.randn(2, 12, 12, 2, dtype=torch.float64)
    with torch.no_grad():
        torch.testing.assert_close(operator(u, x), written_out(operator, u, x), rtol=1e-10, atol=1e-10)


SETTINGS = SMALL["neuraloperator2d"]
KEYWORDS = {"n_modes": (8, 8), "hidden_channels": 8, "n_layers": 3}


def packages_own(model):
    """The package's class, called as its documentation has it."""
    with contextlib.redirect_stdout(io.StringIO()):
        if model == "CODANO":
            return package.CODANO(
                n_modes=[[8, 8]] * 3, n_layers=3, hidden_variable_codimension=8, static_channel_dim=2,
                n_heads=[1] * 3, per_layer_scaling_factors=[[1, 1]] * 3, attention_scaling_factors=[1] * 3,
            )  # fmt: skip
        if model == "UNO":
            return package.UNO(
                3, 1, 8, n_layers=3, uno_out_channels=[8] * 3, uno_n_modes=[[8, 8]] * 3,
                uno_scalings=[[1, 1], [0.5, 0.5], [2, 2]], channel_mlp_skip="linear",
                positional_embedding=None,
            )  # fmt: skip
        return getattr(package, model)(in_channels=3, out_channels=1, positional_embedding=None, **KEYWORDS)


@pytest.mark.parametrize("model", ["FNO", "TFNO", "UNO", "CODANO"])
def test_it_is_the_packages_model_and_building_it_says_nothing(model, capfd):
    operator = build("neuraloperator2d", {**SETTINGS, "model": model}, 0)
    assert capfd.readouterr().out == ""
    reference = packages_own(model)
    pairs = {name.replace("/", "."): pair for name, pair in operator.complex_weights.items()}
    with torch.no_grad():
        for name, parameter in reference.named_parameters():
            if name in pairs:
                parameter.copy_(torch.view_as_complex(pairs.pop(name)))
            else:
                parameter.copy_(operator.operator.get_parameter(name))
        assert not pairs
        x = points("neuraloperator2d")
        u = band_limited(x, 2, 1)
        channels = u.movedim(-1, 1), x.expand(2, *x.shape).movedim(-1, 1)
        expected = reference(*channels) if model == "CODANO" else reference(torch.cat(channels, dim=1))
        torch.testing.assert_close(operator(u, x), expected.movedim(1, -1))


@pytest.mark.parametrize(
    ("model", "options"),
    [("FNO", {"rnk": 1, "widht": 3}), ("TFNO", {"n_modes": [8]}), ("UNO", {"non_linearity": "gelu"}),
     ("CODANO", {"norm": "group"})],
)  # fmt: skip
def test_unknown_options_are_refused_with_those_accepted(model, options):
    said = rf"^unknown options of {model}: {', '.join(options)}; accepted: lifting_channel(s|_ratio), .*$"
    with pytest.raises(ValueError, match=said):
        build("neuraloperator2d", {**SETTINGS, "model": model, "options": options}, 0)
