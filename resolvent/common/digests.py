"""SHA-256 sidecar files for tables, arrays and HTML fragments.

`comparison.csv.sha256` has the SHA-256 of `comparison.csv` in the format of the command `sha256sum`, so
`sha256sum --check comparison.csv.sha256` verifies it too. JSON files contain their own digest
(`resolvent.common.files`), and `run.json` contains the digests of the run's files
(`resolvent.common.records`).
"""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Final

from resolvent.common.errors import FileError
from resolvent.common.files import write_arrays, write_text

if TYPE_CHECKING:
    import numpy as np

SUFFIX: Final = ".sha256"


class Unverified(UserWarning):
    """Warn that a file without a digest is read."""


def digest_path(path: Path | str) -> Path:
    """Return the path of the digest of the file `path`."""
    path = Path(path)
    return path.with_name(path.name + SUFFIX)


def write_digest(path: Path | str) -> None:
    """Write the digest of the file `path` next to it, atomically."""
    path = Path(path)
    write_text(digest_path(path), f"{file_digest(path)}  {path.name}\n")


def save_arrays(path: Path | str, arrays: dict[str, np.ndarray]) -> None:
    """Write a compressed .npz and its digest, each atomically."""
    write_arrays(Path(path), arrays, compressed=True)
    write_digest(path)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_digest(path: Path | str, remedy: str = "delete it and run snakemake") -> Path:
    """Return `path` if the file has the SHA-256 of its sidecar; `remedy` ends the error message.

    Warns (`Unverified`) if there is no sidecar. Raises `FileError` if the file is missing, empty or
    unreadable, or has another SHA-256.
    """
    path = check_present(path)
    if not digest_path(path).exists():
        warnings.warn(
            f"{path} cannot be verified, since {path.name}{SUFFIX} is missing: the file is of an earlier "
            "version or made by hand",
            Unverified,
            stacklevel=2,
        )
        return path
    try:
        written = digest_path(path).read_text(encoding="utf-8", errors="replace").partition(" ")[0]
        computed = file_digest(path)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}") from None
    if computed != written:
        raise FileError(f"{path} was altered: {remedy} (its SHA-256 is not that of {path.name}{SUFFIX})")
    return path


def check_present(path: Path | str) -> Path:
    """Return `path` if it is a non-empty file. Raises `FileError` otherwise."""
    path = Path(path)
    if not path.is_file():
        raise FileError(f"{path} is missing", remedy=f"make it with `snakemake {path}`")
    if path.stat().st_size == 0:
        raise FileError(f"{path} is empty: delete it and run snakemake")
    return path
