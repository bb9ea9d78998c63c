"""The files behind a dataset of arrays: opened, held against the settings, and the rows of every sample."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.source import open_source

if TYPE_CHECKING:
    from resolvent.datasets.imported.channels import Channel
    from resolvent.datasets.imported.readers.arrays_file import ArraysFile
    from resolvent.datasets.imported.sources import Pool

Pair = dict[str, "ArraysFile"]  # the file of each role, input and target


@dataclass(frozen=True)
class Place:
    """Where a sample is: the file of each role, the row on the axis of samples, where its window begins."""

    files: Pair
    row: int
    start: int


class Series:
    """Every series of the files of a dataset, by split. `place` finds a sample.

    sizes    samples of each split.
    every    times between the beginnings of two windows of a series; None: one sample a series.
    rows     the first row of a split and the row behind its last one; None: the usual order.
    groups   a variable with a value for each sample, and the values that each split has.
    falling  axes along which the coordinates fall: their values are flipped.
    """

    def __init__(
        self,
        pools: list[Pool],
        channels: list[Channel],
        finest: int,
        sizes: dict[str, int],
        every: int | None = None,
        rows: dict | None = None,
        groups: tuple[str, dict[str, list]] | None = None,
    ):
        self.channels, self.finest, self.sizes = channels, finest, sizes
        self.every, self.rows, self.groups = every, rows, groups
        self.files: dict[str, ArraysFile] = {}
        self.falling: set[str] = set()
        self.lone = "sample" not in channels[0].name.axes
        self.span = 1 + max(one.time or 0 for one in channels)  # times that a window reaches over
        self.pools = [(pool, [self._opened(pair) for pair in pool.files]) for pool in pools]
        self.windows = 1  # of a series
        if every is not None:
            times = {
                pair["input"].path: self._size(pair, "time") for _, pairs in self.pools for pair in pairs
            }
            if len(set(times.values())) > 1:
                found = ", ".join(f"{count} in {path}" for path, count in times.items())
                raise DatasetError(f"series are of {found} times; expected: as many in all files")
            self.windows = (next(iter(times.values())) - self.span) // every + 1
        self._units: dict[str, tuple[list[tuple[Pair, int]], np.ndarray]] = {}
        self._alone: set[str] = set()  # splits that have windows of one series
        for pool, files in self.pools:
            self._units |= self._chosen(pool, files)
        for split, size in sizes.items():
            if size and split not in self._units:
                named = ", ".join(self._units)
                raise DatasetError(f"source has files for {named}; samples asks for {size} ({split})")

    def place(self, split: str, index: int) -> Place:
        """Find the sample `index` of `split`."""
        series, units = self._units[split]
        if split in self._alone:
            (files, row), window = series[0], int(units[index])
        else:
            (files, row), window = series[units[index // self.windows]], index % self.windows
        return Place(files, row, window * (self.every or 0))

    def single(self) -> bool:
        """Say whether float32 has every number of every function."""
        pairs = [pair for _, opened in self.pools for pair in opened]
        return all(pair[c.role].variables[c.name.variable].single for pair in pairs for c in self.channels)

    def in_words(self) -> dict[str, str]:
        """Say for the card which rows of which files each split has."""
        words = {}
        for split, size in ((split, size) for split, size in self.sizes.items() if size):
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
            if self.windows > 1 and not cut:
                words[split] += f", {self.windows} windows each"
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
        space = [sizes[axis] for axis in name.space]
        if any(size != self.finest for size in space):
            words = f"if these are its points, set finest: {space[0]}"
            if len(set(space)) > 1:
                words = "grids have as many points along every axis: crop or interpolate it"
            elif axis := next((axis for axis, size in sizes.items() if size == self.finest), None):
                words = f"the axis '{axis}' has {self.finest}: is the order of axes another?"
            raise DatasetError(
                f"{at} has the shape {shape}; along {', '.join(name.space)} it has "
                f"{' × '.join(map(str, space))} points; expected: {self.finest} each; {words}"
            )
        for axis, number, asks in (
            ("channel", name.channel, f"'{name.entry}' asks"),
            ("time", channel.time, f"{channel.role}_times asks"),
        ):
            if number is not None and not -sizes[axis] <= number < sizes[axis]:
                raise DatasetError(
                    f"{at} has {sizes[axis]} {axis}s; {asks} for number {number}, counted from 0; accepted: "
                    f"up to {sizes[axis] - 1}"
                )
        return sizes.get("sample", 1)

    def _size(self, files: Pair, axis: str) -> int:
        """Return the length of the first function along an axis; 1 where it has none."""
        channel = self.channels[0]
        shape = files[channel.role].shape(channel.name.variable)
        return dict(zip(channel.name.axes, shape, strict=True)).get(axis, 1)

    def _chosen(self, pool: Pool, files: list[Pair]) -> dict:
        """Choose series for every split of a pool, or windows of a series that is alone."""
        series = [(pair, row) for pair in files for row in range(self._size(pair, "sample"))]
        cut = self.windows > 1 and self.groups is None and self.rows is None
        alone = len(series) == 1 and (self.lone or cut)  # windows of one series are split, and nothing else
        units, per = (self.windows, 1) if alone else (len(series), self.windows)
        wanted = {split: -(-self.sizes[split] // per) for split in pool.splits}
        paths = list(dict.fromkeys(str(one.path) for pair in files for one in pair.values()))
        path = " and ".join(paths) if len(paths) < 3 else f"{paths[0]} and {len(paths) - 1} more files"
        if self.groups is not None:
            found = self._by_group(*self.groups, files, wanted, path)
        elif self.rows is not None:
            found = _by_rows({split: self.rows.get(split) for split in pool.splits}, wanted, units, path)
        else:
            what = "windows" if alone else "series" if self.windows > 1 else "samples"
            gap = -(-self.span // (self.every or 1)) - 1 if alone else 0
            found = _in_order(wanted, units, path, what, gap)
        if alone:
            every = self.every or 1
            reach = [
                (windows[0] * every, windows[-1] * every + self.span, split)
                for split, windows in found.items()
                if len(windows)
            ]
            for (_, stop, one), (start, _, other) in pairwise(sorted(reach)):
                if start < stop:
                    raise DatasetError(
                        f"{path}: windows of {one} reach to time {stop - 1}, those of {other} begin at "
                        f"{start}; expected: no time in two splits; ask for fewer samples"
                    )
            self._alone |= set(found)
        return {split: (series, chosen) for split, chosen in found.items()}

    def _by_group(
        self, variable: str, accepted: dict[str, list], files: list[Pair], wanted: dict[str, int], path: str
    ) -> dict[str, np.ndarray]:
        """Take for each split the first rows with some values of a variable."""
        values = []
        for pair in files:
            one, count = pair["input"].values(variable).ravel().tolist(), self._size(pair, "sample")
            if len(one) != count:
                words = f"'{variable}' has {len(one)} values for {count} samples; expected: one each"
                raise DatasetError(f"{pair['input'].path}: {words}")
            values += one
        found = {}
        for split, count in wanted.items():
            rows = [row for row, value in enumerate(values) if value in accepted[split]]
            if count > len(rows):
                different = sorted(set(values), key=str)
                some = ", ".join(map(str, different[:8])) + ", …" * (len(different) > 8)
                raise DatasetError(
                    f"{path}: {len(rows)} rows have a '{variable}' in {accepted[split]}; samples asks for "
                    f"{count} ({split}); found: {some}"
                )
            found[split] = np.array(rows[:count], dtype=int)
        if any(set(one) & set(other) for one, other in combinations(found.values(), 2)):
            raise DatasetError(f"{path}: groups has a value of '{variable}' in two splits")
        return found


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
    for split, rows in given.items():
        if rows is None and wanted[split]:
            raise DatasetError(f"{path}: rows has no entry for {split}; samples asks for {wanted[split]}")
    found = {split: rows for split, rows in given.items() if rows is not None}
    for split, (start, stop) in found.items():
        if stop > units:
            raise DatasetError(f"{path}: rows.{split} is [{start}, {stop}]; it has {units} rows")
        if wanted[split] > stop - start:
            raise DatasetError(
                f"{path}: rows.{split} has {stop - start} rows; samples asks for {wanted[split]}"
            )
    for (one, (low, high)), (other, (start, stop)) in combinations(found.items(), 2):
        if start < high and low < stop:
            raise DatasetError(
                f"{path}: rows.{one} [{low}, {high}] and rows.{other} [{start}, {stop}] overlap; expected: "
                "no row in two splits"
            )
    return {split: np.arange(start, start + wanted[split]) for split, (start, _) in found.items()}
