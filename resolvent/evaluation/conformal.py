"""Split conformal prediction: balls and bands around predictions that contain the target with a given level.

The errors of n samples not used for training and the error of a new sample of the same distribution are
exchangeable. Therefore the ⌈(n + 1) level⌉-th smallest of the n errors is an upper bound of the new error
with a probability of at least the level, for any operator and distribution, and of at most
level + 1/(n + 1) if all errors differ. The probability is over samples and calibrations together; it does not
hold for each single sample, nor on another distribution.

Sources: Vovk, Gammerman and Shafer 2005, Algorithmic Learning in a Random World; Lei et al. 2018, J. Amer.
Statist. Assoc. 113, 1094.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from resolvent.common.errors import EvaluationError
from resolvent.common.norms import relative_l2
from resolvent.solvers.common.grid import AnyGrid


@dataclass(frozen=True)
class Calibration:
    """Calibration from the errors of `count` samples.

    level   probability that a ball contains the target, and that a point of a band contains its value there.
    radius  radius of the ball, ‖target - prediction‖ / ‖prediction‖ in L².
    band    half the width of the band, in the shape of a target.
    """

    level: float
    count: int
    radius: float
    band: np.ndarray


def rank_of(level: float, count: int) -> int:
    """Return the rank of the error, out of `count`, that is the bound. Raises as `calibrated`."""
    if not 0 < level < 1:
        raise EvaluationError(f"level must be between 0 and 1, got {level}")
    rank = math.ceil((count + 1) * level)
    if rank > count:
        least = math.ceil(level / (1 - level) - 1e-9)  # rounding must not ask for one more
        raise EvaluationError(f"level {level:g} needs at least {least} samples, got {count}")
    return rank


def calibrated(prediction: np.ndarray, target: np.ndarray, grid: AnyGrid, level: float = 0.9) -> Calibration:
    """Return the calibration from samples that were not used for training.

    prediction, target  (samples, [channels,] ...space).

    Raises `EvaluationError` if the level is not between 0 and 1, or needs more samples.
    """
    count = len(prediction)
    rank = rank_of(level, count)
    off = prediction - target
    size = relative_l2(target, prediction, grid.weights)
    band = np.partition(abs(off), rank - 1, axis=0)[rank - 1]
    return Calibration(level, count, float(np.sort(size)[rank - 1]), band)
