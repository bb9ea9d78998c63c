"""Files that are whole or absent: written beside, then renamed into place."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from datasets.errors import DatasetError


@contextmanager
def readable_disk_errors(path: Path):
    """Turn a full disk or a missing permission into one line that names the path and the remedy.

    Raises
    ------
    DatasetError
        For "no space", "quota exceeded", "read-only" and "permission denied"; other errors pass.
    """
    try:
        yield
    except OSError as error:
        reasons = {
            errno.ENOSPC: "no space left on the device: free some, or move data_root or results_root",
            errno.EDQUOT: "disk quota exceeded: free some, or move data_root or results_root",
            errno.EACCES: "permission denied: choose a data_root or results_root that you may write to",
            errno.EPERM: "operation not permitted: choose a data_root or results_root that you may write to",
            errno.EROFS: "the file system is read-only: choose another data_root or results_root",
        }
        if error.errno not in reasons:
            raise
        raise DatasetError(f"cannot write {path}: {reasons[error.errno]}") from error


def write_atomically(path: Path, write: Callable[[Path], None]) -> None:
    """Call `write` on a temporary path beside `path`, flush it to disk, rename it to `path`.

    A reader, or a job resumed after a kill, sees the old file, the new file or none; never a part.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with readable_disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            write(temporary)
            with open(temporary, "rb") as file:
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def write_json(path: Path, content: dict) -> None:
    """Write `content` as JSON, atomically, the same bytes for the same content."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def write_arrays(path: Path, arrays: dict[str, np.ndarray], compressed: bool = False) -> None:
    """Write an .npz, atomically."""

    def save(temporary: Path) -> None:
        with open(temporary, "wb") as file:
            (np.savez_compressed if compressed else np.savez)(file, **arrays)

    write_atomically(path, save)


@contextmanager
def sole_writer(path: Path, what: str):
    """Hold the lock file `path` while `what` is written; the lock ends with the process, however it ends.

    Raises
    ------
    DatasetError
        When another process holds it.
    """
    path = Path(path)
    with readable_disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "a+", encoding="utf-8")  # noqa: SIM115  (closed two lines below)
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise DatasetError(
                f"{what} is being written by another job ({file.read().strip() or 'unknown'}); "
                "wait for it, or stop it"
            ) from None
        file.truncate(0)
        file.write(f"process {os.getpid()} on {os.uname().nodename}")
        file.flush()
        yield
        path.unlink(missing_ok=True)
