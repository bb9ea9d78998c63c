"""What every reader gives: the variables of a file by name, with their shapes, and any part of each."""

from __future__ import annotations

import errno
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.common.errors import Words
from resolvent.datasets.errors import DatasetError

EXACT = 2**53  # beyond it a float64 has no longer every integer
HDF5 = b"\x89HDF\r\n\x1a\n"  # what HDF5 begins with
USERBLOCK = 512  # bytes before it in a MAT file of version 7.3
SMALL, RATIO = 2**28, 200  # bytes to unpack, and times those stored, from which on nothing is unpacked
Selection = tuple[slice, ...]
MISSING = ("_FillValue", "missing_value")  # attributes that name the number which stands for a missing one
PACKED = ("scale_factor", "add_offset")  # attributes of numbers that are not stored as they are
# Numbers that programs write in the place of missing ones: of observations, of NetCDF, of Ferret and GrADS,
# and the largest of float32 and float64.
CODES = (
    *(-999.0, -9999.0, -99999.0, 1e20, -1e20, 1e30, -1e30, 1e34, -1e34, 1e35),
    *(9.969209968386869e36, -9.99e8, 3.4028234663852886e38, -3.4028234663852886e38),
)
# What to do with a variable of each kind that is no array of real numbers.
REMEDIES: dict[str, Words] = {
    "complex": "save its real and imaginary parts as two arrays",
    "ragged": "bring all samples to one length, and save one array",
    "an array of Python objects": "bring all samples to one length, and save np.stack(list)",
    "a structured array": "save each of its fields as an array",
    "dates": "save numbers, such as seconds since the first",
    "spans of time": "save numbers, such as seconds",
    "a cell array": "in MATLAB save cat(3, c{:}), permuted to samples first, or each cell as a variable",
    "a struct": "in MATLAB save('data.mat', '-struct', 's') saves its fields as variables",
    "sparse": "save it in full: full(s), .toarray() or .to_dense()",
    "quantised": "save tensor.dequantize()",
    "torch.float": "save tensor.float()",
    "a tensor without values": "save the tensor of a model that was loaded",
    "a link to": "give that file as a source, or copy what it links to into this file",
    "virtual": "give these as a list of files in source, or save a copy: file['copy'] = file[name][:]",
    "stored outside": "save a copy: file['copy'] = file[name][:]",
}


