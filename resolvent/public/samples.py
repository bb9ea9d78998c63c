"""Samples of one split at one resolution, read from a store when they are asked for, in any process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from resolvent.datasets.errors import DatasetError, damaged
from resolvent.datasets.loading import target_resolution
from resolvent.datasets.storage.layout import grid_from_facts, group_name, resolution_of
from resolvent.datasets.storage.object_store import opened
from resolvent.datasets.storage.store import read_array
from resolvent.solvers.common.grid import Grid, Nodes


class SplitReader:
    """Reads inputs and targets of the samples at some positions of a store.

    It holds no open file, so that the workers of a DataLoader can be given a copy.

    Raises
    ------
    DatasetError
        When the dataset has no inputs at resolution `n`, or has several resolutions and none is named.
    """

    def __init__(self, place: Path | str, card: dict, positions: range, n: int | str | None):
        stored = [name for name, group in card["groups"].items() if card["inputs"][0] in group["variables"]]
        accepted = ", ".join(str(resolution_of(name)) for name in stored)
        if n is None and len(stored) > 1:
            raise DatasetError(
                f"{card['dataset']} is stored at {accepted}: choose one, n={accepted.split(',')[0]}"
            )
        group = stored[0] if n is None else group_name(n)
        if group not in stored:
            raise DatasetError(f"{card['dataset']} is not stored at {n}; it has {accepted}")
        targets = group_name(target_resolution(card, resolution_of(group)))
        self.place, self.positions = place, positions
        self.inputs = {f"{group}/{name}": _axes(card, group, name) for name in card["inputs"]}
        self.targets = {f"{targets}/{name}": _axes(card, targets, name) for name in card["targets"]}
        self.grid, self.target_grid = (
            grid_from_facts(card["groups"][one]["grid"]) for one in (group, targets)
        )
        self._opened: tuple[int, Any] | None = None

    def __len__(self) -> int:
        return len(self.positions)

    def __getstate__(self) -> dict:
        return self.__dict__ | {"_opened": None}

    def read(self, members: range) -> tuple[np.ndarray, np.ndarray]:
        """Return inputs and targets of samples `members` of the split.

        They are (samples, ...space), or (samples, channels, ...space) where they are several functions;
        numbers beside functions are constant functions and come last.

        Raises
        ------
        DatasetError
            When a sample is missing or damaged.
        """
        return self._functions(self.inputs, self.grid, members), self._functions(
            self.targets, self.target_grid, members
        )

    def chunks(self) -> Iterator[range]:
        """Yield the members of the split that lie in one chunk of the inputs, chunk by chunk."""
        size = self._array(next(iter(self.inputs))).chunks[0]
        first, last = self.positions.start, self.positions.stop
        for chunk in range(first // size, -(-last // size)):
            yield range(max(first, chunk * size) - first, min(last, (chunk + 1) * size) - first)

    def _functions(self, names: dict[str, int], grid: Grid | Nodes, members: range) -> np.ndarray:
        constant_last = sorted(names, key=lambda name: names[name] == 0)
        parts = []
        for name in constant_last:
            values = self._values(name, members)
            if not names[name]:
                shape = (grid.points,) * grid.dimension
                values = np.broadcast_to(values.reshape(-1, *[1] * grid.dimension), (len(values), *shape))
            parts.append(values)
        return parts[0] if len(parts) == 1 else np.stack(parts, axis=1)

    def _values(self, name: str, members: range) -> np.ndarray:
        here = range(self.positions.start + members.start, self.positions.start + members.stop)
        if isinstance(self.place, Path):
            return read_array(self.place, name, here)  # and holds them against the receipts
        try:
            values = np.asarray(self._array(name)[here.start : here.stop])
        except (ValueError, RuntimeError, OSError) as error:
            raise damaged(self.place, f"is damaged in '{name}' ({error})") from error
        if np.isnan(values).any():
            raise damaged(self.place, f"has unwritten samples in '{name}'")
        return values

    def _array(self, name: str) -> Any:
        if self._opened is None or self._opened[0] != os.getpid():
            self._opened = os.getpid(), zarr.open_group(opened(self.place), mode="r", zarr_format=3)
        try:
            return self._opened[1][name]
        except KeyError:
            raise damaged(self.place, f"has no array '{name}'") from None


def _axes(card: dict, group: str, name: str) -> int:
    """Return the number of axes of a variable beside that of the samples."""
    return len(card["groups"][group]["variables"][name]["dimensions"]) - 1
