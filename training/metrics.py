"""The error of a prediction, defined once: per sample, relative, in physical units, in any dimension."""

from __future__ import annotations

import numpy as np

from datasets.gradients import gradient
from solvers.grid import Grid


def relative_l2(prediction: np.ndarray, target: np.ndarray, grid: Grid) -> np.ndarray:
    """‖p - u‖/‖u‖ of each sample with the grid's quadrature; (samples, ...space) → (samples,)."""
    return np.sqrt(_square(prediction - target, grid) / _square(target, grid))


def relative_h1(prediction: np.ndarray, target: np.ndarray, grid: Grid) -> np.ndarray:
    """The same in the H1 norm, ‖v‖² + ‖∇v‖², with the grid's own derivative."""
    return np.sqrt(_square_h1(prediction - target, grid) / _square_h1(target, grid))


def _square_h1(values: np.ndarray, grid: Grid) -> np.ndarray:
    components = np.moveaxis(gradient(values, grid), 1, 0)
    return _square(values, grid) + sum(_square(component, grid) for component in components)


def _square(values: np.ndarray, grid: Grid) -> np.ndarray:
    space = tuple(range(-grid.dimension, 0))
    return np.sum(grid.weights * values**2, axis=space)


METRICS = {"relative_l2": relative_l2, "relative_h1": relative_h1}
