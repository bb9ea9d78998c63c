"""Dropout against its definition."""

import math

import pytest
import torch

from resolvent.models.layers.dropout import Dropout, drop


@pytest.mark.parametrize("rate", [1e-4, 0.05, 0.1, 0.5, 0.97])
def test_drop_keeps_with_the_stated_probability(rate):
    entries = 3_000_001  # no multiple of the four entries of a word
    dropped = drop(torch.ones(entries, dtype=torch.float64), rate)
    kept = (dropped != 0).sum().item()
    assert abs(kept - (1 - rate) * entries) < 5 * math.sqrt(rate * (1 - rate) * entries) + entries / 2**17
    assert dropped.max().item() == pytest.approx(1 / (1 - rate), rel=2**-16 / (1 - rate))


def test_entries_are_dropped_independently():
    """Neither neighbours in a word of random bits nor words nor calls are correlated."""
    dropped = torch.stack([drop(torch.ones(400_000), 0.5) for _ in range(2)]) - 1
    for lag in (1, 2, 3, 4, 5, 8):
        assert abs((dropped[0, lag:] * dropped[0, :-lag]).mean()) < 5 / math.sqrt(400_000)
    assert abs((dropped[0] * dropped[1]).mean()) < 5 / math.sqrt(400_000)


def test_the_gradient_is_that_of_the_same_mask():
    x = torch.randn(3, 7, 5, dtype=torch.float64).transpose(0, 2).requires_grad_()
    torch.manual_seed(5)
    mask = drop(torch.ones_like(x), 0.4)
    torch.manual_seed(5)
    dropped = drop(x, 0.4)
    assert torch.equal(dropped, x * mask)
    (gradient,) = torch.autograd.grad((dropped * 3).sum(), x)
    torch.testing.assert_close(gradient, 3 * mask)


def test_nothing_is_dropped_in_evaluation():
    x = torch.randn(4, 4)
    assert Dropout(0.5).eval()(x) is x
    assert drop(x, 0.0) is x
    assert not torch.equal(Dropout(0.5)(x), x)


def test_a_rate_that_rounds_to_one_leaves_finite_numbers():
    assert drop(torch.ones(100_000), 1 - 1e-6).isfinite().all()
