"""Conjugate gradients preconditioned by multigrid, for the 5-point equations of Darcy flow.

    A p = b,    (A p)_here = Σ over the four neighbours of  c (p_here - p_neighbour)

Everything is scaled by the diagonal D of A, Â = D^{-1/2} A D^{-1/2}: a unit diagonal, eigenvalues between 0 and 2,
and two couplings a point, to the east and to the north. Vectors are flat, with a row of zeros below and above and
one zero after each row, which the rows share: row j = 0, …, m - 1 starts at (j + 1) s, s = m + 1, and both of its
neighbours at distance s and both at distance 1 exist. Every loop runs over contiguous memory.

One cycle goes down and up the levels of `solvers.darcy_levels` (Briggs, Henson & McCormick 2000, A Multigrid
Tutorial, SIAM), always in float32, as it only preconditions:

    smoothing    x ← x + (α - β Â) residual, the Chebyshev polynomial of degree two on [SMOOTHED, 2]: as effective
                 as a red-black Gauss-Seidel sweep, and every point at once
    transfer     linear interpolation and its transpose
    coarse A     again five points: conductances in series add their resistances along a coarse interval, and
                 parallel ones their conductances, weighted by the hat function. Across a jump of the coefficient
                 this is closer to the effective conductance than a mean of a

Conjugate gradients run in the precision of the input. A row is smoothed, its residual taken and passed on while
it is still in the cache; memory traffic, 25 MB an iteration at 421 × 421, sets the time.

Compiled once per machine (`cache=True`); nothing is shared between samples, so a sample has the same bits in any
batch, and the compiled code holds no lock: callers may solve samples in threads.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numba import njit

from solvers.darcy_levels import Levels

SMOOTHED = 0.25  # lowest eigenvalue that smoothing aims at; between 0.2 and 0.4 the iterations hardly change
_ROOTS = (2 + SMOOTHED) / 2 + (2 - SMOOTHED) / 2 * np.cos(np.pi * np.array([1, 3]) / 4)
_BETA = np.float32(1 / _ROOTS.prod())
_KEEP = np.float32((1 / _ROOTS).sum() - 1 / _ROOTS.prod())  # α - β: α - β Â has a unit diagonal to take out of Â
_RING = 4  # rows of residual held while going up: three are needed, and one is being written

# Reassociation lets sums run in vector registers; NaN and infinity keep their meaning.
_compiled = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz", "arcp"})


class Workspace(NamedTuple):
    """Memory for one sample, used again by the next.

    residual, correction, east, north, root, inverse_root   of all levels, flat, float32: r̂, x̂, couplings of Â,
                                                             D^{1/2} and D^{-1/2}.
    strips    the coarse rows interpolated along x only.
    ring      rows of the residual while going up.
    row       sums over neighbours, for one row.
    fine_*    of the finest level in the precision of the input: the same, and conjugate gradients' vectors.
    """

    residual: Float[np.ndarray, " values"]
    correction: Float[np.ndarray, " values"]
    east: Float[np.ndarray, " values"]
    north: Float[np.ndarray, " values"]
    root: Float[np.ndarray, " values"]
    inverse_root: Float[np.ndarray, " values"]
    strips: Float[np.ndarray, " strips"]
    ring: Float[np.ndarray, " ring"]
    row: Float[np.ndarray, " row"]
    fine_east: Float[np.ndarray, " fine"]
    fine_north: Float[np.ndarray, " fine"]
    fine_root: Float[np.ndarray, " fine"]
    fine_inverse_root: Float[np.ndarray, " fine"]
    fine_solution: Float[np.ndarray, " fine"]
    fine_residual: Float[np.ndarray, " fine"]
    fine_direction: Float[np.ndarray, " fine"]
    fine_image: Float[np.ndarray, " fine"]
    fine_row: Float[np.ndarray, " row"]


def workspace_for(levels: Levels, dtype: np.dtype) -> Workspace:
    """All zero: the zeros around the rows are never written to."""
    size, everywhere, fine = int(levels.sizes[0]), int(levels.starts[-1]), int(levels.starts[1])
    return Workspace(
        *(np.zeros(everywhere, np.float32) for _ in range(6)),
        strips=np.zeros((size // 2 + 4) * size, np.float32),
        ring=np.zeros(_RING * (size + 1) + 1, np.float32),
        row=np.zeros(size, np.float32),
        **{name: np.zeros(fine, dtype) for name in Workspace._fields[9:17]},
        fine_row=np.zeros(size, dtype),
    )


@_compiled
def solve_sample(in_x, in_y, known, tolerance, max_iterations, levels, work, solution):
    """Solve A p = `known` into `solution`, both (m, m); returns the relative residual reached.

    The residual is Â's, followed by its recurrence. β is Fletcher and Reeves': what float32 makes of the
    preconditioner is too near to a symmetric operator for more care to save an iteration.
    """
    m = levels.sizes[0]
    s = m + 1
    number = work.fine_row.dtype.type
    _build_levels(in_x, in_y, levels, work)
    norm = _start(known, work, m)
    relative, descent, iteration = 0.0 if norm == 0 else 1.0, 1.0, 0
    while not relative <= tolerance and iteration < max_iterations:
        previous, descent = descent, _cycle(levels, work)
        beta = number(descent / previous if iteration else 0)
        alpha = number(descent / _direction_and_image(work, beta, m))
        squares = 0.0
        for j in range(m):
            here = slice((j + 1) * s, (j + 1) * s + m)
            direction, image = work.fine_direction[here], work.fine_image[here]
            x, r, r_single = work.fine_solution[here], work.fine_residual[here], work.residual[here]
            row_squares = number(0)
            for i in range(m):
                x[i] += alpha * direction[i]
                r[i] -= alpha * image[i]
                r_single[i] = r[i]
                row_squares += r[i] * r[i]
            squares += row_squares
        relative = np.sqrt(squares)
        iteration += 1
    for j in range(m):
        here = slice((j + 1) * s, (j + 1) * s + m)
        x, scale, p = work.fine_solution[here], work.fine_inverse_root[here], solution[j]
        for i in range(m):
            p[i] = number(norm) * scale[i] * x[i]
    return relative


@_compiled
def _start(known, work, m):
    """Residual D^{-1/2} b brought to norm one, solution and direction zero; returns the norm."""
    number = work.fine_row.dtype.type
    squares = 0.0
    for j in range(m):
        lo = (j + 1) * (m + 1)
        r, scale, b = work.fine_residual[lo : lo + m], work.fine_inverse_root[lo : lo + m], known[j]
        for i in range(m):
            r[i] = b[i] * scale[i]
            squares += r[i] * r[i]
    norm = np.sqrt(squares)
    scale = number(1 / norm if norm > 0 else 0)
    work.fine_residual[:] *= scale
    work.residual[: len(work.fine_residual)] = work.fine_residual
    work.fine_solution[:] = 0
    work.fine_direction[:] = 0
    return norm


@_compiled
def _direction_and_image(work, beta, m):
    """direction ← correction + β direction, image ← Â direction; returns their inner product."""
    s = m + 1
    sums, direction, image = work.fine_row, work.fine_direction, work.fine_image
    total = 0.0
    for j in range(m + 1):
        lo = (j + 1) * s
        if j < m:
            p, z = direction[lo : lo + m], work.correction[lo : lo + m]
            for i in range(m):
                p[i] = z[i] + beta * p[i]
        if j > 0:  # the row above is known: the image of the last one can be taken
            lo -= s
            _neighbours(sums, direction, lo - s, lo, lo + s, work.fine_east, work.fine_north, lo, s)
            p, q = direction[lo : lo + m], image[lo : lo + m]
            row_total = p.dtype.type(0)
            for i in range(m):
                q[i] = p[i] - sums[i]
                row_total += p[i] * q[i]
            total += row_total
    return total


@_compiled
def _cycle(levels, work):
    """correction ← multigrid cycle applied to the residual; returns their inner product."""
    last = len(levels.sizes) - 1
    for level in range(last):
        _down(level, levels, work)
    only = levels.starts[last] + 2  # one unknown, unit diagonal
    work.correction[only] = work.residual[only]
    inner_product = np.float64(work.residual[only] * work.correction[only])
    for level in range(last - 1, -1, -1):
        inner_product = _up(level, levels, work)
    return inner_product


@_compiled
def _down(level, levels, work):
    """Smooth from zero and pass the residual to the next level."""
    m, coarse_m = levels.sizes[level], levels.sizes[level + 1]
    s, coarse_s = m + 1, coarse_m + 1
    start, coarse_start, end = levels.starts[level], levels.starts[level + 1], levels.starts[level + 2]
    r, x = work.residual[start:coarse_start], work.correction[start:coarse_start]
    east, north = work.east[start:coarse_start], work.north[start:coarse_start]
    root, sums, strips = work.root[start:coarse_start], work.row[:m], work.strips
    first = levels.points[level]
    strips[: (coarse_m + 2) * m] = 0
    for j in range(m + 1):
        lo = (j + 1) * s
        if j < m:
            _neighbours(sums, r, lo - s, lo, lo + s, east, north, lo, s)
            rj, xj = r[lo : lo + m], x[lo : lo + m]
            for i in range(m):
                xj[i] = _KEEP * rj[i] + _BETA * sums[i]
        if j > 0:
            lo -= s
            _neighbours(sums, x, lo - s, lo, lo + s, east, north, lo, s)
            share = levels.share[first + j - 1]
            below = levels.left[first + j - 1] * m
            rj, xj, dj = r[lo : lo + m], x[lo : lo + m], root[lo : lo + m]
            one, other = strips[below : below + m], strips[below + m : below + 2 * m]
            for i in range(m):
                sums[i] = dj[i] * (rj[i] - xj[i] + sums[i])
            for i in range(m):
                other[i] += share * sums[i]
            for i in range(m):
                one[i] += (np.float32(1) - share) * sums[i]
    r, scale = work.residual[coarse_start:end], work.inverse_root[coarse_start:end]
    first = levels.points[level + 1]
    which, hat = levels.gathered[first : first + coarse_m], levels.hat[first : first + coarse_m]
    for j in range(coarse_m):
        lo = (j + 1) * coarse_s
        rj, dj, strip = r[lo : lo + coarse_m], scale[lo : lo + coarse_m], strips[(j + 1) * m : (j + 2) * m]
        for i in range(coarse_m):
            rj[i] = dj[i] * _gather(strip, which, hat, i)


@_compiled
def _up(level, levels, work):
    """Add the next level's correction and smooth; returns correction · residual."""
    m, coarse_m = levels.sizes[level], levels.sizes[level + 1]
    s = m + 1
    start, coarse_start, end = levels.starts[level], levels.starts[level + 1], levels.starts[level + 2]
    r, x = work.residual[start:coarse_start], work.correction[start:coarse_start]
    east, north = work.east[start:coarse_start], work.north[start:coarse_start]
    root, sums, strips, ring = work.root[start:coarse_start], work.row[:m], work.strips, work.ring
    first = levels.points[level]
    left, shares = levels.left[first : first + m], levels.share[first : first + m]
    _interpolate_along_x(
        work.correction[coarse_start:end], work.inverse_root[coarse_start:end], strips, left, shares, coarse_m
    )
    ring[: _RING * s + 1] = 0
    inner_product = 0.0
    for j in range(m + 2):
        lo = (j + 1) * s
        if j < m:
            share, below = shares[j], left[j] * m
            one, other = strips[below : below + m], strips[below + m : below + 2 * m]
            xj, dj = x[lo : lo + m], root[lo : lo + m]
            for i in range(m):
                xj[i] += dj[i] * (one[i] + share * (other[i] - one[i]))
        if 0 < j <= m:
            lo -= s
            _neighbours(sums, x, lo - s, lo, lo + s, east, north, lo, s)
            slot = 1 + (j - 1) % _RING * s
            rj, xj, tj = r[lo : lo + m], x[lo : lo + m], ring[slot : slot + m]
            for i in range(m):
                tj[i] = rj[i] - xj[i] + sums[i]
        elif j > m:  # beyond the last row
            ring[1 + m % _RING * s : 1 + m % _RING * s + m] = 0
        if j > 1:
            lo = (j - 1) * s
            slots = 1 + (j + 1) % _RING * s, 1 + (j - 2) % _RING * s, 1 + (j - 1) % _RING * s
            _neighbours(sums, ring, slots[0], slots[1], slots[2], east, north, lo, s)
            rj, xj, tj = r[lo : lo + m], x[lo : lo + m], ring[slots[1] : slots[1] + m]
            row_total = np.float32(0)
            for i in range(m):
                xj[i] += _KEEP * tj[i] + _BETA * sums[i]
                row_total += xj[i] * rj[i]
            inner_product += row_total
    return inner_product


