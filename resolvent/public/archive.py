"""Pack a study into one file to share."""

from __future__ import annotations

import zipfile
from pathlib import Path

from resolvent.common.errors import FileError
from resolvent.common.files import write_atomically
from resolvent.common.sums import SUMS, summed_files
from resolvent.figures.front.page import PAGE
from resolvent.figures.front.results import read_results
from resolvent.figures.front.study import read_study


def export_study(folder: str | Path, out: str | Path) -> int:
    """Write all pages, tables, records and dataset cards of the study in `folder` to the zip archive `out`.

    The archive has no weights and no logs for TensorBoard. `sha256sum --check SHA256SUMS` verifies it.
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
    inside = summed_files(folder)
    if (folder / SUMS).is_file():
        inside[SUMS] = folder / SUMS
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
