"""Measurement noise whose draws never repeat between training and test (Cao 2021, eq. 23)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from resolvent.datasets.storage.layout import SPLITS

_STREAM = 0x6E6F697365  # keeps noise apart from the draws of the samples themselves


def pointwise_deviation(training: np.ndarray) -> np.ndarray:
    """Standard deviation over training samples at each point, (samples, ...) → (...): the unit of noise."""
    return training.std(axis=0, dtype=np.float64)


def add_noise(
    values: np.ndarray,
    level: float,
    deviation: np.ndarray,
    seed: int,
    split: str,
    indices: list[int] | range,
    realisation: int = 0,
) -> np.ndarray:
    """values + level · deviation · ξ, with ξ standard normal at every point of every sample.

    The draw depends on (seed, split, index, realisation) alone: not on the batch, not on the level (two
    levels are the same noise, louder), and no test sample ever meets a draw of training.

    Parameters
    ----------
    values
        Samples `indices` of `split`, (samples, ...).
    level
        ε ≥ 0: 0.01 is one per cent of the training samples' pointwise standard deviation.
    deviation
        From `pointwise_deviation`, of the training split, for every split.
    """
    if level < 0:
        raise ValueError(f"the noise level must not be negative, got {level}")
    noisy = values.astype(np.float64)
    for row, index in zip(range(len(noisy)), indices, strict=True):
        key = np.random.SeedSequence(seed, spawn_key=(_STREAM, SPLITS.index(split), index, realisation))
        draw = np.random.Generator(np.random.Philox(key)).standard_normal(values.shape[1:])
        noisy[row] += level * deviation * draw
    return noisy


@dataclass(frozen=True)
class Noise:
    """Noise of one level on all the functions of a dataset.

    level        ε of `add_noise`.
    deviation    of the training inputs, at each point of the grid on which they are measured.
    seed         the dataset's.
    realisation  which of the independent draws of a sample.
    """

    level: float
    deviation: np.ndarray
    seed: int
    realisation: int = 0

    def added(self, values: np.ndarray, split: str) -> np.ndarray:
        """The first samples of `split`, (samples, ...), with noise."""
        members = range(len(values))
        return add_noise(values, self.level, self.deviation, self.seed, split, members, self.realisation)
