"""Intervals contain what they should, as often as they say."""

import numpy as np
import pytest

from resolvent.figures.common.bootstrap import mean_interval, median_interval, paired_difference
from resolvent.figures.common.errors import ResultError


def test_the_mean_is_the_mean_and_the_interval_is_repeatable():
    errors = np.array([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]])
    interval = mean_interval(errors)
    assert interval.mean == pytest.approx(3.0)
    assert interval.low < 3.0 < interval.high
    assert interval == mean_interval(errors)


def test_equal_errors_have_no_width():
    interval = mean_interval(np.full((3, 10), 2e-3))
    assert (interval.low, interval.high) == (pytest.approx(2e-3), pytest.approx(2e-3))


def test_coverage_over_samples_is_about_95_percent():
    generator = np.random.default_rng(0)
    truth = np.exp(0.5**2 / 2)
    covered = 0
    for _ in range(100):
        interval = mean_interval(np.exp(0.5 * generator.normal(size=60)))
        covered += interval.low <= truth <= interval.high
    assert 0.88 <= covered / 100 <= 0.99  # percentile intervals of skewed data cover a little less


def test_the_median_is_of_all_errors_at_once():
    errors = np.array([[1.0, 2.0, 3.0, 90.0], [3.0, 4.0, 5.0, 100.0]])
    interval = median_interval(errors)
    assert interval.mean == pytest.approx(3.5)
    assert interval.low < 3.5 < interval.high < 100
    assert interval == median_interval(errors)
    assert median_interval(np.full(7, 2e-3)).high == pytest.approx(2e-3)


def test_a_median_of_two_values_drawn_alike_is_between_them():
    """A replicate of two samples has either twice, with probability 1/4 each, or both."""
    interval = median_interval(np.array([1.0, 3.0]))
    assert (interval.low, interval.mean, interval.high) == (1.0, 2.0, 3.0)


def test_coverage_of_the_median_is_about_95_percent():
    generator = np.random.default_rng(0)
    covered = 0
    for _ in range(100):
        interval = median_interval(np.exp(0.5 * generator.normal(size=60)))
        covered += interval.low <= 1.0 <= interval.high
    assert 0.88 <= covered / 100 <= 0.99


def test_spread_between_seeds_widens_the_interval():
    samples = np.linspace(1, 2, 50)
    apart = np.stack([samples, samples + 2, samples + 4])
    together = np.stack([samples + 2] * 3)
    width = [one.high - one.low for one in (mean_interval(apart), mean_interval(together))]
    assert width[0] > 3 * width[1]


def test_a_paired_difference_is_resolved_where_the_means_overlap():
    generator = np.random.default_rng(1)
    easy_or_hard = np.exp(generator.normal(size=100))
    better, worse = easy_or_hard, easy_or_hard + 0.02 + 0.01 * generator.normal(size=100)
    assert mean_interval(worse).low < mean_interval(better).high
    difference = paired_difference(worse, better)
    assert difference.excludes_zero
    assert difference.mean == pytest.approx(np.mean(worse - better))


def test_equal_rows_are_not_distinguished():
    generator = np.random.default_rng(2)
    one, other = generator.normal(5, 1, size=(2, 100))
    assert not paired_difference(one, other).excludes_zero


def test_unpaired_samples_are_refused():
    with pytest.raises(ResultError, match="4 samples cannot be paired with 5"):
        paired_difference(np.ones(4), np.ones(5))
