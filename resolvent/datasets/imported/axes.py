"""Coordinates in files: which variables they are, which grid they describe, and the words for times."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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
    "x": "x lon longitude xc nx rlon trunk",
    "y": "y lat latitude yc ny rlat",
    "z": "z level depth height zc nz",
}
AXIS_OF = {word: axis for axis, words in WORDS.items() for word in words.split()}
# Prefixes and suffixes in names of coordinates: grid_x, x-coordinate, tspan.
_AFFIX = re.compile(r"^(grid|coord|coordinate)s?[-_ ]|[-_ ]?(coordinate|coord|grid|point|value|span)s?$")
PLACES = {"dimensions", "grid", "coordinates", "coords"}  # groups with the coordinates of a whole file
COORDINATED = ("time", *SPACE)  # axes that may have coordinates


def axis_of(name: str) -> str | None:
    leaf = name.lower().rpartition("/")[2]
    return AXIS_OF.get(leaf) or AXIS_OF.get(_AFFIX.sub("", leaf))


def _along_one_axis(file: ArraysFile, name: str) -> np.ndarray | None:
    """Return the values of (n,) or (1, n), or of equal rows or columns such as a meshgrid's; else None."""
    shape = file.variables[name].shape
    long = [number for number, size in enumerate(shape) if size > 1]
    if file.variables[name].kind is not None or not all(shape) or len(long) not in (1, 2):
        return None
    try:
        # Two rows show whether a large array can be coordinates at all.
        if len(long) == 2 and min(shape[number] for number in long) > 2:
            few = file.read(name, (slice(None),) * long[0] + (slice(0, 2),)).reshape(2, -1)
            if not (_equal(few) or _equal(few.T)):
                return None
        values = file.read(name, ()).squeeze()
    except DatasetError:  # for example values that are not finite
        return None
    if values.ndim == 1:
        return values
    return values[0] if _equal(values) else values[:, 0] if _equal(values.T) else None


def _equal(rows: np.ndarray) -> bool:
    return bool(np.ptp(rows, axis=0).max() <= 1e-6 * np.abs(rows).max())


def lines_of(file: ArraysFile) -> dict[str, np.ndarray]:
    """Return the strictly monotone coordinates in a file, by the names of their variables."""
    names = [name for name in file.variables if axis_of(name) in COORDINATED]
    lines = {name: _along_one_axis(file, name) for name in names}
    return {name: values for name, values in lines.items() if values is not None and is_monotone(values)}


def near(line: str, name: str) -> bool:
    """Return whether coordinates apply to a variable: from its group, a parent group, or the whole file."""
    folder, inner = line.rpartition("/")[0], name.rpartition("/")[0]
    return f"{inner}/".startswith(f"{folder}/" if folder else "") or folder.rpartition("/")[2] in PLACES


def coordinates_of(file: ArraysFile, axis: str, points: int, taken: set[str], variable: str) -> str | None:
    """Return the name of the coordinates of an axis of `variable`; None if there are none.

    Also returns coordinates that vary along several axes, which `line_of` refuses. Variables in `taken` have
    another meaning.
    """
    for name, one in file.variables.items():
        if axis_of(name) != axis or name in taken or one.kind is not None or not near(name, variable):
            continue
        longer = points + 1 if name.endswith("t-coordinate") else points  # PDEBench stores one time more
        if {points, longer} & {*one.shape}:
            values = _along_one_axis(file, name)
            if values is None or len(values) in (points, longer):
                return name
    return None


def line_of(file: ArraysFile, name: str, even: bool = False) -> np.ndarray:
    """Read coordinates. Raises `DatasetError` if not strictly monotone, or, with `even`, evenly spaced."""
    shape, values = file.shape(name), _along_one_axis(file, name)
    where = f"{file.path}: coordinates '{name}'"
    if values is None:
        file.read(name, ())  # raises for values that are not finite
        raise DatasetError(f"{where} {shape} vary along several axes: interpolate all samples to one grid")
    if not is_monotone(values):
        raise DatasetError(
            f"{where} are not monotone: sort the points; they go from {values[0]:g} to {values[-1]:g}, with "
            f"steps from {np.diff(values).min():g} to {np.diff(values).max():g}"
        )
    if even and not is_even(values):
        steps = np.abs(np.diff(values))
        raise DatasetError(
            f"{where} are not evenly spaced: set grid: uneven for this axis, or interpolate the functions to "
            f"equal steps; steps in the file: {steps.min():.6g} to {steps.max():.6g}"
        )
    return values


