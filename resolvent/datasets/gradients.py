"""Gradients of stored functions, on grids of one and two dimensions."""

from __future__ import annotations

import numpy as np

from resolvent.solvers.common.grid import Grid


def gradient(values: np.ndarray, grid: Grid) -> np.ndarray:
    """The grid's own derivative along every axis; (samples, ...space) → (samples, dimension, ...space).

    The components come in the order of the coordinates: ∂/∂x, along the last axis, first.
    """
    along_x = grid.derivative(values)
    if grid.dimension == 1:
        return along_x[:, None]
    along_y = grid.derivative(values.swapaxes(-1, -2)).swapaxes(-1, -2)
    return np.stack([along_x, along_y], axis=1)
