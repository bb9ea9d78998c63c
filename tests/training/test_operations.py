"""Operations are counted by hand where that is possible."""

import torch

from resolvent.models.build import build
from resolvent.training.operations import counted, forward_operations


def test_a_complex_product_counts_as_one():
    a, b = torch.ones(3, 4, dtype=torch.complex64), torch.ones(4, 5, dtype=torch.complex64)
    assert counted(lambda: a @ b) == 2 * 3 * 4 * 5


def test_operations_of_attention_between_all_points():
    """Four d x d maps, QKᵀ and AV of N² d each, and the two of the feed-forward, in every layer."""
    points, d, hidden, layers = 6 * 6, 8, 12, 2
    operator = build(
        "tno2d", {"width": d, "num_layers": layers, "num_heads": 2, "feedforward_width": hidden}, seed=0
    )
    x = torch.stack(torch.meshgrid(torch.arange(6.0), torch.arange(6.0), indexing="ij"), dim=-1)
    layer = 2 * points * (4 * d * d + 2 * d * hidden) + 4 * points**2 * d
    expected = 2 * points * (3 * d + d) + layers * layer
    assert forward_operations(operator, torch.ones(1, 6, 6, 1), x) == expected
