"""Evaluate cosine series on the unit square, and invert the evaluation.

    u(x, y) = Σ c[k_y, k_x] φ_{k_x}(x) φ_{k_y}(y),    φ_0 = 1,  φ_k(x) = √2 cos πkx

The φ are orthonormal on (0, 1) and have zero slope at its ends: eigenfunctions of the Laplacian with Neumann
boundary conditions. Values are (..., y, x), on nodes (both ends) or on cell centres (see
`solvers.common.grid`).

A series may have more modes than the grid has points: it is evaluated, not truncated. On the points of a grid
high modes equal low modes up to sign, so their coefficients are added. The rest is a fast cosine transform,
or two matrix products if the number of intervals has large prime factors.

Samples are transformed one by one, so that results are bit-identical in any batch.
"""

from functools import lru_cache

import numpy as np
import scipy
from jaxtyping import Float

from resolvent.solvers.common.fourier import has_lane_transform
from resolvent.solvers.common.grid import Grid


def observe_cosine(
    coefficients: Float[np.ndarray, "*batch modes modes"], points: int, kind: str
) -> Float[np.ndarray, "*batch points points"]:
    """Evaluate on a grid of points × points of a `kind`, "nodes" or "cell_centres"; values are (..., y, x).

    Raises `ValueError` if there is no such grid.
    """
    Grid(_known(kind), points, dimension=2)  # raises where the number of points is impossible
    batch = coefficients.shape[:-2]
    values = np.empty((*batch, points, points), coefficients.dtype)
    modes = coefficients.shape[-1]
    double = values.dtype == np.float64
    if kind == "nodes" and modes <= points and points % 2 and double and has_lane_transform(points - 1):
        from resolvent.solvers.common.lane_series import sum_of_cosines  # Numba is slow to import

        for sample in np.ndindex(*batch):
            sum_of_cosines(coefficients[sample], _norms(modes), values[sample])
        return values
    length, form = (2 * (points - 1), 1) if kind == "nodes" else (points, 3)
    fast = scipy.fft.next_fast_len(length) == length
    # The transform doubles all coefficients except the first and last.
    halves = np.full(points, 0.5, values.dtype)
    halves[[0, -1] if kind == "nodes" else [0]] = 1
    for sample in np.ndindex(*batch):
        amplitudes = _folded(_folded(coefficients[sample], points, kind).T, points, kind).T
        if fast:
            values[sample] = scipy.fft.dctn(amplitudes * np.outer(halves, halves), form)
        else:
            cosines = _cosines(points, kind).astype(amplitudes.dtype)
            values[sample] = cosines @ amplitudes @ cosines.T
    return values


def cosine_coefficients_of(
    values: Float[np.ndarray, "*batch points points"], kind: str
) -> Float[np.ndarray, "*batch points points"]:
    """Return the coefficients k = 0, …, points - 1 of the series with these values (..., y, x).

    The inverse of `observe_cosine`. Raises `ValueError` if there is no grid of this `kind` and size.
    """
    points = values.shape[-1]
    Grid(_known(kind), points, dimension=2)  # raises where the number of points is impossible
    scale = np.full(points, np.sqrt(2.0), values.dtype)
    scale[0] = 1
    if kind == "nodes":
        scale[-1] = np.sqrt(0.5)  # the last cosine is ±1 at every node: its square has twice the mean
    scale = np.outer(scale, scale)
    intervals, transform = (points - 1, 1) if kind == "nodes" else (points, 2)
    result = np.empty_like(values)
    for sample in np.ndindex(*values.shape[:-2]):
        result[sample] = scipy.fft.dctn(values[sample], transform) * scale / (2 * intervals) ** 2
    return result


def _folded(
    coefficients: Float[np.ndarray, "modes others"], points: int, kind: str
) -> Float[np.ndarray, "points others"]:
    """Return the amplitudes of cos πkx, k < points, along the first axis, with aliased modes added."""
    modes = len(coefficients)
    k = np.arange(modes)
    if kind == "nodes":
        k %= 2 * (points - 1)
        low, amplitude = np.minimum(k, 2 * (points - 1) - k), np.full(modes, np.sqrt(2.0))
    else:
        k %= 4 * points
        k = np.minimum(k, 4 * points - k)
        low = np.minimum(k, 2 * points - k)
        amplitude = np.sqrt(2.0) * np.sign(points - k)
        low[k == points] = 0  # this mode is zero at every centre
    amplitude[0] = 1
    amplitude = amplitude.astype(coefficients.dtype)
    result = np.zeros((points, coefficients.shape[1]), coefficients.dtype)
    stride = points - (kind == "nodes")  # so many consecutive modes are not aliased to each other
    for start in range(0, modes, stride):
        some = slice(start, start + stride)
        result[low[some]] += amplitude[some, None] * coefficients[some]
    return result


@lru_cache(maxsize=8)
def _norms(modes: int) -> Float[np.ndarray, "modes modes"]:
    """Return the normalisation factors of products of cosines."""
    along = np.full(modes, np.sqrt(2.0))
    along[0] = 1
    return np.outer(along, along)


@lru_cache(maxsize=16)
def _cosines(points: int, kind: str) -> Float[np.ndarray, "points points"]:
    """Return cos πkx_j. Reduces angles in integers first, so that high modes lose no digits."""
    half_turns = 2 * (points - 1) if kind == "nodes" else 4 * points
    positions = np.arange(points) if kind == "nodes" else 2 * np.arange(points) + 1
    return np.cos(2 * np.pi * (np.outer(positions, np.arange(points)) % half_turns) / half_turns)


def _known(kind: str) -> str:
    if kind not in ("nodes", "cell_centres"):
        raise ValueError(f"a cosine series is observed on 'nodes' or 'cell_centres', got {kind!r}")
    return kind
