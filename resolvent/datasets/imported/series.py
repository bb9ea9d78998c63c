"""The files behind a dataset of arrays: opened, held against the settings, and the rows of every sample."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.source import open_source

if TYPE_CHECKING:
    from resolvent.datasets.imported.channels import Channel, Name
    from resolvent.datasets.imported.readers.arrays_file import ArraysFile
    from resolvent.datasets.imported.sources import Pool

Pair = dict[str, "ArraysFile"]  # the file of each role, input and target


@dataclass(frozen=True)
class Place:
    """Where a sample is: the file of each role, the row on the axis of samples, where its window begins."""

    files: Pair
    row: int
    start: int


@dataclass(frozen=True)
class Splits:
    """How series are cut into samples, and which are whose.

    sizes    samples of each split.
    every    times between the beginnings of two windows of a series; None: one sample a series.
    rows     the first row of a split and the row behind its last one; None: the usual order.
    groups   a variable with a value for each sample, and the values that each split has.
    """

    sizes: dict[str, int]
    every: int | None = None
    rows: dict[str, list[int]] | None = None
    groups: tuple[str, dict[str, list]] | None = None


class Series:
    """Every series of the files of a dataset, by split. `place` finds a sample.

    falling  axes along which the coordinates fall: their values are flipped.

    Raises
    ------
    DatasetError
        In one line that names the file, what is expected and what was found.
    """

    def __init__(self, pools: list[Pool], channels: list[Channel], finest: int, splits: Splits):
        self.channels, self.finest, self.splits = channels, finest, splits
        self.files: dict[str, ArraysFile] = {}
        self.falling: set[str] = set()
        self.lone = "sample" not in channels[0].name.axes
        self.pools = [(pool, [self._opened(pair) for pair in pool.files]) for pool in pools]
        self._windows = self._count_windows()
        self._rows: dict[str, tuple[list[tuple[Pair, int]], np.ndarray]] = {}
        self._alone: set[str] = set()  # splits that have windows of one series
        for pool, files in self.pools:
            self._rows |= self._chosen(pool, files)
        for split, size in splits.sizes.items():
            if size and split not in self._rows:
                named = ", ".join(self._rows)
                raise DatasetError(f"source has files for {named}; samples asks for {size} ({split})")

    def place(self, split: str, index: int) -> Place:
        """Find the sample `index` of `split`."""
        series, units = self._rows[split]
        every = self.splits.every or 0
        if split in self._alone:
            (files, row), window = series[0], int(units[index])
        else:
            (files, row), window = series[units[index // self._windows]], index % self._windows
        return Place(files, row, window * every)

    def single(self) -> bool:
        """Say whether float32 has every number of every function."""
        return all(
            pair[one.role].variables[one.name.variable].single
            for _, opened in self.pools
            for pair in opened
            for one in self.channels
        )

    def in_words(self) -> dict[str, str]:
        """Say for the card which rows of which files each split has."""
        words = {}
        for split, size in self.splits.sizes.items():
            if not size:
                continue
            first, last = self.place(split, 0), self.place(split, size - 1)
            names, others = (
                " and ".join(dict.fromkeys(file.name for file in place.files.values()))
                for place in (first, last)
            )
            cut = self.lone or split in self._alone
            if cut:
                words[split] = f"windows from time {first.start} to {last.start} of {names}"
            elif names == others:
                words[split] = f"rows {first.row + 1} to {last.row + 1} of {names}"
            else:
                words[split] = f"row {first.row + 1} of {names} to row {last.row + 1} of {others}"
            if self._windows > 1 and not cut:
                words[split] += f", {self._windows} windows each"
        return words

    def _opened(self, pair: dict[str, str]) -> Pair:
        """Open the file of each role, and hold their variables against the channels."""
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
        """Hold a variable against its axes; returns its length along the axis of samples."""
        name = channel.name
        shape = file.shape(name.variable)
        at = f"{file.path}: variable '{name.variable}'"
        if len(shape) != len(name.axes):
            hint = f"; or state axes, those {len(shape)} of the file" * (len(shape) > 1)
            if len(shape) == 1 and channel.role == "input":
                hint = f"; of one number for each sample, axes: {{{name.variable}: [sample], …}}, by variable"
            raise DatasetError(
                f"{at} has the shape {shape}; expected: {len(name.axes)} axes ({', '.join(name.axes)}){hint}"
            )
        sizes = dict(zip(name.axes, shape, strict=True))
        for axis in name.space:
            if sizes[axis] != self.finest:
                raise DatasetError(f"{at} has the shape {shape}; {_sizes(sizes, name, self.finest)}")
        if name.channel is not None and name.channel >= sizes["channel"]:
            raise DatasetError(
                f"{at} has {sizes['channel']} channels; '{name.entry}' asks for number {name.channel}, "
                f"counted from 0; accepted: up to {sizes['channel'] - 1}"
            )
        if channel.time is not None and not -sizes["time"] <= channel.time < sizes["time"]:
            raise DatasetError(
                f"{at} has {sizes['time']} times; {channel.role}_times asks for number {channel.time}, "
                f"counted from 0; accepted: up to {sizes['time'] - 1}"
            )
        return sizes.get("sample", 1)

    def _size(self, files: Pair, axis: str) -> int:
        """Return the length of the first function along an axis; 1 where it has none."""
        channel = self.channels[0]
        shape = files[channel.role].shape(channel.name.variable)
        return dict(zip(channel.name.axes, shape, strict=True)).get(axis, 1)

    def _count_windows(self) -> int:
        """Return the windows of a series; 1 where series are not cut."""
        if self.splits.every is None:
            return 1
        times = {
            files["input"].path: self._size(files, "time") for _, opened in self.pools for files in opened
        }
        if len(set(times.values())) > 1:
            found = ", ".join(f"{count} in {path}" for path, count in times.items())
            raise DatasetError(f"series are of {found} times; expected: as many in all files")
        return (next(iter(times.values())) - self.span) // self.splits.every + 1

    @property
    def span(self) -> int:
        """Count the times that a window reaches over."""
        return 1 + max(one.time or 0 for one in self.channels)

    def _chosen(self, pool: Pool, files: list[Pair]) -> dict:
        """Choose series for every split of a pool, or windows of a series that is alone."""
        splits, sizes = self.splits, self.splits.sizes
        series = [(pair, row) for pair in files for row in range(self._size(pair, "sample"))]
        cut = self._windows > 1 and splits.groups is None and splits.rows is None
        alone = len(series) == 1 and (self.lone or cut)  # windows of one series are split, and nothing else
        units, per = (self._windows, 1) if alone else (len(series), self._windows)
        wanted = {split: -(-sizes[split] // per) for split in pool.splits}
        paths = list(dict.fromkeys(str(one.path) for pair in files for one in pair.values()))
        path = " and ".join(paths) if len(paths) < 3 else f"{paths[0]} and {len(paths) - 1} more files"
        if splits.groups is not None:
            found = self._by_group(pool, files, wanted, path)
        elif splits.rows is not None:
            found = _by_rows({split: splits.rows.get(split) for split in pool.splits}, wanted, units, path)
        else:
            what = "windows" if alone else "series" if self._windows > 1 else "samples"
            gap = -(-self.span // (splits.every or 1)) - 1 if alone else 0
            found = _in_order(wanted, units, path, what, gap)
        if alone:
            self._check_apart(found, path)
            self._alone |= set(found)
        return {split: (series, chosen) for split, chosen in found.items()}

    def _by_group(self, pool: Pool, files: list[Pair], wanted: dict[str, int], path: str) -> dict:
        """Take for each split the first rows with some values of a variable."""
        assert self.splits.groups is not None
        (variable, accepted), values = self.splits.groups, []
        for pair in files:
            one, count = pair["input"].values(variable).ravel().tolist(), self._size(pair, "sample")
            if len(one) != count:
                words = f"'{variable}' has {len(one)} values for {count} samples; expected: one each"
                raise DatasetError(f"{pair['input'].path}: {words}")
            values += one
        found = {}
        for split in pool.splits:
            rows = [row for row, value in enumerate(values) if value in accepted[split]]
            if wanted[split] > len(rows):
                different = sorted(set(values), key=str)
                some = ", ".join(map(str, different[:8])) + ", …" * (len(different) > 8)
                raise DatasetError(
                    f"{path}: {len(rows)} rows have a '{variable}' in {accepted[split]}; samples asks for "
                    f"{wanted[split]} ({split}); found: {some}"
                )
            found[split] = np.array(rows[: wanted[split]], dtype=int)
        chosen = [int(row) for rows in found.values() for row in rows]
        if len(set(chosen)) < len(chosen):
            raise DatasetError(f"{path}: groups has a value of '{variable}' in two splits")
        return found

    def _check_apart(self, found: dict[str, np.ndarray], path: str) -> None:
        """Check that windows of different splits of one series have no time in common."""
        every, spans = self.splits.every or 1, {}
        for split, windows in found.items():
            if len(windows):
                spans[split] = (windows[0] * every, windows[-1] * every + self.span)
        ordered = sorted(spans.items(), key=lambda one: one[1])
        for (one, (_, stop)), (other, (start, _)) in pairwise(ordered):
            if start < stop:
                raise DatasetError(
                    f"{path}: windows of {one} reach to time {stop - 1}, those of {other} begin at {start}; "
                    "expected: no time in two splits; ask for fewer samples"
                )


def _sizes(sizes: dict[str, int], name: Name, finest: int) -> str:
    """Say what is wrong with the lengths of the axes of space, and what would be right."""
    space = {axis: sizes[axis] for axis in name.space}
    found = " × ".join(map(str, space.values()))
    words = f"along {', '.join(space)} it has {found} points; expected: {finest} each"
    if len(set(space.values())) > 1:
        return f"{words}: grids have as many points along every axis"
    if finest in sizes.values():
        axis = next(key for key, size in sizes.items() if size == finest)
        return f"{words}; the axis '{axis}' has {finest}: is the order of axes another?"
    return f"{words}; if these are its points, set finest: {next(iter(space.values()))}"


def _in_order(wanted: dict[str, int], units: int, path: str, what: str, gap: int) -> dict[str, np.ndarray]:
    """Take the first for training; where test samples are among several splits, the last for these.

    Validation samples are those before them, `gap` apart.
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


def _by_rows(
    given: dict[str, list[int] | None], wanted: dict[str, int], units: int, path: str
) -> dict[str, np.ndarray]:
    """Take for each split the first rows of those given, the first and the one behind the last."""
    found: dict[str, tuple[int, int]] = {}
    for split, rows in given.items():
        if rows is None:
            if wanted[split]:
                raise DatasetError(f"{path}: rows has no entry for {split}; samples asks for {wanted[split]}")
            continue
        start, stop = rows
        if stop > units:
            raise DatasetError(f"{path}: rows.{split} is [{start}, {stop}]; it has {units} rows")
        if wanted[split] > stop - start:
            raise DatasetError(
                f"{path}: rows.{split} has {stop - start} rows; samples asks for {wanted[split]}"
            )
        for other, (low, high) in found.items():
            if start < high and low < stop:
                raise DatasetError(
                    f"{path}: rows.{other} [{low}, {high}] and rows.{split} [{start}, {stop}] overlap; "
                    "expected: no row in two splits"
                )
        found[split] = start, stop
    return {split: np.arange(start, start + wanted[split]) for split, (start, _) in found.items()}
