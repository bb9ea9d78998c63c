"""The relative L2 error, the one measure of stored data and of predictions."""

from __future__ import annotations

import numpy as np


def relative_l2(prediction: np.ndarray, target: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return ‖prediction - target‖ / ‖target‖ of each sample, (samples, ...) → (samples,).

    The squares of all values of a sample are summed, over channels too. `weights` are those of a quadrature
    on the grid, of any shape that broadcasts against a sample; without them every value counts alike. A
    target that is zero everywhere gives inf, or NaN where the prediction is zero too.

    Raises
    ------
    ValueError
        When prediction and target differ in shape.
    """
    if prediction.shape != target.shape:
        raise ValueError(f"the prediction has shape {prediction.shape}, its target {target.shape}")
    difference = prediction - target
    if weights is not None:
        root = np.sqrt(weights)
        difference, target = root * difference, root * target
    with np.errstate(divide="ignore", invalid="ignore"):
        return _norms(difference) / _norms(target)


def _norms(values: np.ndarray) -> np.ndarray:
    return np.linalg.norm(values.reshape(len(values), -1), axis=1)
