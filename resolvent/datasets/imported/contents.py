"""The SHA-256 of files that data are imported from, computed once for as long as a file is not touched."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from resolvent.common.digests import file_digest
from resolvent.common.errors import FileError
from resolvent.common.files import read_json, write_json
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.source import filesystem, is_remote, unreachable

KNOWN = Path(".snakemake/source_digests.json")  # of the working folder, where Snakemake has made its own
# What servers say of a file, in fsspec's words.
SAID = ("size", "ETag", "etag", "LastModified", "last_modified", "mtime", "created", "blob_id", "sha")


def content_digest(path: Path | str) -> str:
    """Return the SHA-256 of what is at `path`.

    That of a large file takes seconds, and every planning asks for it: it is remembered with the file's size,
    inode and times, of which the time of change cannot be set back. Of a folder, which is a Zarr store, it is
    that of the names and the SHA-256 of its files. What is at an address is not read for it: it is the
    SHA-256 of what the server says of it, its size and its tag or time of change.

    Raises
    ------
    DatasetError
        When it is missing or cannot be read.
    """
    if is_remote(str(path)):
        return _remote_digest(str(path))
    path = Path(path)
    try:
        seen = [_seen(file) for file in _files(path)]
        known, key = _known(), str(path.resolve())
        if known.get(key, {}).get("seen") == seen:
            return known[key]["sha256"]
        digest = _folder_digest(path) if path.is_dir() else file_digest(path)
    except OSError as error:
        raise DatasetError(f"the file {path} cannot be read ({error.strerror})") from None
    if KNOWN.parent.is_dir():
        with suppress(FileError):  # a folder that is not ours to write
            write_json(KNOWN, {**known, key: {"seen": seen, "sha256": digest}})
    return digest


def check_digests(
    expected: list[str] | None, paths: Sequence[Path | str], found: list[str], remedy: str
) -> None:
    """Raise a `DatasetError` where the SHA-256 found of a file is not the one expected; None expects none."""
    if expected is None:
        return
    if len(expected) != len(found):
        raise DatasetError(f"sha256 has {len(expected)} entries for {len(found)} files; {remedy}")
    for path, digest, wanted in zip(paths, found, expected, strict=True):
        if digest != wanted:
            raise DatasetError(f"{path}: its SHA-256 is {digest}; expected: {wanted}; {remedy}")


def _files(path: Path) -> list[Path]:
    return sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


def _seen(file: Path) -> list[int]:
    now = file.stat()
    return [now.st_size, now.st_ino, now.st_mtime_ns, now.st_ctime_ns]


def _folder_digest(folder: Path) -> str:
    content = hashlib.sha256()
    for file in _files(folder):
        content.update(f"{file.relative_to(folder).as_posix()}\0{file_digest(file)}\n".encode())
    return content.hexdigest()


def _remote_digest(address: str) -> str:
    files, place = filesystem(address)
    try:
        entries = files.find(place, detail=True) or {place: files.info(place)}
    except Exception as error:  # of any kind: of servers, networks and rights
        raise unreachable(address, error) from None
    said = {
        name.removeprefix(place): {key: str(entry[key]) for key in SAID if entry.get(key) is not None}
        for name, entry in entries.items()
    }
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _known() -> dict:
    try:
        return read_json(KNOWN, "the list of digests")
    except (FileNotFoundError, FileError):
        return {}
