"""Coordinates in files, held against the grid that the settings state, or a grid found from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.arrays_file import ArraysFile

if TYPE_CHECKING:
    from resolvent.datasets.imported.arrays import ArraysDataset

TOLERANCE = 1e-3  # of a spacing: what coordinates in float32 are off by
# Names that coordinates have in files of others, of the axis x.
NAMES = ("{0}-coordinate", "dimensions/{0}", "grid/{0}", "coordinates/{0}", "grid_{0}", "{0}_grid", "{0}")
WHOLE = (1.0, np.pi / 2)  # lengths that people choose are multiples of one of them


@dataclass(frozen=True)
class FoundGrid:
    """A grid that coordinates are on."""

    kind: str
    length: float
    origin: float


def coordinates_of(file: ArraysFile, axis: str, points: int, taken: set[str], near: str = "") -> str | None:
    """Return the variable with the coordinates of an axis; None where there is none that is known.

    taken  variables that are something else; `near`: a variable in whose group to look first.
    """
    folder = near.rpartition("/")[0]
    for pattern in NAMES:
        for name in (f"{folder}/{pattern.format(axis)}".strip("/"), pattern.format(axis)):
            known = name in file.shapes and name not in taken and file.shapes[name] == (points,)
            if known and file.not_real(name) is None:
                return name
    return None


def spacing_of(file: ArraysFile, name: str) -> np.ndarray:
    """Read coordinates, and check that they increase in equal steps.

    Raises
    ------
    DatasetError
        When they do not.
    """
    shape = file.shape(name)
    if len([size for size in shape if size > 1]) != 1:
        raise DatasetError(f"{file.path}: coordinates '{name}' have the shape {shape}; expected: one axis")
    values = file.read(name, ()).ravel()
    steps = np.diff(values)
    if not (steps > 0).all():
        at = int(np.argmin(steps > 0))
        raise DatasetError(
            f"{file.path}: coordinates '{name}' do not increase: {values[at]:g} is followed by "
            f"{values[at + 1]:g}; expected: increasing ones"
        )
    mean = steps.mean()
    if np.abs(values - (values[0] + mean * np.arange(len(values)))).max() > max(
        TOLERANCE * mean, _rounding(values)
    ):
        raise DatasetError(
            f"{file.path}: coordinates '{name}' are not uniform: steps from {steps.min():.6g} to "
            f"{steps.max():.6g}; expected: equal steps"
        )
    return values


def _rounding(values: np.ndarray) -> float:
    """Return what float32 cannot say of the largest coordinate."""
    return 4 * float(np.finfo(np.float32).eps * np.abs(values).max())


def check_coordinates(settings: ArraysDataset, file: ArraysFile) -> None:
    """Hold the coordinates of a file, where it has some, against the grid stated.

    Raises
    ------
    DatasetError
        When they are of another grid.
    """
    channel = settings.channels[0]
    taken = {one.name.variable for one in settings.channels}
    for axis in channel.space:
        given: dict = settings.coordinates
        name = given.get(axis)
        if name is None:
            name = coordinates_of(file, axis, settings.finest, taken, channel.name.variable)
        if name is None:
            continue
        values = spacing_of(file, name)
        if len(values) != settings.finest:
            raise DatasetError(
                f"{file.path}: coordinates '{name}' are {len(values)}; expected: {settings.finest} (finest)"
            )
        h = (values[-1] - values[0]) / (len(values) - 1)
        first = settings.origin + (h / 2 if settings.grid == "cell_centres" else 0.0)
        length = h * (len(values) - (settings.grid == "nodes"))
        allowed = max(TOLERANCE * h, _rounding(values))
        if abs(values[0] - first) > allowed or abs(length - settings.length) > len(values) * allowed:
            origin = values[0] - (h / 2 if settings.grid == "cell_centres" else 0.0)
            found = found_grid(values, None)
            raise DatasetError(
                f"{file.path}: coordinates '{name}' go from {values[0]:g} to {values[-1]:g} in steps "
                f"of {h:g}; "
                f"expected: those of {settings.grid} with length {settings.length:g} from "
                f"{settings.origin:g}; as "
                f"{settings.grid} they have length: {length:.10g}, origin: {origin:.6g}; they look like "
                f"{found.kind} with length: {found.length:.10g}, origin: {found.origin:.6g}"
            )


def found_grid(values: np.ndarray, periodic: bool | None) -> FoundGrid:
    """Find the grid of coordinates: where the left end lies, and how long it is.

    periodic  whether functions on it are, as far as is known.
    """
    n, h = len(values), (values[-1] - values[0]) / (len(values) - 1)
    start = float(_rounded(values[0]))
    half = float(_rounded(values[0] - h / 2))
    if periodic and n % 2 == 0:
        return FoundGrid("periodic", _length(n * h), start)
    if _is_whole((n - 1) * h) and not _is_whole(n * h):
        return FoundGrid("nodes", _length((n - 1) * h), start)
    if abs(half) < TOLERANCE * h or (_is_whole(n * h) and _is_whole(half) and not _is_whole(start)):
        return FoundGrid("cell_centres", _length(n * h), half)
    if _is_whole(n * h) and n % 2 == 0 and periodic is not False:
        return FoundGrid("periodic", _length(n * h), start)
    return FoundGrid("nodes", _length((n - 1) * h), start)


def _is_whole(length: float) -> bool:
    """Say whether a number is one that people choose: a whole one, or a multiple of π/2."""
    unit = max(abs(length), 1.0)
    return any(abs(length / one - round(length / one)) * one < 1e-5 * unit for one in WHOLE)


def _length(length: float) -> float:
    """Return a length without the rounding of float32, where it is one that people choose."""
    for one in WHOLE:
        ratio = length / one
        if round(ratio) and abs(ratio - round(ratio)) < 1e-5 * max(1.0, abs(ratio)):
            return float(round(ratio) * one)
    return float(f"{length:.7g}")


def _rounded(value: float) -> float:
    return 0.0 if abs(value) < 1e-7 else float(f"{value:.7g}")
