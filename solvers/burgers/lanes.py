"""Time steps of both integrators of Burgers' equation for eight samples at once, compiled with Numba.

The methods are described in `solvers.burgers.split_step` and `solvers.burgers.etdrk4`. Each sample is one
lane of every vector, and its bits do not depend on the other lanes.

Real transforms are complex transforms of half the length, with even and odd points as real and imaginary
parts.
"""

import numpy as np
from jaxtyping import Complex, Float

from resolvent.solvers.common.compiled import compiled
from resolvent.solvers.common.lane_fft import plan, transform
from resolvent.solvers.common.vectors import LANES, factor, larger, load, store


def march_split_step(
    coefficients: Complex[np.ndarray, "batch modes"],
    points: int,
    steps: Float[np.ndarray, " num_steps"],
    heat: Float[np.ndarray, "num_steps+1 modes *lanes"],
    flux: Float[np.ndarray, " modes"],
) -> tuple[Complex[np.ndarray, "batch modes"], Float[np.ndarray, "batch modes"]]:
    """Return û after all steps, and the largest |û|² of each mode over the ends of steps.

    heat  factors of the heat equation before, between and after the steps;  flux  -πk/L.
    Factors of eight samples with different viscosities have a last axis of lanes.
    """
    return _in_lanes(coefficients, points, flux, _split_step, steps, heat.reshape(-1, *heat.shape[2:]))


def march_etdrk4(
    coefficients: Complex[np.ndarray, "batch modes"],
    points: int,
    num_steps: int,
    scheme: Float[np.ndarray, "blocks 6 modes *lanes"],
    flux: Float[np.ndarray, " modes"],
) -> tuple[Complex[np.ndarray, "batch modes"], Float[np.ndarray, "batch modes"]]:
    """Return û after `num_steps` steps of each block of the scheme, and the largest |û|² of each mode.

    flux  -πk/L. The scheme of eight samples with different viscosities has a last axis of lanes.
    """
    rows = scheme.reshape(-1, *scheme.shape[3:])
    return _in_lanes(coefficients, points, flux, _etdrk4, num_steps, rows, len(scheme))


def _in_lanes(coefficients, points, flux, march, *schedule):
    batch, modes = coefficients.shape
    half = points // 2
    angles = 2 * np.pi * np.arange(half) / points
    tables = np.cos(angles), np.sin(angles), flux / points, *plan(half)
    result, peaks = np.empty((batch, modes), complex), np.empty((batch, modes))
    buffers = np.empty((4, half * LANES))
    spectra = np.zeros((13, (half + 1) * LANES))  # the compiled code relies on zeros above the modes
    for start in range(0, batch, LANES):
        block = coefficients[start : start + LANES]
        some = len(block)
        for part, spectrum in zip((block.real, block.imag), spectra[:2], strict=True):
            columns = spectrum.reshape(-1, LANES)
            columns[:modes] = 0
            columns[:modes, :some] = part.T
        spectra[12] = 0
        march(spectra, buffers, modes, *tables, *schedule)
        real, imaginary = (spectrum.reshape(-1, LANES)[:modes, :some].T for spectrum in spectra[:2])
        result[start : start + some] = real + 1j * imaginary
        peaks[start : start + some] = spectra[12].reshape(-1, LANES)[:modes, :some].T
    return result, peaks


@compiled
def _keep_largest(ur, ui, peaks, modes):
    """Update the peak of each mode with its present |û|²."""
    for at in range(0, modes * LANES, LANES):
        u_r, u_i = load(ur, at), load(ui, at)
        store(peaks, at, larger(u_r * u_r + u_i * u_i, load(peaks, at)))


@compiled
def _advection(ur, ui, slope_r, slope_i, buffers, modes, cosines, sines, flux, radices, twiddles):
    """Store the coefficients of -(u²/2)_x in the retained modes, for the coefficients of u."""
    half = cosines.size
    zr, zi, other_zr, other_zi = buffers[0], buffers[1], buffers[2], buffers[3]
    store(zr, 0, load(ur, 0) + load(ur, half * LANES) + load(ui, half * LANES) - load(ui, 0))
    store(zi, 0, load(ur, 0) + load(ui, 0) + load(ui, half * LANES) - load(ur, half * LANES))
    for k in range(1, half):
        low, high, c, s = k * LANES, (half - k) * LANES, cosines[k], sines[k]
        ar, ai, br, bi = load(ur, low), load(ui, low), load(ur, high), load(ui, high)
        dr, di = ar - br, ai + bi
        store(zr, low, ar + br - c * di - s * dr)
        store(zi, low, ai - bi + c * dr - s * di)
    if transform(zi, zr, other_zi, other_zr, radices, twiddles):  # inverse
        zr, zi, other_zr, other_zi = other_zr, other_zi, zr, zi
    for j in range(0, zr.size, LANES):
        even, odd = load(zr, j), load(zi, j)
        store(zr, j, even * even)
        store(zi, j, odd * odd)
    if transform(zr, zi, other_zr, other_zi, radices, twiddles):
        zr, zi = other_zr, other_zi
    store(slope_r, 0, 0.0 * load(ur, 0))
    store(slope_i, 0, 0.0 * load(ur, 0))
    for k in range(1, modes):
        low, high, c, s, factor = k * LANES, (half - k) * LANES, cosines[k], sines[k], 0.5 * flux[k]
        ar, ai, br, bi = load(zr, low), load(zi, low), load(zr, high), load(zi, high)
        dr, di = ar - br, ai + bi
        # i · flux times the coefficient of u².
        store(slope_r, low, -factor * (ai - bi - c * dr - s * di))
        store(slope_i, low, factor * (ar + br + c * di - s * dr))