def is_monotone(values: np.ndarray) -> bool:
    steps = np.diff(values)
    return bool(steps.size and ((steps > 0).all() or (steps < 0).all()))


def is_even(values: np.ndarray) -> bool:
    line = values[0] + np.diff(values).mean() * np.arange(len(values))
    return bool(np.abs(values - line).max() <= _allowed(values))


def _allowed(values: np.ndarray) -> float:
    """Return the tolerance for coordinates, including the float32 rounding error of the largest one."""
    rounding = 4 * float(np.finfo(np.float32).eps * np.abs(values).max())
    return max(TOLERANCE * abs(values[-1] - values[0]) / (len(values) - 1), rounding)


@dataclass
class HeldAxes:
    """Grid of all functions, from coordinates: axes whose values must be flipped, lengths, uneven points.

    origins  coordinates of the left ends of even axes, where all functions have the same.
    units    units of the coordinates of each axis, where the file has them.
    """

    falling: set[str] = field(default_factory=set)
    lengths: dict[str, float] = field(default_factory=dict)
    origins: dict[str, float] = field(default_factory=dict, compare=False)
    units: dict[str, str] = field(default_factory=dict, compare=False)
    positions: dict[str, tuple[float, ...]] = field(default_factory=dict)


def held_axes(
    files: Mapping[str, ArraysFile],
    channels: list[Channel],
    axes: Mapping[str, Grid | None],
    lengths: Mapping[str, float | None],
    origins: Mapping[str, float | None],
    named: Mapping[Any, str],
) -> HeldAxes:
    """Check the coordinates of all functions against the grid, and read lengths and uneven points.

    files    the file of each role: input and target may have coordinates of their own.
    axes     axes of space in stored order: a grid, or None for uneven points, which need coordinates.
    lengths  lengths that the user states, with the coordinates of the left ends (`origins`); None: any.
    named    variables with coordinates given by the user; others are searched for.

    Raises `DatasetError` if coordinates do not fit the grid, or differ between functions.
    """
    held, taken = HeldAxes(), {channel.variable for channel in channels}
    for axis, grid in axes.items():
        lines: dict[tuple[ArraysFile, str], int] = {}  # coordinates, with the points that they must have
        for one in (channel for channel in channels if channel.space):
            file, points = files[one.role], one.sizes(files[one.role])[axis]
            name = coordinates_of(file, axis, points, taken, one.variable)
            # The user's choice replaces coordinates that apply to the first function, too.
            if axis in named and (name is None or near(name, channels[0].variable)):
                name = named[axis] if named[axis] in file.variables or file is files["input"] else name
            if name is not None:
                lines[file, name] = points
        if not lines and grid is None:
            raise DatasetError(
                f"{files['input'].path}: has no coordinates for the uneven axis {axis}; name the variable "
                f"under coordinates, {axis}: …, or set another grid"
            )
        first: np.ndarray | None = None
        for (file, name), points in lines.items():
            values = line_of(file, name, even=grid is not None)
            if len(values) != points:
                raise DatasetError(
                    f"{file.path}: coordinates '{name}' have {len(values)} points; expected: {points}"
                )
            if falls := bool(values[-1] < values[0]):
                fall = f"'{name}' decreases from {values[0]:g} to {values[-1]:g}"
                file.notes[f"{fall}: values are flipped along {axis}"] = None
                values = values[::-1]
            if first is None:
                first = values
                held.units[axis] = text_of(file.variables[name].attributes().get("units", ""))
                if falls:
                    held.falling.add(axis)
                if grid is None:
                    held.positions[axis] = tuple(map(float, values))
                else:
                    held.lengths[axis], held.origins[axis] = _ends_of(
                        file, name, values, grid.kind, lengths[axis], origins[axis]
                    )
            compared = values - (values[0] - first[0] if grid is not None else 0.0)
            if abs(values[0] - first[0]) > _allowed(values):
                held.origins.pop(axis, None)
                file.notes[f"'{name}' begins elsewhere than for the first function: {axis} begins at 0"] = (
                    None
                )
            other = np.abs(compared - first).max() > len(values) * _allowed(first)
            if other or falls != (axis in held.falling):
                raise DatasetError(
                    f"{file.path}: coordinates '{name}' differ in direction, length or uneven points from "
                    "those of the first function; expected: one grid for input and target"
                )
    return held


