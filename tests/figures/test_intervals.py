"""Intervals of means, medians and ratios, by hand; their coverage is in test_statistics_coverage.py."""

import tracemalloc

import numpy as np
import pytest
from scipy import stats

import resolvent.figures.common.intervals
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.intervals import (
    MOST,
    _weights,
    geometric_mean,
    mean_interval,
    median_interval,
    paired_ratio,
    ratios_to_best_other,
)

LADDER = np.exp(np.linspace(-1, 1, 40))  # samples from easy to hard
BOTH = pytest.mark.parametrize("interval", [mean_interval, median_interval])


def noise(seeds=1, size=0.1, seed=0):
    return np.exp(size * np.random.default_rng(seed).normal(size=(seeds, LADDER.size)))


def ends(found):
    return found.low, found.value, found.high


@pytest.mark.parametrize(
    ("interval", "errors", "value", "highest"),
    [
        (mean_interval, [[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]], 3.0, np.inf),
        (median_interval, [[1.0, 2.0, 3.0, 90.0], [3.0, 4.0, 5.0, 100.0]], 3.5, np.inf),  # of all at once
        (mean_interval, [[0.23456789571, 0.23456789368]], 0.234567894695, 0.2345680),  # rounding
    ],
)
def test_the_value_is_that_of_all_errors_and_a_unit_changes_nothing(interval, errors, value, highest):
    found, other = interval(np.array(errors)), interval(1e-3 * np.array(errors))
    assert found.value == pytest.approx(value)
    assert found.low < found.value < found.high < highest
    assert ends(found) == pytest.approx([1e3 * one for one in ends(other)])
    assert ends(found) == ends(interval(np.array(errors)))


def test_a_mean_of_skewed_errors_reaches_further_up_than_down():
    interval = mean_interval(np.exp(1.5 * np.random.default_rng(0).normal(size=60)))
    assert interval.high / interval.value > 1.02 * interval.value / interval.low


def test_few_samples_have_students_interval():
    distance = stats.t.ppf(0.975, 1) * 0.05 / 1.05
    found = mean_interval(np.array([1.0, 1.1]))
    assert ends(found) == pytest.approx(1.05 * np.exp([-distance, 0, distance]))


@BOTH
def test_one_sample_has_no_interval_and_equal_errors_one_without_width(interval):
    found = interval(np.array([[1.0], [3.0]]))
    assert found.value == 2.0
    assert np.isnan([found.low, found.high]).all()
    assert ends(interval(np.full((3, 10), 2e-3))) == pytest.approx([2e-3] * 3)


@BOTH
def test_errors_without_logarithms_have_an_interval_all_the_same(interval):
    found = interval(np.array([[0.0] * 20, [0.0] * 10 + [1.0] * 10]))
    assert found.low <= found.value <= found.high
    assert np.isfinite([found.low, found.high]).all()
    assert interval(np.zeros((2, 5))).high == 0


def test_a_median_of_two_values_drawn_alike_is_between_them():
    """A replicate of two samples has either twice, with probability 1/4 each, or both."""
    assert ends(median_interval(np.array([1.0, 3.0]))) == pytest.approx((1.0, 2.0, 3.0))


@BOTH
@pytest.mark.parametrize("logarithms", [(-0.2, 0.2), (-0.2, 0.0, 0.2)])
def test_spread_between_seeds_has_students_quantiles(interval, logarithms):
    """Seeds that are multiples of each other: the interval over samples, and Student's over the seeds."""
    seeds = len(logarithms)
    found = interval(np.outer(np.exp(logarithms), np.linspace(1, 1.0001, 50)))
    distance = stats.t.ppf(0.975, seeds - 1) * np.std(logarithms, ddof=1) / np.sqrt(seeds)
    assert np.log([found.value / found.low, found.high / found.value]) == pytest.approx(distance, rel=1e-2)


def test_one_seed_of_each_has_students_paired_interval():
    errors, reference = 1.1 * LADDER * noise(), LADDER
    logarithms = np.log(errors[0] / reference)
    expected = stats.t.interval(0.95, LADDER.size - 1, logarithms.mean(), stats.sem(logarithms))
    found = paired_ratio(errors, reference)
    assert np.log(ends(found)) == pytest.approx([expected[0], logarithms.mean(), expected[1]])
    assert ends(paired_ratio(1.2 * LADDER, LADDER)) == pytest.approx((1.2, 1.2, 1.2))


