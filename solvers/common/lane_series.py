"""Evaluate cosine series on nodes of a square and Fourier series on the torus, compiled with Numba.

    u(x_i, y_j) = Σ_{k, l = 0}^{N} a[l, k] cos(πki/N) cos(πlj/N),    N even

See `solvers.common.cosine_series`. Along an axis a cosine series is obtained from a transform of N real
numbers (Press et al. 2007, Numerical Recipes, 12.4.2): half the work of transforming its even extension, for
an error of a few units in the last place. Two columns form one complex series; eight such series are
transformed at once.

    u(x_i, y_j) = Σ û[l, k] e^{2πi(ki + lj)/n},    |k|, |l| < n/2

See `solvers.common.fourier`. First the nonzero columns are summed along y, eight at a time; then the rows
along x, where two real rows form one complex series and eight such series are transformed at once.
"""

import numpy as np
from jaxtyping import Complex, Float

from resolvent.solvers.common.compiled import compiled
from resolvent.solvers.common.lane_fft import as_rows, plan, transform
from resolvent.solvers.common.threads import kept
from resolvent.solvers.common.vectors import LANES, load, store

_COLUMNS = 2 * LANES


def sum_of_cosines(
    amplitudes: Float[np.ndarray, "modes modes"],
    factors: Float[np.ndarray, "modes modes"],
    values: Float[np.ndarray, "points points"],
) -> None:
    """Store the values of the series with amplitudes [l, k] times factors, for modes ≤ points."""
    points, modes = len(values), len(amplitudes)

    def buffers():
        width = -(-points // _COLUMNS) * _COLUMNS
        work = np.empty((4, (points - 1) * LANES))
        return *np.zeros((2, points, width)), *work, np.empty(points * _COLUMNS)

    padded, turned, *work = kept("cosines", points, buffers)
    padded[modes:] = 0
    padded[:modes, modes:] = 0
    np.multiply(amplitudes, factors, out=padded[:modes, :modes])
    angles = np.pi * np.arange(points - 1) / (points - 1)
    tables = np.cos(angles), np.sin(angles), *plan(points - 1)
    _along_columns(padded.ravel(), turned, *tables, *work)
    _along_columns(turned.ravel(), values, *tables, *work)


def sum_of_waves(coefficients: Complex[np.ndarray, "rows columns"], values: Float[np.ndarray, "n n"]) -> None:
    """Store the values of the series with these coefficients, (2K + 1, K + 1) with K < n/2, in `values`."""
    points, modes = len(values), coefficients.shape[1]

    def buffers():
        whole = -(-points // _COLUMNS) * _COLUMNS
        return *np.zeros((2, modes * whole)), *np.zeros((4, points * LANES))

    spectrum = np.ascontiguousarray(coefficients).view(float).ravel()
    series = kept("waves", (points, modes), buffers)
    _along_y(spectrum, modes, *series, *plan(points))
    _along_x(values, modes, *series, *plan(points))


@compiled
def _along_columns(
    source, target, cosines, sines, radices, twiddles, real, imaginary, other_real, other_imaginary, sums
):
    """Sum the series of every column of `source`, (points, width) but flat, into the rows of `target`."""
    points = target.shape[0]
    width = source.size // points
    for column in range(0, points, _COLUMNS):
        _pack(source, column, width, cosines, sines, real, sums, np.int64(0))
        _pack(source, column + LANES, width, cosines, sines, imaginary, sums, np.int64(LANES))
        if transform(real, imaginary, other_real, other_imaginary, radices, twiddles):
            _unpack(other_real, other_imaginary, sums)
        else:
            _unpack(real, imaginary, sums)
        for i in range(min(_COLUMNS, points - column)):
            for j in range(points):
                target[column + i, j] = sums[j * _COLUMNS + i]


@compiled
def _pack(source, column, width, cosines, sines, packed, sums, lane):
    """Store the real series whose transform contains the sums of eight columns, and the sum for k = 1."""
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
    """Compute the sums from the transform: even sums are real parts, odd sums differ by imaginary parts."""
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


@compiled
def _along_y(spectrum, modes, half_r, half_i, re, im, other_re, other_im, radices, twiddles):
    """Sum every column along y into half_r and half_i, flat (k, y) with y padded."""
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
        if transform(im, re, other_im, other_re, radices, twiddles):  # inverse
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
