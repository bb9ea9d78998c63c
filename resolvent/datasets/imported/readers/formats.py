"""NumPy's and PyTorch's files, NetCDF and whatever else xarray opens, and Zarr stores.

Nothing in any of them is run: NumPy's are never unpickled, and what is no tensor, number or text in one of
PyTorch's is refused by torch itself.
"""

from __future__ import annotations

import base64
import math
import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.arrays_file import (
    MISSING,
    SMALL,
    ArraysFile,
    Selection,
    Variable,
    of_type,
)

ARRAY, TENSOR = "array", "tensor"  # names of the one variable of a file that has no names


def open_npy(path: Path | str, content: Any) -> ArraysFile:
    """Open one array: mapped into memory, or read whole where it lies at an address."""
    mapped = isinstance(content, str)
    shape, dtype, _ = _npy_header(open(content, "rb")) if mapped else ((), np.dtype(float), 0)  # noqa: SIM115
    if dtype.hasobject:
        return ArraysFile(path, "NumPy .npy", {ARRAY: Variable(shape, **of_type(dtype))})
    values = np.load(content, mmap_mode="r" if mapped else None, allow_pickle=False)
    variable = Variable(values.shape, values.__getitem__, **of_type(values.dtype))
    return ArraysFile(path, "NumPy .npy", {ARRAY: variable})


def open_npz(path: Path | str, content: Any) -> ArraysFile:
    """Open several arrays; one that is read is kept, since nothing less can be decompressed."""
    opened: Any = np.load(content, allow_pickle=False)
    loaded: dict[str, np.ndarray] = {}

    def read(name: str, selection: Selection) -> np.ndarray:
        if name not in loaded:
            loaded[name] = opened[name]
        return loaded[name][selection]

    variables = {}
    with zipfile.ZipFile(content) as archive:
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            shape, dtype, start = _npy_header(archive.open(member))
            wanted, has = math.prod(shape) * dtype.itemsize, member.file_size - start
            if wanted != has and not dtype.hasobject:
                raise DatasetError(
                    f"{path}: '{name}' has {has} bytes of values; of the shape {shape} expected: {wanted}; "
                    "copy the file anew"
                )
            variables[name] = Variable(shape, partial(read, name), **of_type(dtype), in_memory=float(wanted))
    return ArraysFile(path, "NumPy .npz", variables)


def _npy_header(file: Any) -> tuple[tuple[int, ...], np.dtype, int]:
    """Read the shape and the type of the array in an open .npy, and where its values begin."""
    with file:
        old = np.lib.format.read_magic(file) == (1, 0)
        read = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
        return shape, dtype, file.seek(0, 1)


