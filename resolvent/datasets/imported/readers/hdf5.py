"""Read HDF5 of any layout by slices, and MAT files of versions 5 and 7.3 (which is HDF5).

PDEBench (Takamoto et al. 2022, arXiv:2210.07182): `tensor` (samples, times, x) or several variables (samples,
times, x, y), with `x-coordinate`, `t-coordinate`; Darcy flow: `nu` (samples, x, y) and `tensor` (samples, 1,
x, y); or a group for each sample, `0000/data` (times, x, y, channels).

The Well (Ohana et al. 2024, arXiv:2412.00568): `t0_fields/…` (samples, times, x, y), `t1_fields/…` with a
trailing axis of components, `dimensions/x`, and `boundary_conditions/…` with the type of each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache
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
ELSEWHERE = ("a link to", "virtual", "stored outside")  # begin the kinds of variables in other files
# MATLAB's classes of real numbers (those in SINGLE are exact in float32), and names for other classes.
SINGLE = ("single", "logical", "int8", "uint8", "int16", "uint16")
REAL = (*SINGLE, "double", "int32", "uint32", "int64", "uint64")
MATLAB = {"cell": "a cell array", "struct": "a struct", "char": "text"}


def open_hdf5(path: Path | str, content: Any) -> ArraysFile:
    """Open an HDF5 file, with variables named by their paths, `group/name`; NetCDF is unpacked by xarray.

    Raises `DatasetError` if a variable of NetCDF is in another file, or expands to too much memory.
    """
    file, variables = _opened(content)
    version, boundary = "HDF5", None
    suffix = Path(str(path).partition("?")[0]).suffix.lower()
    if suffix in NETCDF or "_NCProperties" in file.attrs:  # the mark of its library and of h5netcdf
        for name, one in variables.items():
            if (one.kind or "").startswith(ELSEWHERE):
                raise not_real(path, name, one.kind or "")
            storage = one.storage()
            require_size(f"{path}: variable '{name}'", storage.row, storage.stored)
        return open_xarray(path, content)
    if _is_well(file):
        version = "HDF5 (The Well)"
    elif any(name.endswith("x-coordinate") for name in variables):
        version = "HDF5 (PDEBench)"
    if (conditions := file.get("boundary_conditions")) is not None:  # layout of The Well
        kinds = {_text(one.attrs.get("bc_type", "")).upper() for one in conditions.values()}
        boundary = "periodic" if kinds == {"PERIODIC"} else "other"
    return ArraysFile(path, version, variables, boundary)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _is_well(file: Any) -> bool:
    return "dimensions" in file and any(fields in file for fields in WELL_FIELDS)


def _opened(content: Any) -> tuple[Any, dict[str, Variable]]:
    """Return an open file with all datasets and links to other files, by path; they keep it open.

    Other files are never opened: the SHA-256 does not cover them, and a hostile file may link anywhere.
    """
    import h5py

    file, variables = h5py.File(content, "r", rdcc_nbytes=CACHE), dict[str, Variable]()
    dataset = lru_cache(maxsize=1)(file.__getitem__)  # looking up a path is slow

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.shape is not None:
            variables[name] = _variable(file, name, item, dataset)

    def visit_link(name: str, link: Any) -> None:
        if isinstance(link, h5py.ExternalLink):
            variables[name] = Variable((), kind=f"a link to {link.filename}")

    file.visititems(visit)
    file.visititems_links(visit_link)
    return file, variables


def _variable(file: Any, name: str, item: Any, dataset: Callable[[str], Any]) -> Variable:
    import h5py

    if item.is_virtual:
        return Variable(item.shape, kind="virtual, in parts of other files")
    if item.external:
        return Variable(item.shape, kind="stored outside of the file")
    try:
        given = of_type(item.dtype)
    except TypeError:
        return Variable(item.shape, kind="of a type that NumPy lacks")
    text = h5py.check_string_dtype(item.dtype) is not None
    if text or h5py.check_vlen_dtype(item.dtype):
        given["kind"] = "text" if text else "ragged"
    return Variable(
        item.shape,
        lambda selection: (dataset(name).asstr() if text else dataset(name))[selection],
        **given,
        dims=lambda: _dims(file, name, dataset(name)),
        attributes=lambda: dataset(name).attrs,
        storage=lambda: _storage(dataset(name)),
    )


def _storage(dataset: Any, rows: int = 0) -> Storage:
    """Return the storage of a dataset; rows are along its first axis, unless there are so many `rows`."""
    stored, size = dataset.id.get_storage_size(), dataset.dtype.itemsize
    row = max(dataset.size / max(1, rows or (*dataset.shape, 1)[0]), math.prod(dataset.chunks or ()))
    if not dataset.chunks:
        written = int(stored > 0 or not dataset.size)
        return Storage.of_chunks(row * size, stored, 1, written, dataset.fillvalue)
    chunks = math.prod(-(-n // part) for n, part in zip(dataset.shape, dataset.chunks, strict=True))
    return Storage.of_chunks(row * size, stored, chunks, dataset.id.get_num_chunks(), dataset.fillvalue)


def _dims(file: Any, name: str, dataset: Any) -> tuple[str, ...] | None:
    """Return the names of the axes: in the layout of The Well, HDF5's labels or scales, or PDEBench's."""
    if not (_is_well(file) and name.partition("/")[0] in WELL_FIELDS):
        labels = tuple(
            axis.label or (axis[0].name.rpartition("/")[2] if len(axis) else "") for axis in dataset.dims
        )
        return labels if labels and all(labels) else _dims_of_pdebench(file, name, dataset.shape)
    names = [_text(axis) for axis in file["dimensions"].attrs["spatial_dims"]]
    varying = dataset.attrs.get("dim_varying", np.ones(len(names), dtype=bool))
    dims = ["sample"] if dataset.attrs.get("sample_varying", True) else []
    dims += ["time"] if dataset.attrs.get("time_varying", True) else []
    dims += [axis for axis, varies in zip(names, varying, strict=True) if varies]
    return (*dims, *["channel", "channel2"][: int(name[1])])


def _dims_of_pdebench(file: Any, name: str, shape: tuple[int, ...]) -> tuple[str, ...] | None:
    """Return the axes in the layouts of PDEBench, whose coordinates show them; None for other files."""
    group, _, leaf = name.rpartition("/")
    of_sample = leaf == "data" and f"{group}/grid/x" in file
    place = f"{group}/grid/{{}}" if of_sample else "{}-coordinate"
    lines = {axis: file[place.format(axis)].size for axis in "xyz" if place.format(axis) in file}
    time = ["time"] * (len(shape) == 2 + len(lines))
    axes = ("time", *lines, "channel") if of_sample else ("sample", *time, *lines)
    sizes = dict(zip(axes, shape, strict=False))
    fits = lines and len(axes) == len(shape) and all(sizes[axis] == lines[axis] for axis in lines)
    return axes if fits else None


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
    file, every = _opened(content)

    def variable(name: str) -> Variable:
        if name not in every:  # a group
            return Variable((), kind=MATLAB["struct"])
        if (every[name].kind or "").startswith(ELSEWHERE):
            return every[name]
        given = _of_matlab(every[name].shape[::-1], _matlab_class(file[name]))
        shape = given["shape"]

        def read(selection: Selection) -> np.ndarray:
            dataset = file[name]
            if dataset.ndim != len(shape):  # a vector
                return dataset[()].reshape(shape)[selection]
            return dataset[(..., *reversed(selection))].transpose()

        return Variable(**given, read=read, storage=lambda: _storage(file[name], (*shape, 1)[0]))

    return ArraysFile(path, "MAT 7.3", {name: variable(name) for name in file if not name.startswith("#")})


def _matlab_class(dataset: Any) -> str:
    if "MATLAB_sparse" in dataset.attrs:
        return "sparse"
    if dataset.dtype.names:
        return "complex" if {*dataset.dtype.names} == {"real", "imag"} else "struct"
    if dataset.attrs.get("MATLAB_empty"):  # then the stored numbers are the lengths of its axes
        return "empty"
    kind = _text(dataset.attrs.get("MATLAB_class", b""))
    return kind or ("double" if dataset.dtype.kind in "fiub" else str(dataset.dtype))
