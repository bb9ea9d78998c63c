"""What every reader gives: the variables of a file by name, with their shapes, and any part of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.datasets.errors import DatasetError

EXACT = 2**53  # beyond it a float64 has no longer every integer
HDF5 = b"\x89HDF\r\n\x1a\n"  # what HDF5 begins with
USERBLOCK = 512  # bytes before it in a MAT file of version 7.3
Selection = tuple[slice, ...]


class ArraysFile(ABC):
    """The variables of one file, or of one Zarr store.

    path     of the file, or its address.
    version  the format, as the card names it.
    shapes   of the variables that are arrays, by name.
    notes    what a reader remarks on, for the card.
    """

    version: str
    shapes: dict[str, tuple[int, ...]]

    def __init__(self, path: Path | str):
        self.path = path
        self.notes: list[str] = []

    @property
    def name(self) -> str:
        """Return the name of the file alone."""
        return str(self.path).rstrip("/").rpartition("/")[2]

    @property
    def bytes_in_memory(self) -> dict[str, float]:
        """Return the bytes that reading any row of a variable needs beside those of the row, by name."""
        return dict.fromkeys(self.shapes, 0.0)

    def dims(self, name: str) -> tuple[str, ...] | None:
        """Return the names that the file gives the axes of a variable; None where it names none."""
        return None

    def boundary(self) -> str | None:
        """Return what the file says of the boundary, "periodic" or "other"; None where it says nothing."""
        return None

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of the variable `name`.

        Raises
        ------
        DatasetError
            When there is none, or it is not an array of real numbers.
        """
        if name not in self.shapes:
            found = ", ".join(self.shapes) or "none"
            raise DatasetError(f"{self.path}: there is no variable '{name}'; found: {found}")
        kind = self.not_real(name)
        if kind is not None:
            raise DatasetError(
                f"{self.path}: variable '{name}' is {kind}; expected: an array of real numbers"
            )
        return self.shapes[name]

    def read(self, name: str, selection: Selection) -> np.ndarray:
        """Read the part `selection`, a slice for each of the first axes, of a variable, in float64.

        Raises
        ------
        DatasetError
            As `shape`; when a value is not finite or is an integer that float64 does not have; when the file
            is damaged.
        """
        shape = self.shape(name)
        try:
            found = np.asarray(self._read(name, selection))
            values = found.astype(np.float64)
        except DatasetError:
            raise
        except Exception as error:  # of any kind: a damaged file leads the readers anywhere
            raise unreadable(self.path, error, f"variable '{name}' cannot be read") from None
        finite = np.isfinite(values)
        if not finite.all():
            raise DatasetError(
                f"{self.path}: variable '{name}' is not finite in {_place(finite, selection, shape)}; "
                "expected: finite numbers"
            )
        if found.dtype.kind in "iu" and found.dtype.itemsize == 8:
            exact = (found <= EXACT) & (found >= (-EXACT if found.dtype.kind == "i" else 0))
            if not exact.all():
                raise DatasetError(
                    f"{self.path}: variable '{name}' has an integer beyond 2^53 in "
                    f"{_place(exact, selection, shape)}; expected: numbers that float64 has exactly"
                )
        return values

    def rows(self, name: str, members: range) -> np.ndarray:
        """Read rows `members` of the variable `name`, (len(members), ...), in float64. Raises as `read`."""
        return self.read(name, (slice(members.start, members.stop),))

    def values(self, name: str) -> np.ndarray:
        """Read a whole variable as it is, text among them. Raises a DatasetError where it cannot be read."""
        if name not in self.shapes:
            self.shape(name)
        try:
            return np.asarray(self._read(name, ()))
        except Exception as error:
            raise unreadable(self.path, error, f"variable '{name}' cannot be read") from None

    def is_text(self, name: str) -> bool:
        """Say whether a variable has words."""
        return False

    @abstractmethod
    def not_real(self, name: str) -> str | None:
        """Say what a variable is where it is no array of real numbers: "complex", "text"; else None."""

    @abstractmethod
    def single(self, name: str) -> bool:
        """Say whether every number of a variable is one of float32."""

    @abstractmethod
    def _read(self, name: str, selection: Selection) -> Any:
        """Read a part of a variable, as the file has it."""


def _place(good: np.ndarray, selection: Selection, shape: tuple[int, ...]) -> str:
    """Say where the first entry of `good` that is false lies in the whole variable."""
    first = np.unravel_index(int(np.argmin(good)), good.shape) if good.ndim else ()
    starts = [one.start or 0 for one in selection] + [0] * (good.ndim - len(selection))
    if not first:
        return "its only value"
    return f"row {starts[0] + int(first[0]) + 1} of {shape[0]}"


def unreadable(path: Path | str, error: Exception, what: str) -> DatasetError:
    """Return the line for a file that a library cannot read."""
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return DatasetError(f"{path}: {what} ({reason}); copy the file anew")


def kind_of(dtype: Any) -> str | None:
    """Say what an array of NumPy's `dtype` has where they are no real numbers; else None."""
    words = {"c": "complex", "O": "an array of Python objects", "U": "text", "S": "text", "T": "text"}
    words |= {"V": "a structured array", "M": "dates", "m": "spans of time"}
    if getattr(dtype, "names", None):
        return "complex" if set(dtype.names) == {"real", "imag"} else "a structured array"
    return words.get(dtype.kind)


def is_single(dtype: Any) -> bool:
    """Say whether float32 has every number of NumPy's `dtype`."""
    return bool(np.can_cast(dtype, np.float32))
