"""The layouts: The Well's and PDEBench's HDF5, NetCDF, and NumPy's .npz. Numbers keep their type."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.common.files import json_text, write_atomically
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.exports.content import Content

CARD = "resolvent_card"  # attribute, or array of an .npz, with the dataset card as JSON
WELL_SPLITS = {"train": "train", "validation": "valid", "test": "test"}
AXES = ("x", "y", "z")  # of both HDF5 layouts, x first


def write_well(content: Content, out: Path) -> list[Path]:
    """Write `out`/data/<train, valid, test>/<dataset>.hdf5 in the layout of The Well.

    Ohana et al. (2024, arXiv:2412.00568). An evolution is one field at two times; another operator has its
    input as a field that is constant in time, and its target at one time.
    """
    import h5py

    content.on_square("well")
    written = []
    for split, members in content.splits.items():
        path = out / "data" / WELL_SPLITS[split] / f"{content.name}.hdf5"

        def write(temporary: Path, members: range = members) -> None:
            with h5py.File(temporary, "w") as file:
                _well(file, content, members)

        write_atomically(path, write)
        written.append(path)
    return written


def _well(file: Any, content: Content, members: range) -> None:
    grid, count = content.on_square("well"), len(members)
    axes = list(AXES[: grid.dimension])
    file.attrs["dataset_name"] = content.name
    file.attrs["grid_type"] = "cartesian"
    file.attrs["n_spatial_dims"] = grid.dimension
    file.attrs["n_trajectories"] = count
    file.attrs[CARD] = json_text(content.card)
    dimensions = file.create_group("dimensions")
    dimensions.attrs["spatial_dims"] = axes
    dimensions["time"] = np.arange(2.0 if content.evolves else 1.0)
    dimensions["time"].attrs["sample_varying"] = False
    conditions = file.create_group("boundary_conditions")
    for axis in axes:
        dimensions[axis] = grid.coordinates
        dimensions[axis].attrs.update(sample_varying=False, time_varying=False)
        kind = "PERIODIC" if grid.kind == "periodic" else "OPEN"
        condition = conditions.create_group(f"{axis}_{kind.lower()}")
        condition.attrs.update(
            associated_dims=[axis],
            associated_fields=[],
            bc_type=kind,
            sample_varying=False,
            time_varying=False,
        )
        ends = np.zeros(grid.points, dtype=bool)
        ends[[0, -1]] = True
        condition["mask"] = ends
    numbers = [name for name in content.variables if not content.is_function(name)]
    scalars = file.create_group("scalars")
    scalars.attrs["field_names"] = numbers
    for name in numbers:
        scalars[name] = np.concatenate([values for _, values in content.blocks(name, members)])
        scalars[name].attrs.update(sample_varying=True, time_varying=False)
    fields = {group: file.create_group(group) for group in ("t0_fields", "t1_fields", "t2_fields")}
    for group in fields.values():
        group.attrs["field_names"] = []
    pair = content.card["inputs"][0], content.card["targets"][0]
    chosen: dict[str, tuple[str, ...]] = {content.field(): pair}
    if not content.evolves:
        chosen = {name: (name,) for name in content.variables if content.is_function(name)}
    fields["t0_fields"].attrs["field_names"] = list(chosen)
    for field, names in chosen.items():
        constant = not content.evolves and field in content.card["inputs"]
        times = () if constant else (len(names),)
        shape = (count, *times, *content.shape(names[0]))
        array = fields["t0_fields"].create_dataset(field, shape=shape, dtype=content.dtype)
        for time, name in enumerate(names):
            for rows, values in content.blocks(name, members):
                array[(rows,) if constant else (rows, time)] = _x_first(values)
        array.attrs.update(
            dim_varying=[True] * grid.dimension, sample_varying=True, time_varying=not constant
        )


def _x_first(values: np.ndarray) -> np.ndarray:
    """Return fields (samples, …, y, x) as (samples, x, y, …)."""
    return values.transpose(0, *range(values.ndim - 1, 0, -1))


def write_pdebench(content: Content, out: Path) -> list[Path]:
    """Write one HDF5 file in the layout of PDEBench (Takamoto et al. 2022, arXiv:2210.07182).

    An evolution is `tensor` (samples, 2, x); another operator has `nu` (samples, x, y) and `tensor` (samples,
    1, x, y). The variable `split` says which samples are of which split.
    """
    import h5py

    grid = content.on_square("pdebench")
    if len(content.variables) != 2 or not all(map(content.is_function, content.variables)):
        found = ", ".join(content.variables)
        raise DatasetError(
            f"{content.path}: has {found}; the layout pdebench has one function for the input and one "
            f"for the "
            "target; accepted: well, netcdf, npz"
        )
    (given, wanted), members = content.variables, range(sum(map(len, content.splits.values())))

    def write(temporary: Path) -> None:
        with h5py.File(temporary, "w") as file:
            file.attrs[CARD] = json_text(content.card)
            shape, dtype = content.shape(given), content.dtype
            times = 2 if content.evolves else 1
            tensor = file.create_dataset("tensor", shape=(len(members), times, *shape), dtype=dtype)
            if not content.evolves:
                nu = file.create_dataset("nu", shape=(len(members), *shape), dtype=dtype)
            for rows, values in content.blocks(given, members):
                if content.evolves:
                    tensor[rows, 0] = _x_first(values)
                else:
                    nu[rows] = _x_first(values)
            for rows, values in content.blocks(wanted, members):
                tensor[rows, times - 1] = _x_first(values)
            for axis in AXES[: grid.dimension]:
                file[f"{axis}-coordinate"] = grid.coordinates
            file["t-coordinate"] = np.arange(times + 1.0)
            file.create_dataset("split", data=_split(content).tolist(), dtype=h5py.string_dtype())

    write_atomically(out, write)
    return [out]


def _split(content: Content) -> np.ndarray:
    """Return the split of every sample."""
    return np.array([split for split, members in content.splits.items() for _ in members])


def write_netcdf(content: Content, out: Path) -> list[Path]:
    """Write one NetCDF-4 file with names, units and coordinates; the variable `split` says what is what."""
    import xarray

    coordinates = {axis: (axis, content.grid.coordinates) for axis in content.axes}
    data = xarray.Dataset(coords={**coordinates, "split": ("sample", _split(content))})
    for name, values in _whole(content).items():
        facts = content.variables[name]
        words = {"long_name": facts["long_name"], "units": facts["units"]}
        data[name] = (tuple(facts["dimensions"]), values, words)
    data.attrs.update(title=content.name, Conventions="CF-1.11")
    data.attrs[CARD] = json_text(content.card)
    write_atomically(out, lambda temporary: data.to_netcdf(temporary, engine="h5netcdf"))
    return [out]


def write_npz(content: Content, out: Path) -> list[Path]:
    """Write one .npz with the functions, their coordinates, `split`, and the card as text."""
    arrays = _whole(content)
    clash = {axis: content.grid.coordinates for axis in content.axes if axis not in arrays}
    arrays |= clash | {"split": _split(content), CARD: np.array(json_text(content.card))}

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]

    write_atomically(out, write)
    return [out]


def _whole(content: Content) -> dict[str, np.ndarray]:
    members = range(sum(map(len, content.splits.values())))
    return {
        name: np.concatenate([values for _, values in content.blocks(name, members)])
        for name in content.variables
    }


LAYOUTS: dict[str, Callable[[Content, Path], list[Path]]] = {
    "well": write_well,
    "pdebench": write_pdebench,
    "netcdf": write_netcdf,
    "npz": write_npz,
}