def test_where_only_seeds_differ_the_interval_is_that_of_welch():
    one, other = np.exp([0.1, 0.2, 0.6]), np.exp([0.0, -0.1])
    found = paired_ratio(np.outer(one, LADDER), np.outer(other, LADDER))
    expected = stats.ttest_ind(np.log(one), np.log(other), equal_var=False).confidence_interval(0.95)
    assert (np.log(found.low), np.log(found.high)) == pytest.approx((expected.low, expected.high))


def test_a_ratio_is_resolved_where_the_means_overlap():
    better, worse = LADDER, 1.05 * LADDER * noise()
    assert mean_interval(worse).low < mean_interval(better).high
    assert paired_ratio(worse, better).low > 1


def test_two_models_have_reciprocal_ratios_and_many_need_a_clearer_difference():
    rows = [LADDER * noise(3, seed=number) for number in range(12)]
    rows[0] = 0.7 * rows[0]
    (one, other), many = ratios_to_best_other(rows[:2]), ratios_to_best_other(rows)
    assert ends(one) == pytest.approx([1 / end for end in ends(other)[::-1]])
    assert np.log(many[1].value / many[1].low) > 1.2 * np.log(other.value / other.low)
    assert many[0].high < 1
    assert all(found.low > 1 for found in many[1:])


@pytest.mark.parametrize(
    ("seeds", "others"),  # logarithms of the seeds of a model, and of those of the models beside it
    [
        ([0.3, 0.1, 0.5], [[0.0, 0.2, 0.4]]),
        ([0.01] * 3, [[0.0] * 3, [0.3, 0.6, 0.9]]),  # alike by chance: the spread of the third counts for all
        ([0.26], [[0.0, 0.2, 0.4]]),  # a lone seed has the spread of the others
    ],
)
def test_seeds_that_spread_hide_what_one_seed_seems_to_show(seeds, others):
    rows = [np.outer(np.exp(one), LADDER) for one in (seeds, *others)]
    assert ratios_to_best_other([rows[0][0], rows[1][0]])[0].low > 1
    assert ratios_to_best_other(rows)[0].low < 1
    if len(seeds) == 1:
        assert paired_ratio(rows[0], rows[1]).low < 1 < paired_ratio(rows[0], rows[1]).high


def test_the_remainder_counts_once():
    """Neither seed nor sample explains anything: as many independent values as there are errors."""
    errors = noise(20, size=0.5)
    distance = np.log(geometric_mean(errors).high / geometric_mean(errors).value)
    assert distance == pytest.approx(stats.t.ppf(0.975, 19) * 0.5 / np.sqrt(errors.size), rel=0.4)


def test_an_error_of_zero_has_no_ratio_and_one_sample_no_interval():
    zero = LADDER * (LADDER[0] < LADDER)
    never = np.where(zero > 0, 1.0, np.inf)  # ratios to such errors
    found = [paired_ratio(LADDER, zero), *map(geometric_mean, (zero, never))]
    found += ratios_to_best_other([zero, LADDER])
    assert np.isnan([ends(one) for one in found]).all()
    for one in (paired_ratio([[2.0]], [[1.0]]), ratios_to_best_other([[2.0], [1.0]])[0]):
        assert one.value == pytest.approx(2.0)
        assert np.isnan([one.low, one.high]).all()


def test_other_shapes_and_unpaired_samples_are_refused():
    with pytest.raises(ResultError, match=r"must have shape \(seeds, samples\), not \(2, 2, 2\)"):
        mean_interval(np.ones((2, 2, 2)))
    with pytest.raises(ResultError, match="of 4 and of 5 samples cannot be paired"):
        paired_ratio(np.ones(4), np.ones(5))


@pytest.mark.parametrize(
    ("interval", "seeds"), [(mean_interval, 1), (median_interval, 1), (median_interval, 3)]
)
def test_groups_of_many_samples_have_the_interval_of_the_samples(interval, seeds, monkeypatch):
    """The ends differ by what those of 4,000 replicates scatter."""
    errors = np.exp(np.random.default_rng(0).standard_normal((seeds, 6001)))
    in_groups = interval(errors)
    monkeypatch.setattr(resolvent.figures.common.intervals, "MOST", 6001)
    one_by_one = interval(errors)
    assert in_groups.value == one_by_one.value
    assert in_groups != one_by_one
    for end in ("low", "high"):
        distances = [np.log(getattr(one, end) / one.value) for one in (in_groups, one_by_one)]
        np.testing.assert_allclose(*distances, rtol=0.1)


def test_memory_does_not_grow_with_many_samples():
    peaks = []
    for samples in (2 * MOST, 50 * MOST):  # in as many groups
        _weights.cache_clear()
        errors = np.random.default_rng(0).exponential(size=(1, samples))
        tracemalloc.start()
        mean_interval(errors)
        median_interval(errors)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 100 * 50 * MOST
