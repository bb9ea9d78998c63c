"""Rigorous two-sided bounds of the error of any prediction of the pressure, without its label.

With A the matrix of `solvers.darcy.five_point`, p̂ a prediction, r = h² f - A p̂ its residual and e = p - p̂
its error, the energy norm of the error is ‖e‖²_A = eᵀ A e = rᵀ A⁻¹ r. A₀ is the same matrix for a = 1. Both
are sums over faces, eᵀ A e = Σ a_face (difference of e)², so that m A₀ ≤ A ≤ M A₀ with m and M the least and
the largest a_face in units of that of A₀, and

    rᵀ A₀⁻¹ r / M  ≤  ‖e‖²_A  ≤  rᵀ A₀⁻¹ r / m.

A sine transform inverts A₀ (type 1 on nodes, type 2 on cell centres), so the bounds cost less than a network.
On every k-th cell centre A₀ = T ⊗ W + W ⊗ T, with T the 1-D matrix and W the cells' widths, is inverted by
the eigenvectors T v = λ W v (Lynch, Rice and Thomas 1964, Numer. Math. 6, 185).
The ratio of upper and lower bound is √(M/m): 2 for coefficients of 3 and 12. Relative bounds divide by ‖p‖_A,
which differs from ‖p̂‖_A by at most ‖e‖_A, and lies between the bounds of the error of p̂ = 0; they differ
from the relative error at most by the factor M/m.

Rounding: the rounding error of the residual is estimated from the sizes of its terms, and widens the bounds,
so that they also hold for predictions that are exact to all digits.

Limits: the error refers to the 5-point equations; the residual does not include their discretisation error.
On nodes the boundary values are known, and those of a prediction are ignored. Sources: the equivalence with
A₀ is Concus and Golub 1973, SIAM J. Numer. Anal. 10, 1103; the relation of residual and energy error
Ainsworth and Oden 2000, A Posteriori Error Estimation in Finite Element Analysis.
"""

from functools import lru_cache

import numpy as np
from jaxtyping import Float
from scipy.fft import dstn
from scipy.linalg import eigh_tridiagonal

from resolvent.solvers.common.checks import check_array, refuse
from resolvent.solvers.common.errors import CHECK
from resolvent.solvers.common.grid import Grid
from resolvent.solvers.darcy.direct import cell_widths, faces_along

Values = Float[np.ndarray, "batch n n"]
ROUNDED = 8 * np.finfo(float).eps  # relative rounding error of a residual: five terms of two operations each
TRANSFORMED = 1e-13  # relative rounding error of a sine transform and the sum of its squares
SINES = {"nodes": 1, "cell_centres": 2}


def energy_error_bounds(
    coefficient: Values,
    prediction: Values,
    source: Values | float = 1.0,
    grid: str = "nodes",
    face_mean: str = "arithmetic",
    stride: int = 1,
) -> tuple[Float[np.ndarray, "batch 2"], Float[np.ndarray, "batch 2"]]:
    """Return (lower, upper) bounds of ‖p - p̂‖_A and of ‖p - p̂‖_A / ‖p‖_A for every sample.

    coefficient  values of a;  prediction  p̂;  source  values of f, or a number;  grid, face_mean, stride  as
    for `DarcyFivePoint`.

    Raises `ValueError` for arrays that are not (batch, n, n), and `SolverError` for coefficients that are not
    positive and for values that are not finite.
    """
    faces, inner = _faces(coefficient, grid, face_mean, stride), _inner(prediction, grid)
    residual, right, terms = _residual(faces, inner, prediction, source, grid, stride)
    units = _faces(np.ones_like(coefficient[:1]), grid, face_mean, stride)
    ratios = np.concatenate([(faces[axis] / units[axis]).reshape(len(inner), -1) for axis in faces], axis=1)
    eigenvalues, vectors = laplacian_modes(inner.shape[-1], grid, stride)

    def dual_norm(values: Values) -> Float[np.ndarray, " batch"]:
        if vectors is None:
            spectrum = dstn(values, type=SINES[grid], axes=(1, 2), norm="ortho")
        else:
            spectrum = vectors.T @ values @ vectors
        return np.sqrt((spectrum**2 / (eigenvalues[:, None] + eigenvalues)).sum(axis=(1, 2)))

    norm, whole = dual_norm(residual), dual_norm(right)
    least_area = cell_widths(inner.shape[-1], stride)[0] ** 2  # A₀ ≥ 2 λ₁ W ⊗ W
    rounding = ROUNDED * np.sqrt((terms**2).sum(axis=(1, 2)) / (2 * eigenvalues[0] * least_area))
    off = rounding + TRANSFORMED * norm
    smallest, largest = np.sqrt(ratios.min(axis=1)), np.sqrt(ratios.max(axis=1))
    lower, upper = np.maximum(norm - off, 0) / largest, (norm + off) / smallest

    size = _energy(faces, inner)
    least = np.maximum(size - upper, (1 - TRANSFORMED) * whole / largest)
    most = np.minimum(size + upper, (1 + TRANSFORMED) * whole / smallest)
    relative = lower / np.maximum(most, np.finfo(float).tiny), np.full_like(upper, np.inf)
    np.divide(upper, least, out=relative[1], where=least > 0)
    return np.stack([lower, upper], axis=1), np.stack(relative, axis=1)


