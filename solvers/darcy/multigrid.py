"""A multigrid V-cycle for the equations of `solvers.darcy.five_point`, as a preconditioner, in Numba.

Unknowns are m × m values inside a frame of zeros, the boundary. `across` and `along` are the conductances
between neighbours: across[j, i] from (j, i) to (j, i + 1), along[j, i] from (j, i) to (j + 1, i). The
equations are

    Σ_neighbours conductance · (p - p_neighbour) = right-hand side.

A V-cycle relaxes once on the way down and once on the way up (red-black Gauss-Seidel in mirrored order, to be
symmetric). A coarser grid has half the intervals, rounded up; its points need not be points of the finer
grid, since 415 or 831 intervals cannot be halved. Functions are interpolated linearly between grids,
residuals are restricted by the transpose, and the coefficient by its weighted mean.

The V-cycle is in float32, for half the memory traffic; the surrounding `solvers.darcy.conjugate_gradients`
have the precision of the input.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from resolvent.solvers.common.compiled import compiled
from resolvent.solvers.common.grid import Grid

_COARSEST = 3  # unknowns along an axis of the coarsest grid, relaxed to convergence
_COARSEST_SWEEPS = 8


class Levels(NamedTuple):
    """The hierarchy of grids, finest first, as flat tables for compiled code.

    At position k of a level, including its frame, interpolation uses positions k // 2 and k // 2 + 1 of the
    next level.

    sizes   unknowns along an axis of each level.
    before  weight of the first of these two, for each position of each level except the last. Each level has
            twice as many entries as the next level has positions, padded with zeros.
    after   weight of the second.
    """

    sizes: np.ndarray
    before: np.ndarray
    after: np.ndarray


def levels(points: int, grid: str, stride: int = 1) -> Levels:
    """Return the hierarchy below a grid of `points` "nodes" or "cell_centres", the latter with a `stride`.

    Only the finest level has the stride: coarser levels only precondition, and are plain cell centres.
    """
    sizes, before, after = [], [], []
    intervals = points - 1 if grid == "nodes" else points
    positions = _positions(intervals, grid)
    if stride > 1:
        positions[1:-1] = Grid(grid, points, stride=stride).coordinates
    while True:
        sizes.append(len(positions) - 2)
        if sizes[-1] <= _COARSEST:
            break
        intervals = -(-intervals // 2)
        coarse = _positions(intervals, grid)
        first = np.minimum(np.arange(len(positions)) // 2, len(coarse) - 2)
        # For an odd number of cells some lie beyond the second position, by up to a quarter of a coarse cell.
        weight = ((positions - coarse[first]) / (coarse[first + 1] - coarse[first])).clip(0, 1)
        weights = np.zeros((2, 2 * len(coarse)))
        weights[:, : len(positions)] = 1 - weight, weight
        if positions[-2] > coarse[first[-2] + 1]:  # then the last position is next to the boundary
            weights[:, len(positions) - 2] = 0, (1 - positions[-2]) / (1 - coarse[-2])
        before.append(weights[0])
        after.append(weights[1])
        positions = coarse
    tables = (np.concatenate([*weights, [0.0]]).astype(np.float32) for weights in (before, after))
    return Levels(np.array(sizes), *tables)


def _positions(intervals: int, grid: str) -> Float[np.ndarray, " positions"]:
    """Return the positions of the unknowns between the two ends of the frame, at 0 and 1."""
    if grid == "nodes":
        return np.arange(intervals + 1) / intervals
    return np.concatenate([[0.0], (np.arange(intervals) + 0.5) / intervals, [1.0]])


@compiled
def conductances(coefficient, cell_centred, harmonic):
    """Return (across, along) of one sample; `coefficient` is (points, points) on nodes or cell centres.

    The conductance between two neighbours is the mean of their coefficients; between a cell and the boundary,
    half a cell away, it is twice the cell's coefficient.
    """
    frame = coefficient.shape[0] + (2 if cell_centred else 0)
    across = np.zeros((frame, frame), coefficient.dtype)
    along = np.zeros((frame, frame), coefficient.dtype)
    store_conductances(coefficient, cell_centred, np.int64(1), harmonic, across, along)
    return across, along


@compiled
def store_conductances(coefficient, cell_centred, stride, harmonic, across, along):
    points = coefficient.shape[0]
    shift = 1 if cell_centred else 0
    for j in range(points):
        for i in range(points - 1):
            a, b = coefficient[j, i], coefficient[j, i + 1]
            mean = 2 * a * b / (a + b) if harmonic else (a + b) / 2
            across[j + shift, i + shift] = mean
    for j in range(points - 1):
        for i in range(points):
            a, b = coefficient[j, i], coefficient[j + 1, i]
            mean = 2 * a * b / (a + b) if harmonic else (a + b) / 2
            along[j + shift, i + shift] = mean
    if cell_centred:
        for k in range(points):
            left, right = coefficient[k, 0], coefficient[k, points - 1]
            upper, lower = coefficient[0, k], coefficient[points - 1, k]
            across[k + 1, 0], across[k + 1, points] = 2 * stride * left, 2 * stride * right
            along[0, k + 1], along[points, k + 1] = 2 * stride * upper, 2 * stride * lower
    if stride > 1:  # faces of the outer cells are shorter: solvers.darcy.direct.cell_widths
        width = across.dtype.type((1 + 1 / stride) / 2)
        for edge in (1, points):
            for i in range(points + 1):
                across[edge, i] *= width
                along[i, edge] *= width


@compiled
def apply(pressure, across, along, result):
    """Store A · pressure inside the frame in `result`, in its precision; return their inner product."""
    inner = result.dtype.type(0)
    for j in range(1, pressure.shape[0] - 1):
        row = result.dtype.type(0)
        for i in range(1, pressure.shape[1] - 1):
            p = result.dtype.type(pressure[j, i])
            value = (
                across[j, i - 1] * (p - result.dtype.type(pressure[j, i - 1]))
                + across[j, i] * (p - result.dtype.type(pressure[j, i + 1]))
                + along[j - 1, i] * (p - result.dtype.type(pressure[j - 1, i]))
                + along[j, i] * (p - result.dtype.type(pressure[j + 1, i]))
            )
            result[j, i] = value
            row += value * p
        inner += row
    return inner


@compiled
def _inverse_diagonal(across, along, result):
    for j in range(1, across.shape[0] - 1):
        for i in range(1, across.shape[1] - 1):
            result[j, i] = 1 / (across[j, i - 1] + across[j, i] + along[j - 1, i] + along[j, i])


@compiled
def _start(pressure, source, inverse):
    """Relax the points of the first colour, starting from zero pressure."""
    for j in range(1, pressure.shape[0] - 1):
        for i in range(1, pressure.shape[1] - 1):
            pressure[j, i] = (i - 1 + j) % 2 * (inverse[j, i] * source[j, i])


@compiled
def _relax(pressure, source, across, along, inverse, colour):
    """Relax the points of one colour, by Gauss-Seidel.

    A whole row is computed and the points of the other colour are restored, which vectorises better than
    skipping.
    """
    width = pressure.shape[1] - 2
    relaxed = np.empty(width, pressure.dtype)
    own = np.empty((2, width), pressure.dtype)
    for i in range(width):
        own[0, i] = i % 2
        own[1, i] = 1 - i % 2
    for j in range(1, pressure.shape[0] - 1):
        here, above, below = pressure[j], pressure[j - 1], pressure[j + 1]
        for i in range(width):
            relaxed[i] = inverse[j, i + 1] * (
                source[j, i + 1]
                + across[j, i] * here[i]
                + across[j, i + 1] * here[i + 2]
                + along[j - 1, i + 1] * above[i + 1]
                + along[j, i + 1] * below[i + 1]
            )
        mine = own[(j + colour) % 2]
        for i in range(width):
            here[i + 1] += mine[i] * (relaxed[i] - here[i + 1])


@compiled
def _restrict_residual(pressure, source, across, along, before, after, coarse):
    """Store the transposed interpolation of the residual in `coarse`, first along y, then along x."""
    width = pressure.shape[1] - 2
    gathered = np.zeros((coarse.shape[0], 2 * coarse.shape[1]), pressure.dtype)
    residual = np.empty(width, pressure.dtype)
    for j in range(1, pressure.shape[0] - 1):
        here, above, below = pressure[j], pressure[j - 1], pressure[j + 1]
        for i in range(width):
            p = here[i + 1]
            residual[i] = source[j, i + 1] - (
                across[j, i] * (p - here[i])
                + across[j, i + 1] * (p - here[i + 2])
                + along[j - 1, i + 1] * (p - above[i + 1])
                + along[j, i + 1] * (p - below[i + 1])
            )
        upper, lower = gathered[j // 2, 1:], gathered[j // 2 + 1, 1:]
        for i in range(width):
            upper[i] += before[j] * residual[i]
            lower[i] += after[j] * residual[i]
    for j in range(1, coarse.shape[0] - 1):
        row, result = gathered[j], coarse[j]
        for i in range(1, coarse.shape[1] - 1):
            result[i] = (
                after[2 * i - 2] * row[2 * i - 2]
                + after[2 * i - 1] * row[2 * i - 1]
                + before[2 * i] * row[2 * i]
                + before[2 * i + 1] * row[2 * i + 1]
            )


@compiled
def _add_interpolated(coarse, before, after, pressure):
    """Add `coarse` to the pressure, interpolated linearly: first along x, then along y."""
    rows = np.empty((coarse.shape[0], 2 * coarse.shape[1]), coarse.dtype)
    for j in range(coarse.shape[0]):
        row, result = coarse[j], rows[j]
        for i in range(coarse.shape[1] - 1):
            result[2 * i] = before[2 * i] * row[i] + after[2 * i] * row[i + 1]
            result[2 * i + 1] = before[2 * i + 1] * row[i] + after[2 * i + 1] * row[i + 1]
    for j in range(1, pressure.shape[0] - 1):
        here, upper, lower = pressure[j], rows[j // 2, 1:], rows[j // 2 + 1, 1:]
        for i in range(pressure.shape[1] - 2):
            here[i + 1] += before[j] * upper[i] + after[j] * lower[i]


@compiled
def _coarsen(coefficient, before, after, cell_centred, coarse_points):
    """Return the coefficient on the next coarser grid, averaged with the weights of interpolation.

    Values are on points; weights are on positions, which for cells include the boundary.
    """
    points = coefficient.shape[0]
    shift = 1 if cell_centred else 0
    gathered = np.zeros((coarse_points + 2, len(before)), coefficient.dtype)
    norm = np.zeros(coarse_points + 2, coefficient.dtype)
    for j in range(points):
        k = j + shift
        norm[k // 2] += before[k]
        norm[k // 2 + 1] += after[k]
        upper, lower = gathered[k // 2, shift:], gathered[k // 2 + 1, shift:]
        for i in range(points):
            upper[i] += before[k] * coefficient[j, i]
            lower[i] += after[k] * coefficient[j, i]
    coarse = np.zeros((coarse_points, coarse_points), coefficient.dtype)
    for j in range(coarse_points):
        row, result = gathered[j + shift], coarse[j]
        if not cell_centred:
            result[0] = (before[0] * row[0] + before[1] * row[1]) / (norm[j] * norm[0])
        for k in range(1, coarse_points + shift):
            result[k - shift] = (
                after[2 * k - 2] * row[2 * k - 2]
                + after[2 * k - 1] * row[2 * k - 1]
                + before[2 * k] * row[2 * k]
                + before[2 * k + 1] * row[2 * k + 1]
            ) / (norm[j + shift] * norm[k])
    return coarse


@compiled
def _level(stored, offset, frame):
    """Return across, along, inverse diagonal, pressure and source of one level, as squares."""
    here = slice(offset, offset + frame * frame)
    return (
        stored[0, here].reshape(frame, frame),
        stored[1, here].reshape(frame, frame),
        stored[2, here].reshape(frame, frame),
        stored[3, here].reshape(frame, frame),
        stored[4, here].reshape(frame, frame),
    )


@compiled
def _copy(values, target):
    """Copy values to target. (Numba takes seconds to compile an assignment of arrays.)"""
    for j in range(values.shape[0]):
        for i in range(values.shape[1]):
            target[j, i] = values[j, i]


@compiled
def fill_hierarchy(stored, coefficient, across, along, sizes, before, after, cell_centred):
    """Store the conductances and inverse diagonals of all levels."""
    offset, tables = np.int64(0), 0
    for level in range(len(sizes)):
        frame = sizes[level] + 2
        kept_across, kept_along, inverse, _, _ = _level(stored, offset, frame)
        _copy(across, kept_across)
        _copy(along, kept_along)
        _inverse_diagonal(across, along, inverse)
        offset += frame * frame
        if level + 1 < len(sizes):
            coarse = sizes[level + 1] + 2
            table = slice(tables, tables + 2 * coarse)
            tables += 2 * coarse
            coarse_points = coarse - 2 if cell_centred else coarse
            coefficient = _coarsen(coefficient, before[table], after[table], cell_centred, coarse_points)
            across, along = conductances(coefficient, cell_centred, np.bool_(False))


@compiled
def v_cycle(stored, sizes, before, after):
    """Store an approximate solution for the source stored[4] of the finest level in its stored[3]."""
    offset, tables = np.int64(0), 0
    last = len(sizes) - 1
    for level in range(last + 1):
        frame = sizes[level] + 2
        across, along, inverse, pressure, source = _level(stored, offset, frame)
        _start(pressure, source, inverse)
        _relax(pressure, source, across, along, inverse, np.int64(1))
        if level == last:
            for half in range(2, 2 * _COARSEST_SWEEPS):
                _relax(pressure, source, across, along, inverse, half % 2)
            for half in range(2 * _COARSEST_SWEEPS):
                _relax(pressure, source, across, along, inverse, 1 - half % 2)
        else:
            offset += frame * frame
            _, _, _, _, coarse = _level(stored, offset, sizes[level + 1] + 2)
            table = slice(tables, tables + 2 * coarse.shape[0])
            _restrict_residual(pressure, source, across, along, before[table], after[table], coarse)
            tables = table.stop
    for level in range(last - 1, -1, -1):
        frame = sizes[level] + 2
        _, _, _, coarse, _ = _level(stored, offset, sizes[level + 1] + 2)
        offset -= frame * frame
        table = slice(tables - 2 * coarse.shape[0], tables)
        tables = table.start
        across, along, inverse, pressure, source = _level(stored, offset, frame)
        _add_interpolated(coarse, before[table], after[table], pressure)
        for colour in (1, 0):
            _relax(pressure, source, across, along, inverse, colour)
