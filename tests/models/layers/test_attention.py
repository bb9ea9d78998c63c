"""The four attentions against their definitions, in float64."""

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


def test_galerkin_is_the_sum_over_points_and_bases():
    q, k, v = features()
    z = torch.zeros_like(q)
    for i in range(N):
        for basis in range(E):
            for point in range(N):  # eq. 14, one term at a time
                z[:, :, i] += k[:, :, point, basis, None] * v[:, :, point] * q[:, :, i, basis, None] / N
    torch.testing.assert_close(attention.galerkin(q, k, v), z, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("contraction", ["linear", "quadratic"])
@pytest.mark.parametrize("public_code_scaling", [False, True])
def test_fourier_is_the_explicit_formula_in_either_order(contraction, public_code_scaling):
    q, k, v = features()
    scale = math.sqrt(E) if public_code_scaling else 1
    expected = torch.stack([(q @ k.mT)[:, :, i] for i in range(N)], dim=2) @ v / (N * scale)
    z = attention.fourier(q, k, v, contraction=contraction, public_code_scaling=public_code_scaling)
    torch.testing.assert_close(z, expected, rtol=1e-12, atol=1e-12)


def test_softmax_is_the_explicit_formula():
    q, k, v = features()
    weights = torch.exp(q @ k.mT / math.sqrt(E))
    expected = (weights / weights.sum(-1, keepdim=True)) @ v
    torch.testing.assert_close(attention.softmax(q, k, v), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("public_code_scaling", [False, True])
def test_linear_is_the_explicit_formula(public_code_scaling):
    q, k, v = features()
    rows = torch.exp(q) / torch.exp(q).sum(3, keepdim=True)
    columns = torch.exp(k) / torch.exp(k).sum(2, keepdim=True)
    expected = torch.einsum("bhie,bhje,bhjf->bhif", rows, columns, v) / (N if public_code_scaling else 1)
    z = attention.linear(q, k, v, public_code_scaling=public_code_scaling)
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
