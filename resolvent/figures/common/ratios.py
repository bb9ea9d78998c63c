"""Models compared by the ratios of their errors, sample by sample: geometric means, with intervals of 95 %.

A hard sample is hard for every model, so that a ratio on the same sample is far better known than two means;
and the logarithm of a ratio is nearly normal where errors are not. Samples are paired; seeds are not, because
a seed of one model has nothing to do with the equally numbered seed of another.

An error of zero has no logarithm: the intervals and values are then NaN. docs/statistics.md has how often the
intervals contain the truth, and how often a model is called worse than one that it equals.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.intervals import (
    LEVEL,
    Interval,
    as_matrix,
    remainder_variance,
    student,
    with_seeds,
)

SEEDS_TO_RANK = 3  # with fewer, the spread between seeds is a guess
UNKNOWN = Interval(np.nan, np.nan, np.nan)


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
    up as in `intervals.with_seeds`. Raises a ResultError for different numbers of samples.
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
    """Several models on the same samples, in logarithms of errors: differences, and variances of means.

    gap             (models, models), mean of the row's model less that of the column's.
    samples         (models, models), variance of these differences over the samples.
    own             (models,), variance of a model's mean over its own seeds; where it has one seed, that of
                    all models together; 0 where all have one.
    pooled          (models,), the same from the spread of all models together.
    degrees         (models,), degrees of freedom of `own`.
    pooled_degrees  of `pooled`; 0 where all have one seed.
    sample_degrees  of `samples`.
    """

    gap: np.ndarray
    samples: np.ndarray
    own: np.ndarray
    pooled: np.ndarray
    degrees: np.ndarray
    pooled_degrees: int
    sample_degrees: int

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
