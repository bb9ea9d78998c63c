"""Common interface of readers: variables of a file by name, and checked reading of any part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from resolvent.datasets.errors import DatasetError, in_one_line

EXACT = 2**53  # float64 does not represent all integers beyond this
# Models train in single precision, in which larger numbers are infinite, and smaller ones lose their digits.
LARGEST, SMALLEST = float(np.finfo(np.float32).max), float(np.finfo(np.float32).tiny)
UNIT = f"sizes from {SMALLEST:.0e} to {LARGEST:.0e}, since models train in single precision; change the unit"
SMALL, RATIO = 2**28, 200  # larger and more compressed variables are refused: bytes, and compression ratio
Selection = tuple[slice, ...]
MISSING = ("_FillValue", "missing_value")  # attributes with the fill value for missing numbers
PACKED = ("scale_factor", "add_offset")  # attributes of packed numbers
# Usual fill values for missing (masked) numbers: of observations, NetCDF, and the largest of float32.
CODES = (-999.0, -9999.0, -99999.0, 1e20, -1e20, 1e30, -1e30, 9.969209968386869e36, 3.4028234663852886e38)
FILL = "finite numbers; fill missing values, or drop their samples"
# Remedies for the commonest variables that are not arrays of real numbers, by kind.
REMEDIES = {
    "complex": "save its real and imaginary parts as two arrays",
    "ragged": "bring all samples to one length, and save one array",
    "a pair of Python objects": "if they are DeepONet's branch and trunk, save them by name: np.savez("
    "'data.npz', branch=X[0], trunk=X[1], target=y)",
    "an array of Python objects": "bring all samples to one length, and save np.stack(list)",
    "a cell array": "in MATLAB save cat(3, c{:}) with samples as the first axis, or each cell as a variable",
    "a struct": "in MATLAB save('data.mat', '-struct', 's') saves its fields as variables",
    "a link to": "use that file as the source, or copy the linked variable into this file",
    "virtual": "list these files in source, or save a copy: file['copy'] = file[name][:]",
}
REMEDY = "choose another variable, or save it as an array of numbers"
KINDS = {  # of arrays without real numbers, by NumPy's kind of their type
    **{"c": "complex", "O": "an array of Python objects", "U": "text", "S": "text", "T": "text"},
    **{"V": "a structured array", "M": "dates", "m": "spans of time"},
}


class Storage(NamedTuple):
    """Storage of a variable: bytes in memory to read a row, stored bytes in total, and lacking chunks."""

    row: float = 0.0
    stored: float = 0.0
    lacks: str = ""

    @classmethod
    def of_chunks(cls, row: float, stored: float, chunks: int, written: int, read_as: Any) -> Storage:
        lacks = f"{chunks - written} of {chunks} chunks, which are read as {read_as}"
        return cls(row, stored, lacks if written < chunks else "")


@dataclass
class Variable:
    """One array of a file, with a function to read any part of it.

    read        reads a part without conversion, given slices of the first axes.
    kind        "complex", "text", …, if it is not an array of real numbers; else None.
    single      whether float32 represents all its numbers exactly.
    in_memory   bytes needed to read any row, in addition to the row.
    dims        names of the axes in the file; None if it has none.
    attributes  attributes in the file, such as `MISSING`, `PACKED` and "units".
    parts       variables of which it is composed, by their names in the file.
    """

    shape: tuple[int, ...]
    read: Callable[[Selection], Any] = lambda selection: None
    kind: str | None = None
    single: bool = False
    in_memory: float = 0.0
    dims: Callable[[], tuple[str, ...] | None] = lambda: None
    attributes: Callable[[], Mapping[str, Any]] = dict
    storage: Callable[[], Storage] = Storage
    parts: dict[str, Variable] = field(default_factory=dict)


@dataclass(eq=False)
class ArraysFile:
    """The variables of a file or Zarr store.

    version   name of the format for the card.
    boundary  boundary condition in the file, "periodic" or "other"; None if not given.
    notes     oddities in the variables read so far, for the card, without duplicates.
    """

    path: Path | str
    version: str
    variables: dict[str, Variable]
    boundary: str | None = None
    notes: dict[str, None] = field(default_factory=dict)
    _sound: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        return str(self.path).rstrip("/").rpartition("/")[2]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of every variable, including variables that are not real arrays."""
        return {name: variable.shape for name, variable in self.variables.items()}

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of the variable `name`.

        Raises `DatasetError` if it is not an array of real numbers, is packed, or expands to far more bytes
        than are stored.
        """
        if name not in self.variables:
            inside = [path.removeprefix(f"{name}/") for path in self.variables if path.startswith(f"{name}/")]
            if inside:
                raise DatasetError(
                    f"{self.path}: '{name}' is a group with {', '.join(inside)}; expected: a variable, such "
                    f"as '{name}/{inside[0]}'"
                )
            listed = ", ".join(self.variables) or "none"
            raise DatasetError(f"{self.path}: there is no variable '{name}'; found: {listed}")
        if name not in self._sound:
            self._require_sound(name, self.variables[name])
            self._sound.add(name)
        return self.variables[name].shape

    def _require_sound(self, name: str, variable: Variable) -> None:
        for part_name, part in variable.parts.items():
            self._require_sound(part_name, part)
        if variable.kind is not None:
            raise not_real(self.path, name, variable.kind)
        attributes = variable.attributes()
        if packed := ", ".join(key for key in PACKED if key in attributes):
            raise DatasetError(
                f"{self.path}: variable '{name}' is packed ({packed}); expected: unpacked numbers; unpack "
                "them with xarray, and save the file again"
            )
        storage = variable.storage()
        require_size(f"{self.path}: variable '{name}'", storage.row, storage.stored)
        if storage.lacks:
            self.notes[f"'{name}' lacks {storage.lacks}"] = None

    def require_real(self) -> None:
        """Raise `DatasetError` for the first variable that may hold samples in an unsupported form."""
        for name, variable in self.variables.items():
            lone = variable.kind == "an array of Python objects" and not variable.shape
            if variable.kind not in (None, "text", "dates", "spans of time") and not lone:
                self.shape(name)

    def read(self, name: str, selection: Selection) -> np.ndarray:
        """Read a part of a variable in float64, given slices of the first axes.

        Raises `DatasetError` as `shape`, and for missing and non-finite values, and for numbers that float32
        and integers that float64 cannot represent.
        """
        shape, stored = self.shape(name), self._part(name, selection)
        values = stored.astype(np.float64)
        checks: list[tuple[str, np.ndarray, str]] = []  # problem, mask of good values, expectation
        attributes = self.variables[name].attributes()
        for key in MISSING:
            for code in np.atleast_1d(attributes.get(key, [])):
                if np.asarray(code).dtype.kind in "iuf":
                    code = stored.dtype.type(code) if stored.dtype.kind == "f" else code
                    present = ~np.isnan(values) if np.isnan(code) else stored != code
                    checks.append((f"has a missing value ({key})", present, FILL))
        checks.append(("is not finite", np.isfinite(values), FILL))
        checks.append(("is too large", np.abs(values) <= LARGEST, UNIT))
        if stored.dtype.kind in "iu" and stored.dtype.itemsize == 8:
            exact = (stored <= EXACT) & (stored >= (-EXACT if stored.dtype.kind == "i" else 0))
            remedy = "integers up to 2^53; save smaller numbers, such as differences"
            checks.append(("has an integer beyond 2^53", exact, remedy))
        first = (selection[0].start or 0) if selection else 0
        for problem, good, expected in checks:
            if not good.all():
                row = first + int(np.unravel_index(int(np.argmin(good)), good.shape)[0]) if good.ndim else 0
                where = f"row {row + 1} of {shape[0]}" if good.ndim else "its only value"
                raise DatasetError(
                    f"{self.path}: variable '{name}' {problem} in {where}; expected: {expected}"
                )
        for extreme in {float(values.min()), float(values.max())} if values.size else ():
            others = values[values != extreme]
            far = not others.size or np.abs(others - extreme).min() > np.ptp(others)
            if far and any(abs(extreme - code) <= 1e-7 * abs(code) for code in CODES):
                self.notes[
                    f"'{name}' has the value {extreme:.6g}, a common fill value: if it stands for missing "
                    "values, fill them or drop their samples"
                ] = None
        return values

    def values(self, name: str) -> np.ndarray:
        """Read a whole variable without conversion, including text. Raises `DatasetError` on failure."""
        if name not in self.variables or self.variables[name].kind != "text":
            self.shape(name)
        values = self._part(name, ())
        return np.char.decode(values, "utf-8", "replace") if values.dtype.kind == "S" else values

    def _part(self, name: str, selection: Selection) -> np.ndarray:
        try:
            return np.asarray(self.variables[name].read(selection))
        except DatasetError:
            raise
        except Exception as error:  # damaged files can make readers raise anything
            raise unreadable(self.path, error, f"variable '{name}' cannot be read") from None


def not_real(path: Path | str, name: str, kind: str) -> DatasetError:
    """Return the error for a variable that is not an array of real numbers, with the remedy."""
    remedy = next((words for known, words in REMEDIES.items() if kind.startswith(known)), REMEDY)
    return DatasetError(f"{path}: variable '{name}' is {kind}; expected: an array of real numbers; {remedy}")


def unreadable(path: Path | str, error: Exception, what: str) -> DatasetError:
    """Return the error for a file that a library cannot read."""
    reason = f"{type(error).__name__}: {in_one_line(error)[:200]}"
    if "unable to lock file" in reason:
        return DatasetError(f"{path}: is open for writing in another program; close it there, and try again")
    return DatasetError(f"{path}: {what} ({reason}); copy or download the file again")


def require_size(what: str, unpacked: float, stored: float) -> None:
    """Raise `DatasetError` if a small file expands to much memory, as in a decompression bomb."""
    if unpacked > SMALL and unpacked > RATIO * stored:
        raise DatasetError(
            f"{what} is stored in {stored / 1e6:.3g} MB and unpacks to {unpacked / 1e6:.4g} MB, more than "
            f"{RATIO} times its size; save it uncompressed, or in HDF5 in smaller chunks"
        )


def of_type(dtype: Any, shape: tuple[int, ...] = ()) -> dict[str, Any]:
    """Return the fields of a `Variable` that follow from NumPy's `dtype`."""
    kind = "complex" if {*(dtype.names or ())} == {"real", "imag"} else KINDS.get(dtype.kind)
    if dtype.kind == "O" and shape == (2,):
        kind = "a pair of Python objects"
    return {"kind": kind, "single": bool(np.can_cast(dtype, np.float32))}
