"""95 % percentile bootstrap intervals of a mean or a median error, over seeds and test samples.

Errors of one row of a comparison are a matrix (seeds, samples): every seed is tested on the same samples, so
the design is crossed. A replicate draws seeds with replacement (when there are several), draws samples with
replacement, and averages the errors where the two meet. Two rows are compared on the *same* drawn samples:
an easy draw is easy for both, and the difference is far better resolved than the two means.

With one seed an interval speaks of the test samples only: it does not know how a second seed would end.
"""

from dataclasses import dataclass

import numpy as np

from resolvent.figures.common.errors import ResultError

REPLICATES = 4000
LEVEL = 0.95
MEDIAN_VALUES = 2**21  # errors times replicates that medians are taken of at once: 16 MB
SEED = 20210531  # any fixed number: the same result files give the same interval


@dataclass(frozen=True)
class Interval:
    """A mean, or a median, and the two ends of its interval."""

    mean: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """Whether a difference with this interval is resolved."""
        return self.low > 0 or self.high < 0


def mean_interval(errors: np.ndarray, *, seed: int = SEED) -> Interval:
    """The interval of the mean of `errors`, shape (seeds, samples) or (samples,)."""
    errors = _as_matrix(errors)
    generator = np.random.default_rng(seed)
    sample_weights = _weights(generator, errors.shape[1])
    return _percentiles(errors.mean(), _replicate_means(generator, errors, sample_weights))


def median_interval(errors: np.ndarray, *, seed: int = SEED) -> Interval:
    """The interval of the median of `errors`, of all of them at once; shapes as of `mean_interval`."""
    errors = _as_matrix(errors)
    generator = np.random.default_rng(seed)
    sample_weights = _weights(generator, errors.shape[1])
    seed_weights = _weights(generator, errors.shape[0])
    order = np.argsort(errors, axis=None)
    row, column = np.unravel_index(order, errors.shape)
    ascending = errors[row, column]
    replicates = [
        _weighted_medians(ascending, seed_weights[few][:, row] * sample_weights[few][:, column])
        for few in np.array_split(np.arange(REPLICATES), 1 + REPLICATES * errors.size // MEDIAN_VALUES)
    ]
    return _percentiles(np.median(errors), np.concatenate(replicates))


def paired_difference(errors: np.ndarray, chosen: np.ndarray, *, seed: int = SEED) -> Interval:
    """The interval of mean(errors) - mean(chosen), both tested on the same samples in the same order.

    Samples are drawn once for both rows; seeds are drawn for each, because a seed of one model has nothing
    to do with the equally numbered seed of another.
    """
    errors, chosen = _as_matrix(errors), _as_matrix(chosen)
    if errors.shape[1] != chosen.shape[1]:
        raise ResultError(f"{errors.shape[1]} samples cannot be paired with {chosen.shape[1]}")
    generator = np.random.default_rng(seed)
    sample_weights = _weights(generator, errors.shape[1])
    replicates = _replicate_means(generator, errors, sample_weights)
    replicates -= _replicate_means(generator, chosen, sample_weights)
    return _percentiles(errors.mean() - chosen.mean(), replicates)


def _as_matrix(errors: np.ndarray) -> np.ndarray:
    errors = np.atleast_2d(np.asarray(errors, dtype=float))
    if errors.ndim != 2 or errors.size == 0:
        raise ResultError(f"errors must have shape (seeds, samples), not {errors.shape}")
    return errors


def _weights(generator: np.random.Generator, count: int) -> np.ndarray:
    """How often each of `count` items is drawn in each replicate, as a share of the draws."""
    return generator.multinomial(count, np.full(count, 1 / count), size=REPLICATES) / count


def _replicate_means(
    generator: np.random.Generator, errors: np.ndarray, sample_weights: np.ndarray
) -> np.ndarray:
    seed_weights = _weights(generator, errors.shape[0])  # one seed: always drawn, weight 1
    return np.einsum("rn,rn->r", seed_weights @ errors, sample_weights)


def _weighted_medians(ascending: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The median of the values (count,) by each row of the weights (replicates, count).

    It lies between the two values in the middle where, as with an even number of them, there are two.
    """
    share = np.cumsum(weights, axis=1)
    lower, upper = ((share < half).sum(axis=1) for half in (0.5 - 1e-9, 0.5 + 1e-9))
    return (ascending[lower] + ascending[upper]) / 2


def _percentiles(mean: float, replicates: np.ndarray) -> Interval:
    tail = 50 * (1 - LEVEL)
    low, high = np.percentile(replicates, [tail, 100 - tail])
    return Interval(float(mean), float(low), float(high))