@_compiled
def _interpolate_along_x(x, scale, strips, left, shares, coarse_m):
    m = len(left)
    strips[:m] = 0
    strips[(coarse_m + 1) * m : (coarse_m + 2) * m] = 0
    for j in range(coarse_m):
        lo = (j + 1) * (coarse_m + 1) - 1  # the boundary point, zero
        xj, dj = x[lo : lo + coarse_m + 2], scale[lo : lo + coarse_m + 2]
        strip = strips[(j + 1) * m : (j + 2) * m]
        for i in range(m):
            near, far = xj[left[i]] * dj[left[i]], xj[left[i] + 1] * dj[left[i] + 1]
            strip[i] = near + shares[i] * (far - near)


@_compiled
def _build_levels(in_x, in_y, levels, work):
    """Couplings and diagonals of all levels, from the conductances of the finest."""
    fine = levels.starts[1]
    roots = work.fine_root, work.fine_inverse_root
    _scale(in_x, in_y, work.fine_east, work.fine_north, roots[0], roots[1])
    work.east[:fine], work.north[:fine], work.root[:fine] = work.fine_east, work.fine_north, roots[0]
    single_x, single_y = in_x.astype(np.float32), in_y.astype(np.float32)
    for level in range(len(levels.sizes) - 1):
        single_x, single_y = _coarsen(single_x, single_y, level, levels)
        lo, hi = levels.starts[level + 1], levels.starts[level + 2]
        roots_here = work.root[lo:hi], work.inverse_root[lo:hi]
        _scale(single_x, single_y, work.east[lo:hi], work.north[lo:hi], roots_here[0], roots_here[1])


