"""Relative L2 error of samples, the same for models, baselines and solvers."""

from __future__ import annotations

import numpy as np


def relative_l2(prediction: np.ndarray, target: np.ndarray, weights: np.ndarray | float = 1.0) -> np.ndarray:
    """Return ‖prediction - target‖ / ‖target‖ of each sample, (samples, ...) → (samples,).

    `weights` are quadrature weights that broadcast against a sample (`Grid.weights`); the default weights all
    values equally. Squares are summed over channels. A target of zeros gives inf, or NaN if the prediction
    is also zero.
    Raises `ValueError` if prediction and target differ in shape.
    """
    if prediction.shape != target.shape:
        raise ValueError(f"the prediction has shape {prediction.shape}, the target {target.shape}")
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt(square_norm(prediction - target, weights) / square_norm(target, weights))


def square_norm(values: np.ndarray, weights: np.ndarray | float = 1.0) -> np.ndarray:
    """Return ‖u‖² of each sample in float64: (samples, ...) → (samples,)."""
    axes = tuple(range(1, values.ndim))
    return np.asarray(np.sum(weights * values**2, axis=axes, dtype=np.float64))
