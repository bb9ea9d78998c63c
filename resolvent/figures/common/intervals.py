"""95 % confidence intervals of means, medians and ratios of mean errors, over test samples and seeds.

The errors of a model are a matrix (seeds, samples). All seeds are tested on the same samples, so the design
is crossed: up to a constant, an error relative to the mean is the sum of a seed effect, a sample effect and a
remainder, with random seeds and samples. The spread between few seeds is estimated poorly, so its part of an
interval uses quantiles of Student's t instead of the normal distribution. With one seed, an interval covers
only the test samples, not the variation between seeds.

Errors are positive and skewed: a few samples are much harder than the others, so a mean is more often too
low than too high. Student's interval is therefore lengthened in the direction of the skewness, as in Johnson
(1978). Every end has a bound: n positive numbers have a standard error of at most their mean and a skewness
of at most the square root of n, so the upper end of an interval over 30 samples or more is at most
1 + `student` + `LEAN`, or 7.1, times the mean. One sample that is a thousand times harder cannot exceed it.

Two models are compared by the ratio of their mean errors on the same samples: the means in the tables. A hard
sample is hard for every model, so ratios are known more precisely than means. Samples are paired; seeds are
not, because equal seeds of two models are unrelated. A mean of zero has no ratio: values and intervals are
then NaN.

docs/statistics.md has the measured coverage of the intervals, and the rate of equal models called worse.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from resolvent.figures.common.errors import ResultError

LEVEL = 0.95
TAIL = (1 - LEVEL) / 2
SEED = 20210531  # fixed, so the same result files give the same intervals
# Standard errors added per unit of skewness / √samples. Johnson's first-order term is (1 + 2 t²) / 6, about
# 1.5, for the true skewness, which few samples of a heavy tail underestimate.
LEAN = 4
LEAN_OF_A_RATIO = 2  # of differences of two models, in both directions
# Smallest number of samples whose interval lies between the smallest and the largest: the median of a
# distribution is outside of the range of six samples in 3 % of the draws, of five in 6 %.
WITHIN_RANGE = 6
ROUNDING = 1e-12  # relative to the mean; smaller differences of errors are rounding
SEEDS_TO_RANK = 3  # with fewer, the spread between seeds is unreliable


@dataclass(frozen=True)
class Interval:
    """A statistic of errors and the ends of its interval, which are NaN for one sample."""

    value: float
    low: float
    high: float
    sample: float = np.nan  # index of the worst error, if it is that

    @property
    def known(self) -> bool:
        return not np.isnan(self.value)  # every seed may have diverged


UNKNOWN = Interval(np.nan, np.nan, np.nan)


def as_matrix(errors: np.ndarray) -> np.ndarray:
    """Return errors, (seeds, samples) or (samples,) of one seed, as an array (seeds, samples).

    Raises `ResultError` for any other shape, and for an empty array.
    """
    errors = np.atleast_2d(np.asarray(errors, dtype=float))
    if errors.ndim != 2 or errors.size == 0:
        raise ResultError(f"errors must have shape (seeds, samples), not {errors.shape}")
    return errors


def student(degrees: float) -> float:
    """Return the upper quantile of Student's t for an interval of 95 %."""
    return -float(scipy.special.stdtrit(degrees, TAIL))


def share_interval(count: int, total: int) -> Interval:
    """Return the share `count` of `total` outcomes, with its exact interval (Clopper and Pearson 1934)."""
    low = scipy.special.betaincinv(count, total - count + 1, TAIL) if count else 0.0
    high = scipy.special.betaincinv(count + 1, total - count, 1 - TAIL) if count < total else 1.0
    return Interval(count / total, float(low), float(high))


def remainder_variance(values: np.ndarray) -> float:
    """Return the share of the remainder in the variance of the mean of `values`, (seeds, samples)."""
    seeds, samples = values.shape
    if min(seeds, samples) == 1:
        return 0.0
    remainder = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    return float((remainder**2).sum() / ((seeds - 1) * (samples - 1)) / values.size)


