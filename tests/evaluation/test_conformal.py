"""Conformal balls and bands hold the target as often as they state, and say nothing elsewhere."""

import numpy as np
import pytest

from resolvent.common.errors import EvaluationError
from resolvent.common.norms import relative_l2
from resolvent.evaluation.conformal import calibrated
from resolvent.solvers.common.grid import Grid

GRID = Grid("periodic", 16)


def errors(random, count):
    """Predictions of size one and targets, whose relative distances differ by orders of magnitude."""
    sizes = np.exp(random.standard_normal(count))
    off = sizes[:, None] * random.standard_normal((count, GRID.points))
    return 1 + 0 * off, 1 + off, sizes


@pytest.mark.parametrize("scaled", [False, True])
def test_over_200_splits_nine_of_ten_are_covered_and_fewer_of_another_distribution(scaled):
    random = np.random.default_rng(0)
    held, of_the_band, shifted = [], [], []
    for _ in range(200):
        prediction, target, size = errors(random, 100)
        found = calibrated(prediction, target, GRID, 0.9, size if scaled else None)
        prediction, target, size = errors(random, 100)
        norms = relative_l2(target, prediction)
        held.append(np.mean(norms <= found.radii(size)))
        of_the_band.append(np.mean(abs(target - prediction) <= found.band))
        shifted.append(np.mean(3 * norms <= found.radii(size)))
    assert 0.88 < np.mean(held) < 0.92
    assert 0.88 < np.mean(of_the_band) < 0.92
    assert np.mean(shifted) < (0.5 if scaled else 0.75)


def test_a_scaled_ball_is_smaller_where_the_error_is():
    random = np.random.default_rng(1)
    prediction, target, size = errors(random, 400)
    plain, scaled = (calibrated(prediction, target, GRID, 0.9, given) for given in (None, size))
    assert np.median(scaled.radii(size)) < 0.5 * plain.radii()
    assert plain.band.shape == (16,)


def test_a_level_that_takes_more_samples_is_refused():
    with pytest.raises(EvaluationError, match=r"level 0\.95 needs at least 19 samples, got 18"):
        calibrated(np.ones((18, 16)), np.zeros((18, 16)), GRID, 0.95)
    calibrated(np.ones((19, 16)), np.zeros((19, 16)), GRID, 0.95)
    with pytest.raises(EvaluationError, match=r"level 0\.9 needs at least 9 samples, got 8"):
        calibrated(np.ones((8, 16)), np.zeros((8, 16)), GRID)
    with pytest.raises(EvaluationError, match="level must be between 0 and 1, got 1"):
        calibrated(np.ones((18, 16)), np.zeros((18, 16)), GRID, 1.0)
