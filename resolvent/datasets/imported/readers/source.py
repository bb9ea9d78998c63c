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

from resolvent.common.errors import Words
from resolvent.datasets.errors import DatasetError, in_one_line
from resolvent.datasets.imported.readers.arrays_file import ArraysFile, require_size, unreadable
from resolvent.datasets.imported.readers.by_sample import by_sample

SAVE: Words = "saved by torch.save({'a': a, 'u': u}, 'data.pt')"
ACCEPTED = "NumPy (.npz, .npy), MAT 5 and 7.3, HDF5, NetCDF, Zarr, PyTorch (.pt), and what xarray opens"
NUMPY, ZIP = b"\x93NUMPY", b"PK\x03\x04"
HDF5, USERBLOCK = b"\x89HDF\r\n\x1a\n", 512  # MAT files of version 7.3 have so many bytes before HDF5
NETCDF3, MAT = (b"CDF\x01", b"CDF\x02", b"CDF\x05"), b"MATLAB "
PICKLE = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
ZARR = ("zarr.json", ".zgroup", ".zarray", ".zmetadata")  # every store has one of these
NETCDF_SUFFIXES = (".nc", ".nc4", ".cdf", ".netcdf")
# First bytes of unsupported formats, with their names and how to convert them.
FOREIGN: dict[bytes, Words] = {
    b"\x1f\x8b": "is compressed by gzip; unpack it first: gunzip",
    b"BZh": "is compressed by bzip2; unpack it first: bunzip2",
    b"\xfd7zXZ": "is compressed by xz; unpack it first: unxz",
    b"\x28\xb5\x2f\xfd": "is compressed by zstd; unpack it first: unzstd",
    b"7z\xbc\xaf": "is a 7z archive; unpack it first: 7z x",
    b"\x0e\x03\x13\x01": "is HDF4; convert it to HDF5 first: h4toh5",
    b"PAR1": "is Parquet, a table; save arrays: np.savez('data.npz', a=…, u=…)",
    b"GRIB": "is GRIB; install the package cfgrib, with which xarray opens it",
}
PATIENCE = 10  # timeout in seconds for each request; opening a file takes at most five


def is_remote(source: str) -> bool:
    """Return whether `source` looks like an address."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", source) is not None


def filesystem(address: str) -> tuple[Any, str]:
    """Return fsspec's file system for `address`, and the path in it. Errors contain no credentials."""
    import fsspec

    if "@" in address.split("://", 1)[1].split("/", 1)[0]:
        raise DatasetError(
            f"an address on {address.partition('://')[0]}:// has a '@' before its first '/'; credentials are "
            "environment variables, such as AWS_PROFILE"
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
    """Open a file, store or address with the reader for its format.

    Raises `DatasetError` if it cannot be read, is damaged, or has an unknown format.
    """
    return by_sample(_open_remote(str(source)) if is_remote(str(source)) else _open_local(Path(source)))


def _open_local(path: Path) -> ArraysFile:
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
                        "what its links lead to: cp -rL"
                    )
        return _open_store(str(path))
    if not path.is_file():
        what = "is no ordinary file" if path.exists() else "does not exist"
        raise DatasetError(f"the file {path} {what}; paths are from the working folder, or absolute")
    try:
        with path.open("rb") as file:
            head = file.read(2 * USERBLOCK)
    except OSError as error:
        raise DatasetError(f"the file {path} cannot be read ({error.strerror})") from None
    return _open_file(path, head, str(path))


def _open_remote(address: str) -> ArraysFile:
    files, place = filesystem(address)
    try:
        if any(files.exists(f"{place.rstrip('/')}/{name}") for name in ZARR):
            return _open_store(address)
        content = files.open(place, "rb")
        head = content.read(2 * USERBLOCK)
        content.seek(0)
    except DatasetError:
        raise
    except Exception as error:  # anything: servers, networks, permissions
        raise unreachable(address, error) from None
    return _open_file(address, head, content)


def _open_store(place: str) -> ArraysFile:
    from resolvent.datasets.imported.readers.formats import open_zarr

    by = partial(open_zarr, storage_options=options(place) or None)
    return _read_by(by, place, place, "not a Zarr store, or damaged")


