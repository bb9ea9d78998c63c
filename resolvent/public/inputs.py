"""What a trained run is asked about: functions in NumPy, torch or xarray, held to the training grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray

from resolvent.common.records import RunRecord
from resolvent.datasets.storage.layout import grid_from_facts
from resolvent.models.registry import resolve
from resolvent.solvers.common.grid import Grid, Nodes
from resolvent.training.errors import TrainingError

AXES = ("y", "x")  # of space, in the order of the arrays
MOST_NAMED = 8  # samples in a message


def as_values(inputs: Any) -> np.ndarray:
    """Return `inputs`, an array, a tensor or a DataArray, as real numbers.

    Raises
    ------
    TrainingError
        When they are something else, or not finite.
    """
    if type(inputs).__module__.partition(".")[0] == "torch":
        inputs = inputs.detach().cpu()
        inputs = inputs.double() if inputs.is_floating_point() else inputs  # NumPy knows no bfloat16
    values = np.asarray(inputs)
    if values.dtype.kind not in "fiu":
        hint = "; coefficients are not accepted, values on a grid are" if values.dtype.kind == "c" else ""
        raise TrainingError(f"inputs must be real numbers, got {values.dtype} of shape {values.shape}{hint}")
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        rows = np.unique(np.argwhere(~np.isfinite(values))[:, 0]) if values.ndim else []
        more = ", …" if len(rows) > MOST_NAMED else ""
        raise TrainingError(f"inputs are not finite: samples {', '.join(map(str, rows[:MOST_NAMED]))}{more}")
    return values


def grid_of(
    record: RunRecord, channels: int, shape: tuple[int, ...], inputs: Any, x: Any = None
) -> Grid | Nodes:
    """Return the grid that inputs of this shape are on: of the kind of the training grid.

    `channels` is the number of functions that the run takes; `x` are positions along an axis, which are
    checked, or the coordinates of a DataArray are.

    Raises
    ------
    TrainingError
        When shape, coordinates or number of points do not fit the run.
    """
    trained = grid_from_facts(record.grid)
    space = shape[-trained.dimension :]
    given = 1 if len(shape) == 1 + trained.dimension else shape[1] if len(shape) > 1 else 0
    if len(shape) - trained.dimension not in (1, 2) or len(set(space)) > 1 or given != channels:
        wanted = ["samples", *([str(channels)] if channels > 1 else []), *["n"] * trained.dimension]
        raise TrainingError(f"inputs of shape {shape} do not fit {record.model}: give ({', '.join(wanted)})")
    names = ("time",) if isinstance(trained, Nodes) else AXES[-trained.dimension :]
    positions = _positions(inputs, names, x)
    if isinstance(trained, Nodes):
        return _nodes(record, space[0], positions.get("time"))
    try:
        grid = Grid(trained.kind, space[0], trained.length, trained.dimension)
        resolve(record.architecture, record.settings).check_grid(grid.points)
    except ValueError as error:
        raise TrainingError(f"{record.model} cannot be asked on {space[0]} points: {error}") from None
    for name, found in positions.items():
        if len(found) != grid.points or not np.allclose(found, grid.coordinates, rtol=1e-6, atol=1e-7):
            raise TrainingError(
                f"the coordinate {name} of the inputs is not that of {grid.points} {grid.kind} points on "
                f"a side of length {grid.length:g}, as in training"
            )
    return grid


def labelled(
    values: np.ndarray, inputs: xarray.DataArray, grid: Grid | Nodes, attrs: dict
) -> xarray.DataArray:
    """Return the predictions with the dimensions and coordinates of their inputs, where they are the same."""
    space = inputs.dims[-grid.dimension :]
    if values.shape[-1] != grid.points:
        space = tuple(f"{name}_target" for name in space)
    dims = (inputs.dims[0], *(["channel"] if values.ndim > 1 + grid.dimension else []), *space)
    kept = {
        name: one for name, one in inputs.coords.items() if one.dims and set(one.dims) <= {dims[0], *space}
    }
    return xarray.DataArray(values, dims=dims, coords=kept, name="prediction", attrs=attrs)


def _positions(inputs: Any, names: tuple[str, ...], x: Any) -> dict[str, np.ndarray]:
    """Return the positions along each axis that are given, by the name of the axis."""
    if not isinstance(inputs, xarray.DataArray):
        if x is None:
            return {}
        found = np.asarray(x, dtype=np.float64)
        if found.ndim != 1:
            raise TrainingError(f"x must be the positions along an axis, (n,), got shape {found.shape}")
        return dict.fromkeys(names, found)
    if x is not None:
        raise TrainingError("a DataArray has its own coordinates: leave x out")
    dims = tuple(map(str, inputs.dims))
    if dims[-len(names) :] != names:
        raise TrainingError(
            f"a DataArray of dimensions ({', '.join(dims)}) does not end in ({', '.join(names)}): transpose "
            "or rename it"
        )
    return {name: inputs[name].values for name in names if name in inputs.coords}


def _nodes(record: RunRecord, count: int, times: np.ndarray | None) -> Nodes:
    trained = record.grid["positions"]
    if times is None and count != len(trained):
        raise TrainingError(
            f"inputs at {count} times, but {record.model} was trained at {len(trained)}: give a DataArray "
            "with the coordinate time, or the times as x"
        )
    times = np.array(trained) if times is None else times
    if len(times) != count:
        raise TrainingError(f"{len(times)} times for inputs at {count}")
    try:
        return Nodes(tuple(map(float, times)))
    except ValueError as error:
        raise TrainingError(str(error)) from None
