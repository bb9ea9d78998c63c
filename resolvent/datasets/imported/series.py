"""Locate samples in files: the part of a variable for each function, and file and row for each sample.

Parses the settings `input`, `target` and `axes`, opens the files, and checks them against the settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.arrays_file import ArraysFile
from resolvent.datasets.imported.readers.source import open_source
from resolvent.datasets.imported.sources import Pool
from resolvent.datasets.storage.layout import SPACE

AXES = ("sample", "time", "channel", *SPACE)  # in the order in which values are used
RESERVED = {"x", "y", "z", "time", "sample", "split"}  # names of coordinates in stores
_ENTRY = re.compile(r"(?P<variable>.+?)(?:\[(?P<channel>\d+)\])?")


@dataclass(frozen=True)
class Channel:
    """An entry of `input` or `target`: one function or scalar of a sample.

    variable  name in the file; `stored`: name in the store.
    channel   index on the channel axis; None without such an axis.
    axes      axes of the variable, in the order of the file.
    time      index of the time in the series or window; None without a time axis.
    when      the words for this time, such as "at time 20 s"; empty if the file has none.
    """

    entry: str
    variable: str
    channel: int | None
    axes: tuple[str, ...]
    role: str = ""
    time: int | None = None
    stored: str = ""
    when: str = ""

    @property
    def space(self) -> tuple[str, ...]:
        """Return the axes of space, in stored order (z, y, x); empty for a scalar."""
        return tuple(axis for axis in SPACE if axis in self.axes)

    def sizes(self, file: ArraysFile) -> dict[str, int]:
        """Return the lengths of the axes in a file. Raises `DatasetError` as `ArraysFile.shape`."""
        return dict(zip(self.axes, file.shape(self.variable), strict=True))

    @property
    def words(self) -> str:
        if self.time is None:
            return self.entry
        index = "at the last time" if self.time == -1 else f"at time index {self.time}"
        return f"{self.entry} {self.when or index}"


def parsed(entry: str, axes: Any) -> Channel:
    """Return the parsed entry of `input` or `target`. Raises `ValueError` for missing or invalid axes."""
    found = _ENTRY.fullmatch(entry)
    if found is None:
        raise ValueError("the name of a variable is empty; accepted: name, group/name, name[0]")
    variable, channel = found["variable"], found["channel"]
    if isinstance(axes, dict):
        if variable not in axes:
            raise ValueError(
                f"axes has no entry for '{variable}'; found: {', '.join(axes) or 'none'}; add one, such as "
                f"{variable}: [sample, x], or {variable}: [sample] for one number per sample"
            )
        axes = axes[variable]
    one = Channel(entry, variable, None if channel is None else int(channel), tuple(axes))
    where = f"axes of '{variable}', {', '.join(axes) or 'none'}"
    for axis in axes:
        if axis not in AXES:
            raise ValueError(f"{where}: unknown axis {axis!r}; accepted: {', '.join(AXES)}")
    if len(set(axes)) < len(axes):
        raise ValueError(f"{where}: an axis is named twice")
    if one.space != SPACE[len(SPACE) - len(one.space) :]:
        raise ValueError(f"{where}: accepted axes of space: x, or y and x, or z, y and x, in any order")
    if ("channel" in axes) != (channel is not None):
        remedy = f"choose a channel, such as {variable}[0]" if channel is None else "remove the brackets"
        raise ValueError(f"'{entry}' does not fit its axes {', '.join(axes)}; {remedy}")
    return one


def read_rows(file: ArraysFile, channel: Channel, rows: range, start: int = 0) -> np.ndarray:
    """Read rows of a function, (samples, ...space), or scalar, (samples,), in the window from `start`."""
    sizes, time = channel.sizes(file), (channel.time or 0) + start
    parts = {axis: slice(0, size) for axis, size in sizes.items()} | {"sample": slice(rows.start, rows.stop)}
    for axis, index in (("time", time), ("channel", channel.channel or 0)):
        first = index + sizes.get(axis, 0) if index < 0 else index
        parts[axis] = slice(first, first + 1)
    values = file.read(channel.variable, tuple(parts[axis] for axis in sizes))
    axes = [axis for axis in AXES if axis in sizes]
    values = values.transpose([channel.axes.index(axis) for axis in axes])
    values = values.squeeze(tuple(axes.index(axis) for axis in ("time", "channel") if axis in axes))
    return values if "sample" in axes else values[None]


def channels_of(
    entries: dict[str, list[str]],
    times: dict[str, list[int]],
    axes: Any,
    paired: bool,
    windows: bool,
    words: dict[str, str],
) -> list[Channel]:
    """Return all functions and scalars of a sample, inputs first.

    entries  names for the roles input and target; `times`: their time indices; `axes`: as for `parsed`.
    paired   whether the roles have separate files; `windows`: whether series are cut into windows.
    words    words for times, by index.

    Raises `ValueError` if names, axes and times do not fit each other.
    """
    found: list[Channel] = []
    twice = set(entries["input"]) & set(entries["target"]) if paired else set()
    for role, default in (("input", [0]), ("target", [-1])):
        parts = [parsed(entry, axes) for entry in entries[role]]
        if times[role] and not any("time" in one.axes for one in parts):
            raise ValueError(f"{role}_times are set, but no {role} has a time axis")
        for one in parts:
            # Its name in the file as an identifier, with its role if another array has the same name.
            name = re.sub(r"\W+", "_", one.entry).strip("_") or role
            if name in RESERVED or name[0].isdigit() or one.entry in twice:
                name = f"{role}_{name}"
            for time in (times[role] or default) if "time" in one.axes else [None]:
                ending = "" if time is None else f"_at_{time}" if time >= 0 else "_at_last"
                ending += f"_but_{-time - 1}" if time is not None and time < -1 else ""
                when = words.get(str(time), "")
                found.append(replace(one, role=role, time=time, stored=name + ending, when=when))

    functions, stored = [one for one in found if one.space], [one.stored for one in found]
    are_functions = [bool(one.space) for one in found if one.role == "input"]
    if not any(are_functions):
        raise ValueError("no input is a function of space; accepted: at least one input with an axis x")
    if are_functions != sorted(are_functions, reverse=True):
        raise ValueError("input: scalars (one number per sample) must come after functions")
    for one in found:
        if one.role == "target" and not one.space:
            raise ValueError(f"the target '{one.entry}' is not a function of space; it needs an axis x")
        if stored.count(one.stored) > 1:
            raise ValueError(f"'{one.entry}' is the same function twice; choose another variable or time")
    if len({one.space for one in functions}) > 1:
        raise ValueError("inputs and targets have different axes of space; accepted: functions on one grid")
    if len({"sample" in one.axes for one in found}) > 1:
        raise ValueError("some variables have a sample axis, and others do not; accepted: all, or none")
    if windows and not all("time" in one.axes for one in functions):
        raise ValueError("window_every requires a time axis for every function")
    return found


Pair = dict[str, ArraysFile]  # the file of each role, input and target


@dataclass(frozen=True)
class Place:
    """Location of a sample: the file of each role, the row on the sample axis, the start of its window."""

    files: Pair
    row: int
    start: int


@dataclass(eq=False)
class Series:
    """All series in the files of a dataset, by split; `place` locates a sample.

    finest     points along each axis of space, in stored order.
    sizes      number of samples of each split.
    every      time steps between the starts of two windows of a series; None: one sample per series.
    groups     variable with a value for each sample, and the values of each split; None: in order.
    random     seed for a random choice of the samples of each split; None: in the order of the files.
    """

    pools: list[Pool]
    channels: list[Channel]
    finest: dict[str, int]
    sizes: dict[str, int]
    every: int | None = None
    groups: tuple[str, dict[str, list]] | None = None
    random: int | None = None

    def __post_init__(self) -> None:
        self.files: dict[str, ArraysFile] = {}
        self.lone = "sample" not in self.channels[0].axes
        self.span = 1 + max(one.time or 0 for one in self.channels)  # length of a window in times
        opened = [(pool, [self._opened(pair) for pair in pool.files]) for pool in self.pools]
        self.pairs = [pair for _, pairs in opened for pair, _ in pairs]
        if self.lone and self.every is None and len(self.pairs) == 1:
            raise DatasetError(
                f"{self.pairs[0]['input'].path}: no variable has a sample axis; set window_every to cut a "
                "series into windows, or name more files in source, one for each sample"
            )
        self.windows = 1 if self.every is None else self._windows_of_each()
        # By split: the files and rows of all its series, and the numbers of its windows in them.
        self._windows: dict[str, tuple[list[tuple[Pair, int]], np.ndarray]] = {}
        for pool, pairs in opened:
            self._choose(pool, pairs)
        for split, size in self.sizes.items():
            if size and split not in self._windows:
                named = ", ".join(self._windows)
                raise DatasetError(f"source has files only for {named}; samples asks for {size} ({split})")

    def place(self, split: str, index: int) -> Place:
        series, windows = self._windows[split]
        number, window = divmod(int(windows[index]), self.windows)
        return Place(*series[number], window * (self.every or 0))

    def in_words(self) -> dict[str, str]:
        """Return where the first and the last sample of each split are, in words."""
        words = {}
        for split, size in self.sizes.items():
            places = []
            for index in dict.fromkeys([0, size - 1]) if size else ():
                place = self.place(split, index)
                files = " and ".join(dict.fromkeys(file.name for file in place.files.values()))
                start = f"time {place.start} of " if self.windows > 1 else ""
                places.append(start + (files if self.lone else f"row {place.row + 1} of {files}"))
            if places:
                words[split] = " to ".join(places) + (", at random" if self.random is not None else "")
        return words

    def _opened(self, pair: dict[str, str]) -> tuple[Pair, int]:
        """Open the file of each role; return them with their number of samples, once they are checked."""
        for path in pair.values():
            if path not in self.files:
                self.files[path] = open_source(path)
        files = {role: self.files[path] for role, path in pair.items()}
        counts = {one.entry: self._check(files[one.role], one) for one in self.channels}
        (first, samples), *others = counts.items()
        for entry, count in others:
            if count != samples:
                raise DatasetError(
                    f"{files['target'].path}: '{first}' has {samples} samples, '{entry}' {count}; expected: "
                    "the same number"
                )
        if not samples:
            raise DatasetError(f"{files['input'].path}: '{first}' has 0 samples; expected: at least one")
        return files, samples

    def _check(self, file: ArraysFile, channel: Channel) -> int:
        """Check a variable against its axes; return its length along the sample axis."""
        axes, shape = channel.axes, file.shape(channel.variable)
        at = f"{file.path}: variable '{channel.variable}' has"
        if len(shape) != len(axes):
            raise DatasetError(
                f"{at} the shape {shape}; expected: {len(axes)} axes ({', '.join(axes)}); set axes to those "
                f"of the file, for one number per sample {{{channel.variable}: [sample], …}}"
            )
        sizes = dict(zip(axes, shape, strict=True))
        space = {axis: sizes[axis] for axis in channel.space}
        expected = {axis: self.finest[axis] for axis in channel.space}
        if space != expected:
            found, wanted = (
                ", ".join(f"{axis}: {size}" for axis, size in of.items()) for of in (space, expected)
            )
            raise DatasetError(
                f"{at} the shape {shape}, with {found}; expected: {wanted}; set finest: {{{found}}}, or "
                "correct the order of axes"
            )
        for axis, number, asks in (
            ("channel", channel.channel, f"'{channel.entry}'"),
            ("time", channel.time, f"{channel.role}_times"),
        ):
            if number is not None and not -sizes[axis] <= number < sizes[axis]:
                raise DatasetError(
                    f"{at} {sizes[axis]} {axis}s; {asks} asks for number {number}, counted from 0; accepted: "
                    f"up to {sizes[axis] - 1}"
                )
        return sizes.get("sample", 1)

    def _windows_of_each(self) -> int:
        """Return the number of windows in a series. Raises `DatasetError` if series differ in length."""
        times = {
            f"'{one.variable}' in {pair[one.role].path}": one.sizes(pair[one.role])["time"]
            for pair in self.pairs
            for one in self.channels
            if "time" in one.axes
        }
        if len(set(times.values())) > 1:
            listed = ", ".join(f"{count} times of {name}" for name, count in times.items())
            raise DatasetError(f"series have different lengths: {listed}; expected: one length")
        return (next(iter(times.values())) - self.span) // (self.every or 1) + 1

    def _choose(self, pool: Pool, pairs: list[tuple[Pair, int]]) -> None:
        """Choose the series of every split of a pool, or windows of a single series."""
        series = [(pair, row) for pair, count in pairs for row in range(count)]
        paths = list(dict.fromkeys(str(one.path) for pair, _ in pairs for one in pair.values()))
        path = " and ".join(paths) if len(paths) < 3 else f"{paths[0]} and {len(paths) - 1} more files"
        alone = len(series) == 1 and self.every is not None and self.groups is None  # split its windows
        per, named = self.windows, "series" if self.windows > 1 else "samples"
        count, gap = len(series), 0
        if alone:
            per, named, count = 1, "windows", self.windows
            gap = -(-self.span // (self.every or 1)) - 1  # windows between splits that would share times
        for splits, units, which in self._units(pool.splits, pairs, count):
            if self.random is not None and not alone:
                units = np.random.default_rng(self.random).permutation(units)
            wanted = {split: -(-self.sizes[split] // per) for split in splits}
            has = f"{path}: has {len(units)} {named}{which}"
            for split, chosen in _in_order(wanted, len(units), has, gap).items():
                self._windows[split] = (
                    series,
                    (per * np.sort(units[chosen])[:, None] + np.arange(per)).ravel(),
                )

    def _units(
        self, splits: tuple[str, ...], pairs: list[tuple[Pair, int]], count: int
    ) -> Iterator[tuple[tuple[str, ...], np.ndarray, str]]:
        """Yield splits that share some of `count` units, numbers of these, and which they are, in words."""
        if self.groups is None:
            yield splits, np.arange(count), ""
            return
        (variable, accepted), values = self.groups, list[Any]()
        for pair, samples in pairs:
            values += (of_file := pair["input"].values(variable).ravel().tolist())
            if len(of_file) != samples:
                raise DatasetError(
                    f"{pair['input'].path}: '{variable}' has {len(of_file)} values for {samples} samples; "
                    "expected: one each"
                )
        # Without values of their own, validation samples follow the training samples.
        shared = () if accepted["validation"] else tuple(one for one in splits if one != "test")
        for part in dict.fromkeys(shared if split in shared else (split,) for split in splits):
            rows = [row for row, value in enumerate(values) if value in accepted[part[0]]]
            yield part, np.array(rows, dtype=int), f" with '{variable}' in {accepted[part[0]]}"


def _in_order(wanted: dict[str, int], units: int, has: str, gap: int = 0) -> dict[str, np.ndarray]:
    """Take the first of `units` for training, and the last for validation and test, at least `gap` apart.

    Without a test split, validation follows training. A single split starts at the first unit. If there are
    too few, raises `DatasetError`, which begins with what the file `has`.
    """
    total, left_out = sum(wanted.values()), gap * max(0, sum(map(bool, wanted.values())) - 1)
    if total + left_out > units:
        words = f"samples asks for {total} ({' and '.join(', '.join(wanted).rsplit(', ', 1))})"
        if total <= units:
            words += f", {left_out} apart; expected: no time in two splits; ask for fewer samples"
        raise DatasetError(f"{has}; {words}")
    chosen, start = dict[str, np.ndarray](), 0
    for split, count in wanted.items():
        if split != "train" and "test" in wanted and len(wanted) > 1:
            later = [size for one, size in wanted.items() if one not in chosen and size]
            start = units - sum(later) - gap * (len(later) - 1)
        elif start:
            start += gap
        chosen[split] = np.arange(start, start + count)
        start += count
    return chosen
