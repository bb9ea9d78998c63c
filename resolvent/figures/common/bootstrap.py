"""Intervals of 95 % of a mean or a median error, over test samples (by bootstrap) and seeds (by Student's t).

Errors are positive and skewed: a few samples are far harder than the others. A percentile interval of their
mean is then too short at its upper end, so the logarithm of the mean is studentised (Efron and Tibshirani
1993, chapter 12; Hall 1992, section 3.5). Of a median the percentile interval is good enough.
docs/statistics.md has how often the intervals contain the truth.
"""

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from resolvent.figures.common.intervals import (
    TAIL,
    Interval,
    as_matrix,
    remainder_variance,
    seed_distance,
    student,
    with_seeds,
)

REPLICATES = 4000
SEED = 20210531  # any fixed number: the same result files give the same interval
ROUNDING = 1e-9
SMALLEST_VARIANCE = 1e-20  # relative; below it a replicate has drawn one sample again and again


def mean_interval(errors: np.ndarray) -> Interval:
    """Return the interval of the mean of `errors`, shape (seeds, samples) or (samples,)."""
    errors = as_matrix(errors)
    mean, by_seed, by_sample = errors.mean(), errors.mean(axis=1), errors.mean(axis=0)
    if by_sample.size == 1:
        return Interval(float(mean), np.nan, np.nan)
    variance = by_sample.var(ddof=1) / by_sample.size
    # Seeds bring the remainder with them: it must not count twice.
    share = np.sqrt(max(0.0, 1 - remainder_variance(errors) / variance)) if variance else 0.0
    if by_seed.min() <= 0:  # no logarithm
        distance = share * student(by_sample.size - 1) * np.sqrt(variance)
        distance = np.hypot(distance, seed_distance(by_seed))
        return Interval(float(mean), float(mean - distance), float(mean + distance))
    below, above = _studentised(by_sample / mean)
    return with_seeds(mean, share * below, share * above, by_seed)


def median_interval(errors: np.ndarray) -> Interval:
    """Return the interval of the median of `errors`, of all of them at once; shapes as of `mean_interval`."""
    errors = as_matrix(errors)
    samples = errors.shape[1]
    median, by_seed = float(np.median(errors)), np.median(errors, axis=1)
    if samples == 1:
        return Interval(median, np.nan, np.nan)
    ascending, weights = np.sort(errors, axis=None), _weights(samples)

    def shares(rank: int) -> np.ndarray:
        """Return, for each replicate, which part of its errors is not above the error of this rank."""
        return weights @ (errors <= ascending[rank]).mean(axis=0)

    ranks = range(errors.size)
    low = ascending[bisect_left(ranks, TAIL, key=lambda rank: (shares(rank) > 0.5 - ROUNDING).mean())]
    high = ascending[bisect_left(ranks, 1 - TAIL, key=lambda rank: (shares(rank) > 0.5 + ROUNDING).mean())]
    if min(by_seed.min(), low) <= 0:  # no logarithm
        spread = seed_distance(by_seed)
        low, high = median - np.hypot(median - low, spread), median + np.hypot(high - median, spread)
        return Interval(median, float(low), float(high))
    return with_seeds(median, np.log(median / low), np.log(high / median), by_seed)


@dataclass(frozen=True)
class Scatter:
    """Scatter of means over test samples around the truth, in logarithms: ends of intervals of 95 %.

    below, above          of the mean of all samples, downwards and upwards.
    few_below, few_above  how far the mean of a few other samples may lie below and above the true mean.
    """

    below: float
    above: float
    few_below: float
    few_above: float


def scatter(errors: np.ndarray, few: int) -> Scatter:
    """Return how the mean of errors (samples,) of one network scatters, and the mean of `few` like them.

    The few are drawn from these errors with replacement.
    """
    mean = errors.mean()
    drawn = np.random.default_rng(SEED).choice(errors / mean, size=(REPLICATES, few)).mean(axis=1)
    low, high = np.quantile(np.log(drawn), [TAIL, 1 - TAIL])
    return Scatter(*_studentised(errors / mean), few_below=float(-low), few_above=float(high))


def ratio_to_reported(means: np.ndarray, scatters: list[Scatter], reported: float) -> Interval:
    """Return the ratio of our mean error to a reported one, whose test samples and seed are not at hand.

    means, scatters  of each of our seeds, all tested on the same samples; `few` was the number of samples
                     behind the reported number.

    The reported number is taken to scatter as ours do: over its few test samples and, where we have several
    seeds, over seeds, of which it is one (hence 1 + 1/seeds). With one seed the interval speaks of these two
    networks. Squares of distances add up (Zou and Donner 2008). docs/statistics.md has the coverage.
    """
    seeds, value = len(means), float(np.mean(means)) / reported
    spread = 0.0
    if seeds > 1:
        spread = student(seeds - 1) * np.log(means).std(ddof=1) * np.sqrt(1 + 1 / seeds)
    of = {name: float(np.mean([getattr(one, name) for one in scatters])) for name in vars(scatters[0])}
    low = np.sqrt(of["below"] ** 2 + of["few_below"] ** 2 + spread**2)
    high = np.sqrt(of["above"] ** 2 + of["few_above"] ** 2 + spread**2)
    return Interval(value, float(value * np.exp(-low)), float(value * np.exp(high)))


def _studentised(values: np.ndarray) -> tuple[float, float]:
    """Return how far the ends lie below and above the logarithm of the mean of `values`, whose mean is 1.

    They are those of the studentised bootstrap, but never nearer than Student's t has them: of a few samples
    the bootstrap knows too little.
    """
    samples = values.size
    error = values.std(ddof=1) / np.sqrt(samples)
    if error == 0:
        return 0.0, 0.0
    weights = _weights(samples)
    means = weights @ values
    variances = weights @ values**2 - means**2
    usable = (means > 0) & (variances > SMALLEST_VARIANCE)
    if not usable.any():  # they differ by rounding
        return (student(samples - 1) * error,) * 2
    errors = np.sqrt(variances[usable] / (samples - 1)) / means[usable]
    low, high = np.quantile(np.log(means[usable]) / errors, [TAIL, 1 - TAIL])
    return max(high, student(samples - 1)) * error, max(-low, student(samples - 1)) * error


@lru_cache(maxsize=4)
def _weights(count: int) -> np.ndarray:
    """Return how often each of `count` items is drawn in each replicate, as a share of the draws."""
    generator = np.random.default_rng(SEED)
    return generator.multinomial(count, np.full(count, 1 / count), size=REPLICATES) / count
