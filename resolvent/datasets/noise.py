"""Measurement noise with independent draws for training and test (Cao 2021, eq. 23)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from resolvent.common.moments import Moments
from resolvent.datasets.storage.layout import SPLITS

_STREAM = 0x6E6F697365  # separates the random numbers of noise from those of samples


def pointwise_standard_deviation(blocks: Iterable[np.ndarray]) -> np.ndarray:
    """Return the unit of noise, the standard deviation over all blocks: (samples, ...) → (...)."""
    moments = Moments()
    for values in blocks:
        moments.add(len(values), values.mean(axis=0, dtype=np.float64), values.var(axis=0, dtype=np.float64))
    return np.sqrt(moments.variance)


@dataclass(frozen=True)
class Noise:
    """Noise of one level on the functions of a dataset.

    level               ε ≥ 0: 0.01 is one per cent of the standard deviation.
    standard_deviation  pointwise standard deviation of the training inputs, also used for other splits
                        (`pointwise_standard_deviation`).
    seed                seed of the dataset.
    realisation         number of the independent draw for each sample.
    """

    level: float
    standard_deviation: np.ndarray
    seed: int
    realisation: int = 0

    def added(self, values: np.ndarray, split: str, indices: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return values + level · standard_deviation · ξ, with ξ standard normal at every point and sample.

        `values` (samples, ...) are the samples `indices` of `split`. The draw depends only on (seed, split,
        index, realisation), not on the batch or the level (another level scales the same noise). Training and
        test samples never share a draw. Raises `ValueError` for a negative level.
        """
        if self.level < 0:
            raise ValueError(f"the noise level must not be negative, got {self.level}")
        noisy, number = values.astype(np.float64), SPLITS.index(split)
        for row, index in zip(range(len(noisy)), indices, strict=True):
            key = np.random.SeedSequence(self.seed, spawn_key=(_STREAM, number, int(index), self.realisation))
            draw = np.random.Generator(np.random.Philox(key)).standard_normal(values.shape[1:])
            noisy[row] += self.level * self.standard_deviation * draw
        return noisy
