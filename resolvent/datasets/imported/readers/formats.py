"""Read files of NumPy and PyTorch, NetCDF and other formats of xarray, Zarr stores, and CSV tables.

No file content is executed: NumPy files are never unpickled, and torch refuses anything except tensors,
numbers and text in PyTorch files.
"""

from __future__ import annotations

import base64
import io
import math
import pickle
import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.datasets.errors import DatasetError, in_one_line
from resolvent.datasets.imported.readers.arrays_file import (
    MISSING,
    SMALL,
    ArraysFile,
    Storage,
    Variable,
    of_type,
)

LARGEST_REPEATED = 2**30  # bytes of a tensor that may repeat its numbers: a copy of it
ARRAY, TENSOR = "array", "tensor"  # names for the only variable of a file without names


def open_npy(path: Path | str, content: Any) -> ArraysFile:
    """Open a single array, memory-mapped, or read as a whole from an address."""
    with open(content, "rb") if isinstance(content, str) else content as file:
        shape, dtype = _npy_header(file)
        file.seek(0)
        read: Any = None
        if not dtype.hasobject:
            mapped: Any = "r" if isinstance(content, str) else None
            read = np.load(content, mmap_mode=mapped, allow_pickle=False).__getitem__
    return ArraysFile(path, "NumPy .npy", {ARRAY: Variable(shape, read, **of_type(dtype))})


