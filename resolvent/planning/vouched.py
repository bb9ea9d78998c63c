"""Find what vouches for a file: a digest in or beside it, a record, the sums of its folder, or its sources.

A file for which nothing vouches may have been altered without a trace: `resolvent verify` lists it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory

from resolvent.common.counts import counted
from resolvent.common.digests import SUFFIX, digest_path
from resolvent.common.errors import ResolventError
from resolvent.common.files import OWN_DIGEST
from resolvent.common.records import CHECKPOINT, RUN_FILES, WEIGHTS
from resolvent.common.runs import parse_table
from resolvent.figures.experiment.error_table import write_error_tables
from resolvent.figures.front.leaderboard import as_csv
from resolvent.figures.front.results import read_results
from resolvent.figures.front.study import STUDY_FILE, read_study

SUMS = "SHA256SUMS"
# Files that are written with a digest, which is in it or beside it.
INSIDE = ("run.json", "cost.json", "tuned.json", "verified.json", "dataset.json", STUDY_FILE)
BESIDE = (
    "*/comparison.csv", "*/models.csv", "*/inference.csv", "*/cost*.csv", "*/theory/*.csv",
    "*/stability/*.csv", "*/table*.html", "*.preview.npz", "*.motion.npz", "*/rollout.npz",
    "*/latent_basis.npz",
)  # fmt: skip
# Tables that are made again to be compared, and the file beside them that they are made from.
MADE_FROM = {"table.csv": "comparison.csv", "table.tex": "comparison.csv", "leaderboard.csv": STUDY_FILE}


def lost_digest(file: Path) -> list[str]:
    """Return whether a file is without the digest that it was written with."""
    if file.suffix == ".json":
        of_data = file.parent.suffix == ".shards" or file.with_suffix(".zarr").exists()
        lost = (of_data or file.name in INSIDE) and not _digest_inside(file)
    else:
        name = file.absolute().as_posix()
        lost = any(fnmatch(name, one) for one in BESIDE) and not digest_path(file).exists()
    return [f"{file}: has no digest, which is written with it: delete it and run snakemake"] if lost else []


def differs_from_source(file: Path) -> list[str]:
    """Return whether a table is not what is made from the file beside it."""
    source = file.with_name(MADE_FROM[file.name])
    if not source.is_file():
        return []
    try:
        with TemporaryDirectory() as place:
            made = Path(place) / file.name
            if file.name == "leaderboard.csv":
                made.write_text(as_csv(read_results(read_study(file.parent), file.parent)), encoding="utf-8")
            else:
                write_error_tables(source, [made])
            same = made.read_bytes() == file.read_bytes()
    except (ResolventError, ValueError):  # reported with the files that it is made from
        return []
    return [] if same else [f"{file}: is not what {source.name} gives: delete it and run snakemake"]


def not_verified(files: Iterable[Path]) -> Iterator[str]:
    """Yield a line for each kind of file whose content nothing vouches for, and for such rows of a table."""
    files = list(files)
    summed = {
        file.parent / line.partition("  ")[2]
        for file in files
        if file.name == SUMS
        for line in file.read_text(encoding="utf-8").splitlines()
    }
    kinds: dict[str, list[Path]] = {}
    for file in files:
        if file not in summed and not _is_vouched_for(file):
            kind = "of TensorBoard" if file.parent.name == "tensorboard" else file.suffix
            kinds.setdefault(kind, []).append(file)
    for kind, found in sorted(kinds.items()):
        names = ", ".join(sorted({file.name for file in found}))
        yield f"not verified: {counted(len(found), 'file')} {kind}, for no digest is of them: {names}"
    for file in files:
        if file.name == "comparison.csv" and (lost := ", and ".join(_rows_without_runs(file))):
            yield f"not verified: {file}: {lost}: the runs are not beside it"


def _is_vouched_for(file: Path) -> bool:
    name = file.name
    if name == SUMS or name.endswith(SUFFIX) or digest_path(file).exists():
        return True
    if file.suffix == ".json":
        return _digest_inside(file)
    if name in MADE_FROM:
        return file.with_name(MADE_FROM[name]).is_file()
    if name == WEIGHTS:
        return file.with_name("run.json").is_file()
    if name in (*RUN_FILES, CHECKPOINT):
        records = (_content(file.with_name(one)) for one in ("run.json", "cost.json"))
        return any(name in record.get("files", {}) for record in records)
    return False


def _digest_inside(file: Path) -> bool:
    """Say whether a JSON file has a digest, or is damaged, which is another fault."""
    content = _content(file)
    return not content or OWN_DIGEST in content


def _content(file: Path) -> dict:
    """Return the object in a JSON file; an empty one where it is missing or damaged."""
    try:
        content = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _rows_without_runs(comparison: Path) -> list[str]:
    """Return the models and resolutions of a comparison that has no run of them beside it."""
    try:
        rows = parse_table(comparison, ["kind", "key", "trained_resolution"])
    except ResolventError:  # reported with the comparison
        return []
    models = rows[rows["kind"] == "model"][["key", "trained_resolution"]].drop_duplicates()
    places = [(key, f"n{at}" if str(at).isdigit() else str(at)) for key, at in models.itertuples(index=False)]
    return [
        f"{key}, {node}"
        for key, node in places
        if not any((comparison.parent / key / node).glob("seed*/run.json"))
    ]