def seed_distance(by_seed: np.ndarray, more: int = 0) -> float:
    """Return the half-width, in logarithms, of an interval of a mean over seeds; 0 for one seed.

    by_seed  the statistic of each seed.
    more     1 for the difference of that mean and one more seed.
    """
    seeds = len(by_seed)
    if seeds == 1:
        return 0.0
    errors = student(seeds - 1) * np.sqrt(1 / seeds + more)
    # The standard deviation of k positive numbers is at most √k times their mean.
    largest = float(np.log1p(errors * np.sqrt(seeds)))
    if by_seed.min() <= 0:  # no logarithm
        return largest
    return min(float(errors * np.log(by_seed).std(ddof=1)), largest)


def sample_distances(values: np.ndarray) -> tuple[float, float]:
    """Return the distances of the ends of an interval below and above the mean of `values`, (samples,).

    They are Student's, and longer in the direction in which the values are skewed (Johnson 1978).
    """
    samples, centred = values.size, values - values.mean()
    variance = (centred**2).mean()
    if variance <= ROUNDING**2:
        return 0.0, 0.0
    error, quantile = np.sqrt(variance / (samples - 1)), student(samples - 1)
    lean = LEAN * (centred**3).mean() / variance**1.5 / np.sqrt(samples)
    return float((quantile + max(0, -lean)) * error), float((quantile + max(0, lean)) * error)


def skewness(by_sample: np.ndarray) -> np.ndarray:
    """Return |skewness| / √samples of all differences of two rows of `by_sample`, (models, models)."""
    models, samples = by_sample.shape
    skew = np.zeros((models, models))
    for row, values in enumerate(by_sample):
        difference = values - by_sample
        difference -= difference.mean(axis=1, keepdims=True)
        deviation = np.sqrt((difference**2).mean(axis=1))
        third = abs((difference**3).mean(axis=1))
        skew[row] = np.divide(third, deviation**3, out=np.zeros(models), where=deviation > ROUNDING)
    return skew / np.sqrt(samples)


def mean_distances(relative: np.ndarray) -> tuple[float, float]:
    """Return `sample_distances` of errors (samples,) with mean 1, in logarithms, within their range."""
    below, above = sample_distances(relative)
    above = float(np.log1p(above))
    if relative.size < WITHIN_RANGE:
        return below, above
    with np.errstate(divide="ignore"):
        lowest, highest = np.log([relative.min(), relative.max()])
    return float(min(below, max(0, -lowest))), float(min(above, max(0, highest)))


def with_seeds(value: float, below: float, above: float, by_seed: np.ndarray) -> Interval:
    """Return an interval around a positive `value` that includes the spread between seeds.

    below, above  distances from the value to the ends of the interval over samples, in logarithms.
    by_seed       the statistic of each seed.
    Squares of the distances over samples and over seeds are added. The sum has at least the nominal coverage,
    whichever distance is larger (Banerjee 1960; Zou and Donner 2008).
    """
    below, above = np.hypot((below, above), seed_distance(by_seed))
    return Interval(float(value), float(value * np.exp(-below)), float(value * np.exp(above)))


def mean_interval(errors: np.ndarray) -> Interval:
    """Return the interval of the mean of `errors`, shape (seeds, samples) or (samples,)."""
    errors = as_matrix(errors)
    mean = float(errors.mean())
    if errors.shape[1] == 1:
        return Interval(mean, np.nan, np.nan)
    if mean == 0:
        return Interval(0.0, 0.0, 0.0)
    relative = errors / mean
    by_sample = relative.mean(axis=0)
    variance = by_sample.var(ddof=1) / by_sample.size
    # The spread between seeds includes the remainder, which must not be counted twice.
    share = np.sqrt(max(0.0, 1 - remainder_variance(relative) / variance)) if variance else 0.0
    below, above = mean_distances(by_sample)
    return with_seeds(mean, share * below, share * above, relative.mean(axis=1))


