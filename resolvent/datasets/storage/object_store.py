"""Access stores in an object store; errors become one line without credentials."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import fsspec
import numpy as np
from zarr.storage import FsspecStore

from resolvent.datasets.errors import DatasetError, damaged, in_one_line
from resolvent.datasets.storage.addresses import check_installed

SECRETS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
AT_ONCE = 64  # ranges per request: about 64 MB of samples
CHUNK = re.compile(r"(?P<name>.+)/c/(?P<shard>\d+)(/\d+)*")


def opened(store: Path | str) -> Path | ObjectStore:
    """Return the store at `store` as Zarr and xarray accept it. Raises `DatasetError` without its package."""
    if not isinstance(store, str):
        return store
    return ObjectStore(_file_system(store, asynchronous=True), path=store)


def upload(folder: Path, address: str) -> None:
    """Upload every file below `folder` to `address`; the root's zarr.json, which completes the store, last.

    Concurrent jobs upload the same bytes. Raises `DatasetError` on failure.
    """
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    objects = {f"{address}/{file.relative_to(folder).as_posix()}": file.read_bytes() for file in files}
    root = f"{address}/zarr.json"
    completing = objects.pop(root)
    with _readable_errors(address):
        system = _file_system(address)
        system.pipe(objects)
        system.pipe_file(root, completing)


def put(address: str, content: bytes) -> None:
    """Upload one object. Raises as `upload`."""
    with _readable_errors(address):
        _file_system(address).pipe_file(address, content)


def remove(address: str) -> None:
    """Remove one object, if it exists. Raises as `upload`."""
    with _readable_errors(address):
        _file_system(address).rm_file(address)


def ranges_of(address: str, parts: list[tuple[str, int, int]]) -> Iterator[np.ndarray]:
    """Yield the bytes of `parts` of the objects below an address, with AT_ONCE parts per request.

    A part is the object's name, the first byte (from the end if negative), and the number of bytes. Raises
    `FileNotFoundError` for a missing object, otherwise as `upload`.
    """
    for start in range(0, len(parts), AT_ONCE):
        some = parts[start : start + AT_ONCE]
        names = [f"{address}/{name}" for name, _, _ in some]
        ends = [None if first < 0 else first + length for _, first, length in some]
        with _readable_errors(address):
            system = _file_system(address)
            contents = system.cat_ranges(names, [first for _, first, _ in some], ends, on_error="return")
            contents = [b"" if _code(part) == "InvalidRange" else part for part in contents]  # behind the end
            lost = [isinstance(part, FileNotFoundError) and not _no_bucket(part) for part in contents]
            for content, is_lost in zip(contents, lost, strict=True):
                if isinstance(content, Exception) and not is_lost:
                    raise content
        if any(lost):
            raise FileNotFoundError(errno.ENOENT, "no such object", names[lost.index(True)])
        yield from (np.frombuffer(content, np.uint8) for content in contents)


def size_of(store: Path | str) -> int:
    """Return the size in bytes of the store at `store` (`addresses.located`). Raises as `upload`."""
    if not isinstance(store, str):
        return sum(file.stat().st_size for file in store.rglob("*") if file.is_file())
    with _readable_errors(store):
        return int(_file_system(store).du(store))


class ObjectStore(FsspecStore):
    """The objects below an address, as a Zarr store; reading a missing chunk is an error, not fill values."""

    def __init__(self, fs, read_only: bool = False, path: str = "/", allowed_exceptions=()):
        super().__init__(fs, read_only, fs._strip_protocol(path), allowed_exceptions)
        self.address = fs.unstrip_protocol(self.path)

    async def get(self, key, prototype, byte_range=None):
        with _readable_errors(self.address):
            try:
                return await super().get(key, prototype, byte_range)
            except FileNotFoundError as error:
                if _no_bucket(error):
                    raise
        if self.read_only and (chunk := CHUNK.fullmatch(key)):
            raise damaged(self.address, f"lacks shard {chunk['shard']} of '{chunk['name']}'")
        return None

    async def set(self, key, value, byte_range=None) -> None:
        with _readable_errors(self.address):
            await super().set(key, value, byte_range)

    async def exists(self, key) -> bool:
        with _readable_errors(self.address):
            return await super().exists(key)

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        with _readable_errors(self.address):
            async for name in super().list_dir(prefix):
                yield name


def _file_system(address: str, asynchronous: bool = False) -> fsspec.AbstractFileSystem:
    check_installed(address)
    return fsspec.filesystem(address.partition("://")[0], asynchronous=asynchronous, use_listings_cache=False)


@contextmanager
def _readable_errors(address: str) -> Iterator[None]:
    """Turn any error of the object store into a one-line `DatasetError` that says what to set."""
    try:
        yield
    except DatasetError:
        raise
    except Exception as error:
        if _no_bucket(error):
            protocol, _, place = address.partition("://")
            bucket = f"{protocol}://{place.partition('/')[0]}"
            raise DatasetError(
                f"cannot reach {address}: {bucket} does not exist; create it, or correct data_root"
            ) from error
        reason = in_one_line(error) or type(error).__name__
        for secret in filter(None, map(os.environ.get, SECRETS)):
            reason = reason.replace(secret, "***")
        raise DatasetError(
            f"cannot reach {address} ({re.sub(r'//[^/ ]*@', '//', reason)}); set credentials by AWS_PROFILE, "
            "or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and a server other than AWS by AWS_ENDPOINT_URL"
        ) from error


def _no_bucket(error: Exception) -> bool:
    return _code(error) == "NoSuchBucket"


def _code(error: object) -> str | None:
    """Return the server's error code, or None."""
    response = getattr(getattr(error, "__cause__", None), "response", None) or {}
    return response.get("Error", {}).get("Code")
