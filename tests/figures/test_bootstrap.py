"""Intervals of means and medians, by hand; their coverage is in test_statistics_coverage.py."""

import numpy as np
import pytest
from scipy import stats

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.intervals import mean_interval, median_interval


def skewed(samples=60, seeds=1, seed=0):
    return np.exp(np.random.default_rng(seed).normal(size=(seeds, samples)))


def test_errors_that_differ_by_rounding_have_an_interval():
    interval = mean_interval(np.array([0.23456789571, 0.23456789368]))
    assert interval.low < interval.value < interval.high < 0.2345680


@pytest.mark.parametrize(
    ("interval", "errors", "value"),
    [
        (mean_interval, [[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]], 3.0),
        (median_interval, [[1.0, 2.0, 3.0, 90.0], [3.0, 4.0, 5.0, 100.0]], 3.5),  # of all errors at once
    ],
)
def test_the_value_is_that_of_all_errors_and_the_interval_is_repeatable(interval, errors, value):
    found = interval(np.array(errors))
    assert found.value == pytest.approx(value)
    assert found.low < value < found.high
    assert found == interval(np.array(errors))


@pytest.mark.parametrize("interval", [mean_interval, median_interval])
@pytest.mark.parametrize("seeds", [1, 3])
def test_a_unit_changes_nothing(interval, seeds):
    errors = skewed(seeds=seeds)
    one, other = interval(errors), interval(1e-3 * errors)
    assert (1e3 * other.low, 1e3 * other.high) == pytest.approx((one.low, one.high))


def test_a_mean_of_skewed_errors_reaches_further_up_than_down():
    interval = mean_interval(skewed() ** 1.5)
    assert interval.high / interval.value > 1.02 * interval.value / interval.low


def test_few_samples_have_students_interval():
    low, high = 1.0, 1.1
    interval = mean_interval(np.array([low, high]))
    distance = stats.t.ppf(0.975, 1) * 0.05 / 1.05
    assert interval.low == pytest.approx(1.05 * np.exp(-distance))
    assert interval.high == pytest.approx(1.05 * np.exp(distance))


@pytest.mark.parametrize("interval", [mean_interval, median_interval])
def test_one_sample_has_no_interval_and_equal_errors_one_without_width(interval):
    found = interval(np.array([[1.0], [3.0]]))
    assert found.value == 2.0
    assert np.isnan([found.low, found.high]).all()
    equal = interval(np.full((3, 10), 2e-3))
    assert (equal.low, equal.value, equal.high) == pytest.approx([2e-3] * 3)


@pytest.mark.parametrize("interval", [mean_interval, median_interval])
def test_errors_without_logarithms_have_an_interval_all_the_same(interval):
    found = interval(np.array([[0.0] * 20, [0.0] * 10 + [1.0] * 10]))
    assert found.low <= found.value <= found.high
    assert np.isfinite([found.low, found.high]).all()
    assert interval(np.zeros((2, 5))).high == 0


def test_a_median_of_two_values_drawn_alike_is_between_them():
    """A replicate of two samples has either twice, with probability 1/4 each, or both."""
    interval = median_interval(np.array([1.0, 3.0]))
    assert (interval.low, interval.value, interval.high) == pytest.approx((1.0, 2.0, 3.0))


@pytest.mark.parametrize("interval", [mean_interval, median_interval])
def test_spread_between_seeds_has_students_quantiles(interval):
    """Seeds that are multiples of each other: the interval over samples, and Student's over the seeds."""
    factors = np.exp([-0.2, 0.0, 0.2])
    errors = np.outer(factors, np.linspace(1, 1.0001, 50))
    found = interval(errors)
    distance = stats.t.ppf(0.975, 2) * 0.2 / np.sqrt(3)
    assert np.log(found.high / found.value) == pytest.approx(distance, rel=1e-2)
    assert np.log(found.value / found.low) == pytest.approx(distance, rel=1e-2)


def test_a_third_seed_narrows_the_interval_manifold():
    errors = np.exp([[0.1], [-0.1], [0.0]]) * skewed(200)
    two, three = (mean_interval(errors[:number]) for number in (2, 3))
    assert np.log(two.high / two.low) > 2 * np.log(three.high / three.low)


def test_another_shape_is_refused():
    with pytest.raises(ResultError, match=r"must have shape \(seeds, samples\), not \(2, 2, 2\)"):
        mean_interval(np.ones((2, 2, 2)))
