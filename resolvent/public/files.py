"""Predict for functions in files and stores: .npy, .npz, NetCDF and Zarr."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from resolvent.common.errors import FileError
from resolvent.common.files import DAMAGED_NUMPY, partial_path, readable_disk_errors, remove, write_atomically
from resolvent.datasets.storage.layout import group_name
from resolvent.public.runs import TrainedRun

KINDS = (".npy", ".npz", ".nc", ".zarr")
POSITIONS = ("x", "time")  # names of coordinates in a .npz
PIECE = 2**22  # input values per piece, about 32 MB


def predict_file(
    run: TrainedRun,
    source: Path | str,
    target: Path | str,
    *,
    variables: Sequence[str] = (),
    group: str | None = None,
    device: str | None = None,
) -> tuple[int, ...]:
    """Predict for the functions in `source`, write the predictions to `target`, and return their shape.

    Raises `FileError` if a file cannot be used, and `TrainingError` if the functions do not fit the run.

    source     .npy; .npz with positions along an axis in an array (n,) `x` or `time`; NetCDF (.nc) or a Zarr
               store readable by xarray. Values are in physical units, with axes as in `TrainedRun.predict`.
    target     .npy; .npz with the array "prediction" and the positions; .nc or .zarr if the source has
               coordinates. An existing target is replaced.
    variables  names of the input functions in the source, in the order of the channels. By default the names
               in the training data, or the only variable of the file.
    group      group of a NetCDF file or a store. By default, in a store of this program, the group of the
               training resolution.
    """
    source, target = Path(source), Path(target)
    for path in (source, target):
        if path.suffix not in KINDS:
            raise FileError(f"{path} is not a supported file; accepted: {', '.join(KINDS)}")
    if not source.exists():
        raise FileError(f"{source} does not exist")
    if target.suffix in (".nc", ".zarr") and source.suffix not in (".nc", ".zarr"):
        raise FileError(f"{source} has no coordinates for a {target.suffix} file: write a .npz file")
    if source.suffix in (".npy", ".npz"):
        inputs, positions = _numpy(source, run, variables)
    else:
        inputs, positions = _xarray(source, run, variables, group), {}
    size = max(1, PIECE // max(1, int(np.prod(inputs.shape[1:]))))
    x = next(iter(positions.values()), None)
    parts = [
        run.predict(inputs[start : start + size], x, device=device)
        for start in range(0, max(1, len(inputs)), size)
    ]
    with readable_disk_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        return _write(parts, target, positions)


def _numpy(path: Path, run: TrainedRun, variables: Sequence[str]) -> tuple[Any, dict[str, np.ndarray]]:
    try:
        content = np.load(path, allow_pickle=False)
        if isinstance(content, np.ndarray):
            return content, {}
        arrays = dict(content)
    except (OSError, *DAMAGED_NUMPY) as error:
        raise FileError(f"{path} cannot be read as a NumPy file ({error})") from None
    inputs = {*variables, *(quantity.name for quantity in run.inputs or ())}
    names_of_positions = [
        name for name in POSITIONS if name in arrays and name not in inputs and arrays[name].ndim == 1
    ]
    positions = {name: arrays.pop(name) for name in names_of_positions}
    names = _chosen(path, list(arrays), run, variables)
    if len(names) == 1:
        return arrays[names[0]], positions
    shape = max((arrays[name].shape for name in names), key=len)
    if any(arrays[name].shape not in (shape, shape[:1]) for name in names):
        listed = ", ".join(f"{name} {arrays[name].shape}" for name in names)
        raise FileError(
            f"{path}: input functions of unlike shapes: {listed}; expected: one shape, or a number each"
        )
    # A number for each sample is a constant function.
    functions = (
        arrays[name].reshape(*arrays[name].shape, *[1] * (len(shape) - arrays[name].ndim)) for name in names
    )
    return np.stack([np.broadcast_to(function, shape) for function in functions], axis=1), positions


def _xarray(path: Path, run: TrainedRun, variables: Sequence[str], group: str | None) -> xarray.DataArray:
    try:
        how: dict[str, Any] = {"engine": "h5netcdf"}
        if path.suffix == ".zarr":
            how = {"engine": "zarr", "consolidated": False, "chunks": None}
            with xarray.open_dataset(path, **how) as root:
                if group is None and "content_hash" in root.attrs:
                    group = group_name(run.record.resolution)
        data = xarray.open_dataset(path, group=group, **how)
    except (ValueError, OSError, KeyError) as error:
        reason = str(error).partition("\n")[0]
        raise FileError(f"{path} cannot be opened{f' at {group}' if group else ''} ({reason})") from None
    names = _chosen(path, list(map(str, data.data_vars)), run, variables)
    if len(names) == 1:
        return data[names[0]]
    functions = [data[name] for name in names]
    widest = max(functions, key=lambda function: function.ndim)
    stacked = xarray.concat(
        [function.broadcast_like(widest) for function in functions], "channel", coords="minimal"
    )
    return stacked.transpose(widest.dims[0], "channel", *widest.dims[1:])


def _chosen(path: Path, there: list[str], run: TrainedRun, variables: Sequence[str]) -> list[str]:
    """Return the names of the input functions in a file with the variables `there`."""
    trained_on = [quantity.name for quantity in run.inputs or ()]
    names = list(variables) or (trained_on if set(trained_on) <= set(there) and trained_on else there)
    if not variables and names is there and len(there) != 1:
        raise FileError(
            f"{path} has the variables {', '.join(there) or 'none'}: name the inputs (in a terminal, "
            "--variable NAME)"
        )
    for name in names:
        if name not in there:
            raise FileError(f"{path} has no variable '{name}'; it has {', '.join(there) or 'none'}")
    return names


def _write(parts: list[Any], target: Path, positions: dict[str, Any]) -> tuple[int, ...]:
    if target.suffix in (".npy", ".npz"):
        values = np.concatenate([np.asarray(part) for part in parts])

        def save(temporary: Path) -> None:
            with open(temporary, "wb") as file:
                if target.suffix == ".npy":
                    np.save(file, values)
                else:
                    np.savez_compressed(file, prediction=values, **positions)

        write_atomically(target, save)
        return values.shape
    whole = parts[0] if len(parts) == 1 else xarray.concat(parts, parts[0].dims[0])
    data = whole.to_dataset(name="prediction")
    if target.suffix == ".nc":
        write_atomically(target, lambda temporary: data.to_netcdf(temporary, engine="h5netcdf"))
    else:
        place = partial_path(target)
        data.to_zarr(place, zarr_format=3, consolidated=False)
        remove(target)
        place.rename(target)
    return whole.shape
