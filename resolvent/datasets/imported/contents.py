"""The SHA-256 of files that data are imported from, computed once for as long as a file is not touched."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from resolvent.common.errors import FileError
from resolvent.common.files import read_json, write_json
from resolvent.common.records import file_digest
from resolvent.datasets.errors import DatasetError

KNOWN = Path(".snakemake/source_digests.json")  # of the working folder, where Snakemake has made its own


def content_digest(path: Path | str) -> str:
    """Return the SHA-256 of the file at `path`.

    That of a large file takes seconds, and every planning asks for it: it is remembered with the file's size,
    inode and times, of which the time of change cannot be set back.

    Raises
    ------
    DatasetError
        When the file is missing or cannot be read.
    """
    path = Path(path)
    try:
        now = path.stat()
        seen = [now.st_size, now.st_ino, now.st_mtime_ns, now.st_ctime_ns]
        known, key = _known(), str(path.resolve())
        if known.get(key, {}).get("seen") == seen:
            return known[key]["sha256"]
        digest = file_digest(path)
    except OSError as error:
        raise DatasetError(f"the file {path} cannot be read ({error.strerror})") from None
    if KNOWN.parent.is_dir():
        with suppress(FileError):  # a folder that is not ours to write
            write_json(KNOWN, {**known, key: {"seen": seen, "sha256": digest}})
    return digest


def _known() -> dict:
    try:
        return read_json(KNOWN, "the list of digests")
    except (FileNotFoundError, FileError):
        return {}
