"""Fourier series on the torus, compiled with Numba: `solvers.common.fourier` explains.

    u(x_i, y_j) = Σ û[l, k] e^{2πi(ki + lj)/n},    |k|, |l| < n/2

First columns are summed along y, eight at a time, only those that are not zero; then rows along x, where two
real rows are one complex series, and eight such series are transformed side by side.
"""

import threading

import numpy as np
from jaxtyping import Complex, Float

from resolvent.solvers.common.compiled import compiled
from resolvent.solvers.common.lane_fft import as_rows, plan, transform
from resolvent.solvers.common.vectors import LANES, load, store

_kept = threading.local()


def sum_of_waves(coefficients: Complex[np.ndarray, "rows columns"], values: Float[np.ndarray, "n n"]) -> None:
    """Store the values of the series with these coefficients, (2K + 1, K + 1) with K < n/2, in `values`."""
    points, modes = len(values), coefficients.shape[1]
    spectrum = np.ascontiguousarray(coefficients).view(float).ravel()
    series = _workspace(points, modes)
    _along_y(spectrum, modes, *series, *plan(points))
    _along_x(values, modes, *series, *plan(points))


def _workspace(points: int, modes: int) -> tuple[np.ndarray, ...]:
    """Return this thread's buffers, kept from sample to sample: new memory costs as much as the transform."""
    if getattr(_kept, "shape", None) != (points, modes):
        whole = -(-points // (2 * LANES)) * 2 * LANES
        _kept.shape = points, modes
        _kept.arrays = (*np.zeros((2, modes * whole)), *np.zeros((4, points * LANES)))
    return _kept.arrays


@compiled
def _along_y(spectrum, modes, half_r, half_i, re, im, other_re, other_im, radices, twiddles):
    """Sum every column along y; the results are half_r and half_i, (k, y) with y padded, but flat."""
    points, width, rows = re.size // LANES, half_r.size // modes, 2 * modes - 1
    for column in range(0, modes, LANES):
        columns = min(LANES, modes - column)
        re[:] = 0
        im[:] = 0
        for row in range(rows):
            to = (row if row < modes else row + points - rows) * LANES
            start = 2 * (row * modes + column)
            for lane in range(columns):
                re[to + lane] = spectrum[start + 2 * lane]
                im[to + lane] = spectrum[start + 2 * lane + 1]
        if transform(im, re, other_im, other_re, radices, twiddles):  # exchanged: the inverse
            as_rows(other_re, half_r, column, columns, width)
            as_rows(other_im, half_i, column, columns, width)
        else:
            as_rows(re, half_r, column, columns, width)
            as_rows(im, half_i, column, columns, width)


@compiled
def _along_x(values, modes, half_r, half_i, re, im, other_re, other_im, radices, twiddles):
    """Sum every row along x, sixteen rows at a time."""
    points, width = values.shape[0], half_r.size // modes
    for row in range(0, points, 2 * LANES):
        for j in range(modes * LANES, re.size - (modes - 1) * LANES):
            re[j], im[j] = 0, 0
        store(re, 0, load(half_r, row))
        store(im, 0, load(half_r, row + LANES))
        for k in range(1, modes):
            first, second = k * width + row, k * width + row + LANES
            a_r, a_i = load(half_r, first), load(half_i, first)
            b_r, b_i = load(half_r, second), load(half_i, second)
            store(re, k * LANES, a_r - b_i)
            store(im, k * LANES, a_i + b_r)
            store(re, (points - k) * LANES, a_r + b_i)
            store(im, (points - k) * LANES, b_r - a_i)
        flipped = transform(im, re, other_im, other_re, radices, twiddles)
        first, second = (other_re, other_im) if flipped else (re, im)
        for lane in range(min(LANES, points - row)):
            for i in range(points):
                values[row + lane, i] = first[i * LANES + lane]
        for lane in range(min(LANES, points - row - LANES)):
            for i in range(points):
                values[row + LANES + lane, i] = second[i * LANES + lane]
