"""The layout of a store: groups, variables, chunks and shards."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.solvers.common.grid import AnyGrid, Grid, Nodes, Product

SPLITS = ("train", "validation", "test")  # in stored order; the index is part of every random key
SPACE = ("z", "y", "x")  # axes of space, in stored order
CHUNK_BYTES = 2**20  # about 1 MB: small enough for random batches, large enough for whole reads

_GRID_IN_WORDS = {
    "periodic": "the left end is included, the right end is not",
    "nodes": "both ends are included",
    "cell_centres": "cell centres: neither end is included",
    "explicit": "unevenly spaced",
}


@dataclass(frozen=True, eq=False)
class Axis:
    """A named axis of a group, with its coordinates; those of the grid count from `origin`."""

    name: str
    coordinates: np.ndarray
    long_name: str
    units: str = "1"
    origin: float = 0.0


@dataclass(frozen=True)
class Variable:
    """A stored quantity: name, description, units (empty if unknown), and the axes after the sample axis.

    time  the time of a function at one time, with its unit and calendar as in NetCDF; None if unknown.
    """

    name: str
    long_name: str
    units: str = "1"
    axes: tuple[str, ...] = ()
    time: float | None = None
    time_units: str = ""
    calendar: str = ""

    def attributes(self) -> dict[str, Any]:
        """Return what the store and the card say in words about the quantity."""
        about: dict[str, Any] = {"long_name": self.long_name, "units": self.units}
        if self.time is not None:
            about["time"] = self.time
            about |= {key: getattr(self, key) for key in ("time_units", "calendar") if getattr(self, key)}
        return about


@dataclass(frozen=True)
class Group:
    """The variables on one grid. `grid` is for models, `axes` are the axes in the file."""

    name: str
    grid: AnyGrid
    axes: tuple[Axis, ...]
    variables: tuple[Variable, ...]

    def shape(self, variable: Variable) -> tuple[int, ...]:
        """Return the shape of one sample of `variable`."""
        sizes = {axis.name: len(axis.coordinates) for axis in self.axes}
        return tuple(sizes[name] for name in variable.axes)


@dataclass(frozen=True)
class Layout:
    """Groups of a store, and the size of each split in `samples`, in stored order."""

    groups: tuple[Group, ...]
    samples: dict[str, int]
    samples_per_shard: int
    dtype: str = "float64"

    @property
    def arrays(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of one sample for every array, "n512/initial_velocity"."""
        return {
            f"{group.name}/{variable.name}": group.shape(variable)
            for group in self.groups
            for variable in group.variables
        }

    @property
    def num_samples(self) -> int:
        return sum(self.samples.values())

    @property
    def num_shards(self) -> int:
        return -(-self.num_samples // self.samples_per_shard)

    def shard_range(self, shard: int) -> range:
        """Return the positions on the sample axis that job `shard` writes."""
        if not 0 <= shard < self.num_shards:
            raise DatasetError(f"there is no shard {shard}; accepted: 0 to {self.num_shards - 1}")
        start = shard * self.samples_per_shard
        return range(start, min(start + self.samples_per_shard, self.num_samples))

    def split_of(self, position: int) -> tuple[str, int]:
        """Return the split of the sample at `position`, and its index in the split."""
        index = position
        for name, size in self.samples.items():
            if 0 <= index < size:
                return name, index
            index -= size
        raise DatasetError(f"there is no sample {position}; accepted: 0 to {self.num_samples - 1}")

    def samples_per_chunk(self, shape: tuple[int, ...]) -> int:
        """Return the largest number of samples that divides a shard and fits into CHUNK_BYTES, or 1."""
        fitting = max(1, CHUNK_BYTES // (np.dtype(self.dtype).itemsize * int(np.prod(shape))))
        divisors = (c for c in range(1, self.samples_per_shard + 1) if self.samples_per_shard % c == 0)
        return max(c for c in divisors if c <= fitting)


def group_name(resolution: int | str) -> str:
    """Return the name of the group at a resolution: "n512" for 512 points per axis, or a set's own name."""
    return f"n{resolution}" if isinstance(resolution, int) else resolution


def resolution_of(group: str) -> int | str:
    """Return the resolution of a group; the inverse of `group_name`."""
    return int(group[1:]) if re.fullmatch(r"n\d+", group) else group


def named_axes(grid: AnyGrid) -> dict[str, Grid | Nodes]:
    """Return the axes of a grid by name, in stored order: "time", or the last of z, y and x."""
    names = ("time",) if isinstance(grid, Nodes) else SPACE[-grid.dimension :]
    return dict(zip(names, grid.axes, strict=True))


def space_group(
    grid: Grid | Product,
    *variables: Variable,
    units: str = "1",
    more: tuple[Axis, ...] = (),
    numbers: Iterable[Variable] = (),
) -> Group:
    """Return the group of variables on `grid`, named by its points along x; `more` axes come before space.

    `numbers` are variables with one value per sample.
    """
    along = named_axes(grid)
    axes = (
        Axis(name, axis.coordinates, f"position; {_in_words(axis)}", units) for name, axis in along.items()
    )
    placed = (replace(variable, axes=(*variable.axes, *along)) for variable in variables)
    return Group(group_name(grid.points), grid, (*more, *axes), (*placed, *numbers))


def _in_words(axis: Grid | Nodes) -> str:
    """Return the convention of an axis of a grid."""
    if isinstance(axis, Grid) and axis.stride > 1:
        of = f"cell centre {axis.stride} i, i = 0, 1, …, of {axis.cells}"
        return f"{of}: both ends are half of such a cell outside"
    return _GRID_IN_WORDS[axis.kind]


def stretched(group: Group, length: float) -> Group:
    """Return the group with its grid scaled to `length`."""
    assert isinstance(group.grid, Grid)
    by = length / group.grid.length
    axes = tuple(replace(axis, coordinates=by * axis.coordinates) for axis in group.axes)
    return replace(group, grid=replace(group.grid, length=length), axes=axes)


def time_group(name: str, times: Nodes, variables: tuple[Variable, ...], numbers=()) -> Group:
    """Return the group of trajectories at `times`; `numbers` are variables with one value per sample."""
    axis = Axis("time", times.coordinates, "time of observation")
    placed = (replace(variable, axes=("time",)) for variable in variables)
    return Group(name, times, (axis,), (*numbers, *placed))


def group_facts(group: Group) -> dict:
    """Return the description of a group for the card."""
    origins = {axis.name: axis.origin for axis in group.axes if axis.origin}
    return {
        "grid": grid_facts(group.grid) | ({"origin": origins} if origins else {}),
        "variables": {
            variable.name: {**variable.attributes(), "dimensions": ["sample", *variable.axes]}
            for variable in group.variables
        },
    }


def stored_axes(facts: dict) -> dict[str, np.ndarray]:
    """Return the coordinates of a group's axes by name, from the grid on the card, with its origin."""
    origins = facts.get("origin", {})
    axes = named_axes(grid_from_facts(facts))
    return {name: axis.coordinates + origins.get(name, 0.0) for name, axis in axes.items()}


def coordinates_of(grid: AnyGrid, suffix: str = "") -> dict[str, np.ndarray]:
    """Return the positions along each axis by the axis' name."""
    return {name + suffix: axis.coordinates for name, axis in named_axes(grid).items()}


def grid_facts(grid: AnyGrid) -> dict:
    """Return the description of a grid for the card."""
    if isinstance(grid, Product):
        return {"kind": grid.kind, "axes": [grid_facts(axis) for axis in grid.axes]}
    if isinstance(grid, Nodes):
        period = {} if grid.period is None else {"period": grid.period}
        return {"kind": "explicit", "positions": list(grid.positions), **period}
    return {
        "kind": grid.kind,
        "points": grid.points,
        "length": grid.length,
        "dimension": grid.dimension,
        **({"stride": grid.stride} if grid.stride > 1 else {}),
        "convention": _in_words(grid),
    }


def grid_from_facts(facts: dict) -> AnyGrid:
    """Return the grid of a card; the inverse of `grid_facts`."""
    if "axes" in facts:
        return Product(tuple(grid_from_facts(axis).axes[0] for axis in facts["axes"]))
    if facts["kind"] == "explicit":
        return Nodes(tuple(facts["positions"]), facts.get("period"))
    return Grid(facts["kind"], facts["points"], facts["length"], facts["dimension"], facts.get("stride", 1))
