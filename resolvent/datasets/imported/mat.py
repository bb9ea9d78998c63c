"""MAT files of MATLAB's versions 5 and 7.3, read by the rows of their variables.

Version 7.3 is HDF5 and read by slices; its axes are in the reverse order there. A variable of version 5 (or
4) is read whole, since nothing less can be decompressed, and kept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.datasets.errors import DatasetError

REAL = (
    "double",
    "single",
    "logical",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)


def open_mat(path: Path | str) -> MatFile:
    """Open the MAT file at `path`, of whichever version its content says it is.

    Raises
    ------
    DatasetError
        When there is no such file, or it is damaged or no MAT file.
    """
    path = Path(path)
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise DatasetError(f"the file {path} {what}; paths are from the working folder, or absolute")
    import h5py

    try:
        return MatFile73(path) if h5py.is_hdf5(path) else MatFile5(path)
    except DatasetError:
        raise
    except Exception as error:  # of any kind: a damaged file leads the readers anywhere
        raise _unreadable(path, error) from None


class MatFile(ABC):
    """The variables of a MAT file, in MATLAB's order of axes: samples come first.

    shapes  of the variables, by name.
    """

    version: str
    shapes: dict[str, tuple[int, ...]]

    def __init__(self, path: Path):
        self.path = path

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
        kind = self._kind(name)
        if kind not in REAL:
            raise DatasetError(
                f"{self.path}: variable '{name}' is {kind}; expected: an array of real numbers"
            )
        return self.shapes[name]

    def rows(self, name: str, members: range) -> np.ndarray:
        """Read rows `members` of the variable `name`, (len(members), ...), in float64.

        Raises
        ------
        DatasetError
            As `shape`; and when a value is not finite, or the file is damaged.
        """
        self.shape(name)
        try:
            values = self._read(name, members)
        except DatasetError:
            raise
        except Exception as error:
            raise _unreadable(self.path, error, name) from None
        values = np.asarray(values, dtype=np.float64)
        finite = np.isfinite(values).reshape(len(values), -1).all(axis=1)
        if not finite.all():
            row = members.start + int(np.argmin(finite)) + 1
            raise DatasetError(
                f"{self.path}: variable '{name}' is not finite in row {row} of {self.shapes[name][0]}; "
                "expected: finite numbers"
            )
        return values

    @property
    @abstractmethod
    def bytes_in_memory(self) -> dict[str, float]:
        """Return the bytes that reading any row of a variable needs beside those of the row, by name."""

    @abstractmethod
    def _kind(self, name: str) -> str: ...

    @abstractmethod
    def _read(self, name: str, members: range) -> np.ndarray: ...


class MatFile5(MatFile):
    """A file of version 5 or 4: `scipy.io.loadmat`."""

    version = "MAT 5"

    def __init__(self, path: Path):
        import scipy.io

        super().__init__(path)
        found = scipy.io.whosmat(str(path), appendmat=False)
        self.shapes = {name: tuple(map(int, shape)) for name, shape, _ in found}
        self._kinds = {name: kind for name, _, kind in found}
        self._loaded: dict[str, np.ndarray] = {}

    @property
    def bytes_in_memory(self) -> dict[str, float]:
        return {name: 8.0 * float(np.prod(shape)) for name, shape in self.shapes.items()}

    def _kind(self, name: str) -> str:
        return self._kinds[name]

    def _read(self, name: str, members: range) -> np.ndarray:
        import scipy.io

        if name not in self._loaded:
            content = scipy.io.loadmat(str(self.path), variable_names=[name], appendmat=False)
            self._loaded[name] = content[name]
        values = self._loaded[name]
        if np.iscomplexobj(values):  # the header does not say so
            raise DatasetError(
                f"{self.path}: variable '{name}' is complex; expected: an array of real numbers"
            )
        return values[members.start : members.stop]


class MatFile73(MatFile):
    """A file of version 7.3: HDF5, with the axes of every array in reverse."""

    version = "MAT 7.3"

    def __init__(self, path: Path):
        import h5py

        super().__init__(path)
        self._content: Any = h5py.File(path, "r", rdcc_nbytes=2**26)
        names = [name for name in self._content if not name.startswith("#")]
        self.shapes = {name: tuple(getattr(self._content[name], "shape", ())[::-1]) for name in names}

    @property
    def bytes_in_memory(self) -> dict[str, float]:
        return dict.fromkeys(self.shapes, 0.0)

    def _kind(self, name: str) -> str:
        variable = self._content[name]
        if not hasattr(variable, "dtype"):
            return "a struct"
        if variable.dtype.names:
            return "complex" if set(variable.dtype.names) == {"real", "imag"} else "a struct"
        kind = variable.attrs.get("MATLAB_class", b"")
        kind = kind.decode() if isinstance(kind, bytes) else str(kind)
        if variable.attrs.get("MATLAB_sparse") is not None:
            return "sparse"
        return kind or ("double" if variable.dtype.kind in "fiub" else str(variable.dtype))

    def _read(self, name: str, members: range) -> np.ndarray:
        return self._content[name][..., members.start : members.stop].transpose()


def _unreadable(path: Path, error: Exception, name: str | None = None) -> DatasetError:
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    where = f"variable '{name}' cannot be read" if name else "not a MAT file of version 5 or 7.3, or damaged"
    return DatasetError(f"{path}: {where} ({reason}); copy the file anew")
