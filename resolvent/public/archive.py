"""Pack a study into one file to share."""

from __future__ import annotations

import zipfile
from pathlib import Path

from resolvent.common.errors import FileError
from resolvent.common.files import everything_below, write_atomically
from resolvent.figures.front.page import PAGE
from resolvent.figures.front.results import read_results
from resolvent.figures.front.study import read_study

# Weights, logs for TensorBoard and unfinished files: large, or of no use to a reader.
LEFT_OUT = ("*.pt", "*.partial", "*/tensorboard/*")


def export_study(folder: str | Path, out: str | Path) -> int:
    """Write all pages, tables, records and dataset cards of the study in `folder` to the zip archive `out`.

    Returns the number of files in it. Raises `FileError` if the folder has no front page, if `out` exists or
    is in the folder, or if a file is damaged.
    """
    folder, out = Path(folder), Path(out)
    if out.exists():
        raise FileError(f"{out} exists: choose another name, or delete it")
    if out.resolve().is_relative_to(folder.resolve()):
        raise FileError(f"{out} is in the study's folder, and would be packed again: choose another place")
    if not (folder / PAGE).is_file():
        raise FileError(f"{folder} has no {PAGE}: give the folder of a study, such as results/demo")
    results = read_results(read_study(folder), folder)
    inside = {
        path.relative_to(folder).as_posix(): path
        for path in everything_below(folder)
        if path.is_file() and not any(path.match(pattern) for pattern in LEFT_OUT)
    }
    # Datasets are too large for an archive; their cards have all that is needed to regenerate them.
    for name, planned in results.study.datasets.items():
        if results.there(planned.card):
            inside[f"datasets/{name}.card.json"] = folder / planned.card

    def write(partial: Path) -> None:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, path in inside.items():
                archive.write(path, name)

    write_atomically(out, write)
    return len(inside)
