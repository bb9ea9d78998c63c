"""Export datasets, in their precision, to HDF5 files of The Well and to NetCDF."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
    group     name of the group, "n512"; `grid`: its grid; `axes`: the axes of the grid by name.
    coordinates  stored coordinates of each axis by name; `axis_words`: their attributes in the store.
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
        self.coordinates = {name: arrays[name][:] for name in self.axes}
        self.axis_words = {name: dict(arrays[name].attrs) for name in self.axes}
        self.shapes: dict[str, tuple[int, ...]] = {name: arrays[name].shape[1:] for name in names}
        self.dtype = np.dtype(arrays[names[0]].dtype)
        alone = len(self.card["inputs"]) == len(self.card["targets"]) == 1
        self.evolves = alone and build_task(settings_on(self.card, path)).input_answers

    def times(self) -> list[dict[str, Any]]:
        """Return the times in the layout of The Well, with their units: of input and target, or of targets.

        Empty if they are unknown, or if targets of different times would be one.
        """
        names = [*self.card["inputs"], *self.card["targets"]] if self.evolves else self.card["targets"]
        keys = ("time", "time_units", "calendar")
        times = [{key: value for key, value in self.variables[name].items() if key in keys} for name in names]
        if not self.evolves:
            times = times[:1] if all(time == times[0] for time in times) else []
        return times if all(times) else []

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
        times, count_of_times = content.times(), 2 if content.evolves else 1
        dimensions["time"] = [time["time"] for time in times] or np.arange(float(count_of_times))
        dimensions["time"].attrs["sample_varying"] = False
        if not times:
            dimensions["time"].attrs["long_name"] = "number of the state from 0; times are unknown, or none"
        elif units := times[0].get("time_units"):
            dimensions["time"].attrs["units"] = units
            if calendar := times[0].get("calendar"):
                dimensions["time"].attrs["calendar"] = calendar
        for axis in axes:
            along = content.axes[axis]
            around = along.kind == "periodic" or getattr(along, "period", None)
            kind = "PERIODIC" if around else "OPEN"
            dimensions[axis] = content.coordinates[axis]
            dimensions[axis].attrs.update(sample_varying=False, time_varying=False)
            dimensions[axis].attrs.update(_unit_of(content.axis_words[axis]))
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
            scalars[name].attrs.update(_unit_of(content.variables[name]))
        chosen = {name: [name] for name, shape in content.shapes.items() if shape}
        if content.evolves:  # one field, named by the common words of the names of input and target
            pair = [content.card["inputs"][0], content.card["targets"][0]]
            of_input, of_target = (name.split("_") for name in pair)
            words = [word for word in of_target if word in of_input and word not in ("at", "last", "but")]
            chosen = {"_".join(word for word in words if not word.isdigit()) or pair[1]: pair}
        fields.attrs["field_names"] = list(chosen)
        for field, names in chosen.items():
            constant = not content.evolves and field in content.card["inputs"]
            along_time = () if constant else (len(names),)
            shape = (count, *along_time, *reversed(content.shapes[names[0]]))
            array = fields.create_dataset(field, shape=shape, dtype=content.dtype)
            for time, name in enumerate(names):
                for rows, values in content.blocks(name, members):
                    x_first = values.transpose(0, *range(values.ndim - 1, 0, -1))
                    array[(rows,) if constant else (rows, time)] = x_first
            array.attrs.update(
                dim_varying=[True] * grid.dimension, sample_varying=True, time_varying=not constant
            )
            array.attrs.update(_unit_of(content.variables[names[0]]))


def call_of_the_well(files: list[Path]) -> str:
    """Return the Python code that opens files in the layout of The Well with its package."""
    import h5py

    split, folder = files[0].parent.name, files[0].parents[2]
    with h5py.File(files[0]) as file:
        alone = len(file["dimensions/time"]) == 1
    # By default an output of the package is a later time, and a stationary solution has none.
    steps = ", n_steps_input=1, n_steps_output=0" if alone else ""
    return f'WellDataset(path="{folder}", well_split_name="{split}"{steps})'


def write_netcdf(content: Content, out: Path) -> list[Path]:
    """Write one NetCDF-4 file with names, coordinates, and the split of each sample as `split`.

    Variables have their units, and the times of functions at one time, where these are known.
    """
    import xarray

    coordinates = {
        name: (name, values, _described(content.axis_words[name]))
        for name, values in content.coordinates.items()
    }
    data = xarray.Dataset(coords={**coordinates, "split": ("sample", content.split_of_each)})
    for name, values in content.whole().items():
        facts = content.variables[name]
        data[name] = (tuple(facts["dimensions"]), values, _described(facts))
    data.attrs.update(title=content.name, Conventions="CF-1.11")
    data.attrs[CARD] = json_text(content.card)
    write_atomically(out, lambda temporary: data.to_netcdf(temporary, engine="h5netcdf"))
    return [out]


def _unit_of(words: Mapping[str, Any]) -> dict[str, str]:
    """Return the attribute of a known unit; none for an unknown one, since empty means 1 in NetCDF."""
    return {"units": words["units"]} if words["units"] else {}


def _described(words: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of an array in the store or on the card for NetCDF."""
    keys = ("long_name", "time", "time_units", "calendar")
    return {key: words[key] for key in keys if key in words} | _unit_of(words)


LAYOUTS: dict[str, Callable[[Content, Path], list[Path]]] = {"well": write_well, "netcdf": write_netcdf}
