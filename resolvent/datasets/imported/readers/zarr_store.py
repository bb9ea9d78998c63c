"""Zarr stores of versions 2 and 3, in a folder or at an address, read by slices."""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.datasets.imported.readers.arrays_file import SMALL, ArraysFile, Selection, is_single, kind_of

ONLY = "array"  # name of the one variable of a store that is an array


class ZarrStore(ArraysFile):
    """The arrays of a store by their paths, `group/name`. Chunks that were never written are remarked on."""

    version = "Zarr"

    def __init__(self, path: Path | str, content: Any, storage_options: dict | None = None):
        import zarr

        super().__init__(path)
        root: Any = zarr.open(str(content), mode="r", storage_options=storage_options)
        self.version = f"Zarr {root.metadata.zarr_format}"
        arrays = {ONLY: root} if isinstance(root, zarr.Array) else dict(_arrays(root))
        self._arrays: dict[str, Any] = arrays
        self.shapes = {name: tuple(one.shape) for name, one in arrays.items()}

    def dims(self, name: str) -> tuple[str, ...] | None:
        array = self._arrays[name]
        names = getattr(array.metadata, "dimension_names", None) or array.attrs.get("_ARRAY_DIMENSIONS")
        return tuple(names) if names and all(names) else None

    def not_real(self, name: str) -> str | None:
        return kind_of(np.dtype(self._arrays[name].dtype))

    def single(self, name: str) -> bool:
        return is_single(self._arrays[name].dtype)

    def is_text(self, name: str) -> bool:
        return np.dtype(self._arrays[name].dtype).kind in "UST"

    def attributes(self, name: str) -> Mapping[str, Any]:
        array = self._arrays[name]
        found = dict(array.attrs)
        code = found.get("_FillValue")
        if isinstance(code, str) and np.dtype(array.dtype).kind == "f":  # as xarray writes it in version 3
            with suppress(ValueError, struct.error):
                (found["_FillValue"],) = struct.unpack("<d", base64.standard_b64decode(code))
        if "_ARRAY_DIMENSIONS" in found and array.fill_value:  # as xarray writes it in version 2
            found.setdefault("_FillValue", array.fill_value)
        return found

    def chunks(self, name: str) -> tuple[int, int, Any]:
        array = self._arrays[name]
        return array.nchunks - array.nchunks_initialized, array.nchunks, array.fill_value

    def unpacked(self, name: str) -> tuple[float, float]:
        array = self._arrays[name]
        values = max(math.prod(array.shape[1:]), math.prod(array.shards or array.chunks))
        size = float(values * np.dtype(array.dtype).itemsize)
        return size, float(array.nbytes_stored()) if size > SMALL else size

    def _read(self, name: str, selection: Selection) -> np.ndarray:
        return np.asarray(self._arrays[name][selection or ...])


def _arrays(group: Any, prefix: str = ""):
    """Yield every array below `group` with its path."""
    for name, array in sorted(group.arrays()):
        yield prefix + name, array
    for name, inner in sorted(group.groups()):
        yield from _arrays(inner, f"{prefix}{name}/")
