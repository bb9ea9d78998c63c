"""Predictions of a run under every test condition: `predictions.nc`, which xarray opens as a DataTree.

The tree has a node for each test resolution ("n512", or the name of a set of times), because grids differ:

    input                (noise, sample, input_channel, ...space)
    target               (sample, channel, ...space)
    prediction           (noise, sample, channel, ...space)
    extreme_sample       (noise, extreme): samples with median, worst and best error at this noise level
    extreme_input, extreme_target, extreme_prediction
                         (noise, extreme, channel, ...space)
    target_power         (wavenumber), on spatial grids: mean over all test samples
    prediction_power, error_power
                         (noise, wavenumber)
    target_mean_square   (channel, ...space): mean over all test samples
    error_mean_square    (noise, channel, ...space)

All values are in physical units. `noise` is the level ε of the noise on the inputs, in units of the pointwise
standard deviation of the training inputs; `sample` is the index in the test split. Spatial axes are (x),
(y, x) or (time); a target on another grid than the input has the axes (y_target, x_target).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from resolvent.common.errors import FileError
from resolvent.common.files import write_atomically

if TYPE_CHECKING:  # slow to import, and most pages do not need it
    import h5py
    import xarray

ENGINE: Final = "h5netcdf"
EXTREMES = ("median", "worst", "best")
WITHOUT_COORDINATES = b"This is a netCDF dimension but not a netCDF variable"  # netCDF's mark
AT_ALL_LEVELS = ("target", "target_power", "target_mean_square")  # independent of the noise
WORDS = {
    "noise": "noise level of the inputs, in units of their pointwise standard deviation",
    "sample": "index in the test split",
    "extreme": "sample with median, worst or best error",
    "input": "input",
    "target": "target",
    "prediction": "prediction",
    "extreme_sample": "index in the test split",
    "extreme_input": "input of the sample with median, worst or best error",
    "extreme_target": "target of the sample with median, worst or best error",
    "extreme_prediction": "prediction for the sample with median, worst or best error",
    "wavenumber": "wavenumber, in cycles along a side",
    "target_power": "mean power of the targets by wavenumber",
    "prediction_power": "mean power of the predictions by wavenumber",
    "error_power": "mean power of the errors by wavenumber",
    "target_mean_square": "mean square of the targets at each point",
    "error_mean_square": "mean square of the errors at each point",
}


@dataclass(frozen=True)
class Chosen:
    """Test samples and their predictions: indices `samples`; arrays (samples, [channels,] ...space)."""

    samples: np.ndarray
    inputs: np.ndarray
    targets: np.ndarray
    predictions: np.ndarray


Axes = dict[str, np.ndarray]  # coordinates by name, in the order of the last axes of the arrays


def node_name(resolution: int | str) -> str:
    """Return the name of the node of a test resolution."""
    return f"n{resolution}" if isinstance(resolution, int) else resolution


def at_one_level(
    noise: float,
    axes: Axes,
    target_axes: Axes,
    shown: Chosen,
    extremes: Chosen,
    power: dict[str, np.ndarray] | None = None,
    mean_square: dict[str, np.ndarray] | None = None,
) -> xarray.Dataset:
    """Return the dataset of one test condition, with a dimension `noise` of length 1.

    `target_axes` may be `axes`. `extremes` are the samples of `EXTREMES`. `power` has "wavenumber", "target",
    "prediction" and "error", each (shells,); `mean_square` has "target" and "error", ([channels,] ...space).
    """
    if target_axes is not axes:
        target_axes = {f"{name}_target": values for name, values in target_axes.items()}
    import xarray

    variables = {}
    for prefix, dimension, chosen in (("", "sample", shown), ("extreme_", "extreme", extremes)):
        for name, values, channel, space in (
            ("input", chosen.inputs, "input_channel", axes),
            ("target", chosen.targets, "channel", target_axes),
            ("prediction", chosen.predictions, "channel", target_axes),
        ):
            dims = ("noise", dimension, channel, *space)
            variables[prefix + name] = dims, _with_channels(values, len(space))[None]
    variables["extreme_sample"] = ("noise", "extreme"), extremes.samples[None]
    coordinates = {"noise": [float(noise)], "sample": shown.samples, "extreme": list(EXTREMES)}
    if power is not None:
        coordinates["wavenumber"] = power["wavenumber"]
        for name in ("target", "prediction", "error"):
            variables[f"{name}_power"] = ("noise", "wavenumber"), power[name][None]
    for name, values in (mean_square or {}).items():
        dims = ("noise", "channel", *target_axes)
        variables[f"{name}_mean_square"] = dims, _with_channels(values[None], len(target_axes))
    dataset = xarray.Dataset(variables, coords={**coordinates, **axes, **target_axes})
    for name in AT_ALL_LEVELS:
        if name in dataset:
            dataset[name] = dataset[name].isel(noise=0, drop=True)
    for name, long_name in WORDS.items():
        if name in dataset:
            dataset[name].attrs["long_name"] = long_name
    return dataset


def tree_of(parts: dict[int | str, list[xarray.Dataset]], attributes: dict) -> xarray.DataTree:
    """Return the tree of the datasets of `at_one_level` by resolution; `attributes` identify the run."""
    import xarray

    nodes = {
        node_name(resolution): xarray.concat(
            levels, dim="noise", data_vars="minimal", coords="minimal", compat="override", join="exact"
        ).assign_attrs(resolution=resolution)
        for resolution, levels in parts.items()
    }
    tree = xarray.DataTree.from_dict(nodes)
    tree.attrs = attributes
    return tree


def write_predictions(path: Path, tree: xarray.DataTree) -> None:
    """Write `tree` atomically and compressed. Equal predictions give equal bytes."""
    encoding: dict[str, dict] = {}
    for node in tree.children.values():
        large = [name for name, array in node.data_vars.items() if array.ndim > 2]
        encoding[node.path] = {name: {"zlib": True, "complevel": 4} for name in large}
    write_atomically(path, lambda temporary: tree.to_netcdf(temporary, engine=ENGINE, encoding=encoding))


def read_predictions(path: Path) -> xarray.DataTree:
    """Read a `predictions.nc` into memory. Raises `FileError` if it is missing or damaged."""
    import h5py
    import xarray

    # Ten times faster than xarray.open_datatree, which opens an array once for each of its properties.
    try:
        with h5py.File(path) as file:
            tree = xarray.DataTree.from_dict({name: _node(group) for name, group in file.items()})
            tree.attrs = _attributes(file)
            return tree
    except FileNotFoundError:
        raise FileError(f"{path} is missing", remedy=f"make it with `snakemake {path}`") from None
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise FileError(f"{path} is damaged ({reason}): delete it and run snakemake") from error


def _node(group: h5py.Group) -> xarray.Dataset:
    """Return the arrays of a group of a netCDF-4 file with their dimensions.

    The format stores the ID of a dimension with its coordinates, and the IDs of an array's dimensions with
    the array. A dimension without coordinates is stored as an empty array.
    """
    import xarray

    dimensions, variables = {}, {}
    for name, array in group.items():
        if array.attrs.get("CLASS") == b"DIMENSION_SCALE":
            dimensions[int(array.attrs["_Netcdf4Dimid"])] = name
    for name, array in group.items():
        attributes = array.attrs
        if not attributes.get("NAME", b"").startswith(WITHOUT_COORDINATES):
            axes = [dimensions[int(number)] for number in attributes["_Netcdf4Coordinates"]]
            values = array.asstr()[()].astype(str) if array.dtype.kind == "O" else array[()]
            described = {"long_name": attributes["long_name"]} if "long_name" in attributes else {}
            variables[name] = axes, values, described
    return xarray.Dataset(variables, attrs=_attributes(group))


def _attributes(of: h5py.Group) -> dict:
    """Return the attributes of a group, with NumPy numbers as Python numbers."""
    return {
        name: value[0] if isinstance(value, np.ndarray) and value.size == 1 else value
        for name, value in of.attrs.items()
        if name != "_NCProperties"
    }


def condition(tree: xarray.DataTree, resolution: int | str, noise: float) -> xarray.Dataset:
    """Return one test condition, without the dimension `noise`. Raises `FileError` if it was not tested."""
    name = node_name(resolution)
    if name not in tree.children:
        raise FileError(f"no predictions at {resolution}; accepted: {', '.join(tree.children)}")
    node = tree[name].to_dataset()
    (where,) = np.nonzero(np.isclose(node["noise"], noise, rtol=1e-9, atol=0))
    if not len(where):
        levels = ", ".join(f"{level:g}" for level in node["noise"].values)
        raise FileError(f"no predictions with noise {noise:g}; accepted: {levels}")
    return node.isel(noise=int(where[0]))


def functions(values: xarray.DataArray) -> np.ndarray:
    """Return samples as (samples, ...space), or (samples, channels, ...space) for several channels."""
    for dimension in ("channel", "input_channel"):
        if values.sizes.get(dimension) == 1:
            values = values.isel({dimension: 0})
    return values.values


def _with_channels(values: np.ndarray, dimension: int) -> np.ndarray:
    return values[:, None] if values.ndim == 1 + dimension else values
