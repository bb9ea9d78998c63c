"""The operator of cross-attention: its output is a function, which may be asked for anywhere."""

import math
from itertools import pairwise

import pytest
import torch
from model_variants import band_limited, relative_error, scrambled


def small(**more):
    return scrambled("cross_attention2d_coarse", 0.2, **more).requires_grad_(False)


def square(n, strength=0.0):
    """(n + 1)² nodes, both ends included."""
    s = torch.linspace(0, 1, n + 1, dtype=torch.float64)
    axis = s + strength * torch.sin(2 * math.pi * s)
    return torch.stack(torch.meshgrid(axis, axis, indexing="ij"), dim=-1)


@pytest.mark.parametrize("strength", [0.0, 0.1], ids=["even", "uneven"])
def test_second_order_in_the_grid_of_the_input_at_fixed_points(strength):
    operator, asked = small(), torch.tensor([[0.31, 0.77], [0.05, 0.5]], dtype=torch.float64)
    outputs = [
        operator.at(band_limited(x, 2, 1), x, asked)
        for x in (square(n, strength) for n in (8, 16, 32, 64, 256))
    ]
    errors = [relative_error(output, outputs[-1]) for output in outputs[:-1]]
    orders = [math.log2(a / b) for a, b in pairwise(errors)]
    assert sum(orders) / len(orders) > 1.9, (errors, orders)
    assert errors[-1] < 1e-3


def test_points_asked_for_do_not_see_each_other():
    operator, x = small(), square(9)
    u = band_limited(x, 2, 1)
    asked = torch.rand(7, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    together = operator.at(u, x, asked)
    alone = torch.cat([operator.at(u, x, point[None]) for point in asked], dim=1)
    torch.testing.assert_close(together, alone, rtol=1e-11, atol=1e-11)
    assert together.std(1).min() > 1e-3  # and it matters where


def test_output_is_the_function_at_the_nodes_of_the_coarse_grid():
    """15 points a side of 43, every third: the grids of the laptop's inverse problem."""
    operator, x = small(downsampling_factor=0.6), square(42)
    u = band_limited(x, 2, 1)
    coarse = operator(u, x)
    assert coarse.shape == (2, 15, 15, 1)
    expected = operator.at(u, x, x[::3, ::3].flatten(0, 1)).view_as(coarse)
    torch.testing.assert_close(coarse, expected, rtol=1e-11, atol=1e-11)
