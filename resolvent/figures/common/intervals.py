"""95 % confidence intervals of means, medians and ratios of errors, over test samples and seeds.

The errors of a model are a matrix (seeds, samples). All seeds are tested on the same samples, so the design
is crossed: up to a constant, the logarithm of an error is the sum of a seed effect, a sample effect and a
remainder, with random seeds and samples. The spread between few seeds is estimated poorly, so its part of an
interval uses quantiles of Student's t instead of the normal distribution. With one seed, an interval covers
only the test samples, not the variation between seeds.

Errors are positive and skewed: a few samples are much harder than the others. The upper end of a percentile
interval of the mean is then too low, so the logarithm of the mean is studentised (Efron and Tibshirani 1993,
chapter 12; Hall 1992, section 3.5). For a median, the percentile interval is adequate. For more than `MOST`
samples, groups of neighbouring samples are resampled, which are as independent as samples.

Two models are compared by geometric means of the ratios of their errors on the same samples. A hard sample is
hard for every model, so ratios are known more precisely than means, and the logarithm of a ratio is nearly
normal. Samples are paired; seeds are not, because equal seeds of two models are unrelated. An error of zero
has no logarithm: values and intervals are then NaN.

docs/statistics.md has the measured coverage of the intervals, and the rate of equal models called worse.
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
SEED = 20210531  # fixed, so the same result files give the same intervals
MOST = 4096  # largest number of resampled samples or groups: 131 MB of weights
ROUNDING = 1e-9
SMALLEST_VARIANCE = 1e-20  # relative; below it a replicate consists of one repeated sample
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


def remainder_variance(values: np.ndarray) -> float:
    """Return the share of the remainder in the variance of the mean of `values`, (seeds, samples)."""
    seeds, samples = values.shape
    if min(seeds, samples) == 1:
        return 0.0
    remainder = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    return float((remainder**2).sum() / ((seeds - 1) * (samples - 1)) / values.size)


def seed_distance(by_seed: np.ndarray) -> float:
    """Return the half-width of an interval of the mean over seeds; 0 for one seed."""
    seeds = len(by_seed)
    return student(seeds - 1) * by_seed.std(ddof=1) / np.sqrt(seeds) if seeds > 1 else 0.0


def with_seeds(value: float, below: float, above: float, by_seed: np.ndarray) -> Interval:
    """Return an interval around a positive `value` that includes the spread between seeds.

    below, above  distances from the value to the ends of the interval over samples, in logarithms.
    by_seed       the positive statistic of each seed.
    Squares of the distances over samples and over seeds are added. The sum has at least the nominal coverage,
    whichever distance is larger (Banerjee 1960; Zou and Donner 2008).
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
    # The spread between seeds includes the remainder, which must not be counted twice.
    share = np.sqrt(max(0.0, 1 - remainder_variance(errors) / variance)) if variance else 0.0
    if by_seed.min() <= 0:  # no logarithm
        distance = share * student(by_sample.size - 1) * np.sqrt(variance)
        distance = np.hypot(distance, seed_distance(by_seed))
        return Interval(float(mean), float(mean - distance), float(mean + distance))
    below, above = _studentised(by_sample / mean)
    return with_seeds(mean, share * below, share * above, by_seed)


def median_interval(errors: np.ndarray) -> Interval:
    """Return the interval of the median of all `errors`; shapes as in `mean_interval`."""
    errors = as_matrix(errors)
    samples = errors.shape[1]
    median, by_seed = float(np.median(errors)), np.median(errors, axis=1)
    if samples == 1:
        return Interval(median, np.nan, np.nan)
    ascending, weights = np.sort(errors, axis=None), _weights(len(_grouped(errors[0])))

    def shares(rank: int) -> np.ndarray:
        """Return for each replicate the fraction of its errors up to the error with this rank."""
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
    """Scatter of means over test samples around the truth, in logarithms, as ends of 95 % intervals."""

    below: float  # lower end for the mean of all samples
    above: float
    few_below: float  # distance of the mean of a few other samples below the true mean
    few_above: float


def scatter(errors: np.ndarray, few: int) -> Scatter:
    """Return the scatter of the mean of one network's errors (samples,), and of the mean of `few` errors.

    The few errors are drawn from `errors` with replacement.
    """
    mean = errors.mean()
    drawn = np.random.default_rng(SEED).choice(errors / mean, size=(REPLICATES, few)).mean(axis=1)
    low, high = np.quantile(np.log(drawn), [TAIL, 1 - TAIL])
    return Scatter(*_studentised(errors / mean), few_below=float(-low), few_above=float(high))


