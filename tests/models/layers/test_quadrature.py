"""Trapezoidal weights on evenly and unevenly spaced nodes."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from resolvent.models.layers.quadrature import product_trapezoid_weights, trapezoid_weights


def uneven_nodes(n, seed=0):
    """Random increasing nodes on [0, 2], both ends included: shape (n, 1), float64."""
    spacing = torch.rand(n - 1, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) + 0.1
    x = torch.cat([torch.zeros(1, dtype=torch.float64), spacing.cumsum(0)])
    return 2 * (x / x[-1])[:, None]


def test_sums_are_numpys_trapezoidal_rule():
    x = uneven_nodes(23)
    f = torch.randn(23, dtype=torch.float64)
    expected = np.trapezoid(f.numpy(), x[:, 0].numpy())
    assert (trapezoid_weights(x) * f).sum().item() == pytest.approx(expected, rel=1e-13)


def test_an_even_grid_has_half_weights_at_its_ends():
    weights = trapezoid_weights(torch.linspace(0, 1, 9)[:, None])
    torch.testing.assert_close(weights, torch.tensor([0.5] + [1.0] * 7 + [0.5]) / 8)


def test_observed_order_on_uneven_nodes():
    errors = []
    for n in (33, 65, 129):
        s = torch.linspace(0, 1, n, dtype=torch.float64)[:, None]
        x = s + 0.1 * torch.sin(2 * math.pi * s)
        errors.append(abs((trapezoid_weights(x) * x[:, 0].exp()).sum().item() - (math.e - 1)))
    orders = [math.log2(a / b) for a, b in pairwise(errors)]
    assert all(1.9 < order < 2.1 for order in orders), orders


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
    [
        ([0.0], "the trapezoidal rule needs at least 2 nodes along an axis; got 1"),
        ([0.0, 1.0, 1.0], "the trapezoidal rule needs nodes that increase along their axis"),
        ([1.0, 0.0], "the trapezoidal rule needs nodes that increase along their axis"),
    ],
)
def test_what_is_no_node_set_is_refused(nodes, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole message is compared
        trapezoid_weights(torch.tensor(nodes)[:, None])
    assert str(caught.value) == message
