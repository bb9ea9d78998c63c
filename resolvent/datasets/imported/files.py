"""Datasets whose samples are read from files: what is the same whatever is in them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from resolvent.common.errors import Words
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.channels import Channel, read_rows
from resolvent.datasets.imported.readers.source import is_remote, open_source
from resolvent.datasets.imported.series import Place, Series
from resolvent.datasets.imported.sources import check_digests, content_digest, paths_of
from resolvent.datasets.tasks.settings import SpaceDataset
from resolvent.datasets.tasks.task import Task
from resolvent.solvers.common.grid import check_restriction

BATCH_BYTES = 2**27  # of rows read at a time
SECONDS_PER_BYTE = 2e-8  # to decompress a file


def as_list(value: Any) -> Any:
    """Return a list of a name alone."""
    return [value] if isinstance(value, str) else value


class FilesDataset(SpaceDataset):
    """Samples of files, `finest` points along each axis; those that are not asked for are not read.

    seconds_per_value  to read and restrict a value.
    """

    seconds_per_value: ClassVar[float] = 1e-7

    source: Any = Field(description="the files")
    sha256: list[str] | None = Field(
        None,
        description="SHA-256 of each file (of an address that of its size and tag), which another content "
        "then fails; default: found when planned",
    )

    if TYPE_CHECKING:
        finest: int

    @model_validator(mode="after")
    def _grids_are_nested_in_the_file(self) -> Self:
        for points in self.resolutions:
            if self.grid_kind == "periodic":
                check_restriction(self.finest, points, "stride")
            elif points != self.finest and self.grid_kind == "cell_centres":
                raise ValueError(
                    f"resolution {points}: every k-th of {self.finest} cell centres is none of a coarser "
                    f"grid; accepted: {self.finest}, or grid: nodes"
                )
            elif not 3 <= points <= self.finest or (self.finest - 1) % (points - 1):
                raise ValueError(
                    f"{points} nodes are not nested in the file's {self.finest}: {self.finest - 1} "
                    f"intervals, {points - 1}"
                )
        return self

    @property
    @abstractmethod
    def channels(self) -> list[Channel]:
        """Return the functions and numbers of a sample."""

    @abstractmethod
    def series(self) -> Series:
        """Open the files, check them, and find the rows of every sample. Raises as `with_contents`."""

    def paths(self) -> list[str]:
        """Return every file, each once, in order."""
        return paths_of(self.source)

    def with_contents(self) -> Self:
        """Look into the files, and return the settings with the SHA-256 of each.

        Raises a DatasetError that names the file, what is expected and what was found.
        """
        self.series()
        paths = self.paths()
        digests = [content_digest(path) for path in paths]
        check_digests(self.sha256, paths, digests, "correct sha256, or leave it out")
        return self.model_copy(update={"sha256": digests})

    def seconds_per_sample(self) -> float:
        grids = sum(self.num_points(points) for points in (self.finest, *self.resolutions))
        read = SECONDS_PER_BYTE * self._bytes_read() / max(1, self.samples.total)
        return self.seconds_per_value * len(self.channels) * grids + read

    def bytes_of_solving(self) -> float:
        return self._bytes_read() + super().bytes_of_solving()

    def bytes_of_checks(self) -> float:
        return self._bytes_read() + super().bytes_of_checks()

    def _bytes_read(self) -> float:
        """Return the bytes of the variables of files that can only be read whole."""
        names = {one.name.variable for one in self.channels}
        try:
            files = [open_source(path) for path in self.paths() if not is_remote(path)]
        except DatasetError:
            return 0.0  # reported when it is planned
        return sum(file.variables[name].in_memory for file in files for name in names & {*file.variables})


class FilesTask(Task):
    """Reads the functions and numbers of every sample.

    `draw` gives (samples, channels, ...space) in float64, with numbers as constant functions.
    """

    settings: FilesDataset

    def __init__(self, settings: FilesDataset):
        super().__init__(settings)
        self.channels = settings.channels
        row = 8 * len(self.channels) * settings.num_points(settings.finest)
        self.batch = int(np.clip(BATCH_BYTES // row, 1, 256))

    @cached_property
    def series(self) -> Series:
        """Open the files; raises a DatasetError where one is not the one that was planned with."""
        remedy: Words = "it has changed since: run snakemake again"
        check_digests(self.settings.sha256, self.settings.paths(), self._digests, remedy)
        return self.settings.series()

    @cached_property
    def _digests(self) -> list[str]:
        return [content_digest(path) for path in self.settings.paths()]

    def draw_one(self, seed: int, split: int, index: int) -> np.ndarray:
        """Read the sample `index` of split number `split`: (channels, ...space)."""
        return self.draw([(list(self.layout.samples)[split], index)])[0]

    def draw(self, samples: list[tuple[str, int]]) -> np.ndarray:
        """Read `samples`, (split, index) each: (samples, channels, ...space); adjoining rows at once."""
        runs: list[list[Place]] = []
        for split, index in samples:
            place = self.series.place(split, index)
            if runs and place == replace(runs[-1][-1], row=runs[-1][-1].row + 1):
                runs[-1].append(place)
            else:
                runs.append([place])
        return np.concatenate(
            [np.stack([self._read(channel, run) for channel in self.channels], axis=1) for run in runs]
        )

    def _read(self, channel: Channel, places: list[Place]) -> np.ndarray:
        """Read one channel of samples in adjoining rows, (samples, ...space)."""
        first, dimension = places[0], self.settings.dimension
        time = None if channel.time is None else channel.time + first.start
        rows = range(first.row, places[-1].row + 1)
        values = read_rows(first.files[channel.role], channel.name, time, rows)
        if not channel.space:
            shape = (len(values), *[self.settings.finest] * dimension)
            return np.broadcast_to(values.reshape(-1, *[1] * dimension), shape)
        falling = (1 + at for at, axis in enumerate(channel.space) if axis in self.series.falling)
        return np.flip(values, tuple(falling))

    def thinned(self, values: np.ndarray, points: int) -> np.ndarray:
        """Take every k-th value of functions (samples, ...space) along each axis: so many points."""
        ends = self.settings.grid_kind == "nodes"
        stride = (self.settings.finest - ends) // (points - ends)
        every_kth: Any = (..., *[slice(None, None, stride)] * self.settings.dimension)
        return values[every_kth].copy()

    @property
    def precision(self) -> str:
        return f"read from the file, stored as {self.dtype}"

    def notes(self) -> list[Words]:
        """Say in a sentence each what is odd in the values read so far."""
        return [f"In {file.name} {note}." for file in self.series.files.values() for note in file.notes]

    def file_facts(self) -> dict:
        """Say for the card which files the samples are from, and which rows."""
        facts, names = [], list(dict.fromkeys(one.name.variable for one in self.channels))
        for path, digest in zip(self.settings.paths(), self._digests, strict=True):
            file = self.series.files[path]
            shapes = {n: " × ".join(map(str, file.shape(n))) for n in names if n in file.variables}
            facts.append({"file": file.name, "format": file.version, "variables": shapes, "sha256": digest})
        return {"files": facts, "samples_are": self.series.in_words()}