def median_interval(errors: np.ndarray) -> Interval:
    """Return the interval of the median of all `errors`; shapes as in `mean_interval`.

    Its ends over samples are the quantiles of the errors at the ends of an interval of the share of errors up
    to the median (Woodruff 1952).
    """
    errors = as_matrix(errors)
    median, samples = float(np.median(errors)), errors.shape[1]
    if samples == 1:
        return Interval(median, np.nan, np.nan)
    shares = (errors <= median).mean(axis=0)
    distance = min(0.5, student(samples - 1) * shares.std(ddof=1) / np.sqrt(samples))
    low = float(np.quantile(errors, 0.5 - distance, method="lower"))
    high = float(np.quantile(errors, 0.5 + distance, method="higher"))
    if median == 0:
        return Interval(median, low, high)
    with np.errstate(divide="ignore"):
        below, above = np.log([median / low if low else np.inf, high / median])
    return with_seeds(median, below, above, np.median(errors, axis=1))


def ratio_of_means(errors: np.ndarray, reference: np.ndarray) -> Interval:
    """Return the ratio of mean errors of the same seeds in two conditions, or of a model and a baseline.

    errors     (seeds, samples).
    reference  the errors of the same seeds, or (samples,) of a baseline, which has no seeds; same samples.
    """
    errors, reference = as_matrix(errors), as_matrix(reference)
    means = errors.mean(), reference.mean()
    if not (min(means) > 0 and np.isfinite(means).all()):
        return UNKNOWN
    value, difference = float(means[0] / means[1]), errors / means[0] - reference / means[1]
    seeds, samples = difference.shape
    if samples == 1:
        return Interval(value, np.nan, np.nan)
    by_sample, by_seed = difference.mean(axis=0), difference.mean(axis=1)
    variance = by_sample.var(ddof=1) / samples
    share = np.sqrt(max(0.0, 1 - remainder_variance(difference) / variance)) if variance else 0.0
    spread = student(seeds - 1) * by_seed.std(ddof=1) / np.sqrt(seeds) if seeds > 1 else 0.0
    below, above = np.hypot(share * np.array(sample_distances(by_sample)), spread)
    return Interval(value, float(value / (1 + below)), float(value * (1 + above)))


def paired_ratio(errors: np.ndarray, reference: np.ndarray) -> Interval:
    """Return the ratio of the mean errors of two models chosen in advance.

    errors, reference  (seeds, samples), tested on the same samples in the same order.
    The ends use Student's t with the degrees of freedom of Satterthwaite (1946). Raises `ResultError` for
    different numbers of samples.
    """
    found = _Contest.of([errors, reference])
    if found is None:
        return UNKNOWN
    rest = found.samples[0, 1]
    variance = found.own.sum() + rest
    distance = 0.0 if variance == 0 else np.nan
    if variance > 0:
        shares = (found.own**2 / found.degrees).sum() + rest**2 / found.sample_degrees
        distance = student(variance**2 / shares) * np.sqrt(variance)
    return Interval(*(float(np.exp(found.gap[0, 1] + end)) for end in (0.0, -distance, distance)))


def ratios_to_best_other(rows: list[np.ndarray]) -> list[Interval]:
    """Return for each model the ratio of its errors to the errors of the best other model.

    rows  errors (seeds, samples) of each model, tested on the same samples in the same order.
    The best model has the lowest mean error. It is chosen from the same errors, so the intervals hold for all
    pairs of models simultaneously (Tukey), and therefore for comparisons with the best (Hsu 1984). If the
    lower end is above 1, the model is worse than the best; if the upper end is below 1, it is the best. The
    spread between seeds is the larger of the model's spread and the pooled spread of all models, because a
    few seeds may be close by chance. The parts over seeds and over samples are added as in `with_seeds`.
    Raises `ResultError` for different numbers of samples.
    """
    found, count = _Contest.of(rows), len(rows)
    if found is None:
        return [UNKNOWN] * count
    distances = studentised_range(count, found.sample_degrees) ** 2 * found.samples
    if found.pooled_degrees:
        spread = np.maximum(found.own, found.pooled)
        over_seeds = studentised_range(count, found.pooled_degrees) ** 2
        distances = distances + over_seeds * np.add.outer(spread, spread)
    distances = np.sqrt(distances)
    intervals = []
    for model in range(count):
        others = np.arange(count) != model
        gap, distance = found.gap[model, others], distances[model, others]
        ends = np.exp([gap.max(), (gap - distance).max(), (gap + distance).max()])
        intervals.append(Interval(*map(float, ends)))
    return intervals


