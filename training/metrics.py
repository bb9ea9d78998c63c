"""The error of a prediction, defined once: per sample, relative, in physical units."""

from __future__ import annotations

import numpy as np

from solvers.grid import Grid


def relative_l2(prediction: np.ndarray, target: np.ndarray, grid: Grid) -> np.ndarray:
    """‖p - u‖/‖u‖ of each sample with the grid's quadrature; (samples, points) → (samples,)."""
    return np.sqrt(_square(prediction - target, grid) / _square(target, grid))


def relative_h1(prediction: np.ndarray, target: np.ndarray, grid: Grid) -> np.ndarray:
    """The same in the H1 norm, ‖v‖² + ‖v'‖², with the grid's own derivative."""
    difference = prediction - target
    above = _square(difference, grid) + _square(grid.derivative(difference), grid)
    return np.sqrt(above / (_square(target, grid) + _square(grid.derivative(target), grid)))


def _square(values: np.ndarray, grid: Grid) -> np.ndarray:
    return np.sum(grid.weights * values**2, axis=-1)


METRICS = {"relative_l2": relative_l2, "relative_h1": relative_h1}
