"""NumPy's files: .npy, of which only what is asked for is read, and .npz, whose arrays are read whole.

Neither is ever unpickled: an array of Python objects is refused.
"""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.arrays_file import ArraysFile, Selection, is_single, kind_of

ONLY = "array"  # name of the one variable of an .npy


class _NumpyFile(ArraysFile):
    _dtypes: dict[str, np.dtype]

    def not_real(self, name: str) -> str | None:
        return kind_of(self._dtypes[name])

    def single(self, name: str) -> bool:
        return is_single(self._dtypes[name])

    def is_text(self, name: str) -> bool:
        return self._dtypes[name].kind in "US"


class NpyFile(_NumpyFile):
    """One array, `array`: mapped into memory, or read whole where it lies at an address."""

    version = "NumPy .npy"

    def __init__(self, path: Path | str, content: Any):
        super().__init__(path)
        mapped = isinstance(content, str)
        if mapped:
            shape, dtype, _ = _header(open(content, "rb"))  # noqa: SIM115
            if dtype.hasobject:
                self.shapes, self._dtypes = {ONLY: shape}, {ONLY: dtype}
                return
        self._values = np.load(content, mmap_mode="r" if mapped else None, allow_pickle=False)
        self.shapes, self._dtypes = {ONLY: self._values.shape}, {ONLY: self._values.dtype}

    def _read(self, name: str, selection: Selection) -> np.ndarray:
        return self._values[selection]


class NpzFile(_NumpyFile):
    """Several arrays; one that is read is kept, since nothing less can be decompressed."""

    version = "NumPy .npz"

    def __init__(self, path: Path | str, content: Any):
        super().__init__(path)
        self._content: Any = np.load(content, allow_pickle=False)
        self.shapes, self._dtypes = {}, {}
        self._loaded: dict[str, np.ndarray] = {}
        with zipfile.ZipFile(content) as archive:
            for member in archive.infolist():
                name = member.filename.removesuffix(".npy")
                shape, dtype, start = _header(archive.open(member))
                self.shapes[name], self._dtypes[name] = shape, dtype
                wanted, has = math.prod(shape) * dtype.itemsize, member.file_size - start
                if wanted != has and not dtype.hasobject:
                    raise DatasetError(
                        f"{path}: '{name}' has {has} bytes of values; of the shape {shape} expected: {wanted}"
                    )

    @property
    def bytes_in_memory(self) -> dict[str, float]:
        return {
            name: float(self._dtypes[name].itemsize * np.prod(shape)) for name, shape in self.shapes.items()
        }

    def _read(self, name: str, selection: Selection) -> np.ndarray:
        if name not in self._loaded:
            self._loaded[name] = self._content[name]
        return self._loaded[name][selection]


def _header(file: Any) -> tuple[tuple[int, ...], np.dtype, int]:
    """Read the shape and the type of the array in an open .npy, and where its values begin."""
    with file:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read(file)
        return shape, dtype, file.seek(0, 1)
