"""Cosine series on the nodes of the square, compiled with Numba: `solvers.common.cosine_series` explains.

    u(x_i, y_j) = Σ_{k, l = 0}^{N} a[l, k] cos(πki/N) cos(πlj/N),    N even

Along an axis, a series of cosines is read off a transform of N real numbers (Press et al. 2007, Numerical
Recipes, 12.4.2): half the work of transforming its even extension, for an error of a few units in the last
place. Two columns are one complex series, and eight such series are transformed side by side.
"""

import threading

import numpy as np
from jaxtyping import Float

from resolvent.solvers.common.compiled import compiled
from resolvent.solvers.common.lane_fft import plan, transform
from resolvent.solvers.common.vectors import LANES, load, store

_COLUMNS = 2 * LANES
_kept = threading.local()


def sum_of_cosines(
    amplitudes: Float[np.ndarray, "modes modes"],
    factors: Float[np.ndarray, "modes modes"],
    values: Float[np.ndarray, "points points"],
) -> None:
    """Store the values of the series with these amplitudes [l, k] times factors, no more than points."""
    points, modes = len(values), len(amplitudes)
    padded, turned, *buffers = _workspace(points)
    padded[modes:] = 0
    padded[:modes, modes:] = 0
    np.multiply(amplitudes, factors, out=padded[:modes, :modes])
    angles = np.pi * np.arange(points - 1) / (points - 1)
    tables = np.cos(angles), np.sin(angles), *plan(points - 1)
    _along_columns(padded.ravel(), turned, *tables, *buffers)
    _along_columns(turned.ravel(), values, *tables, *buffers)


def _workspace(points: int) -> tuple[np.ndarray, ...]:
    """Return this thread's buffers, kept from sample to sample: new memory costs as much as the transform."""
    if getattr(_kept, "points", None) != points:
        width = -(-points // _COLUMNS) * _COLUMNS
        _kept.points, _kept.arrays = (
            points,
            (
                *np.zeros((2, points, width)),
                *np.empty((4, (points - 1) * LANES)),
                np.empty(points * _COLUMNS),
            ),
        )
    return _kept.arrays


@compiled
def _along_columns(
    source, target, cosines, sines, radices, twiddles, real, imaginary, other_real, other_imaginary, sums
):
    """Sum the series of every column of `source`, (points, width) but flat, into the rows of `target`."""
    points = target.shape[0]
    width = source.size // points
    for column in range(0, points, _COLUMNS):
        _pack(source, column, width, cosines, sines, real, sums, 0)
        _pack(source, column + LANES, width, cosines, sines, imaginary, sums, LANES)
        if transform(real, imaginary, other_real, other_imaginary, radices, twiddles):
            _unpack(other_real, other_imaginary, sums)
        else:
            _unpack(real, imaginary, sums)
        for i in range(min(_COLUMNS, points - column)):
            for j in range(points):
                target[column + i, j] = sums[j * _COLUMNS + i]


@compiled
def _pack(source, column, width, cosines, sines, packed, sums, lane):
    """Store the real series whose transform has the sums of eight columns, and the sum with k = 1."""
    n = len(sines)
    start, end = load(source, column), load(source, n * width + column)
    store(packed, 0, start + end)
    first = start - end
    for j in range(1, n // 2 + 1):
        low, high = load(source, j * width + column), load(source, (n - j) * width + column)
        even, odd = 0.5 * (low + high), sines[j] * (low - high)
        store(packed, j * LANES, even - odd)
        store(packed, (n - j) * LANES, even + odd)
        if 2 * j < n:
            first = first + cosines[j] * (low - high)
    store(sums, _COLUMNS + lane, first)


@compiled
def _unpack(real, imaginary, sums):
    """Read the sums off the transform: even ones are real parts, odd ones differ by imaginary parts."""
    n = real.size // LANES
    store(sums, 0, load(real, 0))
    store(sums, LANES, load(imaginary, 0))
    first, second = load(sums, _COLUMNS), load(sums, _COLUMNS + LANES)
    for k in range(1, n // 2 + 1):
        low, high, to = k * LANES, (n - k) * LANES, 2 * k * _COLUMNS
        store(sums, to, 0.5 * (load(real, low) + load(real, high)))
        store(sums, to + LANES, 0.5 * (load(imaginary, low) + load(imaginary, high)))
        if 2 * k < n:
            first = first + 0.5 * (load(imaginary, high) - load(imaginary, low))
            second = second + 0.5 * (load(real, low) - load(real, high))
            store(sums, to + _COLUMNS, first)
            store(sums, to + _COLUMNS + LANES, second)
