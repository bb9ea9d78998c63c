"""Identify the axes of an array and their grids, by names, coordinates and order.

Information in the file takes precedence over conventions. If neither decides, all possible readings are
returned, and the user has to choose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.arrays_file import ArraysFile
from resolvent.datasets.imported.series import Channel
from resolvent.datasets.storage.layout import SPACE
from resolvent.solvers.common.grid import Grid

TOLERANCE = 1e-3  # relative to a spacing, for coordinates in float32
WORDS = {
    "sample": "sample samples batch trajectory trajectories traj realization realisation ensemble "
    "member case run",
    "time": "time times t tt step steps timestep frame frames time_counter valid_time",
    "channel": "channel channels c component components variable variables feature features",
    "x": "x lon longitude xc nx rlon",
    "y": "y lat latitude yc ny rlat",
    "z": "z level depth height zc nz",
}
AXIS_OF = {word: axis for axis, words in WORDS.items() for word in words.split()}
# Prefixes and suffixes in names of coordinates: grid_x, x-coordinate, tspan.
_AFFIX = re.compile(r"^(grid|coord|coordinate)s?[-_ ]|[-_ ]?(coordinate|coord|grid|point|value|span)s?$")
PLACES = {"dimensions", "grid", "coordinates", "coords"}  # groups with the coordinates of a whole file
WHOLE = (1.0, np.pi / 2)  # typical lengths are multiples of one of these
FEW = 8  # largest number of channels
UNNAMED = ("dim_", "phony_dim_", "fakeDim")  # placeholder names that libraries give to axes
COORDINATED = ("time", *SPACE)  # axes that may have coordinates

Axes = tuple[str, ...]


@dataclass(frozen=True)
class FoundGrid:
    """A grid identified from coordinates."""

    kind: str
    length: float
    origin: float


def axis_of(name: str) -> str | None:
    leaf = name.lower().rpartition("/")[2]
    return AXIS_OF.get(leaf) or AXIS_OF.get(_AFFIX.sub("", leaf))


def along_one_axis(file: ArraysFile, name: str) -> np.ndarray | None:
    """Return the values along the only axis of (n,) or (1, n), or of equal rows or columns; else None."""

    def alike(values: np.ndarray, axis: int) -> bool:
        return bool(np.ptp(values, axis=axis).max() <= 1e-6 * np.abs(values).max())

    shape = file.variables[name].shape
    long = [at for at, size in enumerate(shape) if size > 1]
    if file.variables[name].kind is not None or not all(shape) or len(long) not in (1, 2):
        return None
    try:
        if len(long) == 1:
            return file.read(name, ()).ravel()
        two = file.read(name, (slice(None),) * long[0] + (slice(0, 2),)).reshape(2, shape[long[1]])
        if not (alike(two, 0) or alike(two, 1)):
            return None
        values = file.read(name, ()).reshape(shape[long[0]], shape[long[1]])
    except DatasetError:  # for example values that are not finite
        return None
    return values[0] if alike(values, 0) else values[:, 0] if alike(values, 1) else None


def lines_of(file: ArraysFile) -> dict[str, np.ndarray]:
    """Return the strictly monotone coordinates in a file, by the names of their variables."""
    found = {}
    for name in file.variables:
        if axis_of(name) in COORDINATED and (values := along_one_axis(file, name)) is not None:
            steps = np.diff(values)
            if steps.size and ((steps > 0).all() or (steps < 0).all()):
                found[name] = values
    return found


def near(line: str, name: str) -> bool:
    """Return whether coordinates apply to a variable: from its group, a parent group, or the whole file."""
    folder, inner = line.rpartition("/")[0], name.rpartition("/")[0]
    return f"{inner}/".startswith(f"{folder}/" if folder else "") or folder.rpartition("/")[2] in PLACES


def coordinates_of(file: ArraysFile, axis: str, points: int, taken: set[str], variable: str) -> str | None:
    """Return the name of the coordinates of an axis of `variable`; None if there are none.

    Also returns coordinates that vary along several axes, which `line_of` refuses. Variables in `taken` have
    another meaning.
    """
    for name, shape in file.shapes.items():
        if axis_of(name) == axis and name not in taken and points in shape and near(name, variable):
            values = along_one_axis(file, name)
            if len(values) == points if values is not None else file.variables[name].kind is None:
                return name
    return None


def _allowed(values: np.ndarray) -> float:
    """Return the tolerance for coordinates, including the float32 rounding error of the largest one."""
    rounding = 4 * float(np.finfo(np.float32).eps * np.abs(values).max())
    return max(TOLERANCE * abs(values[-1] - values[0]) / (len(values) - 1), rounding)


def line_of(file: ArraysFile, name: str, even: bool = False) -> np.ndarray:
    """Read coordinates. Raises `DatasetError` if not strictly monotone, or, with `even`, evenly spaced."""
    shape, values = file.shape(name), along_one_axis(file, name)
    at = f"{file.path}: coordinates '{name}'"
    if values is None:
        file.read(name, ())  # raises for values that are not finite
        raise DatasetError(f"{at} {shape} vary along several axes: interpolate all samples to one grid")
    steps = np.diff(values)
    wrong = steps * (np.sign(steps.sum()) or 1) <= 0
    if wrong.any():
        first = int(np.argmax(wrong))
        raise DatasetError(
            f"{at} are not monotone: sort the points; {values[first]:g} is followed by {values[first + 1]:g} "
            f"in a sequence from {values[0]:g} to {values[-1]:g}"
        )
    if even and not is_even(values):
        raise DatasetError(
            f"{at} are not evenly spaced: set grid: uneven for this axis, or interpolate the functions to "
            f"equal steps; steps in the file: {np.abs(steps).min():.6g} to {np.abs(steps).max():.6g}"
        )
    return values


def is_even(values: np.ndarray) -> bool:
    line = values[0] + np.diff(values).mean() * np.arange(len(values))
    return bool(np.abs(values - line).max() <= _allowed(values))


def held_axes(
    files: Mapping[str, ArraysFile],
    channels: list[Channel],
    axes: Mapping[str, Grid | None],
    finest: Mapping[str, int],
    origins: Mapping[str, float],
    named: Mapping[Any, str],
) -> tuple[set[str], dict[str, tuple[float, ...]]]:
    """Check the coordinates of all functions against the grid, and read the points of uneven axes.

    files   the file of each role: input and target may have coordinates of their own.
    axes    axes of space in stored order: a grid with left end at `origins`, or None for uneven points, which
            need coordinates.
    finest  points along each axis.
    named   variables with coordinates given by the user; others are searched for.

    Returns the axes with decreasing coordinates, whose values must be flipped, and the positions of uneven
    points. Raises `DatasetError` if coordinates do not fit the grid, or differ between functions.
    """
    falling: set[str] = set()
    positions: dict[str, tuple[float, ...]] = {}
    taken = {one.variable for one in channels}
    functions = dict.fromkeys((files[one.role], one.variable) for one in channels if one.space)
    for axis, grid in axes.items():
        # Whether they decrease and the points of an uneven axis, by file and name of the coordinates.
        known: dict[tuple[ArraysFile, str], tuple[bool, np.ndarray | None]] = {}
        for file, variable in functions:
            name = coordinates_of(file, axis, finest[axis], taken, variable)
            # The user's choice replaces coordinates that apply to the first function, too.
            if axis in named and (name is None or near(name, channels[0].variable)):
                name = named[axis] if named[axis] in file.variables or file is files["input"] else name
            if name is None or (file, name) in known:
                continue
            values = line_of(file, name, even=grid is not None)
            if len(values) != finest[axis]:
                raise DatasetError(
                    f"{file.path}: coordinates '{name}' have {len(values)} points; expected: {finest[axis]} "
                    "(finest)"
                )
            if falls := bool(values[-1] < values[0]):
                fall = f"'{name}' decreases from {values[0]:g} to {values[-1]:g}"
                file.remarks[f"{fall}: values are flipped along {axis}"] = None
                values = values[::-1]
            if grid is not None:
                # Other origins do not matter: stored grids start at 0.
                origin = origins[axis] if axis == "x" or axis in named else None
                _hold_line(file, name, values, grid, origin)
            known[file, name] = falls, None if grid else values
        if not known and grid is None:
            raise DatasetError(
                f"{files['input'].path}: has no coordinates for the uneven axis {axis}; name the variable "
                f"under coordinates, {axis}: …, or set another grid"
            )
        for (file, name), (falls, points) in known.items():
            (other, its), (fell, line) = next(iter(known.items()))
            apart = line is not None and bool(np.abs(points - line).max() > _allowed(line))
            if falls != fell or apart:
                raise DatasetError(
                    f"{file.path}: coordinates '{name}' differ in direction or in uneven points from '{its}' "
                    f"of {other.name}; expected: one grid for input and target"
                )
            falling |= {axis} if fell else set()
            positions |= {axis: tuple(map(float, line))} if line is not None else {}
    return falling, positions


def _hold_line(file: ArraysFile, name: str, values: np.ndarray, grid: Grid, origin: float | None) -> None:
    """Raise `DatasetError` if increasing coordinates do not fit an axis; None accepts any origin."""
    h = (values[-1] - values[0]) / (len(values) - 1)
    half = h / 2 if grid.kind == "cell_centres" else 0.0
    origin = values[0] - half if origin is None else origin
    length, allowed = h * (len(values) - (grid.kind == "nodes")), _allowed(values)
    off = abs(values[0] - origin - half) > allowed
    if off or abs(length - grid.length) > len(values) * allowed:
        found = found_grid(values, None)
        raise DatasetError(
            f"{file.path}: coordinates '{name}' go from {values[0]:g} to {values[-1]:g} in steps of "
            f"{h:g}; expected: grid: {grid.kind}, length: {grid.length:g}, origin: {origin:g}; as "
            f"{grid.kind} they have length: {length:.10g}, origin: {values[0] - half:.6g}; most likely "
            f"they are grid: {found.kind}, length: {found.length:.10g}, origin: {found.origin:.6g}"
        )


def found_grid(values: np.ndarray, periodic: bool | None) -> FoundGrid:
    """Return the grid of increasing coordinates; `periodic`: whether functions on it are, None if unknown."""
    n, h = len(values), (values[-1] - values[0]) / (len(values) - 1)
    start, half = (0.0 if abs(end) < 1e-7 else float(f"{end:.7g}") for end in (values[0], values[0] - h / 2))
    between, around = (n - 1) * h, n * h  # length for nodes, and for other grids
    if periodic and n % 2 == 0:
        kind = "periodic"
    elif is_whole(between) and not is_whole(around):
        kind = "nodes"
    elif abs(half) < TOLERANCE * h or (is_whole(around) and is_whole(half) and not is_whole(start)):
        kind = "cell_centres"
    elif is_whole(around) and n % 2 == 0 and periodic is not False:
        kind = "periodic"
    else:
        kind = "nodes"
    length = between if kind == "nodes" else around
    ratios = {one: length / one for one in WHOLE}  # typical lengths are freed of float32 rounding errors
    chosen = (
        float(round(ratio) * one)
        for one, ratio in ratios.items()
        if round(ratio) and abs(ratio - round(ratio)) < 1e-5 * max(1.0, abs(ratio))
    )
    return FoundGrid(kind, next(chosen, float(f"{length:.7g}")), half if kind == "cell_centres" else start)


def is_whole(length: float) -> bool:
    """Return whether a number is a typical length: an integer, or a multiple of π/2."""
    unit = max(abs(length), 1.0)
    return any(abs(length / one - round(length / one)) * one < 1e-5 * unit for one in WHOLE)


@dataclass(frozen=True)
class Reading:
    """Possible axes of an array, in the order of the file.

    certain  whether the file determines them, rather than conventions.
    asks     whether the file has unknown names for axes, so that conventions are not reliable.
    """

    axes: Axes
    certain: bool = False
    asks: bool = False


def readings(
    shape: tuple[int, ...],
    dims: Axes | None = None,
    lengths: Mapping[str, set[int]] | None = None,
    x_first: bool = False,
) -> list[Reading]:
    """Return the possible readings of an array's axes: one, several to choose from, or none.

    dims     names of the axes in the file.
    lengths  lengths of coordinates in the file, by axis.
    x_first  whether arrays of this format usually have x before y and y before z.
    """
    named = not all(name.startswith(UNNAMED) for name in dims or ())
    fixed = {at: axis for at, name in enumerate(dims or ()) if (axis := axis_of(name)) is not None}
    if len(set(fixed.values())) < len(fixed):
        return []
    lengths = {axis: some for axis, some in (lengths or {}).items() if axis not in fixed.values()}
    found: dict[Axes, Reading] = {}
    placed, one_way = _placed(shape, fixed, lengths)
    for places in placed:
        free = [at for at in range(len(shape)) if at not in places]
        certain = one_way and bool(places) and (not free or (len(free) == 1 and shape[free[0]] > FEW))
        for axes in _completed(shape, places):
            space = [axis for axis in axes if axis in SPACE]
            turned = dict(zip(space, reversed(space), strict=True)) if x_first and not dims else {}
            for one in dict.fromkeys((tuple(turned.get(axis, axis) for axis in axes), axes)):
                sizes = dict(zip(one, shape, strict=True))
                both = lengths.keys() & sizes.keys()
                # Coordinates of cell edges have one point more than cells.
                if all({sizes[axis], sizes[axis] + 1} & lengths[axis] for axis in both):
                    asks = named and bool(free)
                    found.setdefault(one, Reading(one, certain and not asks, asks))
                    break
    return list(found.values())


def _placed(
    shape: tuple[int, ...], fixed: dict[int, str], lengths: Mapping[str, set[int]]
) -> tuple[list[dict[int, str]], bool]:
    """Assign axes with coordinates to dimensions of matching length, as many as possible.

    Returns every such assignment, and whether it was unique before applying conventions: the first axis is
    the sample axis, and z, y and x are in this order.
    """
    axes = [axis for axis in COORDINATED if axis in lengths]
    choices = [
        [None, *(at for at, size in enumerate(shape) if at not in fixed and size in lengths[axis])]
        for axis in axes
    ]
    ways = [
        {at: axis for at, axis in zip(chosen, axes, strict=True) if at is not None}
        for chosen in product(*choices)
        if len({*chosen} - {None}) == len(chosen) - chosen.count(None)  # all different
    ]
    most = max(map(len, ways))
    ways = [way for way in ways if len(way) == most]
    one_way = len(ways) == 1
    if "sample" not in fixed.values():
        ways = [way for way in ways if 0 not in way] or ways
    in_order = []
    for way in ways:
        space = [axis for _, axis in sorted({**fixed, **way}.items()) if axis in SPACE]
        in_order += [way] if space == sorted(space, key=SPACE.index) else []
    ways = in_order or ways
    if len({next((at for at, axis in way.items() if axis == "time"), None) for way in ways}) == 1:
        ways = ways[-1:]  # x is the last of axes with equal lengths
    return [{**fixed, **way} for way in ways], one_way


def _completed(shape: tuple[int, ...], places: dict[int, str]) -> Iterator[Axes]:
    """Yield complete readings, given some axes by `places`: the rest are space, a few channels, and time."""
    free, side = [at for at in range(len(shape)) if at not in places], 0
    if of_space := [at for at, axis in places.items() if axis in SPACE]:
        side = shape[of_space[0]]
    if len(shape) == 2 and places == {1: "time"}:
        yield "sample", "x"  # functions of time
    # Without a sample axis if time is followed only by one axis, or by equal sides of space.
    sides = {shape[at] for at in free} | ({side} if side else set())
    series = "time" in places.values() and not side and len(free) == 1
    series |= places.get(0) == "time" and len(sides) == 1 and len(free) + bool(side) in (2, 3)
    if free and "sample" not in places.values() and not series:
        places = {**places, free.pop(0): "sample"}
    if len(free) == 1 < len(shape) - 1 and not side and shape[free[0]] <= FEW:
        return  # channels without an axis of space
    taken = set(places.values())
    for chosen in _sides({at: shape[at] for at in free}, side, taken):
        space = [axis for axis in SPACE if axis not in taken]
        axes = {**places, **dict(zip(chosen, space[len(space) - len(chosen) :], strict=True))}
        square = sum(axis in SPACE for axis in axes.values()) == 2
        others = sorted((at for at in free if at not in chosen), key=shape.__getitem__)
        for at in others:
            behind = not chosen or at > max(chosen)
            few = FEW if not square or behind or len(others) > 1 or "time" in taken else FEW // 2
            if "channel" not in axes.values() and shape[at] <= few:
                axes[at] = "channel"
            elif "time" not in axes.values():
                axes[at] = "time"
        if len(axes) == len(shape) and any(axis in SPACE for axis in axes.values()):
            yield tuple(axes[at] for at in range(len(shape)))


def _sides(sizes: dict[int, int], side: int, taken: set[str]) -> list[list[int]]:
    """Return the possible choices of axes of space among axes of these sizes.

    taken  axes that are known already; `side`: length of a known axis of space, or 0.

    Equal sizes are sides of a square or cube; otherwise all sizes too large for channels. Two different sizes
    may be time and space in either order, or sides of a rectangle.
    """
    left = sum(axis not in taken for axis in SPACE)
    large = [at for at, size in sizes.items() if size > FEW]
    repeated = [size for size in sizes.values() if 2 <= list(sizes.values()).count(size) <= left]
    if side:
        found = [at for at, size in sizes.items() if size == side][-left:] if left else []
    elif repeated:
        size = max(repeated, key=lambda one: (repeated.count(one), one))
        found = [at for at, one in sizes.items() if one == size]
    elif len(large) == 2 and "time" not in taken:
        return [[large[1]], [large[0]], large]
    else:
        found = large or (list(sizes) if len(sizes) == 1 else [])
    order = list(sizes)
    together = not found or order.index(found[-1]) - order.index(found[0]) == len(found) - 1
    alike = len({sizes[at] for at in found}) <= 1
    return [found] if together and alike and len(found) <= left else []
