"""Functions on the unit square that vanish on its boundary, as sine series: from fine grid to coarse.

    u(x, y) = Σ_{k, l = 1}^{n-2} c[l, k] sin πkx sin πly

is the one such series with given values on n × n nodes (both ends included, see `solvers.common.grid`). On a
coarser grid of nodes it is evaluated. Where the coarse nodes are fine ones, that takes every k-th value;
elsewhere it interpolates, to the order that the function is smooth.
"""

from functools import lru_cache

import numpy as np
from jaxtyping import Float

from resolvent.solvers.common.grid import Grid


def restrict_dirichlet(
    values: Float[np.ndarray, "*batch points_from points_from"], points: int
) -> Float[np.ndarray, "*batch points points"]:
    """Evaluate the sine interpolant of `values`, (..., y, x), on points × points nodes, points ≤ points_from.

    Raises
    ------
    ValueError
        Where `points` is more than there are, or the boundary values are not zero.
    """
    points_from = values.shape[-1]
    if points > points_from:
        raise ValueError(
            f"{points_from} nodes cannot be restricted to {points}: a restriction has at most {points_from}"
        )
    Grid("nodes", points)  # raises where the number of points is impossible
    edges = values[..., [0, -1], :], values[..., :, [0, -1]]
    if any(edge.any() for edge in edges):
        raise ValueError("a function with values on the boundary has no sine series")
    if (points_from - 1) % (points - 1) == 0:
        stride = (points_from - 1) // (points - 1)
        return values[..., ::stride, ::stride].copy()
    interpolation = _interpolation(points_from, points).astype(values.dtype)
    restricted = np.empty((*values.shape[:-2], points, points), values.dtype)
    for sample in np.ndindex(*values.shape[:-2]):
        restricted[sample] = interpolation @ values[sample] @ interpolation.T
    restricted[..., [0, -1], :] = 0
    restricted[..., :, [0, -1]] = 0
    return restricted


@lru_cache(maxsize=16)
def _interpolation(points_from: int, points: int) -> Float[np.ndarray, "points points_from"]:
    """Return the matrix from values at the fine nodes of an axis to those at the coarse ones."""
    fine, coarse = Grid("nodes", points_from).coordinates, Grid("nodes", points).coordinates
    modes = np.arange(1, points_from - 1)
    coefficients = 2 / (points_from - 1) * np.sin(np.pi * np.outer(modes, fine))
    return np.sin(np.pi * np.outer(coarse, modes)) @ coefficients
