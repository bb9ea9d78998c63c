"""Intervals of 95 % of means, medians and ratios of errors, over test samples and seeds.

The errors of one model are a matrix (seeds, samples). Every seed is tested on the same samples, so the
design is crossed: the logarithm of an error is, up to a constant, the sum of an effect of the seed, an effect
of the sample, and a remainder. Seeds and samples are both random. A handful of seeds estimates the spread
between seeds badly, so its part of an interval has the quantiles of Student's t, not of the normal
distribution. With one seed an interval speaks of the test samples only: it does not know how another seed
would have ended.

Errors are positive and skewed: a few samples are far harder than the others. A percentile interval of their
mean is then too short at its upper end, so the logarithm of the mean is studentised (Efron and Tibshirani
1993, chapter 12; Hall 1992, section 3.5). Of a median the percentile interval is good enough. Of more than
MOST samples not single ones are drawn, but groups of neighbours, which are independent as samples are.

Two models are compared by the ratios of their errors, sample by sample: geometric means. A hard sample is
hard for every model, so that a ratio on the same sample is far better known than two means; and the logarithm
of a ratio is nearly normal where errors are not. Samples are paired; seeds are not, because a seed of one
model has nothing to do with the equally numbered seed of another. An error of zero has no logarithm: the
intervals and values are then NaN.

docs/statistics.md has how often the intervals contain the truth, and how often a model is called worse than
one that it equals.
"""

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from resolvent.figures.common.errors import ResultError

LEVEL = 0.95
TAIL = (1 - LEVEL) / 2
REPLICATES = 4000
SEED = 20210531  # any fixed number: the same result files give the same interval
MOST = 4096  # samples, or groups of them, that are drawn: 131 MB of weights
ROUNDING = 1e-9
SMALLEST_VARIANCE = 1e-20  # relative; below it a replicate has drawn one sample again and again
SEEDS_TO_RANK = 3  # with fewer, the spread between seeds is a guess


@dataclass(frozen=True)
class Interval:
    """A statistic of errors, and the two ends of its interval; NaN where there is one sample only."""

    value: float
    low: float
    high: float


UNKNOWN = Interval(np.nan, np.nan, np.nan)


def as_matrix(errors: np.ndarray) -> np.ndarray:
    """Return errors as an array (seeds, samples); errors of one seed may have the shape (samples,).

    Raises a ResultError for any other shape, and for an array without values.
    """
    errors = np.atleast_2d(np.asarray(errors, dtype=float))
    if errors.ndim != 2 or errors.size == 0:
        raise ResultError(f"errors must have shape (seeds, samples), not {errors.shape}")
    return errors


def student(degrees: float) -> float:
    """Return the upper quantile of Student's t for an interval of 95 %."""
    return -float(scipy.special.stdtrit(degrees, TAIL))


def remainder_variance(values: np.ndarray) -> float:
    """Return the share of the remainder in the variance of the mean of `values`, shape (seeds, samples).

    The remainder is what neither the seed nor the sample explains. One seed cannot show it: 0.
    """
    seeds, samples = values.shape
    if min(seeds, samples) == 1:
        return 0.0
    remainder = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    return float((remainder**2).sum() / ((seeds - 1) * (samples - 1)) / values.size)


def seed_distance(by_seed: np.ndarray) -> float:
    """Return the distance of the ends of an interval over seeds from their mean; 0 with one seed."""
    seeds = len(by_seed)
    return student(seeds - 1) * by_seed.std(ddof=1) / np.sqrt(seeds) if seeds > 1 else 0.0