class ArraysFile(ABC):
    """The variables of one file, or of one Zarr store.

    path     of the file, or its address.
    version  the format, as the card names it.
    shapes   of the variables that are arrays, by name.
    """

    version: str
    shapes: dict[str, tuple[int, ...]]

    def __init__(self, path: Path | str):
        self.path = path
        self._remarks: list[Words] = []
        self._sound: set[str] = set()  # variables that `shape` has looked at
        # How often a code for missing values was read: of (variable, code) by row and part of the row.
        self._codes: dict[tuple[str, float], dict[tuple, int]] = {}

    @property
    def name(self) -> str:
        """Return the name of the file alone."""
        return str(self.path).rstrip("/").rpartition("/")[2]

    @property
    def notes(self) -> list[Words]:
        """Return what is odd in the variables read so far, for the card."""
        counts = {key: sum(places.values()) for key, places in self._codes.items()}
        return self._remarks + [
            f"'{name}' has the value {code:.6g} {count} times in the values read, often a code for missing "
            "ones; if it is, fill them or leave their samples out"
            for (name, code), count in counts.items()
            if count > 1
        ]

    def remark(self, words: Words) -> None:
        """Add to the notes, once."""
        if words not in self._remarks:
            self._remarks.append(words)

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

    def attributes(self, name: str) -> Mapping[str, Any]:
        """Return what the file says of a variable: `MISSING` and `PACKED` among others."""
        return {}

    def chunks(self, name: str) -> tuple[int, int, Any]:
        """Return how many chunks of a variable were never written, of how many, and what they are read as."""
        return 0, 0, None

    def unpacked(self, name: str) -> tuple[float, float]:
        """Return the bytes that reading a row of a variable takes, and the bytes stored of the variable."""
        return 0, 0

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of the variable `name`.

        Raises
        ------
        DatasetError
            When there is none, it is not an array of real numbers, it is packed, or a row of it takes far
            more memory than the variable is stored in.
        """
        if name in self._sound:
            return self.shapes[name]
        if name not in self.shapes:
            found = ", ".join(self.shapes) or "none"
            raise DatasetError(f"{self.path}: there is no variable '{name}'; found: {found}")
        kind = self.not_real(name)
        if kind is not None:
            remedy = next((words for known, words in REMEDIES.items() if kind.startswith(known)), "")
            raise DatasetError(
                f"{self.path}: variable '{name}' is {kind}; expected: an array of real numbers"
                + (f"; {remedy}" if remedy else "")
            )
        packed = [key for key in PACKED if key in self.attributes(name)]
        if packed:
            raise DatasetError(
                f"{self.path}: variable '{name}' is packed ({', '.join(packed)}); expected: numbers as they "
                "are; unpack them with xarray and save them again"
            )
        require_size(f"{self.path}: variable '{name}'", *self.unpacked(name))
        missing, chunks, fill = self.chunks(name)
        if missing:
            self.remark(f"'{name}' lacks {missing} of {chunks} chunks, which are read as {fill}")
        self._sound.add(name)
        return self.shapes[name]

    def require_real(self) -> None:
        """Raise a `DatasetError` for the first variable that may have samples, in another form."""
        for name, shape in self.shapes.items():
            kind = self.not_real(name)
            lone = kind == "an array of Python objects" and not shape
            if kind is not None and kind not in ("text", "dates", "spans of time") and not lone:
                self.shape(name)

    def read(self, name: str, selection: Selection) -> np.ndarray:
        """Read the part `selection`, a slice for each of the first axes, of a variable, in float64.

        Raises
        ------
        DatasetError
            As `shape`; when a value is missing, is not finite, or is an integer that float64 does not have;
            when the file is damaged.
        """
        shape = self.shape(name)
        try:
            found = np.asarray(self._read(name, selection))
            values = found.astype(np.float64)
        except DatasetError:
            raise
        except Exception as error:  # of any kind: a damaged file leads the readers anywhere
            raise unreadable(self.path, error, f"variable '{name}' cannot be read") from None
        for key, code in self.missing(name):
            code = found.dtype.type(code) if found.dtype.kind == "f" else code
            present = ~np.isnan(values) if np.isnan(code) else found != code
            if not present.all():
                raise DatasetError(
                    f"{self.path}: variable '{name}' has a missing value ({key}) in "
                    f"{_place(present, selection, shape)}; expected: finite numbers; fill such values, or "
                    "leave their samples out"
                )
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
        self._count_codes(name, values, selection)
        return values

    def missing(self, name: str) -> list[tuple[str, Any]]:
        """Return the numbers that stand for missing values of a variable, each behind its attribute."""
        given = self.attributes(name)
        codes = [(key, code) for key in MISSING for code in np.atleast_1d(given.get(key, []))]
        return [(key, code) for key, code in codes if np.asarray(code).dtype.kind in "iuf"]

    def _count_codes(self, name: str, values: np.ndarray, selection: Selection) -> None:
        """Count values that are the smallest or the largest, and a usual code for missing ones."""
        if not values.size:
            return
        start = selection[0].start or 0 if selection else 0
        part = tuple((one.start, one.stop) for one in selection[1:])
        for extreme in {float(values.min()), float(values.max())}:
            if any(abs(extreme - code) <= 1e-7 * abs(code) for code in CODES):
                counts = (values == extreme).reshape(len(values) if values.ndim else 1, -1).sum(axis=1)
                rows = {(start + int(row), part): int(counts[row]) for row in np.flatnonzero(counts)}
                self._codes.setdefault((name, extreme), {}).update(rows)

    def rows(self, name: str, members: range) -> np.ndarray:
        """Read rows `members` of the variable `name`, (len(members), ...), in float64. Raises as `read`."""
        return self.read(name, (slice(members.start, members.stop),))

    def values(self, name: str) -> np.ndarray:
        """Read a whole variable as it is, text among them. Raises a DatasetError where it cannot be read."""
        if name not in self.shapes or not self.is_text(name):
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
    if isinstance(error, OSError) and error.errno == errno.EMFILE:
        return DatasetError(
            f"{path}: too many files are open at once; allow more (ulimit -n), or join files into one"
        )
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return DatasetError(f"{path}: {what} ({reason}); copy the file anew")


def require_size(what: str, unpacked: float, stored: float) -> None:
    """Raise a `DatasetError` where a small file takes much memory, as one that is made to exhaust it does."""
    if unpacked > SMALL and unpacked > RATIO * stored:
        raise DatasetError(
            f"{what} is stored in {stored / 1e6:.3g} MB and unpacks to {unpacked / 1e6:.4g} MB, more than "
            f"{RATIO} times its size; save it uncompressed, or in HDF5 in smaller chunks"
        )


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