def open_npz(path: Path | str, content: Any) -> ArraysFile:
    """Open several arrays; each is decompressed as a whole and then kept in memory."""
    opened: Any = np.load(content, allow_pickle=False)

    def variable(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Variable:
        name = member.filename.removesuffix(".npy")
        with archive.open(member) as file:
            shape, dtype = _npy_header(file)
            wanted, has = math.prod(shape) * dtype.itemsize, member.file_size - file.seek(0, 1)
        if wanted != has and not dtype.hasobject:
            raise DatasetError(
                f"{path}: '{name}' has {has} bytes of values; expected: {wanted} for its shape {shape}; copy "
                "or download the file again"
            )

        whole = cache(lambda: opened[name])
        return Variable(shape, lambda part: whole()[part], **of_type(dtype, shape), in_memory=float(wanted))

    with zipfile.ZipFile(content) as archive:
        members = {one.filename.removesuffix(".npy"): one for one in archive.infolist()}
        variables = {name: variable(archive, member) for name, member in members.items()}
    return ArraysFile(path, "NumPy .npz", variables)


def _npy_header(file: Any) -> tuple[tuple[int, ...], np.dtype]:
    """Read shape and type of the array in an open .npy file, up to its values."""
    old = np.lib.format.read_magic(file) == (1, 0)
    read = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    return shape, dtype


def open_torch(path: Path | str, content: Any) -> ArraysFile:
    """Open memory-mapped tensors, named by keys of dictionaries and indices in lists, joined by `/`."""
    import torch  # imported here, since only this format needs it

    def of_tensor(tensor: Any) -> Variable:
        dtype = torch.float32 if tensor.dtype is torch.bfloat16 else tensor.dtype  # NumPy has no bfloat16
        shape = () if tensor.is_nested else tuple(tensor.shape)
        kinds = {
            "ragged": tensor.is_nested,
            "sparse": str(tensor.layout) != "torch.strided",
            "a tensor without values (meta)": tensor.is_meta,
            "complex": tensor.is_complex(),
            "a tensor that repeats its numbers (expanded)": _repeats(tensor),
        }
        try:
            given = of_type(torch.empty(0, dtype=dtype).numpy().dtype)
        except (TypeError, RuntimeError):  # a type that NumPy lacks
            given = {"kind": str(dtype)}
        given["kind"] = next((kind for kind, applies in kinds.items() if applies), given["kind"])
        return Variable(shape, lambda selection: tensor.detach()[selection].to(dtype).numpy(), **given)

    def _repeats(tensor: Any) -> bool:
        """Return whether a large tensor has fewer stored numbers than its shape: its copy may not fit."""
        if tensor.is_nested or str(tensor.layout) != "torch.strided":
            return False
        size = tensor.numel() * tensor.element_size()
        return size > LARGEST_REPEATED and tensor.untyped_storage().nbytes() < size

    def tensors(content: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
        if isinstance(content, torch.Tensor):
            yield prefix or TENSOR, content
        elif isinstance(content, dict | list | tuple):
            for key, value in content.items() if isinstance(content, dict) else enumerate(content):
                yield from tensors(value, f"{prefix}/{key}" if prefix else str(key))

    try:
        found = torch.load(content, map_location="cpu", weights_only=True, mmap=isinstance(content, str))
    except pickle.UnpicklingError as error:
        raise DatasetError(
            f"{path}: contains more than tensors, which could run code when it is read "
            f"({in_one_line(error)[:120]}); expected: tensors in dictionaries and lists"
        ) from None
    return ArraysFile(path, "PyTorch .pt", {name: of_tensor(one) for name, one in tensors(found)})


def open_xarray(path: Path | str, content: Any) -> ArraysFile:
    """Open variables by their paths, `group/name`, unpacked according to the file's attributes."""
    import xarray

    try:
        tree = xarray.open_datatree(content, chunks=None, decode_times=False)
        nodes = {f"{node.path}/": node.to_dataset(inherit=False) for node in tree.subtree}
    except (ValueError, NotImplementedError):  # this engine does not support groups
        if hasattr(content, "seek"):
            content.seek(0)
        nodes = {"": xarray.open_dataset(content, chunks=None, decode_times=False)}

    def variable(one: Any) -> Variable:
        given = of_type(one.dtype)
        if one.dtype.kind == "O" and one.size and isinstance(one[(0,) * one.ndim].values.item(), str):
            given["kind"] = "text"
        return Variable(
            tuple(one.shape),
            lambda selection: one[selection or ...].values,
            **given,
            dims=lambda: tuple(map(str, one.dims)),
            # xarray replaces these fill values by nan.
            attributes=lambda: (
                one.attrs | {key: np.nan for key in MISSING if one.encoding.get(key) is not None}
            ),
        )

    found = {
        f"{folder}{name}".strip("/"): variable(one)
        for folder, node in nodes.items()
        for name, one in node.variables.items()
    }
    return ArraysFile(path, "NetCDF", found)


def open_csv(path: Path | str, content: Any) -> ArraysFile:
    """Open a table of numbers: an array, or with a header one variable a column.

    Columns named as `u0, u1, …` are one variable (rows, columns). Raises `DatasetError` for columns of text.
    """
    import pandas

    text = content.read().decode() if hasattr(content, "read") else Path(content).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    delimiter = next((one for one in ",;\t" if one in lines[0]), r"\s+")
    header: int | None = None
    try:
        list(map(float, re.split(delimiter, lines[0].strip())))
    except ValueError:
        header = 0
    table = pandas.read_csv(io.StringIO("\n".join(lines)), sep=delimiter, header=header)
    if words := [str(name) for name, kind in table.dtypes.items() if kind.kind not in "fiu"]:
        raise DatasetError(
            f"{path}: columns {', '.join(words[:4])} of the CSV table are not numbers; delete them, or save "
            "arrays: np.savez('data.npz', a=…, u=…)"
        )
    columns: dict[str, list[str]] = {}
    for name in table.columns if header == 0 else ():
        columns.setdefault(re.sub(r"[_\[ ]*\d+\]?$", "", str(name)) or str(name), []).append(name)
    variables = {} if columns else {ARRAY: _of_table(table.to_numpy())}
    for stem, names in columns.items():
        lone = len(names) == 1
        variables[str(names[0]) if lone else stem] = _of_table(table[names[0] if lone else names].to_numpy())
    return ArraysFile(path, "CSV", variables)


def _of_table(values: np.ndarray) -> Variable:
    return Variable(values.shape, values.__getitem__, **of_type(values.dtype), in_memory=float(values.nbytes))


def open_zarr(path: Path | str, content: Any, storage_options: dict | None = None) -> ArraysFile:
    """Open the arrays of a Zarr store (version 2 or 3) in a folder or at an address, by their paths."""
    import zarr

    def variable(array: Any) -> Variable:
        def dims() -> tuple[str, ...] | None:
            names = getattr(array.metadata, "dimension_names", None) or array.attrs.get("_ARRAY_DIMENSIONS")
            return tuple(names) if names and all(names) else None

        def attributes() -> Mapping[str, Any]:
            found = dict(array.attrs)
            code = found.get("_FillValue")
            if isinstance(code, str) and np.dtype(array.dtype).kind == "f":  # as xarray has it in version 3
                with suppress(ValueError, struct.error):
                    (found["_FillValue"],) = struct.unpack("<d", base64.standard_b64decode(code))
            if "_ARRAY_DIMENSIONS" in found and array.fill_value:  # as xarray has it in version 2
                found.setdefault("_FillValue", array.fill_value)
            return found

        def storage() -> Storage:
            values = max(math.prod(array.shape[1:]), math.prod(array.shards or array.chunks))
            row = float(values * np.dtype(array.dtype).itemsize)
            stored = float(array.nbytes_stored()) if row > SMALL else row
            # Shards count as whole, and so may have more chunks than the array.
            written = array.nchunks_initialized
            return Storage.of_chunks(row, stored, array.nchunks, written, array.fill_value)

        return Variable(
            tuple(array.shape),
            lambda selection: array[selection or ...],
            **of_type(np.dtype(array.dtype)),
            dims=dims,
            attributes=attributes,
            storage=storage,
        )

    root: Any = zarr.open(str(content), mode="r", storage_options=storage_options)
    members = [(ARRAY, root)] if isinstance(root, zarr.Array) else sorted(root.members(max_depth=None))
    variables = {name: variable(one) for name, one in members if isinstance(one, zarr.Array)}
    return ArraysFile(path, f"Zarr {root.metadata.zarr_format}", variables)
