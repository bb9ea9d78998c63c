"""Attention between functions against sums written out, and against its limit on fine grids."""

import numpy as np
import pytest
import torch

from resolvent.models.calvello2024.patched_neural_operators import split
from resolvent.models.layers.patched_attention import patched_attention


def random_functions(*shape, seed=0):
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def written_out(q, k, v, cell_volume):
    """Definitions 13 and 14 with eq. 62, every integrand kept."""
    integrand = torch.einsum("bhjxye,bhkxye->bhjkxye", q, k)
    weights = torch.exp((cell_volume * integrand).sum((4, 5, 6)))
    weights = weights / weights.sum(-1, keepdim=True)
    return torch.einsum("bhjk,bhkxyf->bhjxyf", weights, v)


@pytest.mark.parametrize("f", [5, 2])
def test_is_the_definition(f):
    """Compare with the sums, for values with as many features as Q and K, and with others."""
    q, k = random_functions(2, 3, 6, 4, 7, 5), random_functions(2, 3, 6, 4, 7, 5, seed=1)
    v = random_functions(2, 3, 6, 4, 7, f, seed=2)
    inputs = [t.requires_grad_() for t in (q, k, v)]
    ours, expected = patched_attention(q, k, v, cell_volume=0.1), written_out(q, k, v, 0.1)
    torch.testing.assert_close(ours, expected, rtol=1e-10, atol=1e-10)
    cotangent = torch.randn_like(expected)
    for a, b in zip(
        torch.autograd.grad(ours, inputs, cotangent),
        torch.autograd.grad(expected, inputs, cotangent),
        strict=True,
    ):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)


def test_no_intermediate_has_patches_times_patches_times_points():
    """What the backward pass keeps: functions of heads·patches·points·e, matrices of heads·patches²."""
    heads, patches, p, e = 2, 6, 5, 3
    q, k, v = (random_functions(1, heads, patches, p, p, e, seed=seed).requires_grad_() for seed in range(3))
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.numel()) or t, lambda t: t):
        patched_attention(q, k, v, cell_volume=0.1)
    assert kept
    assert max(kept) <= heads * patches * max(patches, p * p * e)


def functions_of(x):
    """Six channels of x, smooth and not periodic: (n1, n2, 2) → (1, n1, n2, 6)."""
    a, b = x[..., 0], x[..., 1]
    channels = [torch.exp(a), a * b, torch.sin(3 * b), 1 + b**2, torch.cos(2 * a + b), torch.exp(-b) * a]
    return 3 * torch.stack(channels, dim=-1)[None]


def on_a_grid(n, patches, shift):
    axis = (torch.arange(n, dtype=torch.float64) + shift) / n
    u = functions_of(torch.stack(torch.meshgrid(axis, axis, indexing="ij"), dim=-1))
    q, k, v = split(u, patches)[:, None].chunk(3, dim=-1)
    return patched_attention(q, k, v, cell_volume=1 / n**2)


@pytest.mark.parametrize(("shift", "order"), [(0.5, 2.0), (0.0, 1.0)], ids=["cell centres", "corners"])
def test_observed_order_of_the_inner_product(shift, order):
    """The midpoint rule on cell centres; on points at the cells' corners the same sum is of first order."""
    sides = [6, 10, 18, 30, 54]
    finest = 810  # holds the points of all, centres too: odd multiples
    reference = on_a_grid(finest, 2, shift)
    errors = []
    for n in sides:
        step = finest // n
        offset = step // 2 if shift else 0
        same_points = reference[..., offset::step, offset::step, :]
        errors.append((on_a_grid(n, 2, shift) - same_points).abs().max().item())
    observed = -np.polyfit(np.log(sides), np.log(errors), 1)[0]
    assert observed == pytest.approx(order, abs=0.15)
    assert errors[-1] < errors[0] / 5


def test_without_the_cell_volume_the_grid_matters():
    """The same scale makes other weights on four times as many points."""
    coarse, fine = random_functions(1, 1, 3, 2, 2, 4), None
    fine = coarse.repeat_interleave(2, 3).repeat_interleave(2, 4)
    at = slice(None, None, 2)
    invariant = patched_attention(fine, fine, fine, cell_volume=0.025)[..., at, at, :]
    torch.testing.assert_close(invariant, patched_attention(coarse, coarse, coarse, cell_volume=0.1))
    fixed = patched_attention(fine, fine, fine, cell_volume=0.1)[..., at, at, :]
    assert not torch.allclose(fixed, invariant, rtol=1e-2)


def test_dropout_keeps_the_mean():
    torch.manual_seed(0)
    q, k, v = (random_functions(1, 1, 6, 2, 2, 3, seed=seed) for seed in range(3))
    many = [t.expand(4000, *t.shape[1:]) for t in (q, k, v)]
    draws = patched_attention(*many, cell_volume=0.1, dropout=0.5)
    expected = patched_attention(q, k, v, cell_volume=0.1)
    assert draws.std(0).max() > 0
    assert (draws.mean(0) - expected[0]).norm() < 0.1 * expected.norm()
