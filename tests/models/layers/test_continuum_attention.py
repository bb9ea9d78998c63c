"""Attention with quadrature weights against the printed sums and torch's; the weights against NumPy's."""

import math

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from resolvent.models.layers.continuum_attention import (
    ContinuumAttention,
    continuum_attention,
    product_trapezoid_weights,
    trapezoid_log_weights,
    trapezoid_weights,
)

BATCH, HEADS, E = 2, 3, 4
WIDTH = HEADS * E


def graded(n):
    """Nodes on [0, 1], both ends included, denser where the sine falls: shape (n, 1), float64."""
    s = torch.linspace(0, 1, n, dtype=torch.float64)[:, None]
    return s + 0.1 * torch.sin(2 * math.pi * s)


def functions(n, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(BATCH, n, WIDTH, generator=generator, dtype=torch.float64)


def features(n, seed=0):
    """Q, K or V as (batch, heads, points, e)."""
    return functions(n, seed).unflatten(-1, (HEADS, E)).transpose(1, 2)


@pytest.mark.parametrize("scaled", [True, False])
def test_it_is_the_papers_pairwise_trapezoidal_sum(scaled):
    """Eqs. 58 and 59, one interval at a time, as printed and with the public code's 1/√d_K."""
    divisor = math.sqrt(E) if scaled else 1.0
    x = graded(19)
    q, k, v = features(11, 1), features(19, 2), features(19, 3)
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


@pytest.mark.parametrize("cross", [False, True])
def test_without_weights_it_is_torchs_multi_head_attention(cross):
    torch.manual_seed(0)
    reference = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True).double()
    nn.init.normal_(reference.in_proj_bias)
    nn.init.normal_(reference.out_proj.bias)
    ours = ContinuumAttention(width=WIDTH, num_heads=HEADS).double()
    ours.projection.load_state_dict({"weight": reference.in_proj_weight, "bias": reference.in_proj_bias})
    ours.output.load_state_dict(reference.out_proj.state_dict())
    v = functions(12, 1)
    u = functions(7, 2) if cross else v
    expected, _ = reference(u, v, v)
    torch.testing.assert_close(ours(u, v), expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(ours(u.clone(), v), expected, rtol=1e-12, atol=1e-12)


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
    n = 1500
    q, k, v = (torch.randn(1, 1, n, 4, requires_grad=training) for _ in range(3))
    log_weights = trapezoid_log_weights(torch.linspace(0, 1, n)[:, None])
    with Storages() as storages:
        result = continuum_attention(q, k, v, log_weights)
        if training:
            result.sum().backward()
    assert 0 < storages.largest < 4 * n * n / 25


def uneven_nodes(n, seed=0):
    """Random increasing nodes on [0, 2], both ends included: shape (n, 1), float64."""
    spacing = torch.rand(n - 1, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) + 0.1
    x = torch.cat([torch.zeros(1, dtype=torch.float64), spacing.cumsum(0)])
    return 2 * (x / x[-1])[:, None]


@pytest.mark.parametrize("indexing", ["ij", "xy"])
def test_product_weights_integrate_a_product_of_linear_functions_exactly(indexing):
    nodes = [uneven_nodes(7)[:, 0], uneven_nodes(12, seed=1)[:, 0]]
    if indexing == "xy":
        nodes.reverse()
    x = torch.stack(torch.meshgrid(*nodes, indexing=indexing), dim=-1)
    values = (1 + 2 * x[..., 0]) * (3 - x[..., 1])  # integrals over [0, 2]: 6 and 4
    weights = product_trapezoid_weights(x)
    assert weights.shape == (7, 12)
    assert (weights * values).sum().item() == pytest.approx(24, rel=1e-13)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [([0.0], "at least 2 nodes .* got 1"), ([0.0, 1.0, 1.0], "increase"), ([1.0, 0.0], "increase")],
)
def test_what_is_no_node_set_is_refused(nodes, message):
    with pytest.raises(ValueError, match=message):
        trapezoid_weights(torch.tensor(nodes)[:, None])
