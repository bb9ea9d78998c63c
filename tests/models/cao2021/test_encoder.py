"""The encoder layer against a second implementation, written head by head from the paper's equations."""

import math

import pytest
import torch
from model_variants import ATTENTIONS, LAYER_NORMS, assert_dropout_on_a_branch, grid

from resolvent.models.cao2021.encoder import EncoderLayer
from resolvent.models.layers.dropout import drop

WIDTH, HEADS, N, EPSILON = 12, 3, 10, 0.3

DEFAULTS = {
    "width": WIDTH, "num_heads": HEADS, "coordinate_dim": 1, "feedforward_width": 20,
    "attention": "galerkin", "layer_norm": "projection", "layer_norm_epsilon": EPSILON,
    "projection_gain": 1e-2, "projection_diagonal": 1e-2, "residual_dropout": 0.0,
    "feedforward_dropout": 0.0, "attention_dropout": 0.0, "attention_dropout_in_evaluation": False,
    "attention_layer_scale": None, "public_code_scaling": False, "contraction": "linear",
}  # fmt: skip


def scrambled(seed=0, **settings):
    """A float64 layer with every parameter, norms and biases too, away from its initial value."""
    layer = EncoderLayer(**DEFAULTS | settings).double().eval()
    generator = torch.Generator().manual_seed(seed)
    for parameter in layer.parameters():
        parameter.data = 0.5 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return layer


def layer_norm(features, weight, bias):
    mean = features.mean(-1, keepdim=True)
    variance = ((features - mean) ** 2).mean(-1, keepdim=True)
    return (features - mean) / torch.sqrt(variance + EPSILON) * weight + bias


def naive(layer, y, x, attention, scheme):
    """One sample (n, width) at a time, one head at a time: eqs. 3-7."""
    n, width = y.shape
    h = width // layer.num_heads
    q_all, k_all, v_all = (y @ map_.weight.T + map_.bias for map_ in layer.projections)
    outputs = []
    for head in range(layer.num_heads):
        q, k, v = (features[:, head * h : (head + 1) * h] for features in (q_all, k_all, v_all))
        if scheme == "projection":
            gamma, beta = layer.projection_norm.weight[:, head], layer.projection_norm.bias[:, head]
            if attention in ("galerkin", "linear"):
                k, v = layer_norm(k, gamma[0], beta[0]), layer_norm(v, gamma[1], beta[1])
            else:
                q, k = layer_norm(q, gamma[0], beta[0]), layer_norm(k, gamma[1], beta[1])
        q, k, v = (torch.cat([x, features], dim=1) for features in (q, k, v))
        if attention == "galerkin":
            z = q @ (k.T @ v) / n
        elif attention == "fourier":
            z = (q @ k.T) @ v / n
        elif attention == "softmax":
            z = torch.softmax(q @ k.T / math.sqrt(h + x.shape[1]), dim=1) @ v
        else:
            z = torch.softmax(q, dim=1) @ (torch.softmax(k, dim=0).T @ v)
        outputs.append(z)
    z = torch.cat(outputs, dim=1) @ layer.output.weight.T + layer.output.bias
    if scheme == "projection":
        y = y + z
        return y + feedforward(layer, y)
    y = layer_norm(y + z, layer.attention_norm.weight, layer.attention_norm.bias)
    norm = layer.feedforward_norm
    return layer_norm(y + feedforward(layer, y), norm.weight, norm.bias)


def feedforward(layer, y):
    first, last = layer.feedforward[0], layer.feedforward[3]
    return torch.clamp(y @ first.weight.T + first.bias, min=0) @ last.weight.T + last.bias


