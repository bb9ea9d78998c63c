"""ETDRK4 steps for Kolmogorov flow on a CPU, with vectorised transforms, compiled with Numba.

`solvers.kolmogorov.flow` has the equation, and `solvers.kolmogorov.etdrk4` the same steps in JAX, for GPUs.
Nonzero columns, and then rows, are transformed eight at a time. The two components of velocity are real and
imaginary part of one complex field on the grid. So are the two products, which are formed on eight rows of
the grid while these are in the cache.

Arrays are flat: spectra are (2K + 1, width), with k_x along rows, padded to a multiple of eight; between the
transforms arrays are (width, points), with y along rows, also padded. Several threads may share columns and
rows; the bits do not depend on their number.
"""

import numpy as np
from jaxtyping import Complex

from resolvent.solvers.common.compiled import compiled
from resolvent.solvers.common.exponential_integrator import Etdrk4
from resolvent.solvers.common.lane_fft import as_rows, plan, transform
from resolvent.solvers.common.threads import meet, threads_here, together
from resolvent.solvers.common.vectors import LANES, load, store
from resolvent.solvers.kolmogorov.flow import Flow


def advance(
    spectrum: Complex[np.ndarray, "columns rows"], num_steps: int, scheme: Etdrk4, tables: Flow, points: int
) -> tuple[Complex[np.ndarray, "columns rows"], float]:
    """Return the spectrum after `num_steps`, and the largest |u| + |v| at the start of a step."""
    num_modes = len(spectrum) - 1
    width = -(-len(spectrum) // LANES) * LANES
    threads = min(threads_here(), width // LANES)

    def flat(table):
        return np.pad(np.asarray(table, float).T, ((0, 0), (0, width - len(spectrum)))).ravel()

    real, imaginary = flat(spectrum.real), flat(spectrum.imag)
    weights = np.stack([flat(part) for part in scheme])
    products = (tables.difference / points**2, tables.mixed / points**2)
    factors = np.stack([flat(part) for part in (tables.u.imag, tables.v.imag, *products, tables.force)])
    between = np.zeros((4, width * -(-points // LANES) * LANES))
    buffers, slopes = np.zeros((threads, 4, points * LANES)), np.zeros((8, real.size))
    lengths = plan(points)

    def march(part, gate):
        work = (factors, between, buffers[part], num_modes, *lengths, part, threads, gate)
        return _march(real, imaginary, num_steps, weights, slopes, work)

    fastest = float(np.max(together(march, threads)))
    result = (real + 1j * imaginary).reshape(-1, width)[:, : len(spectrum)].T
    return result, fastest


@compiled
def _share(blocks, part, parts):
    """Return begin and end of a part's share of the blocks of eight."""
    return part * blocks // parts * LANES, (part + 1) * blocks // parts * LANES


@compiled
def _march(wr, wi, num_steps, weights, slopes, work):
    """Run the steps on the columns of one part; return its largest |u| + |v|.

    `work` has everything for each stage: factors, arrays between transforms, buffers of this part, number of
    modes, plan of the transforms, number of this part and of all parts, and the gate for synchronisation.
    """
    full, half, stage, first, middle, last = (
        weights[0], weights[1], weights[2], weights[3], weights[4], weights[5],
    )  # fmt: skip
    nr, ni, sr, si = slopes[0], slopes[1], slopes[2], slopes[3]
    ar, ai, br, bi = slopes[4], slopes[5], slopes[6], slopes[7]
    _, _, _, num_modes, _, _, part, parts, _ = work
    rows = 2 * num_modes + 1
    width = wr.size // rows
    begin, end = _share(width // LANES, part, parts)
    fastest, met = 0.0, np.int64(0)
    for _ in range(num_steps):
        speed, met = _tendency(wr, wi, nr, ni, work, np.bool_(True), met)
        if not speed <= fastest:  # propagates NaN
            fastest = speed
        for k in range(rows):
            for at in range(k * width + begin, k * width + end, LANES):
                e, q = load(half, at), load(stage, at)
                store(ar, at, e * load(wr, at) + q * load(nr, at))
                store(ai, at, e * load(wi, at) + q * load(ni, at))
        _, met = _tendency(ar, ai, sr, si, work, np.bool_(False), met)
        for k in range(rows):
            for at in range(k * width + begin, k * width + end, LANES):
                e, q, f, g = load(half, at), load(stage, at), load(full, at), load(first, at)
                m, w_r, w_i, s_r, s_i = (
                    load(middle, at), load(wr, at), load(wi, at), load(sr, at), load(si, at),
                )  # fmt: skip
                store(br, at, e * w_r + q * s_r)
                store(bi, at, e * w_i + q * s_i)
                store(wr, at, f * w_r + g * load(nr, at) + m * s_r)
                store(wi, at, f * w_i + g * load(ni, at) + m * s_i)
        _, met = _tendency(br, bi, sr, si, work, np.bool_(False), met)
        for k in range(rows):
            for at in range(k * width + begin, k * width + end, LANES):
                e, q, m, s_r, s_i = (
                    load(half, at), load(stage, at), load(middle, at), load(sr, at), load(si, at),
                )  # fmt: skip
                store(br, at, e * load(ar, at) + q * (2.0 * s_r - load(nr, at)))
                store(bi, at, e * load(ai, at) + q * (2.0 * s_i - load(ni, at)))
                store(wr, at, load(wr, at) + m * s_r)
                store(wi, at, load(wi, at) + m * s_i)
        _, met = _tendency(br, bi, sr, si, work, np.bool_(False), met)
        for k in range(rows):
            for at in range(k * width + begin, k * width + end, LANES):
                store(wr, at, load(wr, at) + load(last, at) * load(sr, at))
                store(wi, at, load(wi, at) + load(last, at) * load(si, at))
    return fastest


@compiled
def _tendency(wr, wi, sr, si, work, measured, met):
    """Store the spectrum of -u·∇ω plus the forcing, on the columns of this part.

    Returns the largest |u| + |v| of its rows if `measured`, and the number of synchronisations so far.
    """
    factors, between, buffers, num_modes, radices, twiddles, part, parts, gate = work
    points = buffers.shape[1] // LANES
    rows = 2 * num_modes + 1
    width = wr.size // rows
    stride = between.shape[1] // width
    begin, end = _share(width // LANES, part, parts)
    for column in range(begin, end, LANES):
        for component in range(2):
            _velocity(wr, wi, factors[component], column, width, num_modes, buffers)
            re, im, other_re, other_im = buffers[0], buffers[1], buffers[2], buffers[3]
            if transform(im, re, other_im, other_re, radices, twiddles):  # inverse
                re, im = other_re, other_im
            as_rows(re, between[2 * component], column, LANES, stride)
            as_rows(im, between[2 * component + 1], column, LANES, stride)
    met = meet(gate, parts, met)
    fastest = 0.0
    top, bottom = _share(stride // LANES, part, parts)
    for row in range(top, bottom, LANES):
        speed = _products(between, row, width, num_modes, buffers, radices, twiddles, measured)
        if not speed <= fastest:
            fastest = speed
    met = meet(gate, parts, met)
    for column in range(begin, end, LANES):
        for product in range(2):
            re, im, other_re, other_im = buffers[0], buffers[1], buffers[2], buffers[3]
            _from_rows(between[2 * product], re, column, stride)
            _from_rows(between[2 * product + 1], im, column, stride)
            if transform(re, im, other_re, other_im, radices, twiddles):
                re, im = other_re, other_im
            table, force = factors[2 + product], factors[4]
            for k in range(rows):
                at = k * width + column
                origin = (k if k <= num_modes else k + points - rows) * LANES
                if product == 0:
                    store(sr, at, load(force, at) + load(table, at) * load(re, origin))
                    store(si, at, load(table, at) * load(im, origin))
                else:
                    store(sr, at, load(sr, at) + load(table, at) * load(re, origin))
                    store(si, at, load(si, at) + load(table, at) * load(im, origin))
    return fastest, met


@compiled
def _velocity(wr, wi, factor, column, width, num_modes, buffers):
    """Store the spectrum of a velocity component, i · factor · ω, for eight columns, padded with zeros."""
    re, im = buffers[0], buffers[1]
    points, rows = re.size // LANES, 2 * num_modes + 1
    for j in range((num_modes + 1) * LANES, (points - num_modes) * LANES):
        re[j], im[j] = 0.0, 0.0
    for k in range(rows):
        at = k * width + column
        to = (k if k <= num_modes else k + points - rows) * LANES
        store(re, to, -1.0 * load(factor, at) * load(wi, at))
        store(im, to, load(factor, at) * load(wr, at))


@compiled
def _products(between, row, width, num_modes, buffers, radices, twiddles, measured):
    """Replace u and v by uv and v² - u² on eight rows of the grid; return the largest |u| + |v|."""
    ar, ai, br, bi = between[0], between[1], between[2], between[3]
    re, im, other_re, other_im = buffers[0], buffers[1], buffers[2], buffers[3]
    points, stride = re.size // LANES, ar.size // width
    for j in range((num_modes + 1) * LANES, (points - num_modes) * LANES):
        re[j], im[j] = 0.0, 0.0
    store(re, 0, load(ar, row))
    store(im, 0, load(br, row))
    for k in range(1, num_modes + 1):
        at, low, high = k * stride + row, k * LANES, (points - k) * LANES
        u_r, u_i, v_r, v_i = load(ar, at), load(ai, at), load(br, at), load(bi, at)
        store(re, low, u_r - v_i)
        store(im, low, u_i + v_r)
        store(re, high, u_r + v_i)
        store(im, high, v_r - u_i)
    if transform(im, re, other_im, other_re, radices, twiddles):
        re, im, other_re, other_im = other_re, other_im, re, im
    speed = 0.0
    if measured:
        for j in range(re.size):
            here = abs(re[j]) + abs(im[j])
            if not here <= speed:
                speed = here
    for j in range(0, re.size, LANES):
        u, v = load(re, j), load(im, j)
        store(re, j, u * v)
        store(im, j, (v - u) * (v + u))
    if transform(re, im, other_re, other_im, radices, twiddles):
        re, im = other_re, other_im
    store(ar, row, load(re, 0))
    store(ai, row, 0.0 * load(re, 0))
    store(br, row, load(im, 0))
    store(bi, row, 0.0 * load(re, 0))
    for k in range(1, num_modes + 1):
        at, low, high = k * stride + row, k * LANES, (points - k) * LANES
        low_r, low_i, high_r, high_i = load(re, low), load(im, low), load(re, high), load(im, high)
        store(ar, at, 0.5 * (low_r + high_r))
        store(ai, at, 0.5 * (low_i - high_i))
        store(br, at, 0.5 * (low_i + high_i))
        store(bi, at, 0.5 * (high_r - low_r))
    return speed


@compiled
def _from_rows(source, series, column, stride):
    """Load eight rows as series; the inverse of `as_rows`."""
    for lane in range(LANES):
        start = (column + lane) * stride
        for j in range(series.size // LANES):
            series[j * LANES + lane] = source[start + j]
