"""Coordinates in files, held against the grid that the settings state, or a grid found from them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.arrays_file import ArraysFile

if TYPE_CHECKING:
    from resolvent.datasets.imported.arrays import ArraysDataset

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
    shape = file.shapes[name]
    long = [at for at, size in enumerate(shape) if size > 1]
    if file.not_real(name) is not None or not all(shape) or len(long) not in (1, 2):
        return None
    try:
        if len(long) == 1:
            return file.read(name, ()).ravel()
        two = file.read(name, (slice(None),) * long[0] + (slice(0, 2),)).reshape(2, shape[long[1]])
        if not (_alike(two, 0) or _alike(two, 1)):
            return None
        values = file.read(name, ()).reshape(shape[long[0]], shape[long[1]])
    except DatasetError:  # such as values that are not finite
        return None
    return values[0] if _alike(values, 0) else values[:, 0] if _alike(values, 1) else None


def _alike(values: np.ndarray, axis: int) -> bool:
    return bool(np.ptp(values, axis=axis).max() <= 1e-6 * np.abs(values).max())


def lines_of(file: ArraysFile) -> dict[str, np.ndarray]:
    """Return the coordinates in a file, which rise or fall throughout, by the names of their variables."""
    found = {}
    for name in file.shapes:
        if axis_of(name) in ("time", "x", "y", "z"):
            values = along_one_axis(file, name)
            steps = np.diff(values) if values is not None else np.zeros(1)
            if values is not None and len(values) > 1 and ((steps > 0).all() or (steps < 0).all()):
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
            if len(values) == points if values is not None else file.not_real(name) is None:
                return name
    return None


def spacing_of(file: ArraysFile, name: str) -> np.ndarray:
    """Read coordinates, and check that they rise, or fall, in equal steps.

    Raises
    ------
    DatasetError
        When they do not.
    """
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
    mean = steps.mean()
    if np.abs(values - (values[0] + mean * np.arange(len(values)))).max() > max(
        TOLERANCE * abs(mean), _rounding(values)
    ):
        raise DatasetError(
            f"{file.path}: coordinates '{name}' are not uniform: interpolate the functions to equal steps; "
            f"those of the file go from {np.abs(steps).min():.6g} to {np.abs(steps).max():.6g}"
        )
    return values


def _rounding(values: np.ndarray) -> float:
    """Return what float32 cannot say of the largest coordinate."""
    return 4 * float(np.finfo(np.float32).eps * np.abs(values).max())


def check_coordinates(settings: ArraysDataset, file: ArraysFile) -> set[str]:
    """Hold the coordinates of a file, where it has some, against the grid stated.

    Returns the axes along which they fall, whose values are to be read from the last to the first.

    Raises
    ------
    DatasetError
        When they are of another grid.
    """
    channel, falling = settings.channels[0], set()
    taken = {one.name.variable for one in settings.channels}
    for axis in channel.space:
        given: dict = settings.coordinates
        name = given.get(axis)
        if name is None:
            name = coordinates_of(file, axis, settings.finest, taken, channel.name.variable)
        if name is None:
            continue
        values = spacing_of(file, name)
        if len(values) != settings.finest:
            raise DatasetError(
                f"{file.path}: coordinates '{name}' are {len(values)}; expected: {settings.finest} (finest)"
            )
        if values[-1] < values[0]:
            falling.add(axis)
            words = f"'{name}' falls from {values[0]:g} to {values[-1]:g}: {axis} is flipped, and rises"
            file.remark(words)
            values = values[::-1]
        if axis != "x" and axis not in given:  # may begin elsewhere: stored grids begin at 0 along each axis
            half = (values[1] - values[0]) / 2 if settings.grid == "cell_centres" else 0.0
            values = values - values[0] + settings.origin + half
        _check_grid(settings, file, name, values)
    return falling


def _check_grid(settings: ArraysDataset, file: ArraysFile, name: str, values: np.ndarray) -> None:
    """Raise a `DatasetError` where rising coordinates are not of the grid stated."""
    h = (values[-1] - values[0]) / (len(values) - 1)
    first = settings.origin + (h / 2 if settings.grid == "cell_centres" else 0.0)
    length = h * (len(values) - (settings.grid == "nodes"))
    allowed = max(TOLERANCE * h, _rounding(values))
    if abs(values[0] - first) > allowed or abs(length - settings.length) > len(values) * allowed:
        origin = values[0] - (h / 2 if settings.grid == "cell_centres" else 0.0)
        found = found_grid(values, None)
        raise DatasetError(
            f"{file.path}: coordinates '{name}' go from {values[0]:g} to {values[-1]:g} in steps of {h:g}; "
            f"expected: those of {settings.grid} with length {settings.length:g} from {settings.origin:g}; "
            f"as {settings.grid} they have length: {length:.10g}, origin: {origin:.6g}; they look like "
            f"{found.kind} with length: {found.length:.10g}, origin: {found.origin:.6g}"
        )


def found_grid(values: np.ndarray, periodic: bool | None) -> FoundGrid:
    """Find the grid of rising coordinates: where the left end lies, and how long it is.

    periodic  whether functions on it are, as far as is known.
    """
    n, h = len(values), (values[-1] - values[0]) / (len(values) - 1)
    start = float(_rounded(values[0]))
    half = float(_rounded(values[0] - h / 2))
    if periodic and n % 2 == 0:
        return FoundGrid("periodic", _length(n * h), start)
    if is_whole((n - 1) * h) and not is_whole(n * h):
        return FoundGrid("nodes", _length((n - 1) * h), start)
    if abs(half) < TOLERANCE * h or (is_whole(n * h) and is_whole(half) and not is_whole(start)):
        return FoundGrid("cell_centres", _length(n * h), half)
    if is_whole(n * h) and n % 2 == 0 and periodic is not False:
        return FoundGrid("periodic", _length(n * h), start)
    return FoundGrid("nodes", _length((n - 1) * h), start)


def is_whole(length: float) -> bool:
    """Say whether a number is one that people choose: a whole one, or a multiple of π/2."""
    unit = max(abs(length), 1.0)
    return any(abs(length / one - round(length / one)) * one < 1e-5 * unit for one in WHOLE)


def _length(length: float) -> float:
    """Return a length without the rounding of float32, where it is one that people choose."""
    for one in WHOLE:
        ratio = length / one
        if round(ratio) and abs(ratio - round(ratio)) < 1e-5 * max(1.0, abs(ratio)):
            return float(round(ratio) * one)
    return float(f"{length:.7g}")


def _rounded(value: float) -> float:
    return 0.0 if abs(value) < 1e-7 else float(f"{value:.7g}")
