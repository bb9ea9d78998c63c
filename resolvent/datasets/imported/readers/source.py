"""Open a source with the reader for its format.

A source is a file, a Zarr store (a folder), or an address of either: `https://…`, `s3://…`, `hf://…`, or any
other protocol of fsspec. The format is determined by the first bytes, not by the suffix.
"""

from __future__ import annotations

import os
import re
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

from resolvent.datasets.errors import DatasetError, in_one_line
from resolvent.datasets.imported.readers import formats, hdf5
from resolvent.datasets.imported.readers.arrays_file import ArraysFile, require_size, unreadable
from resolvent.datasets.imported.readers.joined import joined

SAVE = "saved by torch.save({'a': a, 'u': u}, 'data.pt')"
ACCEPTED = "NumPy (.npz, .npy), MAT 5 and 7.3, HDF5, NetCDF, Zarr, PyTorch (.pt), CSV, or a format of xarray"
NUMPY, ZIP = b"\x93NUMPY", b"PK\x03\x04"
HDF5, USERBLOCK = b"\x89HDF\r\n\x1a\n", 512  # MAT files of version 7.3 have this many bytes before HDF5
NETCDF3, MAT = (b"CDF\x01", b"CDF\x02", b"CDF\x05"), b"MATLAB "
PICKLE = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
ZARR = ("zarr.json", ".zgroup", ".zarray", ".zmetadata")  # every store has one of these
# First bytes of the commonest unsupported formats (of tar, from byte 257), and how to convert them.
FOREIGN = {
    b"\x1f\x8b": "is compressed by gzip; unpack it first: gunzip",
    b"ustar": "is a tar archive; unpack it first: tar -xf",
    b"PAR1": "is a Parquet table; save arrays: np.savez('data.npz', a=…, u=…)",
    b"\x0e\x03\x13\x01": "is HDF4; convert it to HDF5 first: h4toh5",
}
PATIENCE = 10  # timeout in seconds for each request; opening a file takes at most five


def is_remote(source: str) -> bool:
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", source) is not None


def filesystem(address: str) -> tuple[Any, str]:
    """Return fsspec's file system for `address`, and the path in it. Errors contain no credentials."""
    import fsspec

    if "@" in address.split("://", 1)[1].split("/", 1)[0]:
        raise DatasetError(
            f"an address on {address.partition('://')[0]}:// has a '@' before its first '/'; set credentials "
            "as environment variables, such as AWS_PROFILE"
        )
    try:
        files, place = fsspec.core.url_to_fs(address, **options(address))
    except Exception as error:  # anything: unknown protocol, missing package
        raise unreachable(address, error) from None
    if hasattr(files, "retries"):  # S3: every retry waits for the full timeout
        files.retries = 2
    return files, place


def options(address: str) -> dict[str, Any]:
    """Return the options of fsspec and Zarr for a timeout of `PATIENCE` seconds."""
    if address.startswith(("http://", "https://")):
        from aiohttp import ClientTimeout

        return {"client_kwargs": {"timeout": ClientTimeout(None, sock_connect=PATIENCE, sock_read=PATIENCE)}}
    if address.startswith("s3://"):
        patience = {"connect_timeout": PATIENCE, "read_timeout": PATIENCE, "retries": {"max_attempts": 0}}
        return {"config_kwargs": patience}
    return {}


def unreachable(address: str, error: BaseException) -> DatasetError:
    """Return the error for an unreadable address, with the root cause, which fsspec hides."""
    while cause := error.__cause__ or error.__context__:
        error = cause
    reason = f"{type(error).__name__}: {in_one_line(error)}"[:200]
    return DatasetError(f"the address {address} cannot be read ({reason}); expected: a file or a Zarr store")


def open_source(source: Path | str) -> ArraysFile:
    """Open a file, store or address; `DatasetError` if it is unreadable, damaged or of an unknown format."""
    path = str(source) if is_remote(str(source)) else Path(source)
    head, content = _open_remote(path) if isinstance(path, str) else _open_local(path)
    kind, reader = _reader_of(path, head, content)
    try:
        file = reader(path, content)
    except DatasetError:
        raise
    except Exception as error:  # damaged files can make readers raise anything
        raise unreadable(path, error, f"not a complete {kind}") from None
    return joined(file)