def open_torch(path: Path | str, content: Any) -> ArraysFile:
    """Open tensors by name, mapped into memory: keys of dictionaries and numbers in lists, joined by `/`."""
    import pickle

    import torch  # the only place of this package that needs it, and imports it when it is needed

    def of_tensor(tensor: Any) -> Variable:
        dtype = torch.float32 if tensor.dtype is torch.bfloat16 else tensor.dtype  # which NumPy lacks
        shape = () if tensor.is_nested else tuple(tensor.shape)
        kinds = {
            "ragged": tensor.is_nested,
            "quantised": tensor.is_quantized,
            "sparse": str(tensor.layout) != "torch.strided",
            "a tensor without values (meta)": tensor.is_meta,
            "complex": tensor.is_complex(),
        }
        if kind := next((words for words, applies in kinds.items() if applies), None):
            return Variable(shape, kind=kind)
        try:
            given = of_type(torch.empty(0, dtype=dtype).numpy().dtype)
        except TypeError:  # a type that NumPy lacks
            return Variable(shape, kind=str(dtype))
        return Variable(shape, lambda selection: tensor.detach()[selection].to(dtype).numpy(), **given)

    def tensors(content: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
        if hasattr(content, "is_quantized"):
            yield prefix or TENSOR, content
        elif isinstance(content, dict | list | tuple):
            for key, value in content.items() if isinstance(content, dict) else enumerate(content):
                yield from tensors(value, f"{prefix}/{key}" if prefix else str(key))

    try:
        found = torch.load(content, map_location="cpu", weights_only=True, mmap=isinstance(content, str))
    except pickle.UnpicklingError as error:
        words = " ".join(str(error).split())
        refused = re.search(r"GLOBAL (\S+)", words)
        raise DatasetError(
            f"{path}: has more than tensors, and could run code when it is read "
            f"({refused[1] if refused else words[:120]}); expected: tensors in dictionaries and lists"
        ) from None
    return ArraysFile(path, "PyTorch .pt", {name: of_tensor(one) for name, one in tensors(found)})


def open_xarray(path: Path | str, content: Any) -> ArraysFile:
    """Open variables by their paths, `group/name`, unpacked as the file's attributes say."""
    import xarray

    try:
        tree = xarray.open_datatree(content, chunks=None, decode_times=False)
        nodes = {f"{node.path}/": node.to_dataset(inherit=False) for node in tree.subtree}
    except (ValueError, NotImplementedError):  # of an engine without groups
        if hasattr(content, "seek"):
            content.seek(0)
        nodes = {"": xarray.open_dataset(content, chunks=None, decode_times=False)}

    def variable(one: Any) -> Variable:
        given = of_type(one.dtype)
        if given["kind"] == "an array of Python objects" and one.size:
            given["text"] = isinstance(one[(0,) * one.ndim].values.item(), str)
            given["kind"] = "text" if given["text"] else given["kind"]
        return Variable(
            tuple(one.shape),
            lambda selection: one[selection or ...].values,
            **given,
            dims=lambda: tuple(map(str, one.dims)),
            # xarray has put nan in the place of what these name.
            attributes=lambda: {key: np.nan for key in MISSING if one.encoding.get(key) is not None},
        )

    found = {
        f"{folder}{name}".strip("/"): variable(one)
        for folder, node in nodes.items()
        for name, one in node.variables.items()
    }
    return ArraysFile(path, "NetCDF", found)


def open_zarr(path: Path | str, content: Any, storage_options: dict | None = None) -> ArraysFile:
    """Open the arrays of a store of version 2 or 3, in a folder or at an address, by their paths."""
    import zarr

    def variable(array: Any) -> Variable:
        def dims() -> tuple[str, ...] | None:
            names = getattr(array.metadata, "dimension_names", None) or array.attrs.get("_ARRAY_DIMENSIONS")
            return tuple(names) if names and all(names) else None

        def attributes() -> Mapping[str, Any]:
            found = dict(array.attrs)
            code = found.get("_FillValue")
            if (
                isinstance(code, str) and np.dtype(array.dtype).kind == "f"
            ):  # as xarray writes it in version 3
                with suppress(ValueError, struct.error):
                    (found["_FillValue"],) = struct.unpack("<d", base64.standard_b64decode(code))
            if "_ARRAY_DIMENSIONS" in found and array.fill_value:  # as xarray writes it in version 2
                found.setdefault("_FillValue", array.fill_value)
            return found

        def unpacked() -> tuple[float, float]:
            values = max(math.prod(array.shape[1:]), math.prod(array.shards or array.chunks))
            size = float(values * np.dtype(array.dtype).itemsize)
            return size, float(array.nbytes_stored()) if size > SMALL else size

        return Variable(
            tuple(array.shape),
            lambda selection: array[selection or ...],
            **of_type(np.dtype(array.dtype)),
            dims=dims,
            attributes=attributes,
            chunks=lambda: (array.nchunks - array.nchunks_initialized, array.nchunks, array.fill_value),
            unpacked=unpacked,
        )

    def arrays(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
        for name, array in sorted(group.arrays()):
            yield prefix + name, array
        for name, inner in sorted(group.groups()):
            yield from arrays(inner, f"{prefix}{name}/")

    root: Any = zarr.open(str(content), mode="r", storage_options=storage_options)
    found = [(ARRAY, root)] if isinstance(root, zarr.Array) else arrays(root)
    version = f"Zarr {root.metadata.zarr_format}"
    return ArraysFile(path, version, {name: variable(array) for name, array in found})
