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
    return 1 + 0 * off, 1 + off


def test_over_200_splits_nine_of_ten_are_covered_and_fewer_of_another_distribution():
    random = np.random.default_rng(0)
    held, of_the_band, shifted = [], [], []
    for _ in range(200):
        found = calibrated(*errors(random, 100), GRID, 0.9)
        prediction, target = errors(random, 100)
        norms = relative_l2(target, prediction)
        held.append(np.mean(norms <= found.radius))
        of_the_band.append(np.mean(abs(target - prediction) <= found.band))
        shifted.append(np.mean(3 * norms <= found.radius))
    assert 0.88 < np.mean(held) < 0.92
    assert 0.88 < np.mean(of_the_band) < 0.92
    assert np.mean(shifted) < 0.75
    assert found.band.shape == (16,)


def test_a_level_that_takes_more_samples_is_refused():
    with pytest.raises(EvaluationError, match=r"level 0\.95 needs at least 19 samples, got 18"):
        calibrated(np.ones((18, 16)), np.zeros((18, 16)), GRID, 0.95)
    calibrated(np.ones((19, 16)), np.zeros((19, 16)), GRID, 0.95)
    with pytest.raises(EvaluationError, match=r"level 0\.9 needs at least 9 samples, got 8"):
        calibrated(np.ones((8, 16)), np.zeros((8, 16)), GRID)
    with pytest.raises(EvaluationError, match="level must be between 0 and 1, got 1"):
        calibrated(np.ones((18, 16)), np.zeros((18, 16)), GRID, 1.0)
