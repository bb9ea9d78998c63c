"""The error of a prediction, defined once: per sample, relative, in any dimension.

Predictions and targets are as `resolvent.datasets.loading.Samples` has them; the squares of several
functions add up. Units are physical but for `standardised_relative_l2`, which the papers that report it
cannot be told without.
"""

from __future__ import annotations

import numpy as np

from resolvent.datasets.gradients import gradient
from resolvent.solvers.common.grid import Grid, Nodes


def relative_l2(prediction: np.ndarray, target: np.ndarray, grid: Grid | Nodes) -> np.ndarray:
    """‖p - u‖/‖u‖ of each sample with the grid's quadrature; (samples, ...) → (samples,)."""
    return np.sqrt(_square(prediction - target, grid) / _square(target, grid))


def relative_h1(prediction: np.ndarray, target: np.ndarray, grid: Grid | Nodes) -> np.ndarray:
    """The same in the H1 norm, ‖v‖² + ‖∇v‖², with the grid's own derivative."""
    return np.sqrt(_square_h1(prediction - target, grid) / _square_h1(target, grid))


def standardised_relative_l2(
    prediction: np.ndarray, target: np.ndarray, grid: Grid | Nodes, mean: np.ndarray, deviation: np.ndarray
) -> np.ndarray:
    """The relative L2 error of (u - mean)/deviation, one mean and one deviation for each channel (channels,).

    This is the error that Calvello et al. 2024 report: larger than that of u where the mean of u is not zero.
    """
    shape = (-1,) + (1,) * grid.dimension
    channels = (len(target), -1, *target.shape[-grid.dimension :])
    scaled = (
        (v.reshape(channels) - mean.reshape(shape)) / deviation.reshape(shape) for v in (prediction, target)
    )
    return relative_l2(*scaled, grid)


def _square_h1(values: np.ndarray, grid: Grid | Nodes) -> np.ndarray:
    components = np.moveaxis(gradient(values, grid), 1, 0)
    return _square(values, grid) + sum(_square(component, grid) for component in components)


def _square(values: np.ndarray, grid: Grid | Nodes) -> np.ndarray:
    return np.sum(grid.weights * values**2, axis=tuple(range(1, values.ndim)))


METRICS = {"relative_l2": relative_l2, "relative_h1": relative_h1}