def _ends_of(
    file: ArraysFile, name: str, values: np.ndarray, kind: str, length: float | None, origin: float | None
) -> tuple[float, float]:
    """Return length and left end of increasing coordinates, without their rounding in single precision.

    Raises `DatasetError` if they do not fit the length and the left end (`origin`) that the user states.
    """
    step = (values[-1] - values[0]) / (len(values) - 1)
    digits = 7 if np.array_equal(values, values.astype(np.float32)) else 12
    own = float(f"{step * (len(values) - (kind == 'nodes')):.{digits}g}")
    begins = float(f"{values[0] - (step / 2 if kind == 'cell_centres' else 0.0):.{digits}g}")
    off = origin is not None and abs(begins - origin) > _allowed(values)
    if off or (length is not None and abs(own - length) > len(values) * _allowed(values)):
        stated = "" if length is None else f", length: {length:g}"
        stated += "" if origin is None else f", origin: {origin:g}"
        raise DatasetError(
            f"{file.path}: coordinates '{name}' go from {values[0]:g} to {values[-1]:g} in steps of "
            f"{step:g}; expected: grid: {kind}{stated}; as {kind} they have length: {own:.10g}, origin: "
            f"{begins:.6g}; set these, or another grid"
        )
    return own, begins


class Moment(NamedTuple):
    """A time of a file, with the unit and the calendar there; in windows, a time after their start."""

    value: float
    units: str = ""
    calendar: str = ""


def moments_of(
    files: Mapping[str, ArraysFile], channels: list[Channel], named: str | None, windows: bool
) -> dict[int, Moment]:
    """Return the times of channels, by index; empty if the files have none.

    files    the file of each role; `named`: the variable with the times; None: search for it.
    windows  whether times count from the start of a window; `DatasetError` if steps in time then differ.
    """
    times = {one.time: one for one in channels if one.time is not None}
    if times and named is not None and not any(named in file.variables for file in files.values()):
        files["input"].shape(named)  # raises
    for one in times.values():
        file, count = files[one.role], one.sizes(files[one.role])["time"]
        own = named if named in file.variables else None
        if name := own or coordinates_of(file, "time", count, set(), one.variable):
            break
    else:
        return {}
    values = _along_one_axis(file, name)
    if values is None:  # a single time, or other times for each sample
        return {}
    if windows and not is_even(values):
        steps = np.diff(values)
        raise DatasetError(
            f"{file.path}: the times '{name}' have steps from {steps.min():.6g} to {steps.max():.6g}, so "
            "windows would have different lead times; interpolate to equal steps, or leave out window_every"
        )
    attributes = file.variables[name].attributes()
    unit, calendar = (text_of(attributes.get(key, "")) for key in ("units", "calendar"))
    if windows:
        unit = unit.partition(" since ")[0]
        return {time: Moment(float(values[time] - values[0]), unit) for time in times}
    return {time: Moment(float(values[time + count if time < 0 else time]), unit, calendar) for time in times}


def words_for_times(moments: Mapping[int, Moment], windows: bool) -> dict[str, str]:
    """Return words for times, by index, in the file's unit: "at time 20 s", "18 hours later", a date."""
    words: dict[str, str] = {}
    for time, moment in moments.items():
        length = f"{moment.value:.7g} {moment.units}".strip()
        if windows:
            words[str(time)] = f"{length} later" if time else "at the start"
        else:
            words[str(time)] = f"at {_date(moment) or f'time {length}'}"
    return words


def text_of(value: Any) -> str:
    """Return an attribute of a file as text."""
    return value.decode() if isinstance(value, bytes) else str(value)


def _date(moment: Moment) -> str:
    """Return the date of a moment; empty for a plain time, and for units or a calendar that are not known."""
    if " since " not in moment.units:
        return ""
    from xarray.coding.times import decode_cf_datetime  # slow to import, and seldom needed

    try:
        (date,) = decode_cf_datetime(np.array([moment.value]), moment.units, moment.calendar or "standard")
    except (ImportError, ValueError, OverflowError):  # some calendars need a package of their own
        return ""
    # Dates of other calendars, such as one of 360 days, are Python objects.
    minute = np.datetime_as_string(date, "m") if isinstance(date, np.datetime64) else date
    return str(minute).replace("T", " ")
