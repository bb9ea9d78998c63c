"""Check inputs of a trained run (NumPy, torch or xarray) against its grid and its training data."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray

from resolvent.common.records import RunRecord
from resolvent.datasets.imported.arrays_checks import unmasked
from resolvent.datasets.storage.layout import SPACE, grid_from_facts
from resolvent.models.registry import resolve
from resolvent.solvers.common.grid import AnyGrid, Grid, Nodes, product
from resolvent.training.errors import TrainingError

MOST_NAMED = 8  # samples listed in a message
MARGIN = 0.01  # fraction of the data's range: on other grids the same functions have slightly larger extremes
DEVIATIONS = 4  # standard deviations of the training noise


def as_values(inputs: Any) -> np.ndarray:
    """Return `inputs`, an array, a tensor or a DataArray, as an array of real, finite numbers."""
    if type(inputs).__module__.partition(".")[0] == "torch":
        inputs = inputs.detach().cpu()
        inputs = inputs.double() if inputs.is_floating_point() else inputs  # NumPy has no bfloat16
    values = np.asarray(unmasked(inputs))
    if values.dtype.kind not in "fiu":
        hint = "; give values on a grid, not coefficients" if values.dtype.kind == "c" else ""
        raise TrainingError(f"inputs must be real numbers, got {values.dtype} of shape {values.shape}{hint}")
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        rows = np.unique(np.argwhere(~np.isfinite(np.atleast_1d(values)))[:, 0])
        more = ", …" if len(rows) > MOST_NAMED else ""
        raise TrainingError(f"inputs are not finite: samples {', '.join(map(str, rows[:MOST_NAMED]))}{more}")
    return values


def grid_of(record: RunRecord, channels: int, shape: tuple[int, ...], inputs: Any, x: Any = None) -> AnyGrid:
    """Return the grid of inputs with this shape, of the same kind as the training grid.

    `channels` is the run's number of input functions. Given positions `x` along an axis (the last, if axes
    differ), or the coordinates of a DataArray, are checked. Raises `TrainingError` if they do not fit the
    run.
    """
    if 0 in shape[:1]:
        raise TrainingError(f"inputs of shape {shape} have no samples: give at least one")
    trained = grid_from_facts(record.grid)
    space = shape[-trained.dimension :]
    functions = 1 if len(shape) == 1 + trained.dimension else shape[1] if len(shape) > 1 else 0
    alike = isinstance(trained, Grid)
    unequal = alike and len(set(space)) > 1
    if len(shape) - trained.dimension not in (1, 2) or unequal or functions != channels:
        sides = ["n"] * trained.dimension if alike or isinstance(trained, Nodes) else map(str, trained.shape)
        wanted = ["samples", *([str(channels)] if channels > 1 else []), *sides]
        raise TrainingError(f"inputs of shape {shape} do not fit {record.model}: give ({', '.join(wanted)})")
    names = ("time",) if isinstance(trained, Nodes) else SPACE[-trained.dimension :]
    positions = _positions(inputs, names, x, alike)
    if isinstance(trained, Nodes):
        return _nodes(record, space[0], positions.get("time"))
    try:
        grid = regridded(trained, space)
        resolve(record.architecture, record.settings).check_grid(grid.shape)
    except ValueError as error:
        asked = " x ".join(map(str, space[:1] if alike else space))
        raise TrainingError(f"{record.model} cannot predict on {asked} points: {error}") from None
    for name, axis in zip(names, grid.axes, strict=True):
        coordinate, origin = positions.get(name, axis.coordinates), record.grid.get("origin", {}).get(name, 0)
        # As in the dataset, or counted from the left end.
        lines = [axis.coordinates + origin, axis.coordinates]
        if len(coordinate) != axis.points or not any(
            np.allclose(coordinate, line, rtol=1e-6, atol=1e-7) for line in lines
        ):
            kind = axis.kind.replace("_", " ") if isinstance(axis, Grid) else "uneven, as in training"
            expected, got = (
                f"{len(line)} values from {line[0]:g} to {line[-1]:g}" for line in (lines[0], coordinate)
            )
            raise TrainingError(
                f"the coordinate {name} of the inputs has {got}; for {axis.points} values per function the "
                f"grid ({kind}) has {expected}"
            )
    return grid


def regridded(trained: AnyGrid, sides: Sequence[int]) -> AnyGrid:
    """Return a spatial grid with `sides` points. Raises `ValueError` if points are uneven.

    After training on every k-th cell centre, points that are nested in the same cells are such centres too;
    other numbers of points are the centres of cells of their own.
    """
    axes: list[Grid | Nodes] = []
    for axis, points in zip(trained.axes, sides, strict=True):
        if isinstance(axis, Grid) and axis.stride > 1:
            nested = 3 <= points <= axis.cells and (axis.cells - 1) % (points - 1) == 0
            fine = replace(axis, points=axis.cells if nested else points, stride=1)
            axes.append(fine.restricted(points))
        elif isinstance(axis, Grid):
            axes.append(replace(axis, points=points))
        elif points == axis.points:
            axes.append(axis)
        else:
            raise ValueError(f"an axis with uneven points must have the {axis.points} points of training")
    return product(axes)


def labelled(values: np.ndarray, inputs: xarray.DataArray, grid: AnyGrid, attrs: dict) -> xarray.DataArray:
    """Return the predictions with the dimensions and coordinates shared with their inputs."""
    space = inputs.dims[-grid.dimension :]
    if values.shape[-1] != grid.points:
        space = tuple(f"{name}_target" for name in space)
    dims = (inputs.dims[0], *(["channel"] if values.ndim > 1 + grid.dimension else []), *space)
    kept = {
        name: coordinate
        for name, coordinate in inputs.coords.items()
        if coordinate.dims and set(coordinate.dims) <= {dims[0], *space}
    }
    return xarray.DataArray(values, dims=dims, coords=kept, name="prediction", attrs=attrs)


def _positions(inputs: Any, names: tuple[str, ...], x: Any, alike: bool) -> dict[str, np.ndarray]:
    """Return the given positions along each axis by the axis' name."""
    if not isinstance(inputs, xarray.DataArray):
        if x is None:
            return {}
        line = np.asarray(x, dtype=np.float64)
        if line.ndim != 1:
            raise TrainingError(f"x must be the positions along an axis, (n,), got shape {line.shape}")
        return dict.fromkeys(names, line) if alike else {names[-1]: line}
    if x is not None:
        raise TrainingError("a DataArray has its own coordinates: omit x")
    dims = tuple(map(str, inputs.dims))
    if dims[-len(names) :] != names:
        words = f"({', '.join(dims)}) does not end in ({', '.join(names)}): transpose or rename it"
        raise TrainingError(f"a DataArray of dimensions {words}")
    return {name: inputs[name].values for name in names if name in inputs.coords}


