"""Read HDF5 of any layout by slices, and MAT files of versions 5 and 7.3 (which is HDF5).

PDEBench (Takamoto et al. 2022, arXiv:2210.07182): `tensor` (samples, times, x) or several variables (samples,
times, x, y), with `x-coordinate`, `t-coordinate`; Darcy flow: `nu` (samples, x, y) and `tensor` (samples, 1,
x, y); or a group for each sample, `0000/data` (times, x, y, channels), one variable in `by_sample`.

The Well (Ohana et al. 2024, arXiv:2412.00568): `t0_fields/…` (samples, times, x, y), `t1_fields/…` with an
trailing axis of components, `dimensions/x`, and `boundary_conditions/…` with the type of each.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.datasets.imported.readers.arrays_file import (
    ArraysFile,
    Selection,
    Storage,
    Variable,
    not_real,
    of_type,
    require_size,
)
from resolvent.datasets.imported.readers.formats import open_xarray

WELL_FIELDS = ("t0_fields", "t1_fields", "t2_fields")
NETCDF = (".nc", ".nc4", ".cdf", ".netcdf")  # suffixes
CACHE = 2**26  # size of the chunk cache in bytes
# MATLAB's classes of real numbers (those in SINGLE are exact in float32), and names for other classes.
SINGLE = ("single", "logical", "int8", "uint8", "int16", "uint16")
REAL = (*SINGLE, "double", "int32", "uint32", "int64", "uint64")
MATLAB = {"cell": "a cell array", "struct": "a struct", "char": "text"}


class _Open:
    """An open HDF5 file. Its variables refer to it, so it is closed when the last of them is released.

    one        returns a dataset by name; the last dataset is cached, since looking up a path is slow.
    elsewhere  descriptions of variables that are stored in other files.
    """

    def __init__(self, content: Any):
        import h5py

        self.file: Any = h5py.File(content, "r", rdcc_nbytes=CACHE)
        self.one = lru_cache(maxsize=1)(self.file.__getitem__)
        self.elsewhere: dict[str, str] = {}
        self.is_well = any(one in self.file for one in WELL_FIELDS) and "dimensions" in self.file

    def variables(self) -> dict[str, Variable]:
        """Return all datasets and links to other files, by path."""
        import h5py

        found: dict[str, Variable] = {}

        def visit(name: str, item: Any) -> None:
            if not isinstance(item, h5py.Dataset) or item.shape is None:
                return
            try:
                given = of_type(item.dtype)
                if h5py.check_string_dtype(item.dtype) is not None:
                    given["kind"] = "text"
                elif h5py.check_vlen_dtype(item.dtype):
                    given["kind"] = "ragged"
            except TypeError:
                given = {"kind": "of a type that NumPy lacks"}
            text = given["kind"] == "text"
            if item.is_virtual:
                self.elsewhere[name] = given["kind"] = "virtual, in parts of other files"
            elif item.external:
                self.elsewhere[name] = given["kind"] = "stored outside of the file"
            found[name] = Variable(
                item.shape,
                lambda selection: (self.one(name).asstr() if text else self.one(name))[selection],
                **given,
                dims=partial(self.dims, name),
                attributes=lambda: self.one(name).attrs,
                storage=partial(self.storage, name),
            )

        # Other files are never opened: the SHA-256 does not cover them, and a hostile file may link anywhere.
        def linked(name: str, link: Any) -> None:
            if isinstance(link, h5py.ExternalLink):
                self.elsewhere[name] = f"a link to {link.filename}"
                found[name] = Variable((), kind=self.elsewhere[name])

        self.file.visititems(visit)
        self.file.visititems_links(linked)
        return found

    def storage(self, name: str, samples: int = 0) -> Storage:
        """Return the storage of a dataset; rows are along its first axis, or there are `samples` rows."""
        one = self.one(name)
        stored = one.id.get_storage_size()
        row = max(one.size / max(1, samples or (*one.shape, 1)[0]), math.prod(one.chunks or ()))
        sizes = zip(one.shape, one.chunks or one.shape, strict=True)
        chunks = math.prod(-(-size // part) for size, part in sizes if part)
        written = one.id.get_num_chunks() if one.chunks else int(stored > 0 or not one.size)
        return Storage(row * one.dtype.itemsize, stored, chunks - written, chunks, one.fillvalue)

    def dims(self, name: str) -> tuple[str, ...] | None:
        """Return the names of the axes, from the layout of The Well, or from HDF5 labels and scales."""
        if name in self.elsewhere:
            return None
        one = self.one(name)
        if not (self.is_well and name.split("/")[0] in WELL_FIELDS):
            labels = tuple(
                axis.label or (axis[0].name.rpartition("/")[2] if len(axis) else "") for axis in one.dims
            )
            return labels if labels and all(labels) else self._dims_of_pdebench(name)
        names = [_text(axis) for axis in self.file["dimensions"].attrs["spatial_dims"]]
        varying = one.attrs.get("dim_varying", np.ones(len(names), dtype=bool))
        dims = ["sample"] if one.attrs.get("sample_varying", True) else []
        dims += ["time"] if one.attrs.get("time_varying", True) else []
        dims += [axis for axis, varies in zip(names, varying, strict=True) if varies]
        return (*dims, *["channel", "channel2"][: int(name[1])])

    def _dims_of_pdebench(self, name: str) -> tuple[str, ...] | None:
        """Return the axes in the layouts of PDEBench, whose coordinates show them; None for other files."""
        group, _, leaf = name.rpartition("/")
        of_group = leaf == "data" and f"{group}/grid/x" in self.file
        place = f"{group}/grid/{{}}" if of_group else "{}-coordinate"
        lines = {axis: self.file[place.format(axis)] for axis in "xyz" if place.format(axis) in self.file}
        sizes, shape = [line.size for line in lines.values()], self.one(name).shape
        if of_group:
            axes: tuple[str, ...] = ("time", *lines, "channel")
        else:
            axes = ("sample", "time", *lines) if len(shape) == 2 + len(lines) else ("sample", *lines)
        first = axes.index(next(iter(lines))) if lines else 0
        fits = lines and len(axes) == len(shape) and list(shape[first : first + len(lines)]) == sizes
        return axes if fits else None


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def open_hdf5(path: Path | str, content: Any) -> ArraysFile:
    """Open an HDF5 file, with variables named by their paths, `group/name`; NetCDF is unpacked by xarray.

    Raises `DatasetError` if a variable of NetCDF is in another file, or expands to too much memory.
    """
    opened, version, boundary = _Open(content), "HDF5", None
    variables = opened.variables()
    suffix = Path(str(path).partition("?")[0]).suffix.lower()
    if suffix in NETCDF or "_NCProperties" in opened.file.attrs:  # the mark of its library and of h5netcdf
        for name, one in variables.items():
            if name in opened.elsewhere:
                raise not_real(path, name, opened.elsewhere[name])
            how = one.storage()
            require_size(f"{path}: variable '{name}'", how.row, how.stored)
        return open_xarray(path, content)
    if opened.is_well:
        version = "HDF5 (The Well)"
    elif any(name.endswith("x-coordinate") for name in variables):
        version = "HDF5 (PDEBench)"
    if (conditions := opened.file.get("boundary_conditions")) is not None:  # layout of The Well
        kinds = {_text(one.attrs.get("bc_type", "")).upper() for one in conditions.values()}
        boundary = "periodic" if kinds == {"PERIODIC"} else "other"
    return ArraysFile(path, version, variables, boundary)


def _of_matlab(shape: tuple[int, ...], kind: str) -> dict[str, Any]:
    """Return the fields of a variable of this shape and class; n × 1 is a vector, 1 × 1 a number."""
    shape = tuple(size for size in shape if size != 1) if len(shape) == 2 else shape
    real = None if kind in REAL else MATLAB.get(kind, kind)
    return {"shape": shape, "kind": real, "single": kind in SINGLE}


def open_mat_5(path: Path | str, content: Any) -> ArraysFile:
    """Open a MAT file of version 5 or 4. Variables are read as a whole: parts cannot be decompressed."""
    import scipy.io

    stored = Path(content).stat().st_size if isinstance(content, str) else content.seek(0, 2)

    def variable(name: str, shape: tuple[int, ...], kind: str) -> Variable:
        given, whole = _of_matlab(shape, kind), 8.0 * math.prod(shape)

        @cache
        def load() -> np.ndarray:
            values = scipy.io.loadmat(content, variable_names=[name], appendmat=False)[name]
            if np.iscomplexobj(values):  # not visible in the header
                raise not_real(path, name, "complex")
            if given["kind"] == "text":  # one string for each row of characters
                return np.char.rstrip(values.ravel())
            return values.reshape(given["shape"])

        storage = Storage(whole, stored)
        return Variable(**given, read=lambda part: load()[part], in_memory=whole, storage=lambda: storage)

    headers = scipy.io.whosmat(content, appendmat=False)
    variables = {name: variable(name, tuple(map(int, shape)), kind) for name, shape, kind in headers}
    return ArraysFile(path, "MAT 5", variables)


def open_mat_73(path: Path | str, content: Any) -> ArraysFile:
    """Open a MAT file of version 7.3: HDF5 with reversed axes."""
    opened = _Open(content)
    every = opened.variables()

    def kind_of(one: Any) -> str:
        if "MATLAB_sparse" in one.attrs:
            return "sparse"
        if not hasattr(one, "dtype"):
            return "struct"
        if one.dtype.names:
            return "complex" if set(one.dtype.names) == {"real", "imag"} else "struct"
        if one.attrs.get("MATLAB_empty"):  # then the stored numbers are the lengths of its axes
            return "empty"
        kind = _text(one.attrs.get("MATLAB_class", b""))
        return kind or ("double" if one.dtype.kind in "fiub" else str(one.dtype))

    def variable(name: str) -> Variable:
        one = every.get(name, Variable(()))
        given = _of_matlab(one.shape[::-1], opened.elsewhere.get(name) or kind_of(opened.one(name)))
        shape = given["shape"]

        def read(selection: Selection) -> np.ndarray:
            values = opened.one(name)
            if values.ndim != len(shape):  # a vector
                return values[()].reshape(shape)[selection]
            return values[(..., *reversed(selection))].transpose()

        return Variable(**given, read=read, storage=partial(opened.storage, name, (*shape, 1)[0]))

    variables = {name: variable(name) for name in opened.file if not name.startswith("#")}
    return ArraysFile(path, "MAT 7.3", variables)