def ratio_to_reported(means: np.ndarray, scatters: list[Scatter], reported: float) -> Interval:
    """Return the ratio of our mean error to a reported mean error with unknown test samples and seed.

    means, scatters  of each of our seeds, tested on the same samples; `few` was the number of test samples of
                     the reported number.
    The reported number is assumed to scatter as ours: over its few test samples and, if we have several
    seeds, over seeds, as one more seed (hence 1 + 1/seeds). With one seed, the interval applies to the two
    networks only. Squares of distances are added (Zou and Donner 2008). docs/statistics.md has the coverage.
    """
    seeds, value, spread = len(means), float(np.mean(means)) / reported, 0.0
    if seeds > 1:
        spread = student(seeds - 1) * np.log(means).std(ddof=1) * np.sqrt(1 + 1 / seeds)
    of = {name: float(np.mean([getattr(one, name) for one in scatters])) for name in vars(scatters[0])}
    low = np.sqrt(of["below"] ** 2 + of["few_below"] ** 2 + spread**2)
    high = np.sqrt(of["above"] ** 2 + of["few_above"] ** 2 + spread**2)
    return Interval(value, float(value * np.exp(-low)), float(value * np.exp(high)))


def _studentised(values: np.ndarray) -> tuple[float, float]:
    """Return distances of the ends below and above the logarithm of the mean of `values`, which have mean 1.

    They come from the studentised bootstrap, but are at least those of Student's t: the bootstrap is
    unreliable for few samples.
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
    """Return values (samples,) unchanged or, for more than `MOST`, the means of groups of neighbours."""
    size = -(-values.size // MOST)
    return values if size == 1 else values[: values.size // size * size].reshape(-1, size).mean(axis=1)


@lru_cache(maxsize=4)
def _weights(count: int) -> np.ndarray:
    """Return the fraction of draws of each of `count` items in each replicate."""
    generator = np.random.default_rng(SEED)
    return generator.multinomial(count, np.full(count, 1 / count), size=REPLICATES) / count


def resampled_means(errors: np.ndarray, number: int) -> np.ndarray:
    """Return the mean of errors (seeds, samples), then that of each replicate: (1 + REPLICATES,).

    Arrays with as many samples are resampled alike; the spread between seeds follows Student's t, drawn
    separately for each `number`.
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
    """Return the geometric mean of ratios (seeds, samples) of one model's errors.

    The divisors are its errors on another grid, or those of a baseline, which has no seeds.
    """
    ratios = as_matrix(ratios)
    if not ((ratios > 0) & (ratios < np.inf)).all():
        return UNKNOWN
    logarithms, samples = np.log(ratios), ratios.shape[1]
    value = np.exp(logarithms.mean())
    if samples == 1:
        return Interval(float(value), np.nan, np.nan)
    variance = logarithms.mean(axis=0).var(ddof=1) / samples
    distance = student(samples - 1) * np.sqrt(max(0.0, variance - remainder_variance(logarithms)))
    return with_seeds(value, distance, distance, np.exp(logarithms.mean(axis=1)))


def paired_ratio(errors: np.ndarray, reference: np.ndarray) -> Interval:
    """Return the geometric mean of errors / reference, for two models chosen in advance.

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
    The best model has the lowest geometric mean. It is chosen from the same errors, so the intervals hold for
    all pairs of models simultaneously (Tukey), and therefore for comparisons with the best (Hsu 1984). If the
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


@dataclass(frozen=True)
class _Contest:
    """Several models on the same samples: differences and variances of mean logarithms of errors."""

    gap: np.ndarray  # (models, models), mean of the row's model minus the column's
    samples: np.ndarray  # (models, models), variance of these differences over the samples
    own: np.ndarray  # (models,), variance of a model's mean over its seeds; as `pooled` for one seed
    pooled: np.ndarray  # (models,), pooled variance of all models; 0 if all models have one seed
    degrees: np.ndarray  # (models,), degrees of freedom of `own`
    pooled_degrees: int  # of `pooled`; 0 if all models have one seed
    sample_degrees: int  # of `samples`

    @classmethod
    def of(cls, rows: list[np.ndarray]) -> "_Contest | None":
        """Return the contest of errors (seeds, samples), or None if an error is not positive."""
        rows = [as_matrix(row) for row in rows]
        samples = rows[0].shape[1]
        for row in rows:
            if row.shape[1] != samples:
                raise ResultError(f"errors of {samples} and of {row.shape[1]} samples cannot be paired")
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
            # The spread between seeds includes the remainder, which must not be counted twice.
            known = np.diag(covariance) - [remainder_variance(row) for row in logarithms]
            over_samples = np.maximum(0.0, np.add.outer(known, known) - 2 * covariance)
        gap = np.subtract.outer(means, means)
        return cls(gap, over_samples, own, pooled, degrees, pooled_degrees, samples - 1)


@lru_cache
def studentised_range(models: int, degrees: int) -> float:
    """Return the 95 % quantile of the studentised range of `models` means, over √2 (Tukey)."""
    if degrees < 1:
        return np.nan
    from scipy.stats import studentized_range  # imported here because that takes as long as a report

    return float(studentized_range.ppf(LEVEL, models, degrees)) / np.sqrt(2)
