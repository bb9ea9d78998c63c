"""Solve the 5-point equations of Darcy flow by a sparse direct method, as an independent check.

With D_x and D_y the matrices of first differences between neighbours, including the boundary's zeros, and
A_x, A_y the diagonal matrices of face coefficients, the equations are (D_xᵀ A_x D_x + D_yᵀ A_y D_y) p = V f,
with the areas V of the cells: h², smaller in the outer cells of a grid of every k-th cell centre.
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
    stride: int = 1,
) -> Float[np.ndarray, "batch n n"]:
    """Return the pressure of every sample, (batch, y, x).

    coefficient  values of a on n × n points of a `grid`, "nodes" or "cell_centres";  source  f, a number.
    face_mean    "arithmetic" or "harmonic".
    stride       k if the points are every k-th cell centre of a finer grid.
    """
    points = coefficient.shape[-1]
    inner = points - 2 if grid == "nodes" else points
    widths = cell_widths(inner, stride)
    spacing = Grid(grid, points, dimension=2, stride=stride).spacing
    right = source * spacing**2 * np.outer(widths, widths).ravel()
    identity = sparse.identity(inner)
    difference = sparse.diags([np.ones(inner), -np.ones(inner)], [0, -1], shape=(inner + 1, inner))
    across, along = sparse.kron(identity, difference), sparse.kron(difference, identity)
    pressure = np.zeros_like(coefficient)
    for sample, result in zip(coefficient, pressure, strict=True):
        faces_x = faces_along(sample, grid, face_mean, stride)
        faces_y = faces_along(sample.T, grid, face_mean, stride).T
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


def cell_widths(cells: int, stride: int) -> Float[np.ndarray, " cells"]:
    """Return the widths of the cells around every `stride`-th cell centre of a finer grid, over the spacing.

    The outer cells end at the boundary, half a fine cell from their points.
    """
    widths = np.ones(cells)
    widths[[0, -1]] = (1 + 1 / stride) / 2
    return widths


def faces_along(
    sample: Float[np.ndarray, "*batch n n"], grid: str, face_mean: str, stride: int = 1
) -> Float[np.ndarray, "*batch rows faces"]:
    """Return the conductances of the faces along the last axis that touch an unknown.

    They are the coefficient on the face times its length over the distance of the two points.
    """
    left, right = sample[..., :-1], sample[..., 1:]
    mean = 2 / (1 / left + 1 / right) if face_mean == "harmonic" else (left + right) / 2
    if grid == "nodes":
        return mean[..., 1:-1, :]
    half = 2 * stride * sample[..., [0, -1]]  # the boundary is half a (fine) cell away
    faces = np.concatenate([half[..., :1], mean, half[..., 1:]], axis=-1)
    return faces if stride == 1 else faces * cell_widths(sample.shape[-1], stride)[:, None]
