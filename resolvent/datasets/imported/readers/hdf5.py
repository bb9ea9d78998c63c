"""HDF5 of any layout, read by slices; those of PDEBench and The Well say more, which is used.

PDEBench (Takamoto et al. 2022, arXiv:2210.07182): `tensor` (samples, times, x) or several variables (samples,
times, x, y), with `x-coordinate`, `t-coordinate`; Darcy flow: `nu` (samples, x, y) and `tensor` (samples, 1,
x, y); or a group for each sample, `0000/data` (times, x, y, channels), one variable in `by_sample`.

The Well (Ohana et al. 2024, arXiv:2412.00568): `t0_fields/…` (samples, times, x, y), `t1_fields/…` with an
axis of components behind, `dimensions/x`, and `boundary_conditions/…` with the type of each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.arrays_file import (
    ArraysFile,
    Selection,
    is_single,
    kind_of,
    require_size,
)

WELL_FIELDS = ("t0_fields", "t1_fields", "t2_fields")
CACHE = 2**26  # bytes of chunks kept


def is_netcdf(content: Any) -> bool:
    """Say whether an HDF5 file was written by the NetCDF library or by h5netcdf."""
    import h5py

    try:
        with h5py.File(content, "r") as file:
            return "_NCProperties" in file.attrs
    except OSError:
        return False


def variables(file: Any) -> tuple[dict[str, tuple[int, ...]], dict[str, str]]:
    """Return the shape of every dataset of an open HDF5 file, and which of them lie in other files, and how.

    No such file is opened: what lies there has no SHA-256 here, and a path in a file may lead anywhere.
    """
    import h5py

    shapes: dict[str, tuple[int, ...]] = {}
    elsewhere: dict[str, str] = {}

    def found(name: str, item: Any) -> None:
        if not isinstance(item, h5py.Dataset) or item.shape is None:
            return
        shapes[name] = item.shape
        if item.is_virtual:
            elsewhere[name] = "virtual, in parts of other files"
        elif item.external:
            elsewhere[name] = "stored outside of the file"

    def linked(name: str, link: Any) -> None:
        if isinstance(link, h5py.ExternalLink):
            shapes[name], elsewhere[name] = (), f"a link to {link.filename}"

    file.visititems(found)
    file.visititems_links(linked)
    return shapes, elsewhere


def chunks_of(dataset: Any) -> tuple[int, int, Any]:
    """Return how many chunks of a dataset were never written, of how many, and what they are read as."""
    if dataset.chunks is None:
        never = dataset.size > 0 and not dataset.id.get_storage_size()
        return int(never), 1, dataset.fillvalue
    every = math.prod(-(-size // part) for size, part in zip(dataset.shape, dataset.chunks, strict=True))
    return every - dataset.id.get_num_chunks(), every, dataset.fillvalue


def unpacked_of(dataset: Any, rows: int) -> tuple[float, float]:
    """Return the bytes that reading one of the `rows` of a dataset takes, and those it is stored in."""
    values = max(dataset.size / max(1, rows), math.prod(dataset.chunks or ()))
    return values * dataset.dtype.itemsize, dataset.id.get_storage_size()


class Hdf5File(ArraysFile):
    """The datasets of an HDF5 file by their paths, `group/name`."""

    version = "HDF5"

    def __init__(self, path: Path | str, content: Any):
        import h5py

        super().__init__(path)
        self._content: Any = h5py.File(content, "r", rdcc_nbytes=CACHE)
        self._last: tuple[str, Any] = "", None
        self.shapes, self.elsewhere = variables(self._content)
        if self.is_well:
            self.version = "HDF5 (The Well)"
        elif any(name.endswith("x-coordinate") for name in self.shapes):
            self.version = "HDF5 (PDEBench)"

    @property
    def is_well(self) -> bool:
        """Say whether the layout is that of The Well."""
        return any(one in self._content for one in WELL_FIELDS) and "dimensions" in self._content

    def _one(self, name: str) -> Any:
        """Return a dataset, the last one kept open: finding it by its path takes longer than asking it."""
        if self._last[0] != name:
            self._last = name, self._content[name]
        return self._last[1]

    def attributes(self, name: str) -> Mapping[str, Any]:
        return self._one(name).attrs

    def chunks(self, name: str) -> tuple[int, int, Any]:
        return chunks_of(self._one(name))

    def unpacked(self, name: str) -> tuple[float, float]:
        return unpacked_of(self._one(name), (*self.shapes[name], 1)[0])

    def dims(self, name: str) -> tuple[str, ...] | None:
        if name in self.elsewhere:
            return None
        if self.is_well and name.split("/")[0] in WELL_FIELDS:
            return self._dims_of_the_well(name)
        labels = tuple(
            one.label or (one[0].name.rpartition("/")[2] if len(one) else "") for one in self._one(name).dims
        )
        return labels if labels and all(labels) else None

    def _dims_of_the_well(self, name: str) -> tuple[str, ...]:
        attributes = self._one(name).attrs
        order = int(name[1])
        names = [self._text(one) for one in self._content["dimensions"].attrs["spatial_dims"]]
        varying = attributes.get("dim_varying", np.ones(len(names), dtype=bool))
        dims = ["sample"] if attributes.get("sample_varying", True) else []
        dims += ["time"] if attributes.get("time_varying", True) else []
        dims += [one for one, varies in zip(names, varying, strict=True) if varies]
        return (*dims, *["channel", "channel2"][:order])

    def boundary(self) -> str | None:
        conditions = self._content.get("boundary_conditions")
        if conditions is None:
            return None
        kinds = {self._text(one.attrs.get("bc_type", "")).upper() for one in conditions.values()}
        return "periodic" if kinds == {"PERIODIC"} else "other"

    @staticmethod
    def _text(value: Any) -> str:
        return value.decode() if isinstance(value, bytes) else str(value)

    def not_real(self, name: str) -> str | None:
        import h5py

        if name in self.elsewhere:
            return self.elsewhere[name]
        dtype = self._one(name).dtype
        if self.is_text(name):
            return "text"
        return "ragged" if h5py.check_vlen_dtype(dtype) else kind_of(dtype)

    def single(self, name: str) -> bool:
        return is_single(self._one(name).dtype)

    def is_text(self, name: str) -> bool:
        import h5py

        if name in self.elsewhere:
            return False
        dtype = self._one(name).dtype
        return h5py.check_string_dtype(dtype) is not None or dtype.kind in "SU"

    def shape(self, name: str) -> tuple[int, ...]:
        if name in self.shapes:
            return super().shape(name)
        inside = [one.removeprefix(f"{name}/") for one in self.shapes if one.startswith(f"{name}/")]
        if inside:
            raise DatasetError(
                f"{self.path}: '{name}' is a group with {', '.join(inside)}; expected: a variable, such as "
                f"'{name}/{inside[0]}'"
            )
        return super().shape(name)

    def _read(self, name: str, selection: Selection) -> np.ndarray:
        found = self._one(name)
        return np.asarray(found.asstr()[selection] if self.is_text(name) else found[selection])


def all_own(path: Path | str, content: Any) -> ArraysFile:
    """Open an HDF5 file; raise a `DatasetError` where a variable lies in another file, or unpacks to much."""
    file = Hdf5File(path, content)
    for name in file.elsewhere:
        file.shape(name)
    for name in file.shapes:
        require_size(f"{path}: variable '{name}'", *file.unpacked(name))
    return file
