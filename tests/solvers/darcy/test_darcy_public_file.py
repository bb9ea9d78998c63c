"""The default grid is that of the public data of Cao 2021, one sample of which is known as numbers.

The pressure is a chart of the paper's notebook, with 5 % noise; the coefficient is read from a picture there.
"""

from pathlib import Path

import numpy as np
import pytest

from resolvent.datasets.tasks.registry import settings_of
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.read import read_configuration
from resolvent.solvers.darcy.direct import solve_direct

MEASURED = Path(__file__).parents[3] / "docs/measured"
POINTS, STRIDE, OUTERMOST = 211, 2, 8


@pytest.fixture(scope="module")
def pressure():
    read = np.loadtxt(MEASURED / "darcy_public_pressure.csv", delimiter=",")
    assert read.shape == (POINTS, POINTS)
    return 1e-6 * read


@pytest.fixture(scope="module")
def solutions():
    """Return solutions for the sample's coefficient on cell centres and on nodes."""
    mask = np.loadtxt(MEASURED / "darcy_public_coefficient.csv", delimiter=",")
    coefficient = np.where(mask == 1, 12.0, 3.0)[None]
    cells = solve_direct(coefficient, grid="cell_centres", stride=STRIDE)[0]
    return {"cells": cells, "nodes": solve_direct(coefficient)[0]}


def zeros(values):
    """Return how far outside the outermost points of each side the zero lies, in intervals of 421 points.

    It is the zero of a cubic through the means of the eight outermost lines.
    """
    found = []
    for across in (values, values.T):
        for side in (across, across[::-1]):
            lines = side[:OUTERMOST].mean(axis=1)
            roots = np.polynomial.Polynomial.fit(STRIDE * np.arange(OUTERMOST), lines, 3).roots()
            real = roots[np.isreal(roots)].real
            found.append(-real[np.argmin(abs(real))])
    return np.array(found)


def test_the_zero_of_the_pressure_is_half_a_cell_outside(pressure):
    np.testing.assert_allclose(zeros(pressure), [0.497, 0.500, 0.505, 0.477], atol=1e-3)
    assert abs(zeros(pressure).mean() - 0.5) < 0.02


def test_so_it_is_for_our_solutions_on_cell_centres_alone(solutions):
    np.testing.assert_allclose(zeros(solutions["cells"]), 0.5, atol=0.02)
    np.testing.assert_allclose(zeros(solutions["nodes"]), 0.0, atol=0.02)


def test_our_solution_on_cell_centres_differs_by_noise_alone(pressure, solutions):
    cells, nodes = solutions["cells"], solutions["nodes"]
    size = np.linalg.norm(pressure)
    far, near = (np.linalg.norm(pressure - one) / size for one in (nodes, cells))
    assert near < 0.0125 < 0.013 < far
    # The part of the difference between both grids that is in the file: 0 for cell centres, 1 for nodes.
    apart = nodes - cells
    assert abs(((pressure - cells) * apart).sum() / (apart**2).sum()) < 0.1
    # Means over each side of the ring, of 211 values with noise: they are not zero.
    for ring in (np.s_[0], np.s_[-1], np.s_[:, 0], np.s_[:, -1]):
        assert pressure[ring].mean() == pytest.approx(cells[ring].mean(), rel=0.02)


def test_the_datasets_of_the_paper_are_on_these_points():
    datasets = load_configuration(read_configuration([])).datasets
    for name in ("darcy_cao", "darcy_cao_inverse"):
        grid = datasets[name].grid_of(POINTS)
        assert (grid.kind, grid.cells, grid.stride) == ("cell_centres", 421, STRIDE)
    assert datasets["darcy_cao_nodes"].grid_of(POINTS).kind == "nodes"
    assert settings_of({"equation": "darcy", "source": "x.mat"}).grid_of(POINTS).stride == STRIDE
