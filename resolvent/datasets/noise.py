"""Measurement noise whose draws never repeat between training and test (Cao 2021, eq. 23)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from resolvent.common.moments import Moments
from resolvent.datasets.storage.layout import SPLITS

_STREAM = 0x6E6F697365  # keeps noise apart from the draws of the samples themselves


def pointwise_standard_deviation(blocks: Iterable[np.ndarray]) -> np.ndarray:
    """Compute the unit of noise: the standard deviation over training samples, (samples, ...) → (...).

    They come in blocks.
    """
    moments = Moments()
    for values in blocks:
        moments.add(len(values), values.mean(axis=0, dtype=np.float64), values.var(axis=0, dtype=np.float64))
    return np.sqrt(moments.variance)


@dataclass(frozen=True)
class Noise:
    """Noise of one level on all the functions of a dataset.

    level               ε ≥ 0: 0.01 is one per cent of the standard deviation.
    standard_deviation  of the training inputs, for every split, at each point of the grid on which they are
                        measured (`pointwise_standard_deviation`).
    seed                the dataset's.
    realisation         which of the independent draws of a sample.
    """

    level: float
    standard_deviation: np.ndarray
    seed: int
    realisation: int = 0

    def added(self, values: np.ndarray, split: str, indices: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return values + level · standard_deviation · ξ, ξ standard normal at every point of every sample.

        `values` are samples `indices` of `split`, (samples, ...). The draw depends on (seed, split, index,
        realisation) alone: not on the batch, not on the level (two levels are the same noise, scaled), and no
        test sample ever meets a draw of training.
        """
        if self.level < 0:
            raise ValueError(f"the noise level must not be negative, got {self.level}")
        noisy, number = values.astype(np.float64), SPLITS.index(split)
        for row, index in zip(range(len(noisy)), indices, strict=True):
            key = np.random.SeedSequence(self.seed, spawn_key=(_STREAM, number, int(index), self.realisation))
            draw = np.random.Generator(np.random.Philox(key)).standard_normal(values.shape[1:])
            noisy[row] += self.level * self.standard_deviation * draw
        return noisy
