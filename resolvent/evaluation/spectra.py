"""Power of fields on a square by wavenumber: at which scales a prediction is wrong.

On a periodic grid a field is a sum of exponentials; on nodes and cell centres one of cosines, for the even
extension of a field has no jump. A shell holds the waves whose |k| rounds to one integer, with k in cycles
along a side for exponentials and in half cycles for cosines. The powers of all shells add up to the mean
square of the field, by the grid's quadrature (Parseval).
"""

from __future__ import annotations

import numpy as np

from resolvent.solvers.common.cosine_series import cosine_coefficients_of
from resolvent.solvers.common.grid import Grid


def wavenumbers(grid: Grid) -> np.ndarray:
    """Of every shell of a square grid, in cycles along a side: (shells,)."""
    shells = np.arange(_shells(grid).max() + 1)
    return shells if grid.kind == "periodic" else shells / 2


def mean_power(fields: np.ndarray, grid: Grid) -> np.ndarray:
    """Mean power over the samples in every shell; (samples, ..., n, n) → (shells,), channels add up."""
    shells = _shells(grid).ravel()
    total = np.zeros(shells.max() + 1)
    for field in fields.reshape(-1, *fields.shape[-2:]):  # one after another: a transform needs memory
        total += np.bincount(shells, _power(field.astype(float), grid).ravel())
    return total / len(fields)


def _shells(grid: Grid) -> np.ndarray:
    """The shell of every wave (n, n), as `_power` orders them."""
    n = grid.points
    along = np.fft.fftfreq(n, 1 / n) if grid.kind == "periodic" else np.arange(n)
    return np.rint(np.hypot(along[:, None], along)).astype(int)


def _power(field: np.ndarray, grid: Grid) -> np.ndarray:
    """What every wave adds to the mean square of a field (n, n)."""
    if grid.kind == "periodic":
        return np.abs(np.fft.fft2(field, norm="forward")) ** 2
    power = cosine_coefficients_of(field, grid.kind) ** 2
    if grid.kind == "nodes":  # the square of the last √2 cos πkx has mean 2, by the trapezoidal rule
        power[-1] *= 2
        power[:, -1] *= 2
    return power
