"""Intervals of means, medians and ratios, by hand; their coverage is in test_statistics_coverage.py."""

import numpy as np
import pytest
from scipy import stats

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.intervals import (
    geometric_mean,
    mean_interval,
    median_interval,
    paired_ratio,
    ratios_to_best_other,
)

LADDER = np.exp(np.linspace(-1, 1, 40))  # samples from easy to hard
OF_BOTH = pytest.mark.parametrize("interval", [mean_interval, median_interval])


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


@OF_BOTH
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


@OF_BOTH
def test_one_sample_has_no_interval_and_equal_errors_one_without_width(interval):
    found = interval(np.array([[1.0], [3.0]]))
    assert found.value == 2.0
    assert np.isnan([found.low, found.high]).all()
    equal = interval(np.full((3, 10), 2e-3))
    assert (equal.low, equal.value, equal.high) == pytest.approx([2e-3] * 3)


@OF_BOTH
def test_errors_without_logarithms_have_an_interval_all_the_same(interval):
    found = interval(np.array([[0.0] * 20, [0.0] * 10 + [1.0] * 10]))
    assert found.low <= found.value <= found.high
    assert np.isfinite([found.low, found.high]).all()
    assert interval(np.zeros((2, 5))).high == 0


def test_a_median_of_two_values_drawn_alike_is_between_them():
    """A replicate of two samples has either twice, with probability 1/4 each, or both."""
    interval = median_interval(np.array([1.0, 3.0]))
    assert (interval.low, interval.value, interval.high) == pytest.approx((1.0, 2.0, 3.0))


@OF_BOTH
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


def noise(seeds=1, size=0.1, seed=0):
    return np.exp(size * np.random.default_rng(seed).normal(size=(seeds, LADDER.size)))


def test_one_seed_of_each_has_students_paired_interval_and_a_constant_ratio_none():
    found = paired_ratio(1.2 * LADDER, LADDER)
    assert (found.low, found.value, found.high) == pytest.approx((1.2, 1.2, 1.2))
    errors, reference = 1.1 * LADDER * noise(), LADDER
    logarithms = np.log(errors[0] / reference)
    expected = stats.t.interval(0.95, LADDER.size - 1, logarithms.mean(), stats.sem(logarithms))
    found = paired_ratio(errors, reference)
    assert (found.low, found.high) == pytest.approx(np.exp(expected))
    assert found.value == pytest.approx(np.exp(logarithms.mean()))


def test_where_only_seeds_differ_the_interval_is_that_of_welch():
    one, other = np.exp([0.1, 0.2, 0.6]), np.exp([0.0, -0.1])
    found = paired_ratio(np.outer(one, LADDER), np.outer(other, LADDER))
    expected = stats.ttest_ind(np.log(one), np.log(other), equal_var=False).confidence_interval(0.95)
    assert (np.log(found.low), np.log(found.high)) == pytest.approx((expected.low, expected.high))


def test_a_ratio_is_resolved_where_the_means_overlap():
    better, worse = LADDER, 1.05 * LADDER * noise()
    assert mean_interval(worse).low < mean_interval(better).high
    assert paired_ratio(worse, better).low > 1


def test_two_models_have_reciprocal_ratios():
    one, other = ratios_to_best_other([LADDER * noise(3), 1.1 * LADDER * noise(3, seed=1)])
    assert one.value == pytest.approx(1 / other.value)
    assert (one.low, one.high) == pytest.approx((1 / other.high, 1 / other.low))


def test_seeds_that_spread_hide_what_one_seed_seems_to_show():
    rows = [np.outer(np.exp([0.0, 0.2, 0.4]), LADDER), np.outer(np.exp([0.3, 0.1, 0.5]), LADDER)]
    assert ratios_to_best_other([row[0] for row in rows])[1].low > 1
    assert ratios_to_best_other(rows)[1].low < 1


def test_many_models_need_a_clearer_difference_than_two():
    rows = [LADDER * noise(3, seed=number) for number in range(12)]
    rows[0] = 0.7 * rows[0]
    two, many = ratios_to_best_other(rows[:2]), ratios_to_best_other(rows)
    assert np.log(many[1].value / many[1].low) > 1.2 * np.log(two[1].value / two[1].low)
    assert many[0].high < 1
    assert all(one.low > 1 for one in many[1:])


def test_seeds_alike_by_chance_do_not_make_a_model_certain():
    """Two models with equal seeds, a third whose seeds spread: its spread counts for all."""
    alike = [np.outer(np.ones(3), factor * LADDER) for factor in (1.0, 1.01)]
    spread = np.outer(np.exp([0.3, 0.6, 0.9]), LADDER)
    assert ratios_to_best_other(alike)[1].low > 1
    assert ratios_to_best_other([*alike, spread])[1].low < 1


def test_a_lone_seed_has_the_spread_of_the_others():
    three, one = LADDER * np.exp([[0.0], [0.2], [0.4]]), 1.3 * LADDER
    found = ratios_to_best_other([three, one])
    assert found[1].low < 1 < found[1].high
    assert paired_ratio(one, three).low < 1 < paired_ratio(one, three).high


def test_the_remainder_counts_once():
    """Neither seed nor sample explains anything: as many independent values as there are errors."""
    errors = noise(20, size=0.5)
    distance = np.log(geometric_mean(errors).high / geometric_mean(errors).value)
    assert distance == pytest.approx(stats.t.ppf(0.975, 19) * 0.5 / np.sqrt(errors.size), rel=0.4)


def test_an_error_of_zero_has_no_ratio():
    zero = LADDER * (LADDER[0] < LADDER)
    found = [paired_ratio(LADDER, zero), geometric_mean(zero), *ratios_to_best_other([zero, LADDER])]
    assert np.isnan([[one.value, one.low, one.high] for one in found]).all()


def test_one_sample_has_a_ratio_without_an_interval():
    for found in (paired_ratio([[2.0]], [[1.0]]), ratios_to_best_other([[2.0], [1.0]])[0]):
        assert found.value == pytest.approx(2.0)
        assert np.isnan([found.low, found.high]).all()


def test_other_shapes_and_unpaired_samples_are_refused():
    with pytest.raises(ResultError, match=r"not \(2, 2, 2\)"):
        mean_interval(np.ones((2, 2, 2)))
    with pytest.raises(ResultError, match="4 samples cannot be paired with 5"):
        paired_ratio(np.ones(4), np.ones(5))
