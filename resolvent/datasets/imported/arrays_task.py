"""The task that reads the samples of a dataset of arrays, and looks at what it has read."""

from __future__ import annotations

from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from resolvent.datasets.imported.arrays import ArraysDataset
from resolvent.datasets.imported.arrays_checks import Checks
from resolvent.datasets.imported.channels import Channel, read_rows
from resolvent.datasets.imported.contents import check_digests
from resolvent.datasets.imported.pools import paths_of
from resolvent.datasets.imported.series import Place, Series
from resolvent.datasets.storage.layout import Axis, Group, Variable, space_group
from resolvent.datasets.tasks.error_budget import against_computed_again, hold_to_accuracy
from resolvent.datasets.tasks.task import Task
from resolvent.solvers.common.grid import Grid

if TYPE_CHECKING:
    from resolvent.datasets.storage.stored import Stored

BATCH_BYTES = 2**27  # of rows read at a time
NOT_MEASURED = "imported; error not measured"


class ArraysTask(Task):
    """Reads the functions and numbers of every sample, and restricts them to the grids stored.

    `draw` gives (samples, channels, ...space) in float64, with numbers as constant functions.
    """

    settings: ArraysDataset

    def __init__(self, settings: ArraysDataset):
        super().__init__(settings)
        self.channels = settings.channels
        self.inputs = tuple(one.stored for one in self.channels if one.role == "input")
        self.targets = tuple(one.stored for one in self.channels if one.role == "target")
        self.dtype = settings.stored_as
        row = 8 * len(self.channels) * settings.num_points(settings.finest)
        self.batch = int(np.clip(BATCH_BYTES // row, 1, 256))
        evolves = [(one.name.entry, one.name.axes) for one in self.channels if one.time is not None]
        same = len(self.inputs) == len(self.targets) and len(set(evolves)) * 2 == len(self.channels)
        self.input_answers = bool(evolves) and same

    @cached_property
    def series(self) -> Series:
        """Open the files.

        Raises
        ------
        DatasetError
            When one is missing, damaged, or not the one that was planned with.
        """
        s, remedy = self.settings, "it has changed since: run snakemake again"
        check_digests(s.sha256, paths_of(s.source), self._digests, remedy)
        return self.settings.series()

    @cached_property
    def _digests(self) -> list[str]:
        return self.settings.digests()

    def groups(self) -> tuple[Group, ...]:
        settings = self.settings
        functions = [self._variable(one) for one in self.channels if one.space]
        numbers = tuple(self._variable(one) for one in self.channels if not one.space)
        found = []
        for points in settings.resolutions:
            grid = Grid(settings.grid, points, settings.length, settings.dimension)
            group = space_group(grid, *functions)
            axes = tuple(
                Axis(axis.name, axis.coordinates, axis.long_name, settings.units.get(axis.name, "1"))
                for axis in group.axes
            )
            found.append(Group(group.name, grid, axes, (*group.variables, *numbers)))
        return tuple(found)

    def _variable(self, channel: Channel) -> Variable:
        unit = self.settings.units.get(channel.name.variable, "1")
        return Variable(channel.stored, channel.words, unit)

    def draw_one(self, seed: int, split: int, index: int) -> np.ndarray:
        """Read the sample `index` of split number `split`: (channels, ...space)."""
        return self.draw([(list(self.layout.samples)[split], index)])[0]

    def draw(self, samples: list[tuple[str, int]]) -> np.ndarray:
        """Read `samples`, (split, index) each: (samples, channels, ...space); adjoining rows at once."""
        places = [self.series.place(split, index) for split, index in samples]
        parts = []
        for _, run in groupby(enumerate(places), lambda one: _run(*one)):
            members = [place for _, place in run]
            parts.append(np.stack([self._read(channel, members) for channel in self.channels], axis=1))
        return np.concatenate(parts)

    def _read(self, channel: Channel, places: list[Place]) -> np.ndarray:
        """Read one channel of samples in adjoining rows, (samples, ...space)."""
        time = channel.time
        if time is not None and self.settings.window_every is not None:
            time += places[0].start
        rows = range(places[0].row, places[-1].row + 1)
        values = read_rows(places[0].files[channel.role], channel.name, time, rows)
        if not channel.space:
            shape = (len(values), *[self.settings.finest] * self.settings.dimension)
            return np.broadcast_to(values.reshape(-1, *[1] * self.settings.dimension), shape)
        falling = self.series.falling or ()
        return np.flip(values, tuple(1 + at for at, axis in enumerate(channel.space) if axis in falling))

    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        """Restrict what was read, (samples, channels, ...space), to the grids stored."""
        arrays, settings = {}, self.settings
        for group in self.groups():
            points = group.grid.points
            if settings.grid == "nodes":
                stride = (settings.finest - 1) // (points - 1)
            else:
                stride = settings.finest // points
            thinned: Any = (..., *[slice(None, None, stride)] * settings.dimension)
            for number, channel in enumerate(self.channels):
                values = drawn[:, number]
                part = values[thinned] if channel.space else values.reshape(len(values), -1)[:, 0]
                arrays[f"{group.name}/{channel.stored}"] = part.copy()
        return arrays

    def error_budget(self, stored: Stored) -> dict:
        checks = Checks(self)
        for start in range(0, len(stored.all_positions), self.batch):
            names = stored.names(stored.all_positions[start : start + self.batch])
            checks.add(names, self.draw(names))
        positions = stored.random_positions(16)
        return {
            **checks.findings(),
            "stored_against_the_file": against_computed_again(self, stored, positions),
        }

    def hold_to_accuracy(self, budget: dict, store: Path | str) -> dict:
        """Hold what is stored to the files, and say for the card what was imported and remarked on."""
        held = {"against_the_file": budget["stored_against_the_file"]}
        hold_to_accuracy(held, self, store)
        files = self.series.files.values()
        notes = [f"In {file.name} {note}." for file in files for note in file.notes]
        return {
            "imported": {
                "summary": NOT_MEASURED,
                "warnings": [*Checks.warnings(budget, self.settings), *notes],
                "files": [self._facts(*one) for one in zip(self.series.files, self._digests, strict=True)],
                "samples_are": self.series.in_words(),
                "licence": self.settings.about.licence,
            }
        }

    def _facts(self, path: str, digest: str) -> dict:
        file = self.series.files[path]
        names = dict.fromkeys(
            channel.name.variable for channel in self.channels if channel.name.variable in file.shapes
        )
        shapes = {name: " × ".join(map(str, file.shape(name))) for name in names}
        return {"file": file.name, "format": file.version, "variables": shapes, "sha256": digest}

    @property
    def precision(self) -> str:
        return f"read from the file, stored as {self.dtype}"

    def description(self) -> dict:
        about = self.settings.about
        return {
            "equation": {
                "in_words": about.equation,
                "in_symbols": about.symbols,
                "operator": about.operator or " ↦ ".join(self.settings.names()),
                "source": about.source,
            },
            "solver": {"method": "unknown: the samples are the files'"},
        }


def _run(number: int, place: Place) -> tuple:
    """Give samples that can be read at once the same key."""
    return id(place.files["input"]), id(place.files["target"]), place.start, place.row - number
