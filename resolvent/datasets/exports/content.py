"""What is exported of a dataset: one of its grids, the functions on it, and how they follow each "
"other in time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.loading import BATCH, read_card
from resolvent.datasets.storage.layout import SPACE, grid_from_facts, group_name, resolution_of
from resolvent.datasets.storage.store import open_store, read_array
from resolvent.solvers.common.grid import Grid, Nodes


class Content:
    """One group of a finished dataset, ready to be written elsewhere.

    card      of the dataset; `path`: where it lies.
    group     name of the group, "n512".
    grid      its grid.
    evolves   whether the target is the input at a later time.

    Raises
    ------
    DatasetError
        When the dataset is not finished or has no such resolution.
    """

    def __init__(self, path: Path, resolution: int | str | None = None):
        self.path, self.card = Path(path), read_card(path)
        holding = [
            name
            for name, group in self.card["groups"].items()
            if {*self.card["inputs"], *self.card["targets"]} <= set(group["variables"])
        ]
        if not holding:
            raise DatasetError(
                f"{path}: inputs and targets are on different grids; expected: one grid of both"
            )
        self.group = holding[0] if resolution is None else group_name(resolution)
        if resolution is None and all(isinstance(resolution_of(name), int) for name in holding):
            self.group = max(holding, key=lambda name: int(resolution_of(name)))
        if self.group not in holding:
            found = ", ".join(str(resolution_of(name)) for name in holding)
            raise DatasetError(f"{path} has nothing at resolution {resolution}; accepted: {found}")
        facts = self.card["groups"][self.group]
        self.grid: Grid | Nodes = grid_from_facts(facts["grid"])
        self.variables: dict[str, dict] = {
            name: facts["variables"][name] for name in (*self.card["inputs"], *self.card["targets"])
        }
        self.evolves = self._evolves()

    def _evolves(self) -> bool:
        from resolvent.datasets.tasks.registry import build_task, settings_of

        alone = len(self.card["inputs"]) == len(self.card["targets"]) == 1
        return alone and build_task(settings_of(self.card["settings"])).input_answers

    @property
    def name(self) -> str:
        return self.card["dataset"]

    @property
    def axes(self) -> tuple[str, ...]:
        """Return the axes of space, as stored."""
        return SPACE[-self.grid.dimension :] if isinstance(self.grid, Grid) else ("time",)

    @property
    def splits(self) -> dict[str, range]:
        """Return the positions of every split that has samples."""
        found, start = {}, 0
        for split, size in self.card["samples"].items():
            if size:
                found[split] = range(start, start + size)
            start += size
        return found

    @property
    def dtype(self) -> np.dtype:
        """Return the type of the stored numbers."""
        root = open_store(self.path.with_suffix(".zarr"))
        return np.dtype(root[f"{self.group}/{self.card['inputs'][0]}"].dtype)  # type: ignore[union-attr]

    def is_function(self, name: str) -> bool:
        """Say whether a variable is a function, and no number of a sample."""
        return len(self.variables[name]["dimensions"]) > 1

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a sample of a variable."""
        return (self.grid.points,) * len(self.axes) if self.is_function(name) else ()

    def blocks(self, name: str, members: range) -> Iterator[tuple[slice, np.ndarray]]:
        """Read positions `members` of a variable a few at a time: where they go from 0 on, and the values."""
        for start in range(members.start, members.stop, BATCH):
            part = range(start, min(start + BATCH, members.stop))
            values = read_array(self.path.with_suffix(".zarr"), f"{self.group}/{name}", part)
            yield slice(start - members.start, part.stop - members.start), values

    def on_square(self, layout: str) -> Grid:
        """Return the grid; raises a DatasetError where functions are of time."""
        if not isinstance(self.grid, Grid):
            raise DatasetError(
                f"{self.path}: functions of time; the layout {layout} is for functions of space; "
                f"accepted: netcdf, "
                "npz, huggingface"
            )
        return self.grid

    def field(self) -> str:
        """Name the one quantity of an evolution: what the names of input and target have in common."""
        given, wanted = self.card["inputs"][0], self.card["targets"][0]
        words = [word for word in wanted.split("_") if word in given.split("_") and not word.isdigit()]
        words = [word for word in words if word not in ("at", "last", "but")]
        return "_".join(words) or wanted
