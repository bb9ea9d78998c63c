"""Files that are whole or absent: written beside, then renamed into place."""

from __future__ import annotations

import errno
import glob
import json
import os
import shutil
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from resolvent.common.errors import FileError

FULL_DISK = {
    errno.ENOSPC: "no space left on the device: free some, or move data_root or results_root",
    errno.EDQUOT: "disk quota exceeded: free some, or move data_root or results_root",
}
REFUSED = {
    errno.EACCES: "permission denied: choose a data_root or results_root that you may write to",
    errno.EPERM: "operation not permitted: choose a data_root or results_root that you may write to",
    errno.EROFS: "the file system is read-only: choose another data_root or results_root",
}


@contextmanager
def readable_disk_errors(path: Path, reasons: dict[int, str] = FULL_DISK | REFUSED):
    """Turn a full disk or a missing permission into one line that names the path and the remedy.

    Raises
    ------
    FileError
        For an error number among `reasons`; other errors pass.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in reasons:
            raise
        raise FileError(f"cannot write {path}: {reasons[error.errno]}") from error


def partial_path(path: Path) -> Path:
    """Return where this process writes what becomes `path`. What killed processes left of it there is
    removed."""
    prefix = f".{path.name}.{os.uname().nodename}-"
    for left in path.parent.glob(f"{glob.escape(prefix)}*.partial"):
        process = left.name.removeprefix(prefix).removesuffix(".partial")
        if process.isdecimal() and not _is_alive(int(process)):
            remove(left)
    return path.with_name(f"{prefix}{os.getpid()}.partial")


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        pass
    return True


def remove(path: Path) -> None:
    """Remove a file or a folder with all that is in it, if it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Call `write` on a temporary path beside `path`, flush it to disk, rename it to `path`.

    A reader, or a job resumed after a kill, sees the old file, the new file or none; never a part.
    """
    path = Path(path)
    with readable_disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = partial_path(path)
        try:
            write(temporary)
            with open(temporary, "rb") as file:
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def read_json(path: Path, what: str) -> dict:
    """Return the JSON object at `path`; `what` names it in the message.

    Raises
    ------
    FileError
        When it is damaged. `FileNotFoundError` passes.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:  # no JSON, or no text
        raise FileError(f"{what} {path} is damaged ({error}); delete it and run snakemake") from None
    if not isinstance(content, dict):
        raise FileError(f"{what} {path} is damaged (no object in it); delete it and run snakemake")
    return content


def write_json(path: Path, content: dict) -> None:
    """Write `content` as JSON, atomically, the same bytes for the same content."""
    write_text(path, json_text(content))


def write_text(path: Path, text: str) -> None:
    """Write `text` in UTF-8, atomically."""
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def json_text(content: dict) -> str:
    """Return what `write_json` writes."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_arrays(path: Path, arrays: dict[str, np.ndarray], compressed: bool = False) -> None:
    """Write an .npz, atomically."""

    def save(temporary: Path) -> None:
        with open(temporary, "wb") as file:
            save_arrays: Callable[..., None] = np.savez_compressed if compressed else np.savez
            save_arrays(file, **arrays)

    write_atomically(path, save)
