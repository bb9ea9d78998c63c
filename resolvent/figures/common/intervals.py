"""Intervals of 95 % over test samples and seeds: what means, medians and ratios of errors have in common.

The errors of one model are a matrix (seeds, samples). Every seed is tested on the same samples, so the
design is crossed: the logarithm of an error is, up to a constant, the sum of an effect of the seed, an effect
of the sample, and a remainder. Seeds and samples are both random. A handful of seeds estimates the spread
between seeds badly, so its part of an interval has the quantiles of Student's t, not of the normal
distribution.

With one seed an interval speaks of the test samples only: it does not know how another seed would have ended.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from resolvent.figures.common.errors import ResultError

LEVEL = 0.95
TAIL = (1 - LEVEL) / 2


@dataclass(frozen=True)
class Interval:
    """A statistic of errors, and the two ends of its interval; NaN where there is one sample only."""

    value: float
    low: float
    high: float


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
