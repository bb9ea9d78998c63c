"""Small files of arrays in every format and layout that is imported, as others write them."""

from pathlib import Path

import h5py
import numpy as np
import torch
import xarray
import zarr
from public_files import write_mat

COUNT, POINTS = 14, 16
SAMPLES = {"train": 8, "validation": 2, "test": 3}
SETTINGS = {
    "equation": "arrays", "input": "a", "target": "u", "axes": ["sample", "x"], "finest": POINTS,
    "grid": "periodic", "samples": SAMPLES,
}  # fmt: skip


def arrays(dimension: int = 1, count: int = COUNT, points: int = POINTS) -> dict[str, np.ndarray]:
    """Return smooth periodic `a` and `u`, (samples, ...space), that are no permutation of each other."""
    rng = np.random.default_rng(dimension)
    x = np.arange(points) / points
    space = np.meshgrid(*[x] * dimension, indexing="ij")
    a = np.zeros((count, *[points] * dimension))
    for wavenumber in (1, 2):
        for along in space:
            phase = rng.uniform(0, 2 * np.pi, size=(count, *[1] * dimension))
            a += rng.normal(size=(count, *[1] * dimension)) * np.cos(2 * np.pi * wavenumber * along + phase)
    return {"a": a, "u": a**2 + 0.1 * np.cos(2 * np.pi * space[-1])}


def write_npz(path: Path, values: dict) -> Path:
    np.savez(path, **values)
    return path


def write_hdf5(path: Path, values: dict) -> Path:
    with h5py.File(path, "w") as file:
        for name, one in values.items():
            file.create_dataset(name, data=one, chunks=True, compression="gzip")
    return path


def write_netcdf(path: Path, values: dict, format: str = "NETCDF4") -> Path:
    axes = ("sample", *("z", "y", "x")[1 - values["a"].ndim :])
    engine = "h5netcdf" if format == "NETCDF4" else "scipy"
    data = xarray.Dataset({name: (axes, one) for name, one in values.items()})
    data.to_netcdf(path, engine=engine, format=format)
    return path


def write_zarr(path: Path, values: dict, version: int = 3) -> Path:
    root = zarr.create_group(path, zarr_format=version)
    for name, one in values.items():
        root.create_array(name, data=one, chunks=(4, *one.shape[1:]))
    return path


def write_torch(path: Path, values: dict) -> Path:
    torch.save({name: torch.from_numpy(np.ascontiguousarray(one)) for name, one in values.items()}, path)
    return path


WRITERS = {
    "data.npz": write_npz,
    "data.mat": lambda path, values: write_mat(path, values, "MAT 5"),
    "data73.mat": lambda path, values: write_mat(path, values, "MAT 7.3"),
    "data.h5": write_hdf5,
    "data.nc": write_netcdf,
    "data3.nc": lambda path, values: write_netcdf(path, values, "NETCDF3_64BIT"),
    "data.zarr": write_zarr,
    "data2.zarr": lambda path, values: write_zarr(path, values, 2),
    "data.pt": write_torch,
}


def write_pdebench(path: Path, tensor: np.ndarray, **more: np.ndarray) -> Path:
    """Write `tensor` (samples, times, x), and others, with coordinates of cell centres, as PDEBench does."""
    points = tensor.shape[-1]
    with h5py.File(path, "w") as file:
        file["tensor"] = tensor.astype("float32")
        for name, values in more.items():
            file[name] = values.astype("float32")
        file["x-coordinate"] = ((np.arange(points) + 0.5) / points).astype("float32")
        if tensor.ndim == 4:
            file["y-coordinate"] = file["x-coordinate"][:]
        file["t-coordinate"] = np.linspace(0, 2, tensor.shape[1] + 1).astype("float32")
    return path


def write_well(path: Path, scalars: dict, vectors: dict, length: float = 1.0) -> Path:
    """Write fields (samples, times, x, y), vectors with an axis of components behind, as The Well."""
    first = next(iter(scalars.values()))
    axes = ("x", "y", "z")[: first.ndim - 2]
    points = first.shape[2]
    with h5py.File(path, "w") as file:
        file.attrs.update(
            dataset_name="made", grid_type="cartesian", n_spatial_dims=len(axes), n_trajectories=len(first)
        )
        dimensions = file.create_group("dimensions")
        dimensions.attrs["spatial_dims"] = list(axes)
        dimensions["time"] = np.arange(first.shape[1], dtype="float32")
        for axis in axes:
            dimensions[axis] = (length * np.arange(points) / points).astype("float32")
            condition = file.create_group(f"boundary_conditions/{axis}_periodic")
            condition.attrs.update(bc_type="PERIODIC", associated_dims=[axis], sample_varying=False)
        file.create_group("scalars").attrs["field_names"] = []
        for order, fields in enumerate((scalars, vectors)):
            group = file.create_group(f"t{order}_fields")
            group.attrs["field_names"] = list(fields)
            for name, values in fields.items():
                group[name] = values.astype("float32")
                group[name].attrs.update(
                    dim_varying=[True] * len(axes), sample_varying=True, time_varying=True
                )
    return path