def _open_file(path: Path | str, head: bytes, content: Any) -> ArraysFile:
    """Open a file by its first bytes; `content` is its path, or a seekable file."""
    from resolvent.datasets.imported.readers import formats, hdf5

    suffix = Path(str(path).partition("?")[0]).suffix.lower()
    of_hdf5 = HDF5 in (head[: len(HDF5)], head[USERBLOCK : USERBLOCK + len(HDF5)])
    if suffix == ".mat" or head.startswith(MAT):
        reader = hdf5.open_mat_73 if of_hdf5 else hdf5.open_mat_5
        return _read_by(reader, path, content, "not a MAT file of version 5 or 7.3, or damaged")
    if not head:
        raise DatasetError(f"{path}: is empty; expected: {ACCEPTED}")
    if head.startswith(NUMPY):
        return _read_by(formats.open_npy, path, content, "not a whole .npy file")
    if head.startswith(ZIP):
        return _open_zip(path, content)
    if of_hdf5 and not (suffix in NETCDF_SUFFIXES or hdf5.is_netcdf(content)):
        return _read_by(hdf5.open_hdf5, path, content, "not a whole HDF5 file")
    if of_hdf5 or head.startswith(NETCDF3):
        reader = hdf5.open_netcdf if of_hdf5 else formats.open_xarray
        return _read_by(reader, path, content, "not a whole NetCDF file")
    if head.startswith(PICKLE):
        raise DatasetError(
            f"{path}: is a pickle, which can run code when it is read; expected: {ACCEPTED}; save tensors "
            "with torch.save of PyTorch 1.6 or later, arrays with numpy.savez"
        )
    try:
        return formats.open_xarray(path, content)
    except Exception:  # xarray's engines can raise anything for an unknown format
        raise DatasetError(f"{path}: {_foreign(head)}; expected: {ACCEPTED}") from None


def _open_zip(path: Path | str, content: Any) -> ArraysFile:
    """Open a zip archive of NumPy or PyTorch."""
    from resolvent.datasets.imported.readers.formats import open_npz, open_torch

    try:
        with zipfile.ZipFile(content) as archive:
            members = archive.infolist()
    except Exception as error:  # damaged archives can raise anything
        raise unreadable(path, error, "not a whole .npz or .pt file") from None
    names = [one.filename for one in members]
    require_size(str(path), sum(one.file_size for one in members), sum(one.compress_size for one in members))
    if hasattr(content, "seek"):
        content.seek(0)
    if any("/code/" in name or name.endswith("archive_format") for name in names):
        raise DatasetError(f"{path}: is a program of PyTorch; expected: tensors, {SAVE}")
    if any(name.endswith("/data.pkl") for name in names):
        return _read_by(open_torch, path, content, "not a file of tensors")
    if names and all(name.endswith(".npy") for name in names):
        return _read_by(open_npz, path, content, "not a whole .npz file")
    found = ", ".join(names[:5]) or "nothing"
    raise DatasetError(f"{path}: is an archive with {found}; unpack it first: unzip; expected: {ACCEPTED}")


def _foreign(head: bytes) -> Words:
    """Return what a file with these first bytes is, and what to do with it."""
    for begins, words in FOREIGN.items():
        if head.startswith(begins):
            return words
    if head[257:262] == b"ustar":
        return "is a tar archive; unpack it first: tar -xf"
    text = head.decode("ascii", "replace")
    if re.sub(r"[\n\r\t]", "", text).isprintable():
        header = ", skiprows=1" if re.search("[A-Za-z]{2}|[A-DF-Za-df-z]", text.partition("\n")[0]) else ""
        read = f"np.loadtxt('data.csv', delimiter=','{header})"
        return f"is text, such as CSV; save arrays: np.savez('data.npz', u={read})"
    return f"begins with {head[:8]!r}, no format that is known"


def _read_by(reader: Any, path: Path | str, content: Any, what: str) -> ArraysFile:
    try:
        return reader(path, content)
    except DatasetError:
        raise
    except Exception as error:  # damaged files can make readers raise anything
        raise unreadable(path, error, what) from None
