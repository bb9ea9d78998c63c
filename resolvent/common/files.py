"""Write files atomically: to a temporary file in the same folder, then renamed."""

from __future__ import annotations

import errno
import glob
import hashlib
import json
import math
import os
import shutil
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.common.errors import FileError
from resolvent.common.machine import is_alive

FULL_DISK = {
    errno.ENOSPC: "no space left on the device: free some, or move data_root or results_root",
    errno.EDQUOT: "disk quota exceeded: free some, or move data_root or results_root",
}
# Raised by `np.load`, and by reading its arrays, if a file is damaged; Python's parser reads the headers.
DAMAGED_NUMPY = (
    ValueError, KeyError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error, tokenize.TokenError
)  # fmt: skip
LARGEST = 2**64  # integers of records are smaller
OWN_DIGEST = "sha256"  # key of a JSON file: the SHA-256 of all its other keys
REFUSED = {
    errno.EACCES: "permission denied: choose a data_root or results_root that you may write to",
    errno.EPERM: "operation not permitted: choose a data_root or results_root that you may write to",
    errno.EROFS: "the file system is read-only: choose another data_root or results_root",
}


@contextmanager
def readable_disk_errors(path: Path, reasons: dict[int, str] = FULL_DISK | REFUSED):
    """Report a full disk or a missing permission in one line with the path and the remedy.

    Raises `FileError` for the error numbers in `reasons`; other errors pass.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in reasons:
            raise
        raise FileError(f"cannot write {path}: {reasons[error.errno]}") from error


def partial_path(path: Path) -> Path:
    """Return this process's temporary path for `path`; remove temporary files of killed processes."""
    prefix = f".{path.name}.{os.uname().nodename}-"
    for left in path.parent.glob(f"{glob.escape(prefix)}*.partial"):
        process = left.name.removeprefix(prefix).removesuffix(".partial")
        if process.isdecimal() and not is_alive(int(process)):
            remove(left)
    return path.with_name(f"{prefix}{os.getpid()}.partial")


def everything_below(folder: Path) -> list[Path]:
    """Return all files and folders below a folder, sorted, also through links, but no content twice."""
    paths, seen = list[Path](), set[str]()
    for place, folders, files in os.walk(folder, followlinks=True):
        if (real := os.path.realpath(place)) in seen:
            folders.clear()
        else:
            paths += [Path(place, name) for name in (*folders, *files)]
        seen.add(real)
    return sorted(paths)


def remove(path: Path) -> None:
    """Remove a file, or a folder with its content, if it exists."""
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
    """Return the JSON object at `path`, without its digest, if any; `what` names the file in messages.

    Raises `FileError` if the file cannot be read, is damaged or was altered. `FileNotFoundError` passes.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        foreign = next(_foreign(content), None)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise FileError(f"{what} {path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:  # no JSON, or no text
        raise FileError(f"{what} {path} is damaged ({error}); delete it and run snakemake") from None
    if not isinstance(content, dict):
        foreign = "not a JSON object"
    if foreign is not None:
        raise FileError(f"{what} {path} is damaged ({foreign}); delete it and run snakemake")
    written = content.pop(OWN_DIGEST, None)
    if written is not None and written != _content_digest(content):
        raise FileError(
            f"{what} {path} was altered: delete it and run snakemake (the SHA-256 of its content differs "
            f"from its key '{OWN_DIGEST}')"
        )
    return content


def _foreign(content: Any, place: str = "") -> Iterator[str]:
    """Yield a line for each value that `write_json` does not write, though Python reads it from JSON."""
    if isinstance(content, dict | list):
        entries = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in entries:
            yield from _foreign(value, f"{place}.{key}" if place else str(key))
    elif isinstance(content, float) and not math.isfinite(content):
        yield f"'{place}' is {content}, which is not a finite number"
    elif isinstance(content, int) and abs(content) > LARGEST:
        yield f"'{place}' is an integer of more than 64 bits"
    elif isinstance(content, str) and any("\ud800" <= char <= "\udfff" for char in content):
        yield f"'{place}' is not text: it has half a character"


def write_json(path: Path, content: dict) -> None:
    """Write `content` as JSON with its SHA-256, atomically. Equal contents give equal bytes."""
    write_text(path, text_with_digest(content))


def text_with_digest(content: dict) -> str:
    """Return the text that `write_json` writes."""
    content = {key: value for key, value in content.items() if key != OWN_DIGEST}
    return json_text(content | {OWN_DIGEST: _content_digest(json.loads(json_text(content)))})


def _content_digest(content: dict) -> str:
    """Return the SHA-256 of a JSON object; it does not depend on the layout of the file."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def write_text(path: Path, text: str) -> None:
    """Write `text` in UTF-8, atomically."""
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def json_text(content: dict) -> str:
    """Return `content` as indented JSON without a digest, for formats that other programs define."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_arrays(path: Path, arrays: dict[str, np.ndarray], compressed: bool = False) -> None:
    """Write an .npz, atomically.

    Compressed at the fastest level: at others, floats take two to three times as long and are hardly smaller.
    """

    def save(temporary: Path) -> None:
        method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
        with zipfile.ZipFile(temporary, "w", method, compresslevel=1) as file:
            for name, values in arrays.items():
                with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asanyarray(values))

    write_atomically(path, save)
