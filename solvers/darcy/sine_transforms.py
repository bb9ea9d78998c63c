"""Conjugate gradients preconditioned by sine transforms, for the equations of `solvers.darcy.five_point`.

Designed for GPUs. The preconditioner is the Laplacian with constant coefficient, inverted exactly by its
eigenvectors, which are sines. A two-dimensional sine transform is a batch of two products with the matrix of
sines, which GPUs do fast. The condition number is bounded by the contrast of the coefficient on any grid:
about 25 iterations for 3 and 12.

Smooth coefficients are scaled out, M⁻¹ = a^{-1/2} (-Δ_h)⁻¹ a^{-1/2}, so that the iterations only treat their
curvature; this is harmful if the coefficient jumps. A sample is scaled if no two neighbours differ by a
factor of 2.

LANES samples are solved at once; each stops changing when it has converged, so that its bits do not depend on
the others.
"""

from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from resolvent.solvers.common.lanes import in_lanes, lanes_here

LANES = {"cpu": 1, "gpu": 32}
LARGEST_SMOOTH_RATIO = 2.0


def solve_batch(
    coefficient: Float[np.ndarray, "batch n n"],
    sources: Float[np.ndarray, "batch n n"],
    grid: str,
    face_mean: str,
    tolerance: float,
    accuracy: float,
    max_iterations: int,
) -> tuple[Float[np.ndarray, "batch n n"], Int[np.ndarray, " batch"]]:
    """Return the pressure of every sample, and the number of iterations (0 if not converged).

    `sources` is h² f; the other arguments are as for `DarcyFivePoint`.
    """
    real = coefficient.dtype
    sines, eigenvalues = (table.astype(real) for table in _laplacian(coefficient.shape[-1], grid))
    inside = (slice(None), *(2 * [slice(1, -1) if grid == "nodes" else slice(None)]))

    def solved(*block):
        limits = real.type(tolerance), real.type(accuracy)
        return _solve(*block, sines, eigenvalues, *limits, max_iterations, grid, face_mean)

    # A constant source is one number of each sample, which need not travel to a GPU as an array.
    sources = sources[:, :1, :1] if sources.strides[1:] == (0, 0) else sources[inside]
    # A constant coefficient, which fills empty lanes, is solved in one iteration.
    solution, iterations = in_lanes(solved, lanes_here(LANES), coefficient, sources, fill=1.0)
    pressure = np.zeros_like(coefficient)
    pressure[inside] = solution
    return pressure, iterations


@lru_cache(maxsize=8)
def _laplacian(points: int, grid: str) -> tuple[Float[np.ndarray, "m m"], Float[np.ndarray, "m m"]]:
    """Return orthonormal eigenvectors along an axis (columns), and the eigenvalues of the 5-point -h²Δ."""
    intervals = points - 1 if grid == "nodes" else points
    wavenumbers = np.arange(1, intervals) if grid == "nodes" else np.arange(1, intervals + 1)
    positions = np.arange(1, intervals) if grid == "nodes" else np.arange(intervals) + 0.5
    sines = np.sin(np.pi * np.outer(positions, wavenumbers) / intervals)
    along_axis = 2 - 2 * np.cos(np.pi * wavenumbers / intervals)
    return sines / np.linalg.norm(sines, axis=0), along_axis[:, None] + along_axis


@partial(jax.jit, static_argnames=("max_iterations", "grid", "face_mean"))
def _solve(
    coefficient: Float[Array, "lanes n n"],
    right: Float[Array, "lanes #m #m"],
    sines: Float[Array, "m m"],
    eigenvalues: Float[Array, "m m"],
    tolerance: Float[Array, ""],
    accuracy: Float[Array, ""],
    max_iterations: int,
    grid: str,
    face_mean: str,
) -> tuple[Float[Array, "lanes m m"], Int[Array, " lanes"]]:
    across, ratio_x = _faces(coefficient, grid, face_mean)
    along, ratio_y = _faces(coefficient.swapaxes(1, 2), grid, face_mean)
    along = along.swapaxes(1, 2)
    inner = coefficient[:, 1:-1, 1:-1] if grid == "nodes" else coefficient
    right = jnp.broadcast_to(right, (len(right), *eigenvalues.shape))
    smooth = jnp.maximum(ratio_x, ratio_y) <= LARGEST_SMOOTH_RATIO
    scale = jnp.where(smooth[:, None, None], 1 / jnp.sqrt(inner), 1)

    def apply(p):
        east = jnp.diff(jnp.pad(p, ((0, 0), (0, 0), (1, 1))), axis=2) * across
        north = jnp.diff(jnp.pad(p, ((0, 0), (1, 1), (0, 0))), axis=1) * along
        return -jnp.diff(east, axis=2) - jnp.diff(north, axis=1)

    def precondition(r):
        spectrum = sines.T @ (scale * r) @ sines
        return scale * (sines @ (spectrum / eigenvalues) @ sines.T)

    def dot(a, b):
        return jnp.sum(a * b, axis=(1, 2), keepdims=True)

    bound = tolerance**2 * dot(right, right)
    least = accuracy**2 * coefficient.min(axis=(1, 2), keepdims=True) * eigenvalues[0, 0]

    def unfinished(state):
        step, *_, iterations = state
        return (step < max_iterations) & jnp.any(iterations < 0)

    def iterate(state):
        step, p, direction, residual, product, iterations = state
        image = apply(direction)
        running = (iterations < 0)[:, None, None]
        length = jnp.where(running, product / dot(direction, image), 0)
        p, residual = p + length * direction, residual - length * image
        z = precondition(residual)
        new = dot(residual, z)
        direction = z + new / product * direction
        square = dot(residual, residual)
        by_accuracy = (square == 0) | (length * product <= least * dot(p, p))
        done = jnp.where(tolerance > 0, square <= bound, by_accuracy)[:, 0, 0]
        iterations = jnp.where((iterations < 0) & done, step + 1, iterations)
        return step + 1, p, direction, residual, new, iterations

    z = precondition(right)
    start = jnp.where((dot(right, right) == 0)[:, 0, 0], 1, -1)
    state = (0, jnp.zeros_like(right), z, right, dot(right, z), start)
    _, p, _, _, _, iterations = jax.lax.while_loop(unfinished, iterate, state)
    return p, jnp.maximum(iterations, 0)


def _faces(
    coefficient: Float[Array, "lanes n n"], grid: str, face_mean: str
) -> tuple[Float[Array, "lanes rows faces"], Float[Array, " lanes"]]:
    """Return the coefficients on faces along x that touch an unknown, and the largest ratio of neighbours."""
    left, right = coefficient[:, :, :-1], coefficient[:, :, 1:]
    ratio = jnp.maximum(left / right, right / left).max(axis=(1, 2))
    mean = 2 * left * right / (left + right) if face_mean == "harmonic" else (left + right) / 2
    if grid == "nodes":
        return mean[:, 1:-1], ratio
    # The boundary is half a cell away from the last cell.
    ends = 2 * coefficient[:, :, :1], mean, 2 * coefficient[:, :, -1:]
    return jnp.concatenate(ends, axis=2), ratio
