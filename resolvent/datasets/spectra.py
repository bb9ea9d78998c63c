"""Power of functions by wavenumber, on a line or a square: how smooth they are, and where predictions err.

On a periodic grid a function is a sum of exponentials; on nodes and cell centres one of cosines, for its even
extension has no jump. A shell holds the waves whose |k| rounds to one integer, with k in cycles
along a side for exponentials and in half cycles for cosines. The powers of all shells add up to the mean
square of the function, by the grid's quadrature (Parseval).
"""

from __future__ import annotations

import numpy as np

from resolvent.solvers.common.cosine_series import cosine_coefficients_of, power_of_cosines
from resolvent.solvers.common.grid import Grid


def wavenumbers(grid: Grid) -> np.ndarray:
    """Return those of every shell of a grid, in cycles along a side: (shells,)."""
    shells = np.arange(_shells(grid).max() + 1)
    return shells if grid.kind == "periodic" else shells / 2


def powers(values: np.ndarray, grid: Grid) -> np.ndarray:
    """Return the power of every function in every shell; (..., [n,] n) → (functions, shells)."""
    shells = _shells(grid).ravel()
    # One function after another: a transform needs memory.
    functions = values.reshape(-1, *values.shape[-grid.dimension :])
    return np.stack([np.bincount(shells, _power(one.astype(float), grid).ravel()) for one in functions])


def _shells(grid: Grid) -> np.ndarray:
    """Return the shell of every wave, (n,) or (n, n), as `_power` orders them."""
    n = grid.points
    along = np.abs(np.fft.fftfreq(n, 1 / n)) if grid.kind == "periodic" else np.arange(n)
    return np.rint(along if grid.dimension == 1 else np.hypot(along[:, None], along)).astype(int)


def _power(values: np.ndarray, grid: Grid) -> np.ndarray:
    """Return what every wave adds to the mean square of a function, (n,) or (n, n)."""
    if grid.kind == "periodic":
        return np.abs(np.fft.fftn(values, norm="forward")) ** 2
    if grid.dimension == 1:
        return power_of_cosines(values, grid.kind)
    power = cosine_coefficients_of(values, grid.kind) ** 2
    if grid.kind == "nodes":  # the square of the last √2 cos πkx has mean 2, by the trapezoidal rule
        power[-1] *= 2
        power[:, -1] *= 2
    return power
