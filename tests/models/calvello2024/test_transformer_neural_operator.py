"""The transformer neural operator against torch's encoder, on uneven points, and with initial values."""

import math
from itertools import pairwise

import pytest
import torch
from model_variants import SMALL, assert_dropout_on_a_branch, band_limited, grid, relative_error, scrambled
from torch import nn

from resolvent.models.build import build
from resolvent.models.calvello2024.transformer_neural_operator import TransformerLayer

WITH_INITIAL_VALUES = {"in_channels": 3, "out_channels": 2, "initial_channels": 2}
LAYER = {
    "width": 12, "num_heads": 3, "feedforward_width": 20, "layer_norm_epsilon": 1e-5,
    "attention_dropout": 0.0, "scaled_scores": True,
}  # fmt: skip


def small(architecture="tno1d", **more):
    return scrambled(architecture, 0.2, **more)


def nodes(n, strength=0.0):
    """n + 1 nodes on [0, 1], both ends included; those of n are among those of 2n."""
    s = torch.linspace(0, 1, n + 1, dtype=torch.float64)[:, None]
    return s + strength * torch.sin(2 * math.pi * s)


def test_a_layer_without_weights_is_torchs():
    torch.manual_seed(0)
    reference = nn.TransformerEncoderLayer(
        12, 3, dim_feedforward=20, dropout=0.0, activation="gelu", batch_first=True, dtype=torch.float64
    )
    layer = TransformerLayer(**LAYER, residual_dropout=0.0).double()
    for parameter in reference.parameters():
        nn.init.normal_(parameter, std=0.5)
    theirs = reference.state_dict()
    names = {
        "attention.projection.weight": "self_attn.in_proj_weight",
        "attention.projection.bias": "self_attn.in_proj_bias",
        "attention.output.weight": "self_attn.out_proj.weight",
        "attention.output.bias": "self_attn.out_proj.bias",
        **{f"attention_norm.{kind}": f"norm1.{kind}" for kind in ("weight", "bias")},
        **{f"feedforward_norm.{kind}": f"norm2.{kind}" for kind in ("weight", "bias")},
        **{f"feedforward.0.{kind}": f"linear1.{kind}" for kind in ("weight", "bias")},
        **{f"feedforward.2.{kind}": f"linear2.{kind}" for kind in ("weight", "bias")},
    }
    layer.load_state_dict({ours: theirs[name] for ours, name in names.items()})
    v = torch.randn(2, 9, 12, dtype=torch.float64)
    torch.testing.assert_close(layer(v, None), reference(v), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("strength", [0.0, 0.1], ids=["even", "uneven"])
def test_second_order_on_a_line_with_both_ends(strength):
    operator, sizes = small(), [32, 64, 128, 256, 2048]
    with torch.no_grad():
        outputs = [operator(band_limited(x, 2, 1), x) for x in (nodes(n, strength) for n in sizes)]
    *outputs, finest = (out[:, :: n // sizes[0]] for n, out in zip(sizes, outputs, strict=True))
    errors = [relative_error(output, finest) for output in outputs]
    orders = [math.log2(a / b) for a, b in pairwise(errors)]
    assert min(orders) > 1.8, (errors, orders)


def test_scores_without_the_root_are_those_of_a_query_multiplied_by_it():
    settings = SMALL["tno1d"] | {"num_layers": 1, "num_heads": 4, "width": 16}  # d_K = 4
    scaled, printed = (
        build("tno1d", settings | {"scaled_scores": scaled}, 0).double().eval() for scaled in (True, False)
    )
    u, x = torch.randn(2, 12, 1, dtype=torch.float64), grid(12, torch.float64)
    assert not torch.allclose(scaled(u, x), printed(u, x), rtol=1e-6)
    projection = scaled.layers[0].attention.projection
    with torch.no_grad():
        projection.weight[:16] *= 2
        projection.bias[:16] *= 2
    torch.testing.assert_close(scaled(u, x), printed(u, x), rtol=1e-12, atol=1e-12)


def beside_constants(x, seed=0):
    return torch.cat([band_limited(x, 2, 1, seed), torch.ones(2, len(x), 2, dtype=torch.float64)], dim=-1)


def test_initial_values_are_read_at_the_first_point_alone():
    operator, x = small(**WITH_INITIAL_VALUES), nodes(20)
    u = beside_constants(x)
    expected, elsewhere = operator(u, x), u.clone()
    elsewhere[:, 1:, 1:] = 7.0
    assert torch.equal(operator(elsewhere, x), expected)
    for channel in range(3):  # the function's own value is read there too
        first = u.clone()
        first[:, 0, channel] += 1.0
        assert ((operator(first, x) - expected).abs().amax(dim=(0, 2)) > 1e-6).all()


FORMS = ("first_token", "every_time")


@pytest.mark.parametrize("form", FORMS)
def test_claims_of_invariance_with_initial_values(form):
    claimed = small(**WITH_INITIAL_VALUES, initial_values=form).discretisation_invariant
    assert claimed == (form == "every_time")
    assert not small(**WITH_INITIAL_VALUES, initial_values=form, quadrature="none").discretisation_invariant
    assert small(initial_values=form).discretisation_invariant  # without initial values all are the same
    u = band_limited(nodes(8), 2, 1)
    assert torch.equal(small(initial_values=form)(u, nodes(8)), small()(u, nodes(8)))


def gradients(architecture, **more):
    """Return the gradients of a training step with dropout, and the number of values kept for it."""
    operator = build(architecture, {**SMALL[architecture], "residual_dropout": 0.3, **more}, 0)
    x = grid(24) if architecture == "tno1d" else grid(9, dim=2)
    kept = []
    torch.manual_seed(5)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.numel()) or t, lambda t: t):
        loss = operator(band_limited(x, 2, 1), x).square().sum()
    loss.backward()
    return [parameter.grad for parameter in operator.parameters()], sum(kept)


@pytest.mark.parametrize("architecture", ["tno1d", "tno2d"])
def test_checkpointing_keeps_less_and_changes_no_gradient(architecture):
    expected, kept = gradients(architecture)
    found, kept_less = gradients(architecture, checkpointing=True)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs)
    assert kept_less < kept / 2


@pytest.mark.parametrize("branch", ["attention", "feedforward"])
def test_residual_dropout_acts_on_each_branch(branch):
    layer = TransformerLayer(**LAYER, residual_dropout=0.5).double()
    silent = layer.feedforward[2] if branch == "attention" else layer.attention.output
    assert_dropout_on_a_branch(layer, silent, torch.randn(8, 10, 12, dtype=torch.float64), None)
