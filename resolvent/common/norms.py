"""The relative L2 error of samples: the one definition, for errors of models, of baselines and of solvers."""

from __future__ import annotations

import numpy as np


def relative_l2(prediction: np.ndarray, target: np.ndarray, weights: np.ndarray | float = 1.0) -> np.ndarray:
    """Return ‖prediction - target‖ / ‖target‖ of each sample, (samples, ...) → (samples,).

    `weights` of a quadrature broadcast against a sample (`Grid.weights`); without them every value counts
    alike. The squares of several channels add up. A target that is zero everywhere gives inf, or NaN where
    the prediction is zero too.

    Raises `ValueError` when prediction and target differ in shape.
    """
    if prediction.shape != target.shape:
        raise ValueError(f"the prediction has shape {prediction.shape}, its target {target.shape}")
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt(square_norm(prediction - target, weights) / square_norm(target, weights))


def square_norm(values: np.ndarray, weights: np.ndarray | float = 1.0) -> np.ndarray:
    """Return ‖u‖² of each sample in float64: (samples, ...) → (samples,)."""
    axes = tuple(range(1, values.ndim))
    return np.asarray(np.sum(weights * values**2, axis=axes, dtype=np.float64))
