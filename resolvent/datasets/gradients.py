"""Gradients of stored functions, on grids of one and two dimensions."""

from __future__ import annotations

import numpy as np

from resolvent.solvers.common.grid import Grid, Nodes


def gradient(values: np.ndarray, grid: Grid | Nodes) -> np.ndarray:
    """Differentiate along every axis, as the grid does; (samples, ...space) → (samples, dimension, ...space).

    The components come in the order of the coordinates: ∂/∂x, along the last axis, first.
    """
    along_x = grid.derivative(values)
    if grid.dimension == 1:
        return along_x[:, None]
    along_y = grid.derivative(values.swapaxes(-1, -2)).swapaxes(-1, -2)
    return np.stack([along_x, along_y], axis=1)


def central_differences(values: np.ndarray, grid: Grid) -> np.ndarray:
    """Differentiate to second order at every point, as `gradient` returns it.

    Across a circle the first value follows the last; elsewhere zero is outside, as in the public code of
    Cao 2021 for functions that vanish on the boundary.
    """
    components = []
    for axis in range(-1, -1 - grid.dimension, -1):
        width = [(0, 0)] * values.ndim
        width[axis] = (1, 1)
        padded = np.pad(values, width, mode="wrap" if grid.kind == "periodic" else "constant")
        after, before = (padded.swapaxes(axis, -1)[..., part] for part in (slice(2, None), slice(None, -2)))
        components.append((after - before).swapaxes(axis, -1) / (2 * grid.spacing))
    return np.stack(components, axis=1)
