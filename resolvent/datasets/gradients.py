"""Gradients of stored functions, on grids of any dimension."""

from __future__ import annotations

import numpy as np

from resolvent.solvers.common.grid import AnyGrid, Grid


def gradient(values: np.ndarray, grid: AnyGrid) -> np.ndarray:
    """Return the gradient by the grid's own derivative, (samples, ...space) → (samples, dimension, ...space).

    Components are in the order of the coordinates: ∂/∂x, along the last axis, is first.
    """
    components = [
        axis.derivative(values.swapaxes(-1, at)).swapaxes(-1, at)
        for at, axis in zip(range(-1, -1 - grid.dimension, -1), reversed(grid.axes), strict=True)
    ]
    return np.stack(components, axis=1)


def central_differences(values: np.ndarray, grid: Grid) -> np.ndarray:
    """Return second-order central differences at every point, in the shape of `gradient`.

    Periodic grids wrap around; otherwise values outside are zero, as in the public code of Cao 2021 for
    functions that vanish on the boundary.
    """
    components = []
    for axis in range(-1, -1 - grid.dimension, -1):
        width = [(0, 0)] * values.ndim
        width[axis] = (1, 1)
        padded = np.pad(values, width, mode="wrap" if grid.kind == "periodic" else "constant")
        after, before = (padded.swapaxes(axis, -1)[..., part] for part in (slice(2, None), slice(None, -2)))
        components.append((after - before).swapaxes(axis, -1) / (2 * grid.spacing))
    return np.stack(components, axis=1)
