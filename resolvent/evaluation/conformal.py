"""Balls and bands around predictions that hold the target as often as they state: split conformal prediction.

Errors of samples that nothing was fitted to are exchangeable with that of the next sample of the
distribution. The ⌈(n + 1) level⌉-th smallest of n of them is therefore at least the next with a probability
of at least the level, whatever operator and distribution, and of at most level + 1/(n + 1) where errors
differ. That is of samples and calibrations together, not of each sample, and of no other distribution.

Sources: Vovk, Gammerman and Shafer 2005, Algorithmic Learning in a Random World; Lei et al. 2018, J. Amer.
Statist. Assoc. 113, 1094, whose section 5.2 has scores over an estimate of their size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from resolvent.common.errors import EvaluationError
from resolvent.common.norms import square_norm
from resolvent.solvers.common.grid import AnyGrid


@dataclass(frozen=True)
class Calibration:
    """What was learned from the errors of `count` samples.

    level   how often a ball holds its target, and a point of a band the target's value there.
    radius  of the ball, ‖target - prediction‖ / ‖prediction‖ in the L² norm; over the scatter where `scaled`.
    band    half the width of the band, in the shape of a target.
    scaled  whether the radius is proportional to the scatter under symmetries.
    """

    level: float
    count: int
    radius: float
    band: np.ndarray
    scaled: bool = False

    def radii(self, scatter: np.ndarray | float = 1.0) -> np.ndarray | float:
        """Return the radius of the ball of each sample, relative: (samples,) where it is scaled.

        scatter  of the predictions, as `TrainedRun.predict` certifies it: needed where it is scaled.
        """
        return self.radius * scatter if self.scaled else self.radius


def calibrated(
    prediction: np.ndarray,
    target: np.ndarray,
    grid: AnyGrid,
    level: float = 0.9,
    scatter: np.ndarray | None = None,
) -> Calibration:
    """Return the calibration by samples that the operator has not seen.

    prediction, target  (samples, [channels,] ...space);  scatter  (samples,), relative.

    Raises an EvaluationError where the level is not between 0 and 1, or takes more samples.
    """
    if not 0 < level < 1:
        raise EvaluationError(f"level must be between 0 and 1, got {level}")
    count = len(prediction)
    rank = math.ceil((count + 1) * level)
    if rank > count:
        least = math.ceil(level / (1 - level))
        raise EvaluationError(f"level {level:g} takes {least} samples or more, got {count}")
    off = prediction - target
    size = np.sqrt(square_norm(off, grid.weights) / square_norm(prediction, grid.weights))
    scores = size if scatter is None else size / scatter
    band = np.partition(abs(off), rank - 1, axis=0)[rank - 1]
    return Calibration(level, count, float(np.sort(scores)[rank - 1]), band, scatter is not None)
