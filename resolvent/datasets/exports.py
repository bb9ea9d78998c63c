"""Export datasets, in their precision, to HDF5 files of The Well and to NetCDF."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.common.files import json_text, write_atomically
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.loading import BATCH, places_of, read_card
from resolvent.datasets.storage.layout import grid_from_facts, group_name, named_axes, resolution_of
from resolvent.datasets.storage.reading import open_store, read_array
from resolvent.datasets.tasks.registry import build_task, settings_on
from resolvent.solvers.common.grid import AnyGrid, Grid, Nodes, Product

CARD = "resolvent_card"  # attribute with the dataset card as JSON
WELL_SPLITS = {"train": "train", "validation": "valid", "test": "test"}
AXES = ("x", "y", "z")  # The Well has x first


class Content:
    """One group of a finished dataset, for export.

    card      the dataset card; `path`: its file.
    group     name of the group, "n512"; `grid`, `axes`: its grid, and its axes by name, as stored.
    splits    positions of the samples of every non-empty split; `members`: positions of all samples.
    shapes    shape of a sample of each input and target, () for a number; `dtype`: of all arrays.
    evolves   whether the target is the input at a later time.

    Raises `DatasetError` if the dataset is not finished or has no such resolution.
    """

    def __init__(self, path: Path, resolution: int | str | None = None):
        self.path, self.card = Path(path), read_card(path)
        names = [*self.card["inputs"], *self.card["targets"]]
        groups = self.card["groups"]
        holding = [name for name, group in groups.items() if set(names) <= set(group["variables"])]
        if not holding:
            raise DatasetError(f"{path} cannot be exported: its inputs and targets are on different grids")
        self.group = holding[0] if resolution is None else group_name(resolution)
        if resolution is None and all(isinstance(resolution_of(name), int) for name in holding):
            self.group = max(holding, key=lambda name: int(resolution_of(name)))
        if self.group not in holding:
            stored = ", ".join(str(resolution_of(name)) for name in holding)
            raise DatasetError(f"{path} has no data at resolution {resolution}; accepted: {stored}")
        facts, samples = groups[self.group], self.card["samples"]
        self.name: str = self.card["dataset"]
        self.grid: AnyGrid = grid_from_facts(facts["grid"])
        self.axes = named_axes(self.grid)
        self.splits = {split: places_of(self.card, split) for split, size in samples.items() if size}
        self.members = range(sum(samples.values()))
        self.split_of_each = np.repeat(list(self.splits), [len(members) for members in self.splits.values()])
        self.variables: dict[str, dict] = {name: facts["variables"][name] for name in names}
        arrays: Any = open_store(self.path.with_suffix(".zarr"))[self.group]
        self.shapes: dict[str, tuple[int, ...]] = {name: arrays[name].shape[1:] for name in names}
        self.dtype = np.dtype(arrays[names[0]].dtype)
        alone = len(self.card["inputs"]) == len(self.card["targets"]) == 1
        self.evolves = alone and build_task(settings_on(self.card, path)).input_answers

    def whole(self) -> dict[str, np.ndarray]:
        """Read all samples of every variable."""
        return {
            name: np.concatenate([values for _, values in self.blocks(name, self.members)])
            for name in self.variables
        }

    def blocks(self, name: str, members: range) -> Iterator[tuple[slice, np.ndarray]]:
        """Read positions `members` of a variable in blocks; yield their places (from 0) and values."""
        for start in range(members.start, members.stop, BATCH):
            part = range(start, min(start + BATCH, members.stop))
            values = read_array(self.path.with_suffix(".zarr"), f"{self.group}/{name}", part)
            yield slice(start - members.start, part.stop - members.start), values

    def in_space(self) -> Grid | Product:
        """Return the grid. Raises `DatasetError` for functions of time."""
        if isinstance(self.grid, Nodes):
            raise DatasetError(
                f"{self.path}: the layout well has no functions of time; accepted: netcdf, huggingface"
            )
        return self.grid


def write_well(content: Content, out: Path) -> list[Path]:
    """Write `out`/data/<train, valid, test>/<dataset>.hdf5 in the layout of The Well.

    Ohana et al. (2024, arXiv:2412.00568). An evolution becomes one field at two times. For other operators
    the input becomes a field that is constant in time, and the target a field at one time.
    """
    content.in_space()
    files = {split: out / "data" / WELL_SPLITS[split] / f"{content.name}.hdf5" for split in content.splits}
    for split, path in files.items():
        write_atomically(path, partial(_write_well_file, content, content.splits[split]))
    return list(files.values())


def _write_well_file(content: Content, members: range, path: Path) -> None:
    import h5py

    grid, count = content.in_space(), len(members)
    with h5py.File(path, "w") as file:
        axes = list(AXES[: grid.dimension])
        file.attrs.update(
            dataset_name=content.name,
            grid_type="cartesian",
            n_spatial_dims=grid.dimension,
            n_trajectories=count,
            **{CARD: json_text(content.card)},
        )
        dimensions, conditions = file.create_group("dimensions"), file.create_group("boundary_conditions")
        dimensions.attrs["spatial_dims"] = axes
        dimensions["time"] = np.arange(2.0 if content.evolves else 1.0)
        dimensions["time"].attrs["sample_varying"] = False
        for axis in axes:
            along = content.axes[axis]
            around = along.kind == "periodic" or getattr(along, "period", None)
            kind = "PERIODIC" if around else "OPEN"
            dimensions[axis] = along.coordinates
            dimensions[axis].attrs.update(sample_varying=False, time_varying=False)
            condition = conditions.create_group(f"{axis}_{kind.lower()}")
            condition.attrs.update(associated_dims=[axis], associated_fields=[], bc_type=kind)
            condition.attrs.update(sample_varying=False, time_varying=False)
            condition["mask"] = np.isin(np.arange(along.points), [0, along.points - 1])
        numbers = [name for name, shape in content.shapes.items() if not shape]
        groups = [file.create_group(name) for name in ("scalars", "t0_fields", "t1_fields", "t2_fields")]
        for group in groups:
            group.attrs["field_names"] = []
        scalars, fields = groups[:2]
        scalars.attrs["field_names"] = numbers
        for name in numbers:
            scalars[name] = np.concatenate([values for _, values in content.blocks(name, members)])
            scalars[name].attrs.update(sample_varying=True, time_varying=False)
        chosen = {name: [name] for name, shape in content.shapes.items() if shape}
        if content.evolves:  # one field, named by the common words of the names of input and target
            pair = [content.card["inputs"][0], content.card["targets"][0]]
            of_input, of_target = (name.split("_") for name in pair)
            words = [word for word in of_target if word in of_input and word not in ("at", "last", "but")]
            chosen = {"_".join(word for word in words if not word.isdigit()) or pair[1]: pair}
        fields.attrs["field_names"] = list(chosen)
        for field, names in chosen.items():
            constant = not content.evolves and field in content.card["inputs"]
            times = () if constant else (len(names),)
            shape = (count, *times, *reversed(content.shapes[names[0]]))
            array = fields.create_dataset(field, shape=shape, dtype=content.dtype)
            for time, name in enumerate(names):
                for rows, values in content.blocks(name, members):
                    x_first = values.transpose(0, *range(values.ndim - 1, 0, -1))
                    array[(rows,) if constant else (rows, time)] = x_first
            array.attrs.update(
                dim_varying=[True] * grid.dimension, sample_varying=True, time_varying=not constant
            )


def write_netcdf(content: Content, out: Path) -> list[Path]:
    """Write one NetCDF-4 file with names, units, coordinates, and the split of each sample as `split`."""
    import xarray

    coordinates = {name: (name, axis.coordinates) for name, axis in content.axes.items()}
    data = xarray.Dataset(coords={**coordinates, "split": ("sample", content.split_of_each)})
    for name, values in content.whole().items():
        facts = content.variables[name]
        words = {"long_name": facts["long_name"], "units": facts["units"]}
        data[name] = (tuple(facts["dimensions"]), values, words)
    data.attrs.update(title=content.name, Conventions="CF-1.11")
    data.attrs[CARD] = json_text(content.card)
    write_atomically(out, lambda temporary: data.to_netcdf(temporary, engine="h5netcdf"))
    return [out]


LAYOUTS: dict[str, Callable[[Content, Path], list[Path]]] = {"well": write_well, "netcdf": write_netcdf}