def differing_means(rows: list[np.ndarray]) -> np.ndarray:
    """Return for each pair of models whether their mean errors differ by more than chance, (models, models).

    rows  errors (samples,) of each model, tested on the same samples in the same order.
    The intervals of the ratios hold for all pairs simultaneously (Tukey). If a mean is zero, no pair differs.
    Raises `ResultError` for different numbers of samples.
    """
    contest = _Contest.of(rows)
    if contest is None:
        return np.zeros((len(rows),) * 2, bool)
    return abs(contest.gap) > studentised_range(len(rows), contest.sample_degrees) * np.sqrt(contest.samples)


@dataclass(frozen=True)
class _Contest:
    """Several models on the same samples: logarithms of their mean errors, and variances of these."""

    gap: np.ndarray  # (models, models), logarithm of the row's mean over the column's
    samples: np.ndarray  # (models, models), variance of these over the samples, raised for skewness
    own: np.ndarray  # (models,), variance of a model's mean over its seeds; as `pooled` for one seed
    pooled: np.ndarray  # (models,), pooled variance of all models; 0 if all models have one seed
    degrees: np.ndarray  # (models,), degrees of freedom of `own`
    pooled_degrees: int  # of `pooled`; 0 if all models have one seed
    sample_degrees: int  # of `samples`

    @classmethod
    def of(cls, rows: list[np.ndarray]) -> "_Contest | None":
        """Return the contest of errors (seeds, samples), or None if a mean is not positive and finite.

        The variance of the logarithm of a mean is that of the errors relative to this mean.
        """
        rows = [as_matrix(row) for row in rows]
        samples = rows[0].shape[1]
        for row in rows:
            if row.shape[1] != samples:
                raise ResultError(f"errors of {samples} and of {row.shape[1]} samples cannot be paired")
        means = np.array([row.mean() for row in rows])
        if not (means.min() > 0 and np.isfinite(means).all()):
            return None
        relative = [row / mean for row, mean in zip(rows, means, strict=True)]
        seeds = np.array([len(row) for row in rows])
        squares = np.array([((row.mean(axis=1) - 1) ** 2).sum() for row in relative])
        pooled_degrees = int((seeds - 1).sum())
        pooled = squares.sum() / max(pooled_degrees, 1) / seeds
        own = np.where(seeds > 1, squares / np.maximum(seeds - 1, 1) / seeds, pooled)
        degrees = np.where(seeds > 1, seeds - 1, max(pooled_degrees, 1))
        by_sample = np.stack([row.mean(axis=0) for row in relative])
        over_samples = np.full((len(rows),) * 2, np.nan)
        if samples > 1:
            covariance = np.cov(by_sample) / samples
            # The spread between seeds includes the remainder, which must not be counted twice.
            known = np.diag(covariance) - [remainder_variance(row) for row in relative]
            over_samples = np.maximum(0.0, np.add.outer(known, known) - 2 * covariance)
            over_samples *= (1 + LEAN_OF_A_RATIO * skewness(by_sample) / student(samples - 1)) ** 2
        gap = np.subtract.outer(np.log(means), np.log(means))
        return cls(gap, over_samples, own, pooled, degrees, pooled_degrees, samples - 1)


@lru_cache
def studentised_range(models: int, degrees: int) -> float:
    """Return the 95 % quantile of the studentised range of `models` means, over √2 (Tukey)."""
    if degrees < 1:
        return np.nan
    from scipy.stats import studentized_range  # imported here because that takes as long as a report

    return float(studentized_range.ppf(LEVEL, models, degrees)) / np.sqrt(2)
