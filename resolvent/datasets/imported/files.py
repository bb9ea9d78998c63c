"""Base classes of datasets whose samples are read from files."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from resolvent.common.settings import Settings
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.axes import HeldAxes, held_axes
from resolvent.datasets.imported.readers.source import is_remote, open_source
from resolvent.datasets.imported.series import Channel, Place, Series, read_rows
from resolvent.datasets.imported.sources import check_digests, content_digest, paths_of
from resolvent.datasets.storage.layout import SPACE, SPLITS, Group, group_name
from resolvent.datasets.tasks.error_budget import against_computed_again
from resolvent.datasets.tasks.settings import SpaceDataset
from resolvent.datasets.tasks.task import Task
from resolvent.solvers.common.grid import Grid

if TYPE_CHECKING:
    from resolvent.datasets.storage.store import Stored

UNEVEN = ("uneven", "uneven_periodic")
# Kinds whose outermost points are points of every coarser grid.
KEEP_ENDS = ("nodes", "cell_centres", "uneven")
BATCH_BYTES = 2**27  # size of rows read at a time
SECONDS_PER_BYTE = 2e-8  # for decompressing a file


def as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class Credit(Settings):
    """Source, licence and citation of third-party data, for pages and exports."""

    source: str = Field("not stated", description="authors of the data, and where they are described")
    licence: str = Field("unknown", description="the licence of the data")
    citation: str = Field("", description="how to cite the data: BibTeX or text; default: unknown")


class FilesDataset(SpaceDataset):
    """Settings of datasets read from files with `finest` points along each axis; only used samples are read.

    Stored grids have every k-th point of the files along each axis; `resolutions` are their points along x.
    """

    seconds_per_value: ClassVar[float] = 1e-7  # to read and restrict a value
    shifts: ClassVar = {}  # shifted distributions cannot be solved for third-party data

    source: Any = Field(description="the files")
    sha256: list[str] | None = Field(
        None,
        description="expected SHA-256 of each file (for addresses: of size and tag); other content is "
        "refused. Default: computed when planned",
    )

    about: Credit = Field(Credit(), description="source, licence and citation of the data")

    if TYPE_CHECKING:
        finest: Any

    @model_validator(mode="after")
    def _grids_are_nested_in_the_file(self) -> Self:
        for points in self.resolutions:
            self.stride(points)
        return self

    @property
    def same_ends(self) -> bool:
        return self.grid_kind in ("nodes", "cell_centres")

    def along(self, key: str) -> dict[str, Any]:
        """Return a setting, such as `finest` or `grid_kind`, for each axis of space, in stored order."""
        return dict.fromkeys(SPACE[-self.dimension :], getattr(self, key, None))

    def stride(self, points: int) -> int:
        """Return the stride k of the grid with `points` along x. Raises `ValueError` if there is none."""
        stride, kinds = 0, self.along("grid_kind")
        for axis, finest in reversed(self.along("finest").items()):
            kind, ends = kinds[axis], int(kinds[axis] in KEEP_ENDS)
            if stride and (finest - ends) % stride:
                raise ValueError(
                    f"resolution {points} takes every {stride}-th point along x, but {stride} does not "
                    f"divide the {finest - ends} {'intervals' if ends else 'points'} along {axis}"
                )
            count = ends + (finest - ends) // stride if stride else points
            if kind != "uneven_periodic":
                Grid("nodes" if kind == "uneven" else kind, finest).restricted(count)  # raises
            elif not 3 <= count <= finest or finest % count:
                raise ValueError(f"{finest} points cannot be restricted to {count} by stride")
            stride = stride or (finest - ends) // (count - ends)
        return stride

    def sides(self, resolution: int | str) -> tuple[int, ...]:
        stride = self.stride(int(resolution))
        return tuple(-(-finest // stride) for finest in self.along("finest").values())

    def even_axes(self, points: int) -> dict[str, Grid | None]:
        """Return the axes of the grid with `points` along x, in stored order; None for uneven axes."""
        kinds, lengths, finest = self.along("grid_kind"), self.along("length"), self.along("finest")
        axes: dict[str, Grid | None] = {}
        for axis, count in zip(kinds, self.sides(points), strict=True):
            if kinds[axis] in UNEVEN:
                axes[axis] = None
            else:
                axes[axis] = Grid(kinds[axis], finest[axis], lengths[axis] or 1.0).restricted(count)
        return axes

    @property
    @abstractmethod
    def channels(self) -> list[Channel]:
        """Return the functions and scalars of a sample, inputs first."""

    @abstractmethod
    def series(self) -> Series:
        """Open and check the files, and locate every sample. Raises as `with_contents`."""

    def held(self, series: Series) -> HeldAxes:
        """Return the grid from the coordinates of all files. Raises `DatasetError` if they do not fit it."""
        axes, named = self.even_axes(self.along("finest")["x"]), getattr(self, "coordinates", {})
        lengths, origins, first = self.along("length"), self.along("origin"), None
        for pair in series.pairs:
            held = held_axes(pair, self.channels, axes, lengths, origins, named)
            first = first or held
            first.origins = dict(first.origins.items() & held.origins.items())
            if held != first:
                raise DatasetError(
                    f"{pair['input'].path}: its coordinates differ from the first file's in direction, "
                    "length or uneven points; expected: one grid for all files"
                )
        assert first is not None  # a source has at least one file
        return first

    def paths(self) -> list[str]:
        return paths_of(self.source)

    def from_files(self) -> dict[str, Any]:
        """Check the files, and return the settings that follow from them. Raises `DatasetError`."""
        self.held(self.series())
        return {}

    def with_contents(self) -> Self:
        """Check the files, and return the settings with their SHA-256, and with `from_files`."""
        update, paths = self.from_files(), self.paths()
        digests = [content_digest(path) for path in paths]
        check_digests(self.sha256, paths, digests, "correct sha256, or leave it out")
        return self.model_copy(update={"sha256": digests} | update)

    def seconds_per_sample(self) -> float:
        grids = math.prod(self.along("finest").values()) + sum(map(self.num_points, self.resolutions))
        read = SECONDS_PER_BYTE * self._bytes_read() / max(1, self.samples.total)
        return self.seconds_per_value * len(self.channels) * grids + read

    def bytes_of_solving(self) -> float:
        return self._bytes_read() + super().bytes_of_solving()

    def bytes_of_checks(self) -> float:
        return self._bytes_read() + super().bytes_of_checks()

    def _bytes_read(self) -> float:
        """Return the bytes of the variables that can only be read as a whole."""
        names = {one.variable for one in self.channels}
        try:
            files = [open_source(path) for path in self.paths() if not is_remote(path)]
        except DatasetError:
            return 0.0  # reported when planned
        return sum(file.variables[name].in_memory for file in files for name in names & {*file.variables})


class FilesTask(Task):
    """Base of tasks that read samples from files; `draw` returns scalars as constant functions."""

    settings: FilesDataset

    def __init__(self, settings: FilesDataset):
        super().__init__(settings)
        self.channels = settings.channels
        row = 8 * len(self.channels) * math.prod(settings.along("finest").values())
        self.batch = int(np.clip(BATCH_BYTES // row, 1, 256))

    @cached_property
    def series(self) -> Series:
        """Open the files. Raises `DatasetError` if a file has changed since planning."""
        paths: list[str] = self.settings.paths()
        self.digests = [content_digest(path) for path in paths]
        check_digests(self.settings.sha256, paths, self.digests, "it has changed since: run snakemake again")
        return self.settings.series()

    @cached_property
    def held(self) -> HeldAxes:
        return self.settings.held(self.series)

    def placed(self, group: Group) -> Group:
        """Return the group with coordinates that begin at the left end in the files, or as the user states.

        On an uneven axis, positions are those of the files already.
        """
        origins = self.settings.along("origin") | self.held.origins
        axes = []
        for axis in group.axes:
            origin = 0.0 if axis.name in self.held.positions else origins[axis.name] or 0.0
            axes.append(replace(axis, coordinates=axis.coordinates + origin, origin=origin))
        return replace(group, axes=tuple(axes))

    def draw_one(self, seed: int, split: int, index: int) -> np.ndarray:
        return self.draw([(SPLITS[split], index)])[0]

    def draw(self, samples: list[tuple[str, int]]) -> np.ndarray:
        """Read `samples`, each (split, index): (samples, channels, ...space); adjacent rows together."""
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
        first, rows = places[0], range(places[0].row, places[-1].row + 1)
        values = read_rows(first.files[channel.role], channel, rows, first.start)
        if not channel.space:
            sides = tuple(self.settings.along("finest").values())
            return np.broadcast_to(values.reshape(-1, *[1] * len(sides)), (len(values), *sides))
        falling = (1 + number for number, axis in enumerate(channel.space) if axis in self.held.falling)
        return np.flip(values, tuple(falling))

    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        """Restrict the samples, (samples, channels, ...space), to the stored grids."""
        arrays, dimension = {}, self.settings.dimension
        for points in self.settings.resolutions:
            every_kth = (..., *[slice(None, None, self.settings.stride(points))] * dimension)
            for number, name in enumerate((*self.inputs, *self.targets)):
                part: Any = every_kth if self.channels[number].space else (..., *[0] * dimension)
                arrays[f"{group_name(points)}/{name}"] = drawn[:, number][part].copy()
        return arrays

    @abstractmethod
    def findings(self, stored: Stored) -> dict:
        """Return entries of the error budget: comparisons of samples with the settings."""

    def error_budget(self, stored: Stored) -> dict:
        again = against_computed_again(self, stored, stored.random_positions(16))
        return {**self.findings(stored), "stored_against_the_file": again}

    @property
    def precision(self) -> str:
        return f"read from the file, stored as {self.dtype}"

    def notes(self) -> list[str]:
        """Return a sentence for each oddity in the values read so far."""
        return [f"In {file.name} {note}." for file in self.series.files.values() for note in file.notes]

    def file_facts(self) -> dict:
        series, facts, names = self.series, [], dict.fromkeys(one.variable for one in self.channels)
        for path, digest in zip(self.settings.paths(), self.digests, strict=True):
            file = series.files[path]
            shapes = {n: " × ".join(map(str, file.shape(n))) for n in names if n in file.variables}
            facts.append({"file": file.name, "format": file.version, "variables": shapes, "sha256": digest})
        return {
            "files": facts,
            "samples_are": series.in_words(),
            **self.settings.about.model_dump(include={*Credit.model_fields}),
        }
