"""The relative L2 error is defined for arrays and, in training, for tensors: both say the same."""

import numpy as np
import pytest
import torch

from resolvent.common.norms import relative_l2
from resolvent.solvers.common.grid import Grid, Nodes
from resolvent.training import losses

GRIDS = {
    "periodic": Grid("periodic", 64),
    "square nodes": Grid("nodes", 9, dimension=2),
    "even times": Nodes(tuple(np.linspace(0, 2, 9))),
    "uneven times": Nodes((0.0, 0.1, 0.7, 2.0)),
}


@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
def test_arrays_and_tensors_have_the_same_relative_l2_error_where_all_points_count_the_same(grid):
    shape = (5, 2, *[grid.points] * grid.dimension)
    prediction, target = np.random.default_rng(0).normal(size=(2, *shape))
    of_tensors = losses.relative_l2(torch.from_numpy(prediction), torch.from_numpy(target))
    np.testing.assert_allclose(relative_l2(prediction, target), of_tensors, rtol=1e-14)
    expected = [np.linalg.norm(p - u) / np.linalg.norm(u) for p, u in zip(prediction, target, strict=True)]
    np.testing.assert_allclose(relative_l2(prediction, target), expected, rtol=1e-14)


def test_the_weights_of_a_periodic_grid_make_no_difference_and_those_of_uneven_times_do():
    for name, same in (("periodic", True), ("uneven times", False)):
        grid = GRIDS[name]
        prediction, target = np.random.default_rng(1).normal(size=(2, 5, grid.points))
        with_weights, without = relative_l2(prediction, target, grid.weights), relative_l2(prediction, target)
        assert np.allclose(with_weights, without, rtol=1e-12) == same
