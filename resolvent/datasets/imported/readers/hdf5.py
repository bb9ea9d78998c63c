"""HDF5 of any layout, read by slices; those of PDEBench and The Well say more, which is used.

PDEBench (Takamoto et al. 2022, arXiv:2210.07182): `tensor` (samples, times, x) or several variables (samples,
times, x, y), with `x-coordinate`, `t-coordinate`; Darcy flow: `nu` (samples, x, y) and `tensor` (samples, 1,
x, y); or a group for each sample, `0000/data` (times, x, y, channels), which is read as one variable `data`.

The Well (Ohana et al. 2024, arXiv:2412.00568): `t0_fields/…` (samples, times, x, y), `t1_fields/…` with an
axis of components behind, `dimensions/x`, and `boundary_conditions/…` with the type of each.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.arrays_file import ArraysFile, Selection, is_single, kind_of

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


class Hdf5File(ArraysFile):
    """The datasets of an HDF5 file by their paths, `group/name`."""

    version = "HDF5"

    def __init__(self, path: Path | str, content: Any):
        import h5py

        super().__init__(path)
        self._content: Any = h5py.File(content, "r", rdcc_nbytes=CACHE)
        self.shapes: dict[str, tuple[int, ...]] = {}
        self._groups = [key for key in self._content if re.fullmatch(r"\d+", key)]
        if self._groups and len(self._groups) == len(self._content):
            self._stack()
        else:
            self._groups = []
            self._content.visititems(self._found)
        if self.is_well:
            self.version = "HDF5 (The Well)"
        elif any(name.endswith("x-coordinate") for name in self.shapes) or self._groups:
            self.version = "HDF5 (PDEBench)"

    def _found(self, name: str, item: Any) -> None:
        if hasattr(item, "dtype") and item.shape is not None:
            self.shapes[name] = item.shape

    def _stack(self) -> None:
        """Take groups named by numbers, one for each sample, as variables with an axis of samples."""
        first = self._content[self._groups[0]]
        found: dict[str, tuple[int, ...]] = {}
        first.visititems(
            lambda name, item: found.update({name: item.shape}) if hasattr(item, "dtype") else None
        )
        for name, shape in found.items():
            alike = all(
                name in self._content[key] and self._content[key][name].shape == shape for key in self._groups
            )
            if alike and name.startswith("grid/"):
                self.shapes[name] = shape
            elif alike:
                self.shapes[name] = (len(self._groups), *shape)

    @property
    def is_well(self) -> bool:
        """Say whether the layout is that of The Well."""
        return any(one in self._content for one in WELL_FIELDS) and "dimensions" in self._content

    def _one(self, name: str) -> Any:
        """Return the dataset of a name; of samples in groups of their own the first one's."""
        return self._content[f"{self._groups[0]}/{name}" if self._groups else name]

    def dims(self, name: str) -> tuple[str, ...] | None:
        if self.is_well and name.split("/")[0] in WELL_FIELDS:
            return self._dims_of_the_well(name)
        if self._groups:
            return None
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
        dtype = self._one(name).dtype
        return "text" if self.is_text(name) else kind_of(dtype)

    def single(self, name: str) -> bool:
        return is_single(self._one(name).dtype)

    def is_text(self, name: str) -> bool:
        import h5py

        dtype = self._one(name).dtype
        return h5py.check_string_dtype(dtype) is not None or dtype.kind in "SU"

    def shape(self, name: str) -> tuple[int, ...]:
        if name not in self.shapes and not self._groups and name in self._content:
            inside = ", ".join(self._content[name]) or "nothing"
            raise DatasetError(
                f"{self.path}: '{name}' is a group with {inside}; expected: a variable, such as "
                f"'{name}/{next(iter(self._content[name]), '…')}'"
            )
        return super().shape(name)

    def _read(self, name: str, selection: Selection) -> np.ndarray:
        if self._groups and not name.startswith("grid/"):
            first, *rest = selection or (slice(None),)
            return np.stack([self._content[f"{key}/{name}"][tuple(rest)] for key in self._groups[first]])
        found = self._one(name)
        values = found.asstr()[selection] if self.is_text(name) else found[selection]
        return np.asarray(values)
