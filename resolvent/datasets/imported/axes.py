"""Which axis of an array is which, and the grid along it: by names, by coordinates, and by order.

What a file says decides before what is usual. Where neither does, there are several readings, and a person
has to choose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.arrays_file import ArraysFile
from resolvent.datasets.storage.layout import SPACE

if TYPE_CHECKING:
    from resolvent.datasets.imported.series import Channel
    from resolvent.solvers.common.grid import Grid

TOLERANCE = 1e-3  # of a spacing: what coordinates in float32 are off by
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
# What else names of coordinates have beside the word: grid_x, x-coordinate, tspan.
_AFFIX = re.compile(r"^(grid|coord|coordinate)s?[-_ ]|[-_ ]?(coordinate|coord|grid|point|value|span)s?$")
PLACES = {"dimensions", "grid", "coordinates", "coords"}  # groups with the coordinates of a whole file
WHOLE = (1.0, np.pi / 2)  # lengths that people choose are multiples of one of them
FEW = 8  # at most so many entries along an axis of channels
UNNAMED = ("dim_", "phony_dim_", "fakeDim")  # names that libraries give to axes without a name
COORDINATED = ("time", *SPACE)  # axes that coordinates in a file have lengths for

Axes = tuple[str, ...]


@dataclass(frozen=True)
class FoundGrid:
    """A grid that coordinates are on."""

    kind: str
    length: float
    origin: float


def axis_of(name: str) -> str | None:
    """Return the axis that a name stands for; None where it is no word that is known."""
    leaf = name.lower().rpartition("/")[2]
    return AXIS_OF.get(leaf) or AXIS_OF.get(_AFFIX.sub("", leaf))


def along_one_axis(file: ArraysFile, name: str) -> np.ndarray | None:
    """Return the values of a variable along the only axis that it varies along; None where there are several.

    So of (n,), (1, n), and (samples, n) or (n, n) whose rows, or whose columns, are all alike.
    """

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
    except DatasetError:  # such as values that are not finite
        return None
    return values[0] if alike(values, 0) else values[:, 0] if alike(values, 1) else None


def lines_of(file: ArraysFile) -> dict[str, np.ndarray]:
    """Return the coordinates in a file, which rise or fall throughout, by the names of their variables."""
    found = {}
    for name in file.variables:
        if axis_of(name) in COORDINATED and (values := along_one_axis(file, name)) is not None:
            steps = np.diff(values)
            if steps.size and ((steps > 0).all() or (steps < 0).all()):
                found[name] = values
    return found


def near(line: str, name: str) -> bool:
    """Say whether coordinates are of a variable: in its group, in one around it, or of the whole file."""
    folder, inner = line.rpartition("/")[0], name.rpartition("/")[0]
    return f"{inner}/".startswith(f"{folder}/" if folder else "") or folder.rpartition("/")[2] in PLACES


def coordinates_of(file: ArraysFile, axis: str, points: int, taken: set[str], beside: str) -> str | None:
    """Return the variable with the coordinates of an axis; None where there is none that is known.

    Coordinates that vary along several axes are returned as well: `spacing_of` refuses them.

    taken  variables that are something else; `beside`: the variable whose axis it is.
    """
    for name, shape in file.shapes.items():
        if axis_of(name) == axis and name not in taken and points in shape and near(name, beside):
            values = along_one_axis(file, name)
            if len(values) == points if values is not None else file.variables[name].kind is None:
                return name
    return None


def _allowed(values: np.ndarray) -> float:
    """Return what coordinates may be off by: of float32 also its rounding of the largest."""
    rounding = 4 * float(np.finfo(np.float32).eps * np.abs(values).max())
    return max(TOLERANCE * abs(values[-1] - values[0]) / (len(values) - 1), rounding)


def line_of(file: ArraysFile, name: str) -> np.ndarray:
    """Read coordinates; raises a `DatasetError` where they neither rise nor fall throughout."""
    shape, values = file.shape(name), along_one_axis(file, name)
    if values is None:
        file.read(name, ())  # names what is not finite
        raise DatasetError(
            f"{file.path}: coordinates '{name}' {shape} vary along several axes: all samples have to be on "
            "one grid, interpolate them to one"
        )
    steps = np.diff(values)
    wrong = steps * (np.sign(steps.sum()) or 1) <= 0
    if wrong.any():
        at = int(np.argmax(wrong))
        raise DatasetError(
            f"{file.path}: coordinates '{name}' neither rise nor fall throughout: sort the points; "
            f"{values[at]:g} is followed by {values[at + 1]:g} in a sequence from {values[0]:g} to "
            f"{values[-1]:g}"
        )
    return values


def is_even(values: np.ndarray) -> bool:
    """Say whether coordinates rise, or fall, in equal steps."""
    line = values[0] + np.diff(values).mean() * np.arange(len(values))
    return bool(np.abs(values - line).max() <= _allowed(values))


def spacing_of(file: ArraysFile, name: str) -> np.ndarray:
    """Read coordinates; raises a `DatasetError` where they do not rise, or fall, in equal steps."""
    values = line_of(file, name)
    if not is_even(values):
        steps = np.abs(np.diff(values))
        raise DatasetError(
            f"{file.path}: coordinates '{name}' are not uniform: state grid: uneven along their axis, or "
            f"interpolate the functions to equal steps; those of the file go from {steps.min():.6g} to "
            f"{steps.max():.6g}"
        )
    return values


def held_axes(
    file: ArraysFile,
    channels: list[Channel],
    axes: Mapping[str, Grid | None],
    finest: Mapping[str, int],
    origins: Mapping[str, float],
    named: Mapping[Any, str],
) -> tuple[set[str], dict[str, tuple[float, ...]]]:
    """Hold the coordinates of a file against its grid, and read the points of uneven axes.

    axes    of space in stored order: a grid, whose left end is at `origins`; or None, where points are uneven
            and there have to be coordinates.
    finest  points along each axis.
    named   variables with the coordinates of an axis, for which none is then looked for.

    Returns the axes along which coordinates fall, whose values are to be read from the last to the first, and
    the positions of uneven points. Raises a DatasetError when coordinates are of another grid.
    """
    falling, positions, taken = set(), {}, {one.name.variable for one in channels}
    for axis, grid in axes.items():
        points, beside = finest[axis], channels[0].name.variable
        name = named.get(axis) or coordinates_of(file, axis, points, taken, beside)
        if name is None:
            if grid is None:
                raise DatasetError(
                    f"{file.path}: has no coordinates of {axis}, whose points are stated to be uneven; name "
                    f"the variable under coordinates, {axis}: …, or state another grid"
                )
            continue
        values = line_of(file, name) if grid is None else spacing_of(file, name)
        if len(values) != points:
            raise DatasetError(
                f"{file.path}: coordinates '{name}' are {len(values)}; expected: {points} (finest)"
            )
        if values[-1] < values[0]:
            falling.add(axis)
            words = f"'{name}' falls from {values[0]:g} to {values[-1]:g}: {axis} is flipped, and rises"
            file.remarks[words] = None
            values = values[::-1]
        if grid is None:
            positions[axis] = tuple(map(float, values))
            continue
        h = (values[-1] - values[0]) / (len(values) - 1)
        half, origin = h / 2 if grid.kind == "cell_centres" else 0.0, origins[axis]
        if axis != "x" and axis not in named:  # may begin elsewhere: stored grids begin at 0 along each axis
            values = values - values[0] + origin + half
        length, allowed = h * (len(values) - (grid.kind == "nodes")), _allowed(values)
        off = abs(values[0] - origin - half) > allowed
        if off or abs(length - grid.length) > len(values) * allowed:
            found = found_grid(values, None)
            raise DatasetError(
                f"{file.path}: coordinates '{name}' go from {values[0]:g} to {values[-1]:g} in steps of "
                f"{h:g}; expected: those of {grid.kind} with length {grid.length:g} from {origin:g}; as "
                f"{grid.kind} they have length: {length:.10g}, origin: {values[0] - half:.6g}; they look "
                f"like {found.kind} with length: {found.length:.10g}, origin: {found.origin:.6g}"
            )
    return falling, positions


def found_grid(values: np.ndarray, periodic: bool | None) -> FoundGrid:
    """Find the grid of rising coordinates: where the left end lies, and how long it is.

    periodic  whether functions on it are, as far as is known.
    """
    n, h = len(values), (values[-1] - values[0]) / (len(values) - 1)
    start, half = (0.0 if abs(end) < 1e-7 else float(f"{end:.7g}") for end in (values[0], values[0] - h / 2))
    between, around = (n - 1) * h, n * h  # the length of nodes, and of other grids
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
    ratios = {one: length / one for one in WHOLE}  # one that people choose loses the rounding of float32
    chosen = (
        float(round(ratio) * one)
        for one, ratio in ratios.items()
        if round(ratio) and abs(ratio - round(ratio)) < 1e-5 * max(1.0, abs(ratio))
    )
    return FoundGrid(kind, next(chosen, float(f"{length:.7g}")), half if kind == "cell_centres" else start)


def is_whole(length: float) -> bool:
    """Say whether a number is one that people choose: a whole one, or a multiple of π/2."""
    unit = max(abs(length), 1.0)
    return any(abs(length / one - round(length / one)) * one < 1e-5 * unit for one in WHOLE)


@dataclass(frozen=True)
class Reading:
    """What the axes of an array seem to be.

    axes     in their order in the file.
    certain  whether the file says so; else it is what is usual.
    asks     whether the file names an axis by a word that is not known, so that what is usual says little.
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
    """Return what the axes of an array may be: one reading, several that a person chooses from, or none.

    dims     names that the file gives the axes.
    lengths  of the coordinates in the file, by axis: an axis has the length of its coordinates.
    x_first  whether arrays of this layout have x before y, and y before z, where nothing else says so.
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
                # Coordinates may be of edges, one more than of cells.
                if all({sizes[axis], sizes[axis] + 1} & lengths[axis] for axis in both):
                    asks = named and bool(free)
                    found.setdefault(one, Reading(one, certain and not asks, asks))
                    break
    return list(found.values())


def _placed(
    shape: tuple[int, ...], fixed: dict[int, str], lengths: Mapping[str, set[int]]
) -> tuple[list[dict[int, str]], bool]:
    """Place the axes that have coordinates where their lengths fit, as many as possible.

    Returns every way to do so, and whether there was one only before what is usual chose among them: the
    first axis is of samples, and z, y and x follow each other.
    """
    axes = [axis for axis in COORDINATED if axis in lengths]
    choices = [
        [None, *(at for at, size in enumerate(shape) if at not in fixed and size in lengths[axis])]
        for axis in axes
    ]
    ways = [
        {at: axis for at, axis in zip(chosen, axes, strict=True) if at is not None}
        for chosen in product(*choices)
        if len({*chosen} - {None}) == len(chosen) - chosen.count(None)  # no two at one place
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
        ways = ways[-1:]  # of equal lengths the last is x
    return [{**fixed, **way} for way in ways], one_way


def _completed(shape: tuple[int, ...], places: dict[int, str]) -> Iterator[Axes]:
    """Yield what all axes may be, where some have `places`: sides of space, few channels, and then time."""
    free, side = [at for at in range(len(shape)) if at not in places], 0
    if of_space := [at for at, axis in places.items() if axis in SPACE]:
        side = shape[of_space[0]]
    if len(shape) == 2 and places == {1: "time"}:
        yield "sample", "x"  # functions of time
    # All free axes are of space where there is no other, and where times come first and equal sides follow.
    sides = {shape[at] for at in free} | ({side} if side else set())
    series = "time" in places.values() and not side and len(free) == 1
    series |= places.get(0) == "time" and len(sides) == 1 and len(free) + bool(side) in (2, 3)
    if free and "sample" not in places.values() and not series:
        places = {**places, free.pop(0): "sample"}
    if len(free) == 1 < len(shape) - 1 and not side and shape[free[0]] <= FEW:
        return  # few channels of no function
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
    """Return which axes of these sizes may be of space, beside those `taken`; a side of it has `side`.

    Equal sizes are sides of a square or a cube, of others all that are no few channels. Two lengths that
    differ may be time and space in either order, or sides of a rectangle.
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