@pytest.mark.parametrize("heads", [1, HEADS])
@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("scheme", LAYER_NORMS)
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_layer_is_the_naive_one(attention, scheme, dim, heads):
    layer = scrambled(attention=attention, layer_norm=scheme, coordinate_dim=dim, num_heads=heads)
    y, x = torch.randn(2, N, WIDTH, dtype=torch.float64), torch.rand(N, dim, dtype=torch.float64)
    expected = torch.stack([naive(layer, sample, x, attention, scheme) for sample in y])
    torch.testing.assert_close(layer(y, x), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("scheme", LAYER_NORMS)
def test_without_attention_the_layer_is_its_feedforward_network(scheme):
    layer = scrambled(attention="none", layer_norm=scheme)
    y, x = torch.randn(2, N, WIDTH, dtype=torch.float64), torch.rand(N, 1, dtype=torch.float64)
    expected = y + feedforward(layer, y)
    if scheme == "regular":
        norm = layer.feedforward_norm
        expected = layer_norm(expected, norm.weight, norm.bias)
    torch.testing.assert_close(layer(y, x), expected, rtol=1e-11, atol=1e-11)
    feedforward_count = 2 * WIDTH * 20 + 20 + WIDTH
    norm_count = 2 * WIDTH if scheme == "regular" else 0
    assert sum(p.numel() for p in layer.parameters()) == feedforward_count + norm_count


def test_projections_start_near_a_small_multiple_of_the_identity():
    torch.manual_seed(0)
    width, gain, diagonal = 96, 1e-2, 0.3
    layer = EncoderLayer(
        **DEFAULTS | {"width": width, "projection_gain": gain, "projection_diagonal": diagonal}
    )
    bound = gain * math.sqrt(3 / width)
    for projection in layer.projections:
        noise = projection.weight.detach() - diagonal * torch.eye(width)
        assert noise.abs().max() <= bound + 1e-7
        assert noise.std() == pytest.approx(bound / math.sqrt(3), rel=0.05)  # of a uniform distribution
        assert projection.bias.abs().max() == 0
    assert not torch.equal(layer.projections[0].weight, layer.projections[1].weight)
    assert layer.output.weight.abs().max() > bound  # eq. 17 is for Q, K, V only


@pytest.mark.parametrize("heads", [1, HEADS])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("scheme", LAYER_NORMS)
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_the_public_codes_dropout_halves_the_attention_matrix(attention, scheme, training, heads):
    """Half of the matrix is zero, the other half doubled, in training and in evaluation."""
    code = {"attention_dropout": 0.5, "attention_dropout_in_evaluation": True, "public_code_scaling": True}
    layer = scrambled(attention=attention, layer_norm=scheme, num_heads=heads, **code).train(training)
    y, x = torch.randn(2, N, WIDTH, dtype=torch.float64), torch.rand(N, 1, dtype=torch.float64)
    q, k, v = (layer._located(layer._features(y, index), x).transpose(1, 2) for index in range(3))
    root = math.sqrt(WIDTH // heads + 1)
    matrix = {
        "galerkin": k.mT @ v / N,
        "linear": torch.softmax(k, dim=2).mT @ v / N,
        "fourier": q @ k.mT / root / N,
        "softmax": torch.softmax(q @ k.mT / root, dim=3),
    }[attention]
    torch.manual_seed(3)
    mask = drop(torch.ones_like(matrix), 0.5)
    assert 0.3 < mask.mean() / 2 < 0.7
    matrix = matrix * mask
    if attention == "galerkin":
        z = q @ matrix
    elif attention == "linear":
        z = torch.softmax(q, dim=3) @ matrix
    else:
        z = matrix @ v
    sums = layer.attention_norm(y + layer.output(z.transpose(1, 2).flatten(2)))
    expected = layer.feedforward_norm(sums + feedforward(layer, sums))
    torch.manual_seed(3)
    torch.testing.assert_close(layer(y, x), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("scheme", LAYER_NORMS)
@pytest.mark.parametrize("branch", ["attention", "feedforward"])
def test_residual_dropout_acts_on_each_branch(branch, scheme):
    layer = scrambled(layer_norm=scheme, residual_dropout=0.5)
    silent = layer.feedforward[3] if branch == "attention" else layer.output
    y = torch.randn(8, N, WIDTH, dtype=torch.float64)
    assert_dropout_on_a_branch(layer, silent, y, grid(N, torch.float64))


@pytest.mark.parametrize("scheme", LAYER_NORMS)
@pytest.mark.parametrize("attention", ATTENTIONS)
def test_layer_scale_multiplies_the_attention_branch_by_channel(attention, scheme):
    """Leave the feed-forward branch and the norms of the sums out: what is added is γ Z."""
    plain = scrambled(attention=attention, layer_norm=scheme)
    scaled = EncoderLayer(
        **DEFAULTS | {"attention": attention, "layer_norm": scheme, "attention_layer_scale": 0.1}
    ).double()
    assert torch.equal(scaled.layer_scale, torch.full((WIDTH,), 0.1, dtype=torch.float32).double())
    factors = torch.linspace(-1, 2, WIDTH, dtype=torch.float64)
    scaled.load_state_dict({**plain.state_dict(), "layer_scale": factors})
    for layer in (plain, scaled):
        layer.attention_norm = layer.feedforward_norm = torch.nn.Identity()
        torch.nn.init.zeros_(layer.feedforward[3].weight)
        torch.nn.init.zeros_(layer.feedforward[3].bias)
    y, x = torch.randn(2, N, WIDTH, dtype=torch.float64), grid(N, torch.float64)
    assert torch.allclose(scaled(y, x) - y, factors * (plain(y, x) - y), rtol=1e-10, atol=1e-12)
