"""Intervals of means, medians and ratios, by hand; their coverage is in test_statistics_coverage.py."""

import numpy as np
import pytest
from scipy import stats

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.intervals import (
    LEAN,
    differing_means,
    mean_interval,
    median_interval,
    paired_ratio,
    ratio_of_means,
    ratios_to_best_other,
    student,
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
    assert ends(found) == pytest.approx([1.05 * np.exp(-distance), 1.05, 1.05 * (1 + distance)])


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


@pytest.mark.parametrize("seeds", [1, 2, 3, 10])
@pytest.mark.parametrize("samples", [30, 64, 1000])
@pytest.mark.parametrize("heavy", [0.0, 1.0, 10.0, 100.0])
def test_ends_have_bounds_whatever_the_errors(samples, seeds, heavy):
    """Also where the hardest sample or seed has errors 10³⁰⁰ times those of the easiest."""
    generator = np.random.default_rng(samples + seeds)
    errors = np.exp(
        heavy * generator.standard_normal((1, samples)) + heavy * generator.standard_normal((seeds, 1))
    )
    found = mean_interval(errors)
    over_samples = np.log1p(student(samples - 1) + LEAN)
    over_seeds = np.log1p(student(seeds - 1)) if seeds > 1 else 0.0
    assert 0 < found.low <= found.value <= found.high
    assert np.log(found.high / found.value) <= np.hypot(over_samples, over_seeds) + 1e-9
    if seeds == 1:
        assert errors.min() <= found.low <= found.high <= errors.max()
    middle = median_interval(errors)
    assert 0 < middle.low <= middle.value <= middle.high < np.inf
    other = np.exp(heavy * generator.standard_normal((seeds, samples)))
    for ratio in (*ratios_to_best_other([errors, other]), ratio_of_means(errors, other)):
        assert np.isfinite([ratio.low, ratio.high]).all()


def test_a_median_of_two_values_is_between_them():
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
    difference = errors[0] / errors.mean() - reference / reference.mean()
    skewness = abs(stats.skew(difference)) / np.sqrt(LADDER.size)
    distance = (stats.t.ppf(0.975, LADDER.size - 1) + 2 * skewness) * stats.sem(difference)
    found, value = paired_ratio(errors, reference), np.log(errors.mean() / reference.mean())
    assert np.log(ends(found)) == pytest.approx([value - distance, value, value + distance])
    assert ends(paired_ratio(1.2 * LADDER, LADDER)) == pytest.approx((1.2, 1.2, 1.2))


def test_where_only_seeds_differ_the_interval_is_that_of_welch():
    one, other = np.exp([0.1, 0.2, 0.6]), np.exp([0.0, -0.1])
    found = paired_ratio(np.outer(one, LADDER), np.outer(other, LADDER))
    relative = one / one.mean(), other / other.mean()
    expected = stats.ttest_ind(*relative, equal_var=False).confidence_interval(0.95)
    gap = np.log(one.mean() / other.mean())
    assert np.log([found.low, found.high]) == pytest.approx([gap + expected.low, gap + expected.high])


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


def test_means_differ_where_the_ratio_of_two_does_and_seldom_by_chance_among_many():
    worse = 1.1 * LADDER
    for size in (0.02, 0.2, 0.35, 0.5):
        errors = worse * noise(size=size)
        ratio = paired_ratio(errors, LADDER)
        assert differing_means([errors, LADDER])[0, 1] == (ratio.low > 1 or ratio.high < 1)
    generator = np.random.default_rng(0)
    equal = LADDER * np.exp(0.1 * generator.normal(size=(300, 8, LADDER.size)))
    assert np.mean([differing_means(list(rows)).any() for rows in equal]) < 0.08
    zero = np.zeros(LADDER.size)
    assert not differing_means([zero, LADDER, worse]).any()


def test_a_mean_of_zero_has_no_ratio_and_one_sample_no_interval():
    zero = np.zeros(LADDER.size)
    found = [paired_ratio(LADDER, zero), ratio_of_means(LADDER, zero), ratio_of_means(zero, LADDER)]
    found += ratios_to_best_other([zero, LADDER])
    assert np.isnan([ends(one) for one in found]).all()
    one_zero = LADDER * (LADDER[0] < LADDER)
    assert np.isfinite(ends(paired_ratio(LADDER, one_zero))).all()
    for one in (paired_ratio([[2.0]], [[1.0]]), ratios_to_best_other([[2.0], [1.0]])[0]):
        assert one.value == pytest.approx(2.0)
        assert np.isnan([one.low, one.high]).all()


def test_other_shapes_and_unpaired_samples_are_refused():
    with pytest.raises(ResultError, match=r"must have shape \(seeds, samples\), not \(2, 2, 2\)"):
        mean_interval(np.ones((2, 2, 2)))
    with pytest.raises(ResultError, match="of 4 and of 5 samples cannot be paired"):
        paired_ratio(np.ones(4), np.ones(5))