@compiled
def _split_step(spectra, buffers, modes, cosines, sines, flux, radices, twiddles, steps, heat):
    ur, ui, ar, ai, sr, si, tr, ti = (
        spectra[0], spectra[1], spectra[2], spectra[3], spectra[4], spectra[5], spectra[6], spectra[7],
    )  # fmt: skip
    for k in range(modes):
        store(ur, k * LANES, factor(heat, k) * load(ur, k * LANES))
        store(ui, k * LANES, factor(heat, k) * load(ui, k * LANES))
    for step in range(steps.size):
        h, factors = steps[step], (step + 1) * modes
        _advection(ur, ui, sr, si, buffers, modes, cosines, sines, flux, radices, twiddles)
        _advanced(ur, ui, sr, si, ar, ai, tr, ti, h / 2, h / 6, modes, np.bool_(True))
        _advection(ar, ai, sr, si, buffers, modes, cosines, sines, flux, radices, twiddles)
        _advanced(ur, ui, sr, si, ar, ai, tr, ti, h / 2, h / 3, modes, np.bool_(False))
        _advection(ar, ai, sr, si, buffers, modes, cosines, sines, flux, radices, twiddles)
        _advanced(ur, ui, sr, si, ar, ai, tr, ti, h, h / 3, modes, np.bool_(False))
        _advection(ar, ai, sr, si, buffers, modes, cosines, sines, flux, radices, twiddles)
        for k in range(modes):
            at, damping = k * LANES, factor(heat, factors + k)
            store(ur, at, damping * (load(tr, at) + h / 6 * load(sr, at)))
            store(ui, at, damping * (load(ti, at) + h / 6 * load(si, at)))
        _keep_largest(ur, ui, spectra[12], modes)


@compiled
def _advanced(ur, ui, sr, si, ar, ai, tr, ti, ahead, weight, modes, first):
    """Store u + ahead · slope in a; add weight · slope to the sum t, which starts from u."""
    for at in range(0, modes * LANES, LANES):
        u_r, u_i, s_r, s_i = load(ur, at), load(ui, at), load(sr, at), load(si, at)
        store(ar, at, u_r + ahead * s_r)
        store(ai, at, u_i + ahead * s_i)
        if first:
            store(tr, at, u_r + weight * s_r)
            store(ti, at, u_i + weight * s_i)
        else:
            store(tr, at, load(tr, at) + weight * s_r)
            store(ti, at, load(ti, at) + weight * s_i)


@compiled
def _etdrk4(spectra, buffers, modes, cosines, sines, flux, radices, twiddles, num_steps, scheme, blocks):
    for block in range(blocks):
        full = 6 * block * modes
        half, stage, first, middle, last = (
            full + modes, full + 2 * modes, full + 3 * modes, full + 4 * modes, full + 5 * modes,
        )  # fmt: skip
        ur, ui, ar, ai = spectra[0], spectra[1], spectra[2], spectra[3]
        br, bi, nr, ni = spectra[4], spectra[5], spectra[6], spectra[7]
        sr, si, tr, ti = spectra[8], spectra[9], spectra[10], spectra[11]
        for _ in range(num_steps):
            _advection(ur, ui, nr, ni, buffers, modes, cosines, sines, flux, radices, twiddles)
            for k in range(modes):
                at = k * LANES
                u_r, u_i, n_r, n_i = load(ur, at), load(ui, at), load(nr, at), load(ni, at)
                store(ar, at, factor(scheme, half + k) * u_r + factor(scheme, stage + k) * n_r)
                store(ai, at, factor(scheme, half + k) * u_i + factor(scheme, stage + k) * n_i)
                store(tr, at, factor(scheme, full + k) * u_r + factor(scheme, first + k) * n_r)
                store(ti, at, factor(scheme, full + k) * u_i + factor(scheme, first + k) * n_i)
            _advection(ar, ai, sr, si, buffers, modes, cosines, sines, flux, radices, twiddles)
            for k in range(modes):
                at = k * LANES
                s_r, s_i = load(sr, at), load(si, at)
                store(br, at, factor(scheme, half + k) * load(ur, at) + factor(scheme, stage + k) * s_r)
                store(bi, at, factor(scheme, half + k) * load(ui, at) + factor(scheme, stage + k) * s_i)
                store(tr, at, load(tr, at) + factor(scheme, middle + k) * s_r)
                store(ti, at, load(ti, at) + factor(scheme, middle + k) * s_i)
            _advection(br, bi, sr, si, buffers, modes, cosines, sines, flux, radices, twiddles)
            for k in range(modes):
                at = k * LANES
                s_r, s_i = load(sr, at), load(si, at)
                kept, gain = factor(scheme, half + k), factor(scheme, stage + k)
                store(br, at, kept * load(ar, at) + gain * (2.0 * s_r - load(nr, at)))
                store(bi, at, kept * load(ai, at) + gain * (2.0 * s_i - load(ni, at)))
                store(tr, at, load(tr, at) + factor(scheme, middle + k) * s_r)
                store(ti, at, load(ti, at) + factor(scheme, middle + k) * s_i)
            _advection(br, bi, sr, si, buffers, modes, cosines, sines, flux, radices, twiddles)
            for k in range(modes):
                at = k * LANES
                store(ur, at, load(tr, at) + factor(scheme, last + k) * load(sr, at))
                store(ui, at, load(ti, at) + factor(scheme, last + k) * load(si, at))
            _keep_largest(ur, ui, spectra[12], modes)
