"""Attention with dropout, and in blocks of queries as on a GPU, against torch's fused kernel."""

import pytest
import torch
from torch.nn import functional

from resolvent.models.layers.dot_product_attention import InBlocks, dot_product_attention
from resolvent.models.layers.dropout import drop


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("scale", [None, 0.3])
def test_attention_with_dropout_is_the_fused_one_with_the_same_matrix(masked, scale):
    q, k = torch.randn(2, 2, 3, 6, 4, dtype=torch.float64)
    mask = torch.randn(1, 6, dtype=torch.float64) if masked else None
    one = torch.eye(6, dtype=torch.float64).expand(2, 3, 6, 6)  # as values, shows the matrix
    matrix = functional.scaled_dot_product_attention(q, k, one, attn_mask=mask, scale=scale)
    torch.manual_seed(7)
    expected = drop(matrix, 0.5)
    torch.manual_seed(7)
    torch.testing.assert_close(dot_product_attention(q, k, one, mask=mask, rate=0.5, scale=scale), expected)


def functions():
    """Return q of 5 points, and k and v of 4, all in double precision with gradients."""
    torch.manual_seed(3)
    sizes = [(2, 2, 5, 3), (2, 2, 4, 3), (2, 2, 4, 2)]
    return [torch.randn(size, dtype=torch.float64, requires_grad=True) for size in sizes]


@pytest.fixture(params=[1, 2 * 2 * 4 * 2, 2**20])
def _blocks(request, monkeypatch):
    """Form one row at a time, two (the last block is smaller), or all."""
    monkeypatch.setattr("resolvent.models.layers.dot_product_attention.ENTRIES", request.param)


@pytest.mark.usefixtures("_blocks")
@pytest.mark.parametrize("masked", [False, True])
def test_attention_in_blocks_is_the_fused_one(masked):
    q, k, v = functions()
    mask = torch.randn(1, 4, dtype=torch.float64) if masked else None
    found = InBlocks.apply(q, k, v, mask, 0.0, 0.3)
    expected = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=0.3)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    slopes = [torch.autograd.grad(one.square().sum(), (q, k, v)) for one in (found, expected)]
    torch.testing.assert_close(*slopes, rtol=1e-11, atol=1e-11)


def test_gradients_in_bfloat16_are_as_accurate_in_many_blocks_as_in_one(monkeypatch):
    """The error is ten times as large if the sum is rounded to 8 bits after each block."""
    torch.manual_seed(3)
    exact = [torch.randn(1, 1, 512, 8).bfloat16().double() for _ in range(3)]
    slope = torch.randn(1, 1, 512, 8).bfloat16().double() + 1

    def slopes(dtype, entries):
        monkeypatch.setattr("resolvent.models.layers.dot_product_attention.ENTRIES", entries)
        given = [one.to(dtype).requires_grad_() for one in exact]
        return torch.autograd.grad(InBlocks.apply(*given, None, 0.0, 0.3), given, slope.to(dtype))

    expected, one, many = (
        slopes(torch.float64, 2**20),
        slopes(torch.bfloat16, 2**20),
        slopes(torch.bfloat16, 1),
    )
    for truth, *found in zip(expected, one, many, strict=True):
        of_one, of_many = ((a.double() - truth).norm() for a in found)
        assert of_many <= 1.1 * of_one


@pytest.mark.usefixtures("_blocks")
def test_dropout_in_blocks_has_the_gradients_of_its_own_mask():
    def attention(*functions):
        torch.manual_seed(5)
        return InBlocks.apply(*functions, None, 0.4, 0.5)

    assert torch.autograd.gradcheck(attention, functions())
