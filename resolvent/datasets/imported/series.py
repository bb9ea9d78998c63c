"""Locate samples in files: the part of a variable for each function, and file and row for each sample.

Parses the settings `input`, `target` and `axes`, opens the files, and checks them against the settings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.source import open_source
from resolvent.datasets.storage.layout import SPACE

if TYPE_CHECKING:
    from resolvent.datasets.imported.readers.arrays_file import ArraysFile
    from resolvent.datasets.imported.sources import Pool

AXES = ("sample", "time", "channel", *SPACE)
RESERVED = {"x", "y", "z", "time", "sample", "split"}  # names of coordinates in stores
_ENTRY = re.compile(r"(?P<variable>.+?)(?:\[(?P<channel>\d+)\])?")


@dataclass(frozen=True)
class Name:
    """An entry of `input` or `target`: variable, channel (None without such an axis), and axes."""

    entry: str
    variable: str
    channel: int | None
    axes: tuple[str, ...]

    @property
    def space(self) -> tuple[str, ...]:
        """Return the axes of space, in stored order (z, y, x); empty for a scalar."""
        return tuple(axis for axis in SPACE if axis in self.axes)


@dataclass(frozen=True)
class Channel:
    """One stored function or scalar of a sample.

    stored  name in the store.
    time    index of the time in the series or window; None without a time axis.
    """

    role: str
    name: Name
    time: int | None
    stored: str

    @property
    def space(self) -> tuple[str, ...]:
        """Return the axes of space; empty for a scalar."""
        return self.name.space

    @property
    def words(self) -> str:
        """Return its name in the file, with its time."""
        if self.time is None:
            return self.name.entry
        return f"{self.name.entry} at time {self.time}" + (" from the end" if self.time < 0 else "")


def variable_of(entry: str) -> str:
    """Return the variable of an entry of `input` or `target`, without the channel."""
    found = _ENTRY.fullmatch(entry)
    return found["variable"] if found else entry


def parsed(entry: str, axes: Any) -> Name:
    """Return the parsed entry of `input` or `target`. Raises `ValueError` for missing or invalid axes."""
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
    """Read rows of the sample axis of a function, (samples, ...space), or of a scalar, (samples,)."""
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
    """Return all functions and scalars of a sample, inputs first.

    entries  names for the roles input and target; `times`: their time indices; `axes`: as for `parsed`.
    paired   whether the roles have separate files; `windows`: whether series are cut into windows.

    Raises `ValueError` if names, axes and times do not fit each other.
    """
    found: list[Channel] = []
    twice = set(entries["input"]) & set(entries["target"]) if paired else set()
    for role, default in (("input", [0]), ("target", [-1])):
        names = [parsed(entry, axes) for entry in entries[role]]
        if times[role] and not any("time" in name.axes for name in names):
            raise ValueError(f"{role}_times are given, and no {role} has an axis of time")
        for name in names:
            # Its name in the file as an identifier, with its role if another array has the same name.
            words = re.sub(r"\W+", "_", name.entry).strip("_") or role
            if words in RESERVED or words[0].isdigit() or name.entry in twice:
                words = f"{role}_{words}"
            for time in (times[role] or default) if "time" in name.axes else [None]:
                ending = "" if time is None else f"_at_{time}" if time >= 0 else "_at_last"
                ending += f"_but_{-time - 1}" if time is not None and time < -1 else ""
                found.append(Channel(role, name, time, words + ending))

    functions, stored = [one for one in found if one.space], [one.stored for one in found]
    are_functions = [bool(one.space) for one in found if one.role == "input"]
    if not any(are_functions):
        raise ValueError("no input is a function of space: its axes have none of x, y, z")
    if are_functions != sorted(are_functions, reverse=True):
        raise ValueError("inputs that are numbers of a sample come last, behind functions")
    for one in found:
        if one.role == "target" and not one.space:
            raise ValueError(f"the target '{one.name.entry}' is no function of space")
        if stored.count(one.stored) > 1:
            raise ValueError(f"'{one.name.entry}' is the same function twice; name others, or other times")
    if len({one.space for one in functions}) > 1:
        raise ValueError("inputs and targets are functions of different axes of space")
    if len({"sample" in one.name.axes for one in found}) > 1:
        raise ValueError("some variables have an axis of samples, and others have none")
    if "sample" not in found[0].name.axes and not windows:
        raise ValueError("no variable has an axis of samples; give window_every to cut a series into windows")
    if windows and not all("time" in one.name.axes for one in functions):
        raise ValueError("window_every is for variables that all have an axis of time")
    return found


Pair = dict[str, "ArraysFile"]  # the file of each role, input and target


@dataclass(frozen=True)
class Place:
    """Location of a sample: the file of each role, the row on the sample axis, the start of its window."""

    files: Pair
    row: int
    start: int


class Series:
    """All series in the files of a dataset, by split; `place` locates a sample.

    finest     points along each axis of space, in stored order.
    sizes      number of samples of each split.
    every      time steps between the starts of two windows of a series; None: one sample per series.
    rows       first row of each split and the row after its last; None: the usual order.
    groups     variable with a value for each sample, and the values of each split.
    falling    axes with decreasing coordinates, whose values are flipped.
    positions  points along uneven axes, by axis.
    """

    def __init__(
        self,
        pools: list[Pool],
        channels: list[Channel],
        finest: dict[str, int],
        sizes: dict[str, int],
        every: int | None = None,
        rows: dict | None = None,
        groups: tuple[str, dict[str, list]] | None = None,
    ):
        self.channels, self.finest, self.sizes = channels, finest, sizes
        self.every, self.rows, self.groups = every, rows, groups
        self.files: dict[str, ArraysFile] = {}
        self.falling: set[str] = set()
        self.positions: dict[str, tuple[float, ...]] = {}
        self.lone = "sample" not in channels[0].name.axes
        self.span = 1 + max(one.time or 0 for one in channels)  # length of a window in times
        self.pools = [(pool, [self._opened(pair) for pair in pool.files]) for pool in pools]
        self.windows = 1  # windows per series
        if every is not None:
            times = {
                pair["input"].path: self._size(pair, "time") for _, pairs in self.pools for pair in pairs
            }
            if len(set(times.values())) > 1:
                found = ", ".join(f"{count} in {path}" for path, count in times.items())
                raise DatasetError(f"series are of {found} times; expected: as many in all files")
            self.windows = (next(iter(times.values())) - self.span) // every + 1
        self._units: dict[str, tuple[list[tuple[Pair, int]], np.ndarray]] = {}
        self._alone: set[str] = set()  # splits that consist of windows of a single series
        for pool, files in self.pools:
            self._units |= self._chosen(pool, files)
        for split, size in sizes.items():
            if size and split not in self._units:
                named = ", ".join(self._units)
                raise DatasetError(f"source has files for {named}; samples asks for {size} ({split})")

    def place(self, split: str, index: int) -> Place:
        """Return the location of sample `index` of `split`."""
        series, units = self._units[split]
        if split in self._alone:
            (files, row), window = series[0], int(units[index])
        else:
            (files, row), window = series[units[index // self.windows]], index % self.windows
        return Place(files, row, window * (self.every or 0))

    def single(self) -> bool:
        """Return whether float32 represents every number of all functions exactly."""
        pairs = [pair for _, opened in self.pools for pair in opened]
        return all(pair[c.role].variables[c.name.variable].single for pair in pairs for c in self.channels)

    def in_words(self) -> dict[str, str]:
        """Return files and rows of each split in words, for the card."""
        words = {}
        for split, size in ((split, size) for split, size in self.sizes.items() if size):
            ends = self.place(split, 0), self.place(split, size - 1)
            names = [" and ".join(dict.fromkeys(file.name for file in at.files.values())) for at in ends]
            first, last = ends
            if self.lone or split in self._alone:
                words[split] = f"windows from time {first.start} to {last.start} of {names[0]}"
                continue
            words[split] = f"row {first.row + 1} of {names[0]} to row {last.row + 1} of {names[1]}"
            if names[0] == names[1]:
                words[split] = f"rows {first.row + 1} to {last.row + 1} of {names[0]}"
            if self.windows > 1:
                words[split] += f", {self.windows} windows each"
        return words

    def _opened(self, pair: dict[str, str]) -> Pair:
        """Open the file of each role, and check its variables against the channels."""
        for path in pair.values():
            if path not in self.files:
                self.files[path] = open_source(path)
        files = {role: self.files[path] for role, path in pair.items()}
        counts = [(one.name.entry, self._check(files[one.role], one)) for one in self.channels]
        first, samples = counts[0]
        for entry, count in counts:
            if count != samples:
                found = f"'{first}' has {samples} samples, '{entry}' {count}"
                raise DatasetError(f"{files['target'].path}: {found}; expected: as many")
        if not samples:
            raise DatasetError(f"{files['input'].path}: '{first}' has 0 samples; expected: at least one")
        return files

    def _check(self, file: ArraysFile, channel: Channel) -> int:
        """Check a variable against its axes; return its length along the sample axis."""
        name, shape = channel.name, file.shape(channel.name.variable)
        at = f"{file.path}: variable '{name.variable}' has"
        if len(shape) != len(name.axes):
            hint = f"; or state axes, those {len(shape)} of the file" * (len(shape) > 1)
            if len(shape) == 1 and channel.role == "input":
                hint = f"; of one number for each sample, axes: {{{name.variable}: [sample], …}}, by variable"
            raise DatasetError(
                f"{at} the shape {shape}; expected: {len(name.axes)} axes ({', '.join(name.axes)}){hint}"
            )
        sizes = dict(zip(name.axes, shape, strict=True))
        space = {axis: sizes[axis] for axis in name.space}
        expected = {axis: self.finest[axis] for axis in name.space}
        if space != expected:
            alike = len({*space.values()}) == 1
            listed = ", ".join(f"{axis}: {size}" for axis, size in space.items())
            words = f"if these are its points, set finest: {space['x'] if alike else f'{{{listed}}}'}"
            other = next((axis for axis in sizes if axis not in space and sizes[axis] == expected["x"]), None)
            if alike and other:
                words = f"the axis '{other}' has {expected['x']}: is the order of axes another?"
            each = len({*expected.values()}) == 1
            wanted = f"{expected['x']} each" if each else " × ".join(map(str, expected.values()))
            raise DatasetError(
                f"{at} the shape {shape}; along {', '.join(space)} it has "
                f"{' × '.join(map(str, space.values()))} points; expected: {wanted}; {words}"
            )
        asked = {
            "channel": (name.channel, f"'{name.entry}'"),
            "time": (channel.time, f"{channel.role}_times"),
        }
        for axis, (number, asks) in asked.items():
            if number is not None and not -sizes[axis] <= number < sizes[axis]:
                raise DatasetError(
                    f"{at} {sizes[axis]} {axis}s; {asks} asks for number {number}, counted from 0; accepted: "
                    f"up to {sizes[axis] - 1}"
                )
        return sizes.get("sample", 1)

    def _size(self, files: Pair, axis: str) -> int:
        """Return the length of the first function along an axis; 1 without such an axis."""
        channel = self.channels[0]
        shape = files[channel.role].shape(channel.name.variable)
        return dict(zip(channel.name.axes, shape, strict=True)).get(axis, 1)

    def _chosen(self, pool: Pool, files: list[Pair]) -> dict:
        """Choose series for every split of a pool, or windows of a single series."""
        series = [(pair, row) for pair in files for row in range(self._size(pair, "sample"))]
        cut = self.windows > 1 and self.groups is None and self.rows is None
        alone = len(series) == 1 and (self.lone or cut)  # split the windows of a single series
        units, per = (self.windows, 1) if alone else (len(series), self.windows)
        wanted = {split: -(-self.sizes[split] // per) for split in pool.splits}
        paths = list(dict.fromkeys(str(one.path) for pair in files for one in pair.values()))
        path = " and ".join(paths) if len(paths) < 3 else f"{paths[0]} and {len(paths) - 1} more files"
        if self.groups is not None or self.rows is not None:
            found = self._stated(pool, files, units, wanted, path)
        else:
            what = "windows" if alone else "series" if self.windows > 1 else "samples"
            gap = -(-self.span // (self.every or 1)) - 1 if alone else 0
            found = _in_order(wanted, units, path, what, gap)
        if alone:
            every = self.every or 1
            ends = [
                (units[0] * every, units[-1] * every, split) for split, units in found.items() if len(units)
            ]
            for (_, last, one), (start, _, other) in pairwise(sorted(ends)):
                if start < last + self.span:
                    raise DatasetError(
                        f"{path}: windows of {one} reach to time {last + self.span - 1}, those of {other} "
                        f"begin at {start}; expected: no time in two splits; ask for fewer samples"
                    )
            self._alone |= set(found)
        return {split: (series, chosen) for split, chosen in found.items()}

    def _stated(
        self, pool: Pool, files: list[Pair], units: int, wanted: dict[str, int], path: str
    ) -> dict[str, np.ndarray]:
        """Take the first rows for each split, given by `rows` or by the values of a variable (`groups`)."""
        if self.groups is not None:
            key, (variable, accepted), values = "groups", self.groups, []
            for pair in files:
                of_file, count = pair["input"].values(variable).ravel().tolist(), self._size(pair, "sample")
                if len(of_file) != count:
                    words = f"'{variable}' has {len(of_file)} values for {count} samples; expected: one each"
                    raise DatasetError(f"{pair['input'].path}: {words}")
                values += of_file
            named = {split: f"a '{variable}' in {accepted[split]}" for split in pool.splits}
            offered = {
                split: [row for row, value in enumerate(values) if value in accepted[split]]
                for split in pool.splits
            }
        else:
            key, rows = "rows", {split: (self.rows or {}).get(split, [0, 0]) for split in pool.splits}
            for split, (_, stop) in rows.items():
                if stop > units:
                    raise DatasetError(f"{path}: rows.{split} ends before {stop}; there are {units} rows")
            named = {split: f"a number from {start} to {stop - 1}" for split, (start, stop) in rows.items()}
            offered = {split: list(range(units))[slice(*one)] for split, one in rows.items()}
        for split, count in wanted.items():
            if count > len(offered[split]):
                has = f"{len(offered[split])} of {units} rows have {named[split]}"
                raise DatasetError(f"{path}: {has}; samples asks for {count} ({split})")
        for one, other in combinations(offered, 2):
            if set(offered[one]) & set(offered[other]):
                raise DatasetError(f"{path}: {key} has rows in {one} and in {other}; expected: in one split")
        return {split: np.array(rows[: wanted[split]], dtype=int) for split, rows in offered.items()}


def _in_order(wanted: dict[str, int], units: int, path: str, what: str, gap: int) -> dict[str, np.ndarray]:
    """Take the first units for training, and the last units for validation and test, `gap` units apart.

    Without a test split in this pool, validation follows training. A single split starts at the first unit.
    """
    total = sum(wanted.values())
    if total > units:
        names = " and ".join(", ".join(wanted).rsplit(", ", 1))
        raise DatasetError(f"{path}: has {units} {what}; samples asks for {total} ({names})")
    found, start = {}, 0
    for split, count in wanted.items():
        if split != "train" and "test" in wanted and len(wanted) > 1:
            left = [size for one, size in wanted.items() if one not in found and size]
            start = max(start, units - sum(left) - gap * (len(left) - 1))
        found[split] = np.arange(start, start + count)
        start += count
    return found
