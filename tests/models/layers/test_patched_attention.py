"""Attention between functions: on patches, between channels, against sums written out."""

import math

import pytest
import torch

from resolvent.models.calvello2024.codomain_attention_operator import CodomainAttention
from resolvent.models.calvello2024.patched_neural_operators import join, split
from resolvent.models.layers.patched_attention import patched_attention


def random_functions(*shape, seed=0):
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("f", [5, 2])
def test_is_the_definition(f):
    """Definitions 13 and 14 with eq. 62, every integrand kept, also for values with fewer features."""
    inputs = [random_functions(2, 3, 6, 4, 7, e, seed=s).requires_grad_() for s, e in enumerate((5, 5, f))]
    q, k, v = inputs
    integrand = torch.einsum("bhjxye,bhkxye->bhjkxye", q, k)
    weights = torch.exp((0.1 * integrand).sum((4, 5, 6)))
    weights = weights / weights.sum(-1, keepdim=True)
    expected = torch.einsum("bhjk,bhkxyf->bhjxyf", weights, v)
    ours = patched_attention(q, k, v, cell_volume=0.1)
    torch.testing.assert_close(ours, expected, rtol=1e-10, atol=1e-10)
    cotangent = torch.randn_like(expected)
    gradients = (torch.autograd.grad(one, inputs, cotangent) for one in (ours, expected))
    for a, b in zip(*gradients, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)


def test_dropout_keeps_the_mean():
    torch.manual_seed(0)
    q, k, v = (random_functions(1, 1, 6, 2, 2, 3, seed=seed) for seed in range(3))
    many = [t.expand(4000, *t.shape[1:]) for t in (q, k, v)]
    draws = patched_attention(*many, cell_volume=0.1, dropout=0.5)
    expected = patched_attention(q, k, v, cell_volume=0.1)
    assert draws.std(0).max() > 0
    assert (draws.mean(0) - expected[0]).norm() < 0.1 * expected.norm()


@pytest.mark.parametrize(("n1", "n2", "patches"), [(6, 12, 3), (5, 5, 5), (7, 4, 1), (26, 39, 13)])
def test_patches_are_the_restrictions_row_by_row_and_join_is_the_inverse(n1, n2, patches):
    u = torch.randn(2, n1, n2, 3)
    both = patches, patches
    cut, p1, p2 = split(u, both), n1 // patches, n2 // patches
    for row in range(patches):
        for column in range(patches):
            expected = u[:, p1 * row : p1 * (row + 1), p2 * column : p2 * (column + 1)]
            assert torch.equal(cut[:, patches * row + column], expected)
    assert torch.equal(join(cut, both), u)


def test_patches_may_be_others_along_each_axis():
    u = torch.randn(2, 6, 20, 3)
    cut = split(u, (2, 5))
    assert torch.equal(cut[:, 5 * 1 + 3], u[:, 3:6, 12:16])
    assert torch.equal(join(cut, (2, 5)), u)
    with pytest.raises(ValueError, match=r"2 x 5 patches .* such as 8 x 20; got 7 x 20$"):
        split(torch.zeros(1, 7, 20, 1), (2, 5))


def test_codomain_attention_compares_channels():
    """Remark 16 written out: q_i and k_j are convolutions of the channels, on the whole square."""
    torch.manual_seed(0)
    layer = CodomainAttention(features=3, modes=2).double()
    layer.requires_grad_(False).projections.weight.mul_(10)
    u = random_functions(2, 6, 5, 4)
    expected = torch.zeros_like(u)
    for sample in range(2):
        projected = [layer.projections(u[sample, None, :, :, i, None])[0] for i in range(4)]
        for i in range(4):
            logits = [(projected[i][..., :3] * projected[j][..., 3:6]).sum() / 30 for j in range(4)]
            total = sum(math.exp(logit) for logit in logits)
            for j in range(4):
                expected[sample, :, :, i] += math.exp(logits[j]) / total * projected[j][..., 6]
    torch.testing.assert_close(layer(u), expected, rtol=1e-10, atol=1e-10)
    assert layer(u[..., :2]).shape == (2, 6, 5, 2)  # any number of them