def _open_local(path: Path) -> tuple[bytes | None, str]:
    """Return the first bytes, or None for a Zarr store, and the path for the reader."""
    if path.is_dir():
        if not any((path / name).exists() for name in ZARR):
            raise DatasetError(
                f"the file {path} is a folder; expected: a file, or a Zarr store with {', '.join(ZARR[:3])}"
            )
        for folder, folders, files in os.walk(path):  # a link could read any file as a chunk
            for one in (Path(folder, name) for name in (*folders, *files)):
                if one.is_symlink() and not one.resolve().is_relative_to(path.resolve()):
                    raise DatasetError(
                        f"{path}: {one.relative_to(path)} is a link out of the store; copy the store with "
                        "the linked files: cp -rL"
                    )
        return None, str(path)
    if not path.is_file():
        what = "is not a regular file" if path.exists() else "does not exist"
        raise DatasetError(f"the file {path} {what}; paths are relative to the working folder, or absolute")
    try:
        with path.open("rb") as file:
            return file.read(2 * USERBLOCK), str(path)
    except OSError as error:
        raise DatasetError(f"the file {path} cannot be read ({error.strerror})") from None


def _open_remote(address: str) -> tuple[bytes | None, Any]:
    """Return the first bytes, or None for a Zarr store, and the open file, or the address of the store."""
    files, place = filesystem(address)
    try:
        if any(files.exists(f"{place.rstrip('/')}/{name}") for name in ZARR):
            return None, address
        content = files.open(place, "rb")
        head = content.read(2 * USERBLOCK)
        content.seek(0)
    except Exception as error:  # anything: servers, networks, permissions
        raise unreachable(address, error) from None
    return head, content


def _reader_of(path: Path | str, head: bytes | None, content: Any) -> tuple[str, Any]:
    """Return name and reader of a format, by the first bytes (None for a Zarr store) and the suffix."""
    if head is None:
        return "Zarr store", partial(formats.open_zarr, storage_options=options(content) or None)
    suffix = Path(str(path).partition("?")[0]).suffix.lower()
    of_hdf5 = HDF5 in (head[: len(HDF5)], head[USERBLOCK : USERBLOCK + len(HDF5)])
    if suffix == ".mat" or head.startswith(MAT):
        return "MAT file (version 5 or 7.3)", hdf5.open_mat_73 if of_hdf5 else hdf5.open_mat_5
    if not head:
        raise DatasetError(f"{path}: is empty; expected: {ACCEPTED}")
    if head.startswith(NUMPY):
        return ".npy file", formats.open_npy
    if head.startswith(ZIP):
        return _zip_reader(path, content)
    if of_hdf5:
        return "HDF5 file", hdf5.open_hdf5
    if head.startswith(NETCDF3):
        return "NetCDF file", formats.open_xarray
    if head.startswith(PICKLE):
        raise DatasetError(
            f"{path}: is a pickle, which can run code when it is read; expected: {ACCEPTED}; save tensors "
            "with torch.save of PyTorch 1.6 or later, arrays with numpy.savez"
        )
    for begins, remedy in FOREIGN.items():
        if begins in (head[: len(begins)], head[257:262]):
            raise DatasetError(f"{path}: {remedy}; expected: {ACCEPTED}")
    text = re.sub(r"[\n\r\t]", "", head.decode("utf-8", "replace"))
    if text.isprintable() and "\ufffd" not in text[:-1]:
        return "table of numbers (CSV)", formats.open_csv

    def by_xarray(path: Path | str, content: Any) -> ArraysFile:
        try:
            return formats.open_xarray(path, content)
        except Exception:  # xarray's engines can raise anything for an unknown format
            unknown = f"has an unknown format (it begins with {head[:8]!r})"
            raise DatasetError(f"{path}: {unknown}; expected: {ACCEPTED}") from None

    return "", by_xarray


def _zip_reader(path: Path | str, content: Any) -> tuple[str, Any]:
    try:
        with zipfile.ZipFile(content) as archive:
            members = archive.infolist()
    except Exception as error:  # damaged archives can raise anything
        raise unreadable(path, error, "not a complete .npz or .pt file") from None
    names = [one.filename for one in members]
    require_size(str(path), sum(one.file_size for one in members), sum(one.compress_size for one in members))
    if hasattr(content, "seek"):
        content.seek(0)
    if any("/code/" in name or name.endswith("archive_format") for name in names):
        raise DatasetError(f"{path}: is a PyTorch program; expected: tensors, {SAVE}")
    if any(name.endswith("/data.pkl") for name in names):
        return "file of tensors", formats.open_torch
    if names and all(name.endswith(".npy") for name in names):
        return ".npz file", formats.open_npz
    found = ", ".join(names[:5]) or "nothing"
    raise DatasetError(f"{path}: is an archive with {found}; unpack it first: unzip; expected: {ACCEPTED}")
