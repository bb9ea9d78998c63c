"""Solve the 5-point equations of Darcy flow by a sparse direct method, as an independent check.

With D_x and D_y the matrices of first differences between neighbours, including the boundary's zeros, and
A_x, A_y the diagonal matrices of face coefficients, the equations are (D_xᵀ A_x D_x + D_yᵀ A_y D_y) p = h² f.
"""

import numpy as np
import scipy.sparse as sparse
from jaxtyping import Float
from scipy.sparse.linalg import splu

from resolvent.solvers.common.grid import Grid


def solve_direct(
    coefficient: Float[np.ndarray, "batch n n"],
    source: float = 1.0,
    grid: str = "nodes",
    face_mean: str = "arithmetic",
) -> Float[np.ndarray, "batch n n"]:
    """Return the pressure of every sample, (batch, y, x).

    coefficient  values of a on n × n points of a `grid`, "nodes" or "cell_centres";  source  f, a number.
    face_mean    "arithmetic" or "harmonic".
    """
    points = coefficient.shape[-1]
    inner = points - 2 if grid == "nodes" else points
    right = np.full(inner**2, source * Grid(grid, points, dimension=2).spacing ** 2)
    identity = sparse.identity(inner)
    difference = sparse.diags([np.ones(inner), -np.ones(inner)], [0, -1], shape=(inner + 1, inner))
    across, along = sparse.kron(identity, difference), sparse.kron(difference, identity)
    pressure = np.zeros_like(coefficient)
    for sample, result in zip(coefficient, pressure, strict=True):
        faces_x, faces_y = faces_along(sample, grid, face_mean), faces_along(sample.T, grid, face_mean).T
        matrix = (
            across.T @ sparse.diags(faces_x.ravel()) @ across
            + along.T @ sparse.diags(faces_y.ravel()) @ along
        )
        solution = splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve(
            right
        )
        inside = result[1:-1, 1:-1] if grid == "nodes" else result
        inside[:] = solution.reshape(inner, inner)
    return pressure


def faces_along(
    sample: Float[np.ndarray, "*batch n n"], grid: str, face_mean: str
) -> Float[np.ndarray, "*batch rows faces"]:
    """Return the coefficients on the faces along the last axis that touch an unknown."""
    left, right = sample[..., :-1], sample[..., 1:]
    mean = 2 / (1 / left + 1 / right) if face_mean == "harmonic" else (left + right) / 2
    if grid == "nodes":
        return mean[..., 1:-1, :]
    half = 2 * sample[..., [0, -1]]  # the boundary is half a cell away
    return np.concatenate([half[..., :1], mean, half[..., 1:]], axis=-1)