def with_seeds(value: float, below: float, above: float, by_seed: np.ndarray) -> Interval:
    """Return an interval around a positive `value` that takes in the spread between seeds.

    below, above  distances of the ends over the samples from the value, in logarithms.
    by_seed       the statistic of each seed, positive.

    The squares of the distances over samples and over seeds add up. Such a sum covers the truth at least as
    often as it states, whichever of the two is the larger (Banerjee 1960; Zou and Donner 2008).
    """
    spread = seed_distance(np.log(by_seed))
    below, above = np.hypot(below, spread), np.hypot(above, spread)
    return Interval(float(value), float(value * np.exp(-below)), float(value * np.exp(above)))


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
    ascending, weights = np.sort(errors, axis=None), _weights(len(_grouped(errors[0])))

    def shares(rank: int) -> np.ndarray:
        """Return, for each replicate, which part of its errors is not above the error of this rank."""
        return weights @ _grouped((errors <= ascending[rank]).mean(axis=0))

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
    """Scatter of means over test samples around the truth, in logarithms: ends of intervals of 95 %."""

    below: float  # of the mean of all samples, downwards
    above: float
    few_below: float  # how far the mean of a few other samples may lie below the true mean
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
    if samples > MOST:
        values = _grouped(values)
        values, samples = values / values.mean(), values.size
    weights = _weights(samples)
    means = weights @ values
    variances = weights @ values**2 - means**2
    usable = (means > 0) & (variances > SMALLEST_VARIANCE)
    if not usable.any():  # they differ by rounding
        return (student(samples - 1) * error,) * 2
    errors = np.sqrt(variances[usable] / (samples - 1)) / means[usable]
    low, high = np.quantile(np.log(means[usable]) / errors, [TAIL, 1 - TAIL])
    return max(high, student(samples - 1)) * error, max(-low, student(samples - 1)) * error


