"""Which part of which variable each function of a sample is, as `input`, `target` and `axes` say. Light."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from resolvent.datasets.storage.layout import SPACE

if TYPE_CHECKING:
    from resolvent.datasets.imported.readers.arrays_file import ArraysFile

AXES = ("sample", "time", "channel", *SPACE)
RESERVED = {"x", "y", "z", "time", "sample", "split"}  # names of arrays that every store has
_ENTRY = re.compile(r"(?P<variable>.+?)(?:\[(?P<channel>\d+)\])?")


@dataclass(frozen=True)
class Name:
    """An entry of `input` or `target`: the variable, its channel if it has an axis of them, and its axes."""

    entry: str
    variable: str
    channel: int | None
    axes: tuple[str, ...]

    @property
    def space(self) -> tuple[str, ...]:
        """Return the axes of space, in stored order: z, y, x; none for a number."""
        return tuple(axis for axis in SPACE if axis in self.axes)


@dataclass(frozen=True)
class Channel:
    """One stored function, or number, of a sample.

    stored  its name in the store.
    time    which time of the series, or of its window, it is; None where there is no axis of time.
    """

    role: str
    name: Name
    time: int | None
    stored: str

    @property
    def space(self) -> tuple[str, ...]:
        return self.name.space

    @property
    def words(self) -> str:
        """Return what it is called: its name in the file, and its time."""
        if self.time is None:
            return self.name.entry
        return f"{self.name.entry} at time {self.time}" + (" from the end" if self.time < 0 else "")


def variable_of(entry: str) -> str:
    """Return the variable of an entry of `input` or `target`: what stands before the number of a channel."""
    found = _ENTRY.fullmatch(entry)
    return found["variable"] if found else entry


def parsed(entry: str, axes: Any) -> Name:
    """Return what an entry of `input` or `target` stands for.

    Raises a ValueError when its axes are not said, or cannot be.
    """
    found = _ENTRY.fullmatch(entry)
    if found is None:
        raise ValueError("the name of a variable is empty; accepted: name, group/name, name[0]")
    variable, channel = found["variable"], found["channel"]
    if isinstance(axes, dict):
        if variable not in axes:
            raise ValueError(
                f"axes has no entry for '{variable}'; it has {', '.join(axes) or 'none'}; accepted: such as "
                f"{variable}: [sample, x], or of one number for each sample {variable}: [sample]"
            )
        axes = axes[variable]
    name = Name(entry, variable, None if channel is None else int(channel), tuple(axes))
    where = f"axes of '{variable}', {', '.join(name.axes) or 'none'}"
    for axis in name.axes:
        if axis not in AXES:
            raise ValueError(f"{where}: unknown axis {axis!r}; accepted: {', '.join(AXES)}")
    if len(set(name.axes)) < len(name.axes):
        raise ValueError(f"{where}: one is named twice")
    if name.space != SPACE[len(SPACE) - len(name.space) :]:
        raise ValueError(f"{where}: accepted of space: x; y and x; z, y and x; in any order")
    if ("channel" in name.axes) != (channel is not None):
        remedy = f"name a channel, such as {variable}[0]" if channel is None else "leave the brackets out"
        raise ValueError(f"'{entry}' and its axes {', '.join(name.axes)} do not fit; {remedy}")
    return name


def read_rows(file: ArraysFile, name: Name, time: int | None, rows: range) -> np.ndarray:
    """Read rows of the axis of samples of a function, (samples, ...space), or of a number, (samples,)."""
    selection, lengths = {}, dict(zip(name.axes, file.shape(name.variable), strict=True))
    for axis, size in lengths.items():
        at = {"time": time or 0, "channel": name.channel or 0}.get(axis)
        at = at + size if at is not None and at < 0 else at
        selection[axis] = slice(0, size) if at is None else slice(at, at + 1)
    if "sample" in selection:
        selection["sample"] = slice(rows.start, rows.stop)
    values = file.read(name.variable, tuple(selection.values()))
    kept = [axis for axis in ("sample", *SPACE) if axis in name.axes]
    values = np.squeeze(values, axis=tuple(at for at, axis in enumerate(name.axes) if axis not in kept))
    left = [axis for axis in name.axes if axis in kept]
    values = values.transpose([left.index(axis) for axis in kept])
    return values if "sample" in name.axes else values[None]


def channels_of(
    entries: dict[str, list[str]], times: dict[str, list[int]], axes: Any, paired: bool, windows: bool
) -> list[Channel]:
    """Return every function and number of a sample, inputs first.

    Raises a ValueError when names, axes and times do not fit each other.

    entries  names of each role, input and target; `times`: those taken of each role; `axes`: see `parsed`.
    paired   whether the roles have files of their own; `windows`: whether series are cut into them.
    """
    found: list[Channel] = []
    twice = set(entries["input"]) & set(entries["target"]) if paired else set()
    for role, default in (("input", [0]), ("target", [-1])):
        names = [parsed(entry, axes) for entry in entries[role]]
        if times[role] and not any("time" in name.axes for name in names):
            raise ValueError(f"{role}_times are given, and no {role} has an axis of time")
        for name in names:
            # The letters of its name in the file, with its role where another array has that name.
            words = re.sub(r"\W+", "_", name.entry).strip("_") or role
            if words in RESERVED or words[0].isdigit() or name.entry in twice:
                words = f"{role}_{words}"
            for time in (times[role] or default) if "time" in name.axes else [None]:
                ending = "" if time is None else f"_at_{time}" if time >= 0 else "_at_last"
                ending += f"_but_{-time - 1}" if time is not None and time < -1 else ""
                found.append(Channel(role, name, time, words + ending))

    inputs = [one for one in found if one.role == "input"]
    functions = [one for one in found if one.space]
    if not any(one.space for one in inputs):
        raise ValueError("no input is a function of space: its axes have none of x, y, z")
    if [one for one in inputs if one.space] != inputs[: sum(bool(one.space) for one in inputs)]:
        raise ValueError("inputs that are numbers of a sample come last, behind functions")
    for one in found:
        if one.role == "target" and not one.space:
            raise ValueError(f"the target '{one.name.entry}' is no function of space")
    if len({one.space for one in functions}) > 1:
        raise ValueError("inputs and targets are functions of different axes of space")
    for name_in_store in (stored := [one.stored for one in found]):
        if stored.count(name_in_store) > 1:
            same = ", ".join(one.name.entry for one in found if one.stored == name_in_store)
            raise ValueError(f"{same}: the same function twice; name others, or other times")
    if len({"sample" in one.name.axes for one in found}) > 1:
        raise ValueError("some variables have an axis of samples, and others have none")
    if "sample" not in found[0].name.axes and not windows:
        raise ValueError("no variable has an axis of samples; give window_every to cut a series into windows")
    if windows and not all("time" in one.name.axes for one in functions):
        raise ValueError("window_every is for variables that all have an axis of time")
    return found
