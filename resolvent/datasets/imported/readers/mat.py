"""MAT files of MATLAB's versions 5 and 7.3, read by the rows of their variables.

Version 7.3 is HDF5 and read by slices; its axes are in the reverse order there. A variable of version 5 (or
4) is read whole, since nothing less can be decompressed, and kept.
"""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.arrays_file import HDF5, USERBLOCK, ArraysFile, Selection, unreadable
from resolvent.datasets.imported.readers.hdf5 import chunks_of, unpacked_of, variables

REAL = (
    "double",
    "single",
    "logical",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)


def open_mat(path: Path | str, content: Any = None) -> MatFile:
    """Open the MAT file at `path`, of whichever version its content says it is.

    content  a seekable file with what is at `path`, where that is an address.

    Raises
    ------
    DatasetError
        When it is damaged or no MAT file.
    """
    content = str(path) if content is None else content
    try:
        return MatFile73(path, content) if _is_hdf5(content) else MatFile5(path, content)
    except DatasetError:
        raise
    except Exception as error:  # of any kind: a damaged file leads the readers anywhere
        raise unreadable(path, error, "not a MAT file of version 5 or 7.3, or damaged") from None


def _is_hdf5(content: Any) -> bool:
    """Say whether a file is HDF5, as version 7.3 is, behind 512 bytes."""
    import h5py

    if isinstance(content, str):
        return h5py.is_hdf5(content)
    content.seek(0)
    head = content.read(USERBLOCK + 8)
    content.seek(0)
    return HDF5 in (head[:8], head[USERBLOCK:])


class MatFile(ArraysFile):
    """The variables of a MAT file, in MATLAB's order of axes.

    MATLAB has no array of fewer than two axes. A variable of 1 × n or n × 1 is a vector here, of one axis,
    and one of 1 × 1 is a number.
    """

    @abstractmethod
    def _kind(self, name: str) -> str:
        """Return MATLAB's word for the class of a variable."""

    def not_real(self, name: str) -> str | None:
        kind = self._kind(name)
        words = {"cell": "a cell array", "struct": "a struct", "char": "text"}
        return None if kind in REAL else words.get(kind, kind)

    def single(self, name: str) -> bool:
        return self._kind(name) in ("single", "logical", "int8", "uint8", "int16", "uint16")


def _vector(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of a variable without the axes of length 1 that only MATLAB gives it."""
    return tuple(size for size in shape if size != 1) if len(shape) == 2 else shape


class MatFile5(MatFile):
    """A file of version 5 or 4: `scipy.io.loadmat`."""

    version = "MAT 5"

    def __init__(self, path: Path | str, content: Any):
        import scipy.io

        super().__init__(path)
        self._content = content
        found = scipy.io.whosmat(content, appendmat=False)
        self.shapes = {name: _vector(tuple(map(int, shape))) for name, shape, _ in found}
        self._kinds = {name: kind for name, _, kind in found}
        self._loaded: dict[str, np.ndarray] = {}

    @property
    def bytes_in_memory(self) -> dict[str, float]:
        return {name: 8.0 * float(np.prod(shape)) for name, shape in self.shapes.items()}

    def _kind(self, name: str) -> str:
        return self._kinds[name]

    def unpacked(self, name: str) -> tuple[float, float]:
        if isinstance(self._content, str):
            return self.bytes_in_memory[name], Path(self._content).stat().st_size
        return self.bytes_in_memory[name], self._content.seek(0, 2)

    def _read(self, name: str, selection: Selection) -> np.ndarray:
        import scipy.io

        if name not in self._loaded:
            if hasattr(self._content, "seek"):
                self._content.seek(0)
            content = scipy.io.loadmat(self._content, variable_names=[name], appendmat=False)
            self._loaded[name] = content[name].reshape(self.shapes[name])
        values = self._loaded[name]
        if np.iscomplexobj(values):  # the header does not say so
            self._kinds[name] = "complex"
            self._sound.discard(name)
            self.shape(name)
        return values[selection]


class MatFile73(MatFile):
    """A file of version 7.3: HDF5, with the axes of every array in reverse."""

    version = "MAT 7.3"

    def __init__(self, path: Path | str, content: Any):
        import h5py

        super().__init__(path)
        self._content: Any = h5py.File(content, "r", rdcc_nbytes=2**26)
        found, self._elsewhere = variables(self._content)
        names = [name for name in self._content if not name.startswith("#")]
        self.shapes = {name: _vector(found.get(name, ())[::-1]) for name in names}

    def _kind(self, name: str) -> str:
        if name in self._elsewhere:
            return self._elsewhere[name]
        variable = self._content[name]
        if not hasattr(variable, "dtype"):
            return "sparse" if "MATLAB_sparse" in variable.attrs else "struct"
        if variable.dtype.names:
            return "complex" if set(variable.dtype.names) == {"real", "imag"} else "struct"
        kind = variable.attrs.get("MATLAB_class", b"")
        kind = kind.decode() if isinstance(kind, bytes) else str(kind)
        if variable.attrs.get("MATLAB_sparse") is not None:
            return "sparse"
        if variable.attrs.get("MATLAB_empty"):  # its numbers are the lengths of its axes
            return "empty"
        return kind or ("double" if variable.dtype.kind in "fiub" else str(variable.dtype))

    def unpacked(self, name: str) -> tuple[float, float]:
        return unpacked_of(self._content[name], (*self.shapes[name], 1)[0])

    def chunks(self, name: str) -> tuple[int, int, Any]:
        return chunks_of(self._content[name])

    def _read(self, name: str, selection: Selection) -> np.ndarray:
        found = self._content[name]
        if found.ndim != len(self.shapes[name]):  # a vector
            return found[()].reshape(self.shapes[name])[selection]
        return found[(..., *reversed(selection))].transpose()
