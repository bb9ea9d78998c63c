"""Cosine series on the unit square, and their values on grids.

    u(x, y) = Σ c[k_y, k_x] φ_{k_x}(x) φ_{k_y}(y),    φ_0 = 1,  φ_k(x) = √2 cos πkx

The φ are orthonormal on (0, 1) and have zero slope at its ends: eigenfunctions of the Laplacian with Neumann
boundary conditions. Values are (..., y, x), on nodes (both ends) or on cell centres (see `solvers.grid`).

A series may have more modes than the grid has points: it is evaluated there, not truncated. Evaluation is two
matrix products, which at a few hundred points cost less than a fast cosine transform.

A sample has the same bits alone as in any batch: its products are its own.
"""

from functools import lru_cache

import numpy as np
import scipy.fft
from jaxtyping import Float

from solvers.grid import Grid


def observe_cosine(
    coefficients: Float[np.ndarray, "*batch modes modes"], points: int, kind: str
) -> Float[np.ndarray, "*batch points points"]:
    """Values on points × points `nodes` or `cell_centres`."""
    batch = coefficients.shape[:-2]
    basis = _basis(points, _known(kind), coefficients.shape[-1]).astype(coefficients.dtype)
    values = np.empty((*batch, points, points), coefficients.dtype)
    for sample in np.ndindex(*batch):
        values[sample] = basis @ coefficients[sample] @ basis.T
    return values


def cosine_coefficients_of(
    values: Float[np.ndarray, "*batch points points"], kind: str
) -> Float[np.ndarray, "*batch points points"]:
    """Coefficients k = 0, …, points - 1 of the series with these values: the inverse of `observe_cosine`."""
    points = values.shape[-1]
    Grid(_known(kind), points, dimension=2)  # says what is wrong with the number of points
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


@lru_cache(maxsize=16)
def _basis(points: int, kind: str, modes: int) -> Float[np.ndarray, "points modes"]:
    """φ_k(x_j). Angles are reduced as integers first, so that high modes lose no digits."""
    Grid(kind, points, dimension=2)
    half_turns = 2 * (points - 1) if kind == "nodes" else 4 * points
    positions = np.arange(points) if kind == "nodes" else 2 * np.arange(points) + 1
    basis = np.sqrt(2.0) * np.cos(
        2 * np.pi * (np.outer(positions, np.arange(modes)) % half_turns) / half_turns
    )
    basis[:, 0] = 1
    return basis


def _known(kind: str) -> str:
    if kind not in ("nodes", "cell_centres"):
        raise ValueError(f"a cosine series is observed on 'nodes' or 'cell_centres', got {kind!r}")
    return kind