def _grouped(values: np.ndarray) -> np.ndarray:
    """Return values (samples,) as they are, or of more than MOST the means of whole groups of neighbours."""
    size = -(-values.size // MOST)
    return values if size == 1 else values[: values.size // size * size].reshape(-1, size).mean(axis=1)


@lru_cache(maxsize=4)
def _weights(count: int) -> np.ndarray:
    """Return how often each of `count` items is drawn in each replicate, as a share of the draws."""
    generator = np.random.default_rng(SEED)
    return generator.multinomial(count, np.full(count, 1 / count), size=REPLICATES) / count


def resampled_means(errors: np.ndarray, number: int) -> np.ndarray:
    """Return the mean of errors (seeds, samples), then that of each replicate: (1 + REPLICATES,).

    In a replicate the samples are drawn, the same for all that were tested on as many. The spread between
    seeds is Student's, drawn anew for each `number`.
    """
    errors = as_matrix(errors)
    by_seed, by_sample = errors.mean(axis=1), _grouped(errors.mean(axis=0))
    means = _weights(len(by_sample)) @ by_sample
    if (seeds := len(by_seed)) > 1:
        drawn = np.random.default_rng([SEED, number]).standard_t(seeds - 1, REPLICATES)
        spread = np.log(by_seed).std(ddof=1) / np.sqrt(seeds)
        means = means * np.exp(np.clip(drawn * spread, -50, 50))
    return np.concatenate([[errors.mean()], means])


def geometric_mean(ratios: np.ndarray) -> Interval:
    """Return the geometric mean of ratios (seeds, samples) of one model's errors, as on two grids."""
    ratios = as_matrix(ratios)
    if not (ratios > 0).all():
        return UNKNOWN
    logarithms = np.log(ratios)
    samples = ratios.shape[1]
    value = np.exp(logarithms.mean())
    if samples == 1:
        return Interval(float(value), np.nan, np.nan)
    variance = logarithms.mean(axis=0).var(ddof=1) / samples
    distance = student(samples - 1) * np.sqrt(max(0.0, variance - remainder_variance(logarithms)))
    return with_seeds(value, distance, distance, np.exp(logarithms.mean(axis=1)))


def paired_ratio(errors: np.ndarray, reference: np.ndarray) -> Interval:
    """Return the geometric mean of errors / reference, of two models that were chosen beforehand.

    errors, reference  (seeds, samples), tested on the same samples in the same order.

    The ends are Student's, with the degrees of freedom of Satterthwaite (1946). Raises a ResultError for
    different numbers of samples.
    """
    found = _Contest.of([errors, reference])
    if found is None:
        return UNKNOWN
    seeds, rest = found.own.sum(), found.samples[0, 1]
    variance = seeds + rest
    if not variance > 0:
        return _interval(found.gap[0, 1], 0.0 if variance == 0 else np.nan)
    shares = (found.own**2 / found.degrees).sum() + rest**2 / found.sample_degrees
    return _interval(found.gap[0, 1], student(variance**2 / shares) * np.sqrt(variance))


def ratios_to_best_other(rows: list[np.ndarray]) -> list[Interval]:
    """Return, for each of several models, its errors over those of the best of all the others.

    rows  errors (seeds, samples) of each model, tested on the same samples in the same order.

    The best is the one with the lowest geometric mean. It is chosen from the same errors, and the intervals
    allow for that: they hold for all pairs of models at once (Tukey), and so for the comparisons with the
    best (Hsu 1984). A lower end above 1 says that the model is worse than the best; an upper end below 1,
    that it is the best. The spread between seeds is the larger of a model's own and that of all models
    together, since a few seeds may lie near each other by chance. The parts over seeds and over samples add
    up as in `with_seeds`. Raises a ResultError for different numbers of samples.
    """
    found = _Contest.of(rows)
    if found is None:
        return [UNKNOWN] * len(rows)
    count = len(rows)
    distances = studentised_range(count, found.sample_degrees) ** 2 * found.samples
    if found.pooled_degrees:
        spread = np.maximum(found.own, found.pooled)
        distances = distances + studentised_range(count, found.pooled_degrees) ** 2 * np.add.outer(
            spread, spread
        )
    distances = np.sqrt(distances)
    intervals = []
    for model in range(count):
        others = np.arange(count) != model
        gap, distance = found.gap[model, others], distances[model, others]
        ends = np.exp([gap.max(), (gap - distance).max(), (gap + distance).max()])
        intervals.append(Interval(*map(float, ends)))
    return intervals


@dataclass(frozen=True)
class _Contest:
    """Several models on the same samples, in logarithms of errors: differences, and variances of means."""

    gap: np.ndarray  # (models, models), mean of the row's model less that of the column's
    samples: np.ndarray  # (models, models), variance of these differences over the samples
    # (models,), variance of a model's mean over its own seeds; where it has one seed, that of all models
    # together; 0 where all have one.
    own: np.ndarray
    pooled: np.ndarray  # (models,), the same from the spread of all models together
    degrees: np.ndarray  # (models,), degrees of freedom of `own`
    pooled_degrees: int  # of `pooled`; 0 where all have one seed
    sample_degrees: int  # of `samples`

    @classmethod
    def of(cls, rows: list[np.ndarray]) -> "_Contest | None":
        """Return the contest of errors (seeds, samples); None where one of them is not above zero."""
        rows = [as_matrix(row) for row in rows]
        samples = rows[0].shape[1]
        for row in rows:
            if row.shape[1] != samples:
                raise ResultError(f"{samples} samples cannot be paired with {row.shape[1]}")
        if not all((row > 0).all() for row in rows):
            return None
        logarithms = [np.log(row) for row in rows]
        seeds = np.array([len(row) for row in rows])
        squares = np.array([((row.mean(axis=1) - row.mean()) ** 2).sum() for row in logarithms])
        pooled_degrees = int((seeds - 1).sum())
        pooled = squares.sum() / max(pooled_degrees, 1) / seeds
        own = np.where(seeds > 1, squares / np.maximum(seeds - 1, 1) / seeds, pooled)
        degrees = np.where(seeds > 1, seeds - 1, max(pooled_degrees, 1))
        by_sample = np.stack([row.mean(axis=0) for row in logarithms])
        means = by_sample.mean(axis=1)
        over_samples = np.full((len(rows),) * 2, np.nan)
        if samples > 1:
            covariance = np.cov(by_sample) / samples
            # Seeds bring the remainder with them: it must not count twice.
            known = np.diag(covariance) - [remainder_variance(row) for row in logarithms]
            over_samples = np.maximum(0.0, np.add.outer(known, known) - 2 * covariance)
        gap = np.subtract.outer(means, means)
        return cls(gap, over_samples, own, pooled, degrees, pooled_degrees, samples - 1)


@lru_cache
def studentised_range(models: int, degrees: int) -> float:
    """Return how many standard errors apart two of these models' means may lie by chance (Tukey)."""
    if degrees < 1:
        return np.nan
    from scipy.stats import studentized_range  # takes as long to import as all else of a report's page

    return float(studentized_range.ppf(LEVEL, models, degrees)) / np.sqrt(2)


def _interval(middle: float, distance: float) -> Interval:
    return Interval(*(float(np.exp(middle + end)) for end in (0.0, -distance, distance)))