def residual(
    coefficient: Values,
    prediction: Values,
    source: Values | float = 1.0,
    grid: str = "nodes",
    face_mean: str = "arithmetic",
    stride: int = 1,
) -> Values:
    """Return V f - A p̂ of every sample, zero on the boundary of nodes; V is the area of the cells.

    Raises as `energy_error_bounds`.
    """
    faces, inner = _faces(coefficient, grid, face_mean, stride), _inner(prediction, grid)
    found = np.zeros_like(prediction)
    _inner(found, grid)[:] = _residual(faces, inner, prediction, source, grid, stride)[0]
    return found


def laplacian_modes(
    unknowns: int, grid: str, stride: int
) -> tuple[Float[np.ndarray, " unknowns"], Float[np.ndarray, "unknowns unknowns"] | None]:
    """Return the eigenvalues, ascending, and eigenvectors of T v = λ W v along an axis, vᵀ W v = 1.

    The eigenvectors are None if a sine transform applies them. λ is in units of the squared spacing.
    """
    if stride == 1:
        intervals = unknowns + (grid == "nodes")
        return 2 - 2 * np.cos(np.pi * np.arange(1, unknowns + 1) / intervals), None
    return _modes_with_stride(unknowns, stride)


@lru_cache(maxsize=8)
def _modes_with_stride(unknowns: int, stride: int) -> tuple[np.ndarray, np.ndarray]:
    roots = np.sqrt(cell_widths(unknowns, stride))
    diagonal, beside = np.full(unknowns, 2.0), np.full(unknowns - 1, -1.0)
    diagonal[[0, -1]] = 1 + 2 * stride
    eigenvalues, vectors = eigh_tridiagonal(diagonal / roots**2, beside / (roots[:-1] * roots[1:]))
    return eigenvalues, vectors / roots[:, None]


def energy_norm(
    coefficient: Values,
    values: Values,
    grid: str = "nodes",
    face_mean: str = "arithmetic",
    stride: int = 1,
) -> Float[np.ndarray, " batch"]:
    """Return ‖v‖_A of every sample, for example of a pressure or an error."""
    return _energy(_faces(coefficient, grid, face_mean, stride), _inner(values, grid))


def _residual(faces, inner, prediction, source, grid, stride):
    """Return the residual at the unknowns, V f there, and the sum of the terms' absolute values."""
    spacing = Grid(grid, prediction.shape[-1], dimension=2, stride=stride).spacing
    right = spacing**2 * _inner(np.broadcast_to(source, prediction.shape), grid)
    if stride > 1:
        widths = cell_widths(inner.shape[-1], stride)
        right = right * np.outer(widths, widths)
    finite = np.isfinite(inner).all(axis=(1, 2)) & np.isfinite(right).all(axis=(1, 2))
    refuse(~finite, "Darcy", symptom="the prediction or the source is not finite", remedy=CHECK)
    found, terms = right.copy(), abs(right)
    for axis, face in faces.items():
        found += np.diff(face * np.diff(_framed(inner, axis), axis=axis), axis=axis)
        terms += _sums(face * _sums(abs(_framed(inner, axis)), axis), axis)
    return found, right, terms


def _energy(faces, inner):
    squares = (face * np.diff(_framed(inner, axis), axis=axis) ** 2 for axis, face in faces.items())
    return np.sqrt(sum(square.sum(axis=(1, 2)) for square in squares))


def _faces(
    coefficient: Values, grid: str, face_mean: str, stride: int
) -> dict[int, Float[np.ndarray, "batch rows columns"]]:
    """Return the conductances of the faces that touch an unknown, by axis."""
    check_array(coefficient, "f", ("batch", "n", "n"), "coefficient of Darcy")
    positive = ((coefficient > 0) & np.isfinite(coefficient)).all(axis=(1, 2))
    refuse(~positive, "Darcy", symptom="the coefficient is not positive", remedy=CHECK)
    along = faces_along(coefficient.swapaxes(1, 2), grid, face_mean, stride).swapaxes(1, 2)
    return {2: faces_along(coefficient, grid, face_mean, stride), 1: along}


def _inner(values: Values, grid: str) -> Float[np.ndarray, "batch m m"]:
    check_array(values, "f", ("batch", "n", "n"), "values of Darcy")
    return values[:, 1:-1, 1:-1] if grid == "nodes" else values


def _framed(inner: Float[np.ndarray, "batch m m"], axis: int) -> Float[np.ndarray, "batch rows columns"]:
    """Return values padded by the boundary's zeros at both ends of an axis."""
    return np.pad(inner, [(int(one == axis),) * 2 for one in range(3)])


def _sums(values, axis):
    """Return the sums of neighbours."""
    upper, lower = (np.delete(values, end, axis) for end in (0, -1))
    return upper + lower
