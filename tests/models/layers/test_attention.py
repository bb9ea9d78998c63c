"""Fourier attention in either order, and dropout; tests/models/cao2021/test_encoder.py defines all."""

import math

import pytest
import torch
from model_variants import ATTENTIONS, band_limited, grid, relative_error

from resolvent.models.layers import attention

BATCH, HEADS, N, E = 2, 3, 20, 5


def features():
    """Q, K, V: (batch, heads, n, e) samples of smooth functions."""
    values = band_limited(grid(N, torch.float64), BATCH, 3 * HEADS * E)
    return values.view(BATCH, N, 3, HEADS, E).permute(2, 0, 3, 1, 4).unbind(0)


@pytest.mark.parametrize("contraction", ["linear", "quadratic"])
@pytest.mark.parametrize("public_code_scaling", [False, True])
def test_fourier_is_the_explicit_formula_in_either_order(contraction, public_code_scaling):
    q, k, v = features()
    scale = math.sqrt(E) if public_code_scaling else 1
    expected = torch.stack([(q @ k.mT)[:, :, i] for i in range(N)], dim=2) @ v / (N * scale)
    z = attention.fourier(q, k, v, contraction=contraction, public_code_scaling=public_code_scaling)
    torch.testing.assert_close(z, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ATTENTIONS)
def test_dropout_keeps_the_mean(name):
    torch.manual_seed(0)
    q, k, v = features()
    function = getattr(attention, name)
    many = [one.repeat(2000, 1, 1, 1) for one in (q, k, v)]
    draws = function(*many, dropout=0.5).unflatten(0, (2000, len(q)))
    assert draws.std(0).max() > 0
    assert relative_error(draws.mean(0), function(q, k, v)) < 0.1


def test_dropout_of_fourier_acts_on_the_points():
    """Take one feature and V = 1: a row's sum over the n×n matrix takes many values, not the two of e×e."""
    torch.manual_seed(0)
    ones = torch.ones(1, 1, N, 1)
    assert len(attention.fourier(ones, ones, ones, dropout=0.5).unique()) > 2
    assert len(attention.galerkin(ones, ones, ones, dropout=0.5).unique()) == 1
