"""The classical answers of the Darcy task: exact where they must be, better with what they know."""

import numpy as np
import pytest
from dataset_fixtures import small

from resolvent.datasets.tasks.registry import build_task
from resolvent.solvers.darcy.direct import solve_direct


@pytest.fixture(scope="module")
def task():
    return build_task(small("darcy"))


def errors(answer, target):
    return np.linalg.norm(answer - target, axis=(1, 2)) / np.linalg.norm(target, axis=(1, 2))


def test_on_the_finest_grid_both_solves_give_the_stored_pressure(task):
    stored = task.compute([("test", 0)])
    coefficient, pressure = stored["n33/coefficient"], stored["n33/pressure"]
    assert errors(task.solve_on_grid(coefficient), pressure).max() < 1e-8
    assert errors(task.solve_interpolated(coefficient), pressure).max() < 1e-8


def test_on_a_coarse_grid_a_solve_knows_more_than_a_constant(task):
    stored = task.compute([("test", 0), ("test", 1)])
    coefficient, pressure = stored["n17/coefficient"].astype(np.float32), stored["n17/pressure"]
    constant = errors(task.solve_constant(coefficient), pressure)
    for solve in (task.solve_on_grid, task.solve_interpolated):
        error = errors(solve(coefficient), pressure)
        assert np.all(error > 1e-4)
        assert np.all(error < 0.5 * constant)


@pytest.mark.parametrize(("points", "factor", "coarse"), [(33, 2, 17), (33, 4, 9), (16, 3, 6), (9, 4, 5)])
def test_a_coarser_solver_interpolates_to_its_grid_and_back(task, points, factor, coarse):
    coefficient = np.exp(np.random.default_rng(0).normal(size=(2, points, points)) / 4)
    fine, few = np.linspace(0, 1, points), np.linspace(0, 1, coarse)

    def moved(values, at, to):
        for axis in (1, 2):
            values = np.apply_along_axis(lambda row: np.interp(to, at, row), axis, values)
        return values

    expected = moved(solve_direct(moved(coefficient, fine, few)), few, fine)
    answer = task.classical_solvers()[f"5-point, 1/{factor} of the points a side"]
    assert errors(answer(coefficient, None), expected).max() < 1e-3
    same = task.classical_solvers()["5-point, on the same grid"]
    assert errors(same(coefficient, None), solve_direct(coefficient)).max() < 1e-3


def test_cell_centres_have_the_same_answers():
    cells = build_task(small("darcy", grid="cell_centres", pressure="solved_on_each_grid"))
    constant = np.full((1, 16, 16), 6.0)
    exact = cells.solve_on_grid(constant)
    assert errors(cells.solve_interpolated(constant), exact).max() < 0.02