@_compiled
def _scale(in_x, in_y, east, north, root, inverse_root):
    """The couplings of Â, and D^{±1/2}."""
    m = len(in_x)
    s = m + 1
    for j in range(m):
        lo = (j + 1) * s
        above, below, right, left = in_y[j + 1], in_y[j], in_x[j, 1:], in_x[j, :-1]
        d, inverse = root[lo : lo + m], inverse_root[lo : lo + m]
        for i in range(m):
            d[i] = np.sqrt(above[i] + below[i] + right[i] + left[i])
            inverse[i] = 1 / d[i]
    for j in range(m):
        lo = (j + 1) * s
        here, ahead = inverse_root[lo : lo + m], inverse_root[lo + 1 : lo + 1 + m]
        up = inverse_root[lo + s : lo + s + m]
        above, right = in_y[j + 1], in_x[j, 1:]
        to_east, to_north = east[lo : lo + m], north[lo : lo + m]
        for i in range(m):
            to_east[i] = right[i] * here[i] * ahead[i]
            to_north[i] = above[i] * here[i] * up[i]


@_compiled
def _coarsen(in_x, in_y, level, levels):
    """Conductances of the next level: series along the interval, parallel across it."""
    m, coarse_m = levels.sizes[level], levels.sizes[level + 1]
    point, interval = levels.points[level + 1], levels.points[level + 1] + level + 1
    which, hat = levels.gathered[point : point + coarse_m], levels.hat[point : point + coarse_m]
    crossed = levels.overlapped[interval : interval + coarse_m + 1]
    overlap = levels.overlap[interval : interval + coarse_m + 1]
    coarse_x = np.zeros((coarse_m, coarse_m + 1), np.float32)
    coarse_y = np.empty((coarse_m + 1, coarse_m), np.float32)
    series, resistances = np.empty(coarse_m + 1, np.float32), np.empty(m + 1, np.float32)
    first = levels.points[level]
    weights = np.zeros(coarse_m, np.float32)
    for j in range(coarse_m):
        weights[j] = 1 / (hat[j, 0] + hat[j, 1] + hat[j, 2] + hat[j, 3])
    for j in range(m):
        resistances[:] = 1 / in_x[j]
        for i in range(coarse_m + 1):
            series[i] = 1 / _gather(resistances, crossed, overlap, i)
        below, share = np.int64(levels.left[first + j]), levels.share[first + j]
        if below > 0:
            coarse_x[below - 1] += (1 - share) * weights[below - 1] * series
        if below < coarse_m:
            coarse_x[below] += share * weights[below] * series
    strip = np.empty(m, np.float32)
    for i in range(coarse_m + 1):
        one, two, three, four = (in_y[crossed[i, q]] for q in range(4))
        for k in range(m):
            strip[k] = 1 / (
                overlap[i, 0] / one[k] + overlap[i, 1] / two[k] + overlap[i, 2] / three[k] + overlap[i, 3] / four[k]
            )
        for k in range(coarse_m):
            coarse_y[i, k] = weights[k] * _gather(strip, which, hat, k)
    return coarse_x, coarse_y


@_compiled
def _gather(values, which, weights, i):
    total = weights[i, 0] * values[which[i, 0]] + weights[i, 1] * values[which[i, 1]]
    return total + weights[i, 2] * values[which[i, 2]] + weights[i, 3] * values[which[i, 3]]


@_compiled
def _neighbours(sums, values, below, here, above, east, north, lo, s):
    """Σ coupling × neighbour for the row at `lo`, whose values and whose neighbours' start where told."""
    m = s - 1
    right, left = values[here + 1 : here + 1 + m], values[here - 1 : here - 1 + m]
    up, down = values[above : above + m], values[below : below + m]
    to_east, to_west = east[lo : lo + m], east[lo - 1 : lo - 1 + m]
    to_north, to_south = north[lo : lo + m], north[lo - s : lo - s + m]
    for i in range(m):
        sums[i] = to_east[i] * right[i] + to_west[i] * left[i] + to_north[i] * up[i] + to_south[i] * down[i]
