"""SHA256SUMS of a folder, in the format of the command `sha256sum`."""

from __future__ import annotations

import os
import time
from pathlib import Path

from resolvent.common.digests import file_digest
from resolvent.common.files import everything_below, write_text

SUMS = "SHA256SUMS"
# Weights, whose digest is in run.json; logs for TensorBoard; files of jobs that are running or were killed.
NOT_SUMMED = ("*.pt", "*.lock", "*.partial", "*/tensorboard/*")


def summed_files(folder: Path) -> dict[str, Path]:
    """Return the files below a folder that its SHA256SUMS lists, by their names from there."""
    files = {file.relative_to(folder).as_posix(): file for file in everything_below(folder) if file.is_file()}
    left_out = {name for name, file in files.items() if any(file.match(pattern) for pattern in NOT_SUMMED)}
    return {name: file for name, file in files.items() if name != SUMS and name not in left_out}


def write_sums(folder: Path | str) -> None:
    """Write SHA256SUMS of a folder, for `sha256sum --check SHA256SUMS`.

    Files that have not been written since the last call keep their line, so a damaged file does not get a new
    digest.
    """
    sums, begun = Path(folder) / SUMS, time.time()
    known, last = dict[str, str](), 0.0
    if sums.exists():
        last = sums.stat().st_mtime
        known = {line[66:]: line[:64] for line in sums.read_text(encoding="utf-8").splitlines()}
    lines = []
    for name, file in summed_files(Path(folder)).items():
        unchanged = name in known and file.stat().st_mtime < last
        lines.append(f"{known[name] if unchanged else file_digest(file)}  {name}\n")
    write_text(sums, "".join(lines))
    os.utime(sums, (begun, begun))  # what is written while digests are computed counts as changed
