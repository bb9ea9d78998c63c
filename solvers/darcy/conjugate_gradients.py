"""Conjugate gradients preconditioned by a V-cycle of `solvers.darcy.multigrid`, for one sample, in Numba.

Everything except the direction has the precision of the input. The flexible formula (Polak and Ribière) keeps
the single precision of the V-cycle from affecting the result.
"""

import numpy as np

from resolvent.solvers.common.compiled import compiled
from resolvent.solvers.darcy.multigrid import apply, fill_hierarchy, store_conductances, v_cycle


def workspace(sizes: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Return work arrays for these levels; reusing them saves a third of the time.

    stored, (5, all levels): across, along, inverse diagonal, pressure, source, in float32. Then across,
    along, the direction in float32, and its image under the matrix, with the frame. The direction need not be
    exact, only its image.
    """
    frame = sizes[0] + 2
    stored = np.zeros((5, int(((sizes + 2) ** 2).sum())), np.float32)
    across, along, image = np.zeros((3, frame, frame), dtype)
    return stored, across, along, np.zeros((frame, frame), np.float32), image


@compiled
def solve_sample(
    coefficient,
    residual,
    pressure,
    stored,
    across,
    along,
    direction,
    image,
    sizes,
    before,
    after,
    cell_centred,
    stride,
    harmonic,
    tolerance,
    accuracy,
    least_eigenvalue,
    max_iterations,
):
    """Store the pressure of one sample in its frame of zeros; return the iterations, 0 if not converged.

    `residual` is the right-hand side with the frame, and is overwritten; the tolerance is relative to it.
    `pressure` has the frame, with arbitrary values. If the tolerance is zero, iterations stop at the
    `accuracy` of the pressure, see `solvers.darcy.five_point`.
    """
    store_conductances(coefficient, cell_centred, stride, harmonic, across, along)
    fill_hierarchy(stored, coefficient, across, along, sizes, before, after, cell_centred)
    frame = sizes[0] + 2
    preconditioned, scaled = stored[3, : frame * frame], stored[4, : frame * frame]
    pressure, residual = pressure.ravel(), residual.ravel()
    pressure[:] = 0
    direction[:] = 0
    image[:] = 0
    squares = residual.dtype.type(0)
    for i in range(residual.size):
        squares += residual[i] * residual[i]
    norm = np.sqrt(squares)
    if norm == 0:
        return 1
    previous, step = residual.dtype.type(1), residual.dtype.type(0)
    gains = np.zeros(max_iterations, residual.dtype)  # decreases of the square of the error's energy norm
    # The residual is scaled for the V-cycle, so that it does not underflow in float32.
    size = norm
    _scale(residual, 1 / size, scaled)
    for iteration in range(max_iterations):
        v_cycle(stored, sizes, before, after)
        product, along_image = _inner_products(preconditioned, residual, image.ravel())
        # Polak and Ribière: the residual has just changed by -step · image.
        turn = -along_image * step / previous
        _move_and_turn(pressure, direction.ravel(), step, turn, preconditioned)
        previous = product
        step = product / apply(direction, across, along, image)
        gains[iteration] = step * product
        left = size * np.sqrt(_update(residual, image.ravel(), step, 1 / size, scaled))
        if left > 0 and left * left == 0:  # rounding errors of the true residual are far larger
            return 0
        enough = left <= tolerance * norm
        if tolerance == 0:
            squares = _squares_of_moved(pressure, direction.ravel(), step)
            gained = gains[iteration - max(iteration - 15, 0) // 5 : iteration + 1].sum()
            enough = left == 0 or gained <= accuracy * accuracy * least_eigenvalue * squares
        if enough:
            _move_and_turn(pressure, direction.ravel(), step, residual.dtype.type(0), preconditioned)
            return iteration + 1
        if left < 0.1 * size:
            _scale(residual, 1 / left, scaled)
            size = left
    _move_and_turn(pressure, direction.ravel(), step, residual.dtype.type(0), preconditioned)
    return 0


# Flat loops over few arrays, which LLVM vectorises.


@compiled
def _update(residual, image, step, factor, scaled):
    """Subtract step · image from the residual, store factor times it, and return the sum of its squares."""
    squares = residual.dtype.type(0)
    for i in range(residual.size):
        changed = residual[i] - step * image[i]
        residual[i] = changed
        stored = factor * changed
        scaled[i] = stored
        squares += stored * stored
    return squares


@compiled
def _scale(residual, factor, scaled):
    for i in range(residual.size):
        scaled[i] = factor * residual[i]


@compiled
def _inner_products(preconditioned, residual, image):
    first, second = residual.dtype.type(0), residual.dtype.type(0)
    for i in range(residual.size):
        first += preconditioned[i] * residual[i]
        second += preconditioned[i] * image[i]
    return first, second


@compiled
def _squares_of_moved(pressure, direction, step):
    """Return the sum of squares of the pressure after a step along the direction."""
    squares = pressure.dtype.type(0)
    for i in range(pressure.size):
        moved = pressure[i] + step * direction[i]
        squares += moved * moved
    return squares


@compiled
def _move_and_turn(pressure, direction, step, factor, preconditioned):
    """Move a step along the direction, then replace it by factor · direction + preconditioned."""
    for i in range(pressure.size):
        old = direction[i]
        pressure[i] += step * old
        direction[i] = factor * old + preconditioned[i]
