"""Power of functions by wavenumber on evenly spaced grids, for smoothness and for spectra of errors.

Periodic axes use exponentials; nodes and cell centres use cosines, because the even extension has no jump (on
every k-th cell centre between the outermost points, as on nodes). A
shell contains the waves whose |k| rounds to the same integer, with k in cycles along the side in x, or in
half cycles if an axis has cosines. The powers of all shells add up to the mean square of the function by the
grid's quadrature (Parseval).
"""

from __future__ import annotations

from functools import reduce

import numpy as np
import scipy

from resolvent.solvers.common.cosine_series import cosine_coefficients_of
from resolvent.solvers.common.grid import Grid, Nodes, Product


def wavenumbers(grid: Grid | Product) -> np.ndarray:
    """Return the wavenumber of every shell, in cycles along the side in x: (shells,)."""
    shells = np.arange(_shells(grid).max() + 1)
    return shells / _per_cycle(grid)


def powers(values: np.ndarray, grid: Grid | Product) -> np.ndarray:
    """Return the power of every function in every shell; (..., *grid) → (functions, shells)."""
    shells = _shells(grid).ravel()
    # One function at a time, since transforms need memory.
    functions = values.reshape(-1, *values.shape[-grid.dimension :])
    return np.stack([np.bincount(shells, _power(u.astype(float), grid).ravel()) for u in functions])


def _per_cycle(grid: Grid | Product) -> int:
    """Return the number of shells per cycle along the side in x: one, or two if an axis has cosines."""
    return 1 if all(axis.kind == "periodic" for axis in grid.axes) else 2


def _shells(grid: Grid | Product) -> np.ndarray:
    """Return the shell of every wave, (*grid), in the order of `_power`."""
    along = []
    for axis in grid.axes:
        assert isinstance(axis, Grid), "waves are of evenly spaced points"
        n, sides = axis.points, grid.axes[-1].length / axis.length  # type: ignore[union-attr]
        waves = np.abs(np.fft.fftfreq(n, 1 / n)) if axis.kind == "periodic" else np.arange(n) / 2
        along.append(sides * _per_cycle(grid) * waves)
    return np.rint(reduce(np.hypot.outer, along)).astype(int)


def _has_ends(axis: Grid | Nodes) -> bool:
    """Return whether the cosines' interval ends at the outermost points of an axis."""
    return axis.kind == "nodes" or (isinstance(axis, Grid) and axis.stride > 1)


def _power(values: np.ndarray, grid: Grid | Product) -> np.ndarray:
    """Return the contribution of every wave to the mean square of a function, (*grid)."""
    if isinstance(grid, Grid) and grid.dimension == 2 and grid.kind != "periodic":
        kind = "nodes" if _has_ends(grid) else grid.kind
        power = cosine_coefficients_of(values, kind) ** 2
        if kind == "nodes":  # the square of the last √2 cos πkx has mean 2, by the trapezoidal rule
            power[-1] *= 2
            power[:, -1] *= 2
        return power
    weights = np.ones(())
    for at, axis in enumerate(grid.axes):
        of_axis = np.ones(axis.points)
        if axis.kind != "periodic":
            intervals, transform = (axis.points - 1, 1) if _has_ends(axis) else (axis.points, 2)
            values = scipy.fft.dct(values, transform, axis=at) / (2 * intervals)
            of_axis[1:] = 2
            if _has_ends(axis):  # the last cosine is ±1 at every node
                of_axis[-1] = 1
        weights = np.multiply.outer(weights, of_axis)
    periodic = [at for at, axis in enumerate(grid.axes) if axis.kind == "periodic"]
    return weights * np.abs(np.fft.fftn(values, axes=periodic, norm="forward")) ** 2
