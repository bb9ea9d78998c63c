"""Attention with quadrature weights against the printed sums, and as an operator between functions."""

import math
from itertools import pairwise

import pytest
import torch
from model_variants import relative_error
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from resolvent.models.layers.continuum_attention import (
    ContinuumAttention,
    continuum_attention,
    trapezoid_log_weights,
)

BATCH, HEADS, E = 2, 3, 4
WIDTH = HEADS * E


def graded(n, strength=0.1):
    """Nodes on [0, 1], both ends included, denser where the sine falls: shape (n, 1), float64."""
    s = torch.linspace(0, 1, n, dtype=torch.float64)[:, None]
    return s + strength * torch.sin(2 * math.pi * s)


def half_denser(n):
    """Spacing 1/n on the first half of [0, 1] and 2/n on the second: shape (3n/4 + 1, 1), float64."""
    steps = [i / n for i in range(n // 2)] + [0.5 + 2 * i / n for i in range(n // 4 + 1)]
    return torch.tensor(steps, dtype=torch.float64)[:, None]


def smooth(x, channels, seed=0):
    """The same smooth, not periodic functions at any points of line or plane: (batch, points, channels)."""
    generator = torch.Generator().manual_seed(seed)
    x = x.reshape(-1, x.shape[-1])
    waves = 3 * torch.randn(x.shape[-1], BATCH * channels, generator=generator, dtype=torch.float64)
    phases = 6 * torch.rand(BATCH * channels, generator=generator, dtype=torch.float64)
    return torch.sin(x @ waves + phases).view(-1, BATCH, channels).transpose(0, 1)


def features(x, seed=0):
    """Q, K or V as (batch, heads, points, e)."""
    return smooth(x, WIDTH, seed).unflatten(-1, (HEADS, E)).transpose(1, 2)


@pytest.mark.parametrize("scaled", [True, False])
def test_it_is_the_papers_pairwise_trapezoidal_sum(scaled):
    """Eqs. 58 and 59, one interval at a time, as printed and with the public code's 1/√d_K."""
    divisor = math.sqrt(E) if scaled else 1.0
    x = graded(19)
    q, k, v = features(graded(11), 1), features(x, 2), features(x, 3)
    steps = x[1:, 0] - x[:-1, 0]
    expected = torch.zeros_like(q)
    for j in range(q.shape[2]):
        kernel = [torch.exp((q[:, :, j] * k[:, :, index]).sum(-1) / divisor) for index in range(len(x))]
        normaliser = sum((kernel[i] + kernel[i - 1]) / 2 * steps[i - 1] for i in range(1, len(x)))
        for i in range(1, len(x)):
            term = v[:, :, i] * kernel[i][..., None] + v[:, :, i - 1] * kernel[i - 1][..., None]
            expected[:, :, j] += term / 2 * steps[i - 1] / normaliser[..., None]
    result = continuum_attention(q, k, v, trapezoid_log_weights(x), scaled=scaled)
    torch.testing.assert_close(result, expected, rtol=1e-12, atol=1e-12)


def test_weights_of_a_grid_are_products():
    axes = graded(5)[:, 0], graded(7)[:, 0]
    x = torch.stack(torch.meshgrid(*axes, indexing="ij"), dim=-1)
    first, second = (trapezoid_log_weights(axis[:, None]) for axis in axes)
    torch.testing.assert_close(trapezoid_log_weights(x), (first[:, None] + second).flatten())


def test_equal_weights_are_no_weights():
    q, k, v = (features(graded(9), seed) for seed in range(3))
    weighted = continuum_attention(q, k, v, torch.full((9,), math.log(0.3), dtype=torch.float64))
    torch.testing.assert_close(weighted, continuum_attention(q, k, v), rtol=1e-12, atol=1e-12)


def attention_like(reference):
    """Ours with the weights of torch's."""
    ours = ContinuumAttention(width=WIDTH, num_heads=HEADS).double()
    ours.projection.load_state_dict({"weight": reference.in_proj_weight, "bias": reference.in_proj_bias})
    ours.output.load_state_dict(reference.out_proj.state_dict())
    return ours


@pytest.mark.parametrize("cross", [False, True])
def test_without_weights_it_is_torchs_multi_head_attention(cross):
    torch.manual_seed(0)
    reference = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True).double()
    nn.init.normal_(reference.in_proj_bias)
    nn.init.normal_(reference.out_proj.bias)
    v = smooth(graded(12), WIDTH, 1)
    u = smooth(graded(7), WIDTH, 2) if cross else v
    expected, _ = reference(u, v, v)
    torch.testing.assert_close(attention_like(reference)(u, v), expected, rtol=1e-12, atol=1e-12)


def test_self_attention_is_cross_attention_of_a_function_with_itself():
    torch.manual_seed(0)
    attention = ContinuumAttention(width=WIDTH, num_heads=HEADS).double()
    u, log_weights = smooth(graded(12), WIDTH), trapezoid_log_weights(graded(12))
    expected = attention(u, u.clone(), log_weights)
    torch.testing.assert_close(attention(u, u, log_weights), expected, rtol=1e-12, atol=1e-12)


def test_the_order_of_the_nodes_is_of_no_consequence_and_that_of_the_queries_is_the_results():
    torch.manual_seed(0)
    attention = ContinuumAttention(width=WIDTH, num_heads=HEADS).double()
    u, v, log_weights = smooth(graded(8), WIDTH), smooth(graded(12), WIDTH), trapezoid_log_weights(graded(12))
    nodes, queries = torch.randperm(12), torch.randperm(8)
    shuffled = attention(u[:, queries], v[:, nodes], log_weights[nodes])
    torch.testing.assert_close(shuffled, attention(u, v, log_weights)[:, queries], rtol=1e-12, atol=1e-12)


def plane(n):
    axis = graded(n)[:, 0]
    return torch.stack(torch.meshgrid(axis, axis, indexing="ij"), dim=-1)


NODES = {
    "even": (lambda n: graded(n + 1, 0.0), [16, 32, 64, 128, 2048]),
    "graded": (lambda n: graded(n + 1), [16, 32, 64, 128, 2048]),
    "half_denser": (half_denser, [16, 32, 64, 128, 2048]),
    "plane": (lambda n: plane(n + 1), [8, 16, 32, 160]),
}


def results_on(nodes, sizes, weighted=True):
    """Cross-attention from fixed points to the same functions on finer and finer nodes."""
    for n in sizes:
        x = nodes(n)
        q = features(torch.linspace(0.1, 0.8, 5, dtype=torch.float64)[:, None].expand(5, x.shape[-1]), 1)
        log_weights = trapezoid_log_weights(x) if weighted else None
        yield continuum_attention(3 * q, features(x, 2), features(x, 3), log_weights)


@pytest.mark.parametrize("name", NODES)
def test_observed_order_is_that_of_the_trapezoidal_rule(name):
    *results, finest = results_on(*NODES[name])
    errors = [relative_error(result, finest) for result in results]
    orders = [math.log2(a / b) for a, b in pairwise(errors)]
    assert min(orders) > 1.8, (errors, orders)


def test_the_function_and_not_the_nodes_decides_the_result():
    (even,) = results_on(NODES["even"][0], [2048])
    for name in ("graded", "half_denser"):
        (other,) = results_on(NODES[name][0], [2048])
        assert relative_error(other, even) < 1e-5, name


def test_equal_weights_read_uneven_nodes_as_another_function():
    """What the weights are for (figures 8 and 9): without them no refinement helps."""
    (even,) = results_on(NODES["even"][0], [2048])
    (unweighted,) = results_on(half_denser, [2048], weighted=False)
    assert relative_error(unweighted, even) > 0.05


class Storages(TorchDispatchMode):
    """Bytes of the largest storage that any operation gives."""

    largest = 0

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        results = function(*arguments, **(keywords or {}))
        for result in results if isinstance(results, tuple) else (results,):
            if isinstance(result, torch.Tensor):
                self.largest = max(self.largest, result.untyped_storage().nbytes())
        return results


@pytest.mark.parametrize("training", [False, True])
def test_no_array_of_pairs_is_formed(training):
    n = 3000
    q, k, v = (torch.randn(1, 1, n, 4, requires_grad=training) for _ in range(3))
    log_weights = trapezoid_log_weights(torch.linspace(0, 1, n)[:, None])
    with Storages() as storages:
        result = continuum_attention(q, k, v, log_weights)
        if training:
            result.sum().backward()
    assert 0 < storages.largest < 4 * n * n / 50


def test_dropout_acts_in_training_only():
    torch.manual_seed(0)
    attention = ContinuumAttention(width=WIDTH, num_heads=HEADS, dropout=0.5).double()
    u, log_weights = smooth(graded(12), WIDTH), trapezoid_log_weights(graded(12))
    assert not torch.equal(attention(u, u, log_weights), attention(u, u, log_weights))
    attention.eval()
    assert torch.equal(attention(u, u, log_weights), attention(u, u, log_weights))