def _nodes(record: RunRecord, count: int, times: np.ndarray | None) -> Nodes:
    trained = record.grid["positions"]
    if times is None and count != len(trained):
        words = f"{count} times, but {record.model} was trained with {len(trained)}"
        raise TrainingError(f"inputs have {words}: give a DataArray with the coordinate time, or times as x")
    times = np.array(trained) if times is None else times
    if len(times) != count:
        raise TrainingError(f"x has {len(times)} times, but the inputs have {count}")
    try:
        return Nodes(tuple(map(float, times)))
    except ValueError as error:
        raise TrainingError(str(error)) from None


class OutsideTraining(UserWarning):
    """Inputs have values outside the range of the training data, or that range is unknown."""


@dataclass(frozen=True)
class Quantity:
    """An input or output function of an operator.

    name, long_name, units  from the dataset card.
    low, high               smallest and largest value in the dataset, over all samples and grids.
    """

    name: str
    long_name: str
    units: str
    low: float
    high: float


def quantities(card: dict, which: str, noise: float = 0.0) -> tuple[Quantity, ...]:
    """Return the inputs or the targets (`which`) of a dataset, in the order of the channels.

    Ranges come from the card's statistics of all samples of the dataset. If training inputs were noisy,
    ranges are extended by `DEVIATIONS` standard deviations of the noise.
    """
    known_quantities = []
    for name in card[which]:
        statistics = [summary for key, summary in card["statistics"].items() if key.partition("/")[2] == name]
        words = next(
            group["variables"][name] for group in card["groups"].values() if name in group["variables"]
        )
        more = DEVIATIONS * noise * max(part["std"] for part in statistics)
        low, high = min(part["min"] for part in statistics), max(part["max"] for part in statistics)
        known_quantities.append(Quantity(name, words["long_name"], words["units"], low - more, high + more))
    return tuple(known_quantities)


def warn_outside(values: np.ndarray, quantities: Sequence[Quantity], dimension: int, model: str) -> None:
    """Warn of values (samples, [channels,] ...space) outside the ranges, with range and value."""
    channels = values.reshape(len(values), len(quantities), *values.shape[-dimension:])
    for channel, quantity in enumerate(quantities):
        part = channels[:, channel]
        margin = MARGIN * (quantity.high - quantity.low)
        outside = ((part < quantity.low - margin) | (part > quantity.high + margin)).reshape(len(part), -1)
        if not outside.any():
            continue
        worst = part.max() if part.max() - quantity.high > quantity.low - part.min() else part.min()
        _warn(
            f"{quantity.name} has the value {worst:.4g}, outside the range [{quantity.low:.4g}, "
            f"{quantity.high:.4g}] of the training data of {model}, in {outside.any(1).sum()} of "
            f"{len(part)} samples: the error there is unknown"
        )


def warn_unknown(dataset: str, content_hash: str | None) -> None:
    """Warn that the range of the training data is unknown; `content_hash` is of their card, if known."""
    which = f" (content hash {content_hash[:12]})" if content_hash else ""
    _warn(
        f"the card of the dataset {dataset}{which} was not found, so inputs are not checked "
        "against the range of the training data: use load_run(…, data=<folder of the datasets>)"
    )


def _warn(message: str) -> None:
    level = 1
    while sys._getframe(level).f_globals.get("__name__", "").startswith("resolvent.public."):
        level += 1
    warnings.warn(message, OutsideTraining, stacklevel=level + 1)  # the warning points to the caller's line
