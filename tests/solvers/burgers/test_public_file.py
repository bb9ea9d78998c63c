"""The default operator is that of the public data of Cao 2021, four samples of which are known as curves."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from burgers_problem import relative_errors
from scipy.stats import chi2

from resolvent.datasets.tasks.burgers import BurgersDataset
from resolvent.datasets.tasks.registry import build_task
from resolvent.solvers.common.fourier import coefficients_of

CURVES = Path(__file__).parents[3] / "docs/measured/burgers_public_curves.csv"
CUT = 20
READING = 1e-4  # above every coefficient that the curves owe to being read from a picture


def default(**settings):
    """The task that a dataset of Burgers' equation has by default, observed on 256 points."""
    return build_task(BurgersDataset(equation="burgers", resolutions=[256], **settings))


@pytest.fixture(scope="module")
def curves():
    """Initial and final velocity (4, 256)."""
    read = pd.read_csv(CURVES, comment="#")
    np.testing.assert_array_equal(read["x"], np.tile(np.arange(256) / 256, 4))
    return [read[name].to_numpy().reshape(4, 256) for name in ("initial_velocity", "final_velocity")]


def solved(curves, **settings):
    """Solve from those modes of the initial curves that the distribution has."""
    initial = coefficients_of(curves[0])[:, : CUT + 1]
    initial[:, 0] = 0
    return default(**settings).solve(initial)["n256/final_velocity"]


@pytest.mark.parametrize("method", ["split-step", "etdrk4", "cole-hopf"])
def test_the_default_turns_the_initial_curves_into_the_final_ones(curves, method):
    errors = relative_errors(solved(curves, method=method), curves[1])
    assert errors.max() < 2e-3, errors


def test_the_initial_modes_have_the_distribution(curves):
    """Sum the squares of 40 standard deviates, of five modes of four samples: a χ² distribution."""
    for first in (1, 6, 11, 16):
        modes = slice(first, first + 5)
        deviation = default().field.standard_deviations()[modes] / np.sqrt(2)
        squares = np.sum(np.abs(coefficients_of(curves[0])[:, modes] / deviation) ** 2)
        low, high = chi2.interval(0.99, 40)
        assert low < squares < high
    # There is no mean and no mode above the cut.
    assert default().field.num_modes == CUT
    size = np.abs(coefficients_of(curves[0]))
    assert size[:, CUT + 1 :].max() < READING < size[:, CUT].min()
    assert size[:, 0].max() < 3e-4


@pytest.mark.parametrize("method", ["split-step", "etdrk4"])
def test_the_default_is_accurate(method):
    initial = np.stack([default().draw_one(0, 0, index) for index in range(64)])
    solution, exact = (
        default(method=one).solve(initial)["n256/final_velocity"] for one in (method, "cole-hopf")
    )
    assert relative_errors(solution, exact).max() <= default().settings.accuracy == 1e-7
