"""Yardsticks are computed, not assumed."""

import numpy as np
from training_fixtures import rough_samples, smooth_samples

from training.yardsticks import LABELS, yardsticks


class ExactTask:
    """A task whose classical solves return what they are given, so that errors are known."""

    def solve_on_grid(self, values):
        return 2 * values

    def solve_interpolated(self, values):
        return 3 * values


def test_every_yardstick_has_a_row_per_sample_and_a_cost():
    train, test = smooth_samples(8), smooth_samples(4, seed=1)
    errors, costs = yardsticks(train, test, ExactTask())
    assert set(errors["yardstick"]) == set(costs) == set(LABELS) - {"constant_coefficient"}
    assert (errors.groupby("yardstick").size() == 4).all()
    assert all(cost["seconds_per_sample"] > 0 and cost["label"] for cost in costs.values())

    def expected(prediction):
        return np.linalg.norm(prediction - test.targets, axis=1) / np.linalg.norm(test.targets, axis=1)

    for name, prediction in {
        "identity": test.inputs,
        "mean_predictor": np.broadcast_to(train.targets.mean(0), test.targets.shape),
        "coarse_solve": 2 * test.inputs,
        "interpolation_oracle": 3 * test.inputs,
    }.items():
        measured = errors.loc[errors["yardstick"] == name, "relative_l2"]
        np.testing.assert_allclose(measured, expected(prediction), rtol=1e-12)


def test_a_coefficient_is_no_answer_itself():
    class CoefficientTask(ExactTask):
        def solve_constant(self, values):
            return 4 * values

    train, test = rough_samples(8), rough_samples(4, seed=1)
    errors, costs = yardsticks(train, test, CoefficientTask())
    assert set(costs) == set(LABELS) - {"identity"}
    measured = errors.loc[errors["yardstick"] == "constant_coefficient", "relative_l2"]
    squares = [
        np.sum(test.grid.weights * values**2, axis=(1, 2))
        for values in (4 * test.inputs - test.targets, test.targets)
    ]
    expected = np.sqrt(squares[0] / squares[1])
    np.testing.assert_allclose(measured, expected, rtol=1e-12)
