"""Attention between channels against sums written out."""

import math

import torch

from resolvent.models.calvello2024.codomain_attention_operator import CodomainAttention


def random_functions(*shape):
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


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


def test_codomain_attention_takes_any_number_of_channels():
    torch.manual_seed(0)
    layer = CodomainAttention(features=3, modes=2).double()
    u = random_functions(1, 6, 6, 4)
    permutation = torch.tensor([2, 0, 3, 1])
    torch.testing.assert_close(layer(u[..., permutation]), layer(u)[..., permutation])
    assert layer(u[..., :2]).shape == (1, 6, 6, 2)
