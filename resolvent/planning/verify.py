"""Verify data and results: `resolvent verify data results/demo` prints one line for each fault.

docs/formats.md lists the checks. Files that cannot be verified are listed, but are not faults. Nothing is
changed or recomputed.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas

from resolvent.common import records
from resolvent.common.counts import counted
from resolvent.common.digests import SUFFIX, Unverified, check_digest, digest_path, file_digest
from resolvent.common.errors import ResolventError, printable
from resolvent.common.files import OWN_DIGEST, everything_below, read_json
from resolvent.common.predictions import node_name
from resolvent.common.runs import Run, metric_columns, parse_table, read_baselines_table, read_run
from resolvent.datasets.verify import faults_of_dataset
from resolvent.figures.common.comparison import (
    COMPARISON_COLUMNS,
    MODELS_COLUMNS,
    MODELS_FILE,
    read_comparison,
)
from resolvent.figures.experiment.comparison import write_comparison
from resolvent.figures.experiment.error_table import write_error_tables
from resolvent.figures.experiment.scaling import SCALING_COLUMNS
from resolvent.figures.front.leaderboard import as_csv
from resolvent.figures.front.results import read_results
from resolvent.figures.front.study import STUDY_FILE, read_study

BEGINNINGS = {".png": b"\x89PNG\r\n\x1a\n", ".pdf": b"%PDF-"}
CHECKED = (".csv", ".html", ".json", ".svg", ".tex", *BEGINNINGS)  # other files may be large
POOLED = ("mean", "median", "worst")  # statistics that do not depend on the order of runs
# Columns that identify a row of a comparison.
ROW = (
    "kind", "key", "trained_resolution", "trained_noise", "test_resolution", "test_noise", "metric",
    "statistic",
)  # fmt: skip
SUMS = "SHA256SUMS"
# Files that are written with a digest, inside the file or in a sidecar file.
INSIDE = ("run.json", "cost.json", "tuned.json", "verified.json", "dataset.json", STUDY_FILE)
SIDECAR = (
    "*/comparison.csv", "*/models.csv", "*/inference.csv", "*/estimates.csv", "*/scaling.csv",
    "*/cost*.csv", "*/table*.html", "*.preview.npz", "*.motion.npz",
    "*/rollout.npz", "*/latent_basis.npz",
)  # fmt: skip
COLUMNS = {
    "models.csv": MODELS_COLUMNS,
    "inference.csv": records.INFERENCE_COLUMNS,
    "estimates.csv": records.ESTIMATE_COLUMNS,
    "scaling.csv": SCALING_COLUMNS,
}
# Tables that are recomputed and compared, and the file in the same folder that they are computed from.
MADE_FROM = dict.fromkeys(("table.csv", "table.tex", "metrics.tex"), "comparison.csv")
MADE_FROM["leaderboard.csv"] = STUDY_FILE


def faults_below(paths: list[Path]) -> Iterator[str]:
    """Yield one line for each fault in `paths`: folders of data or results, runs, cards, or stores."""
    stores = sorted({store for path in paths for store in _stores(path)})
    cards: dict[str, set[str]] = {}  # content hashes of the stores by name of the dataset
    for card in (store.with_suffix(".json") for store in stores):
        yield from faults_of_dataset(card)
        with suppress(ResolventError, OSError):  # reported with the dataset
            facts = read_json(card, "the dataset card")
            cards.setdefault(str(facts.get("dataset")), set()).add(str(facts.get("content_hash")))
    for path in paths:
        if not path.exists() and path not in stores:
            yield f"{path}: is missing"
        elif path.is_dir() and not any(map(Path.is_file, everything_below(path))):
            yield f"{path}: has no files"
    for file in files_below(paths):
        yield from lost_digest(file)
        yield from _faults_of_file(file, cards)


def files_below(paths: list[Path]) -> list[Path]:
    stores = {store for path in paths for store in _stores(path)}
    found = {one for path in paths for one in (path, *everything_below(path)) if one.is_file()}
    return sorted(one for one in found if one not in stores and stores.isdisjoint(one.parents))


def _stores(path: Path) -> list[Path]:
    """Return the stores at or below `path`, which may also be the card of a store."""
    if path.suffix in (".zarr", ".json"):
        store = path.with_suffix(".zarr")
        return [store] if store.exists() or path.exists() else []
    below = everything_below(path)
    gone = (one.with_suffix(".zarr") for one in below if one.suffix == ".shards")
    there = [one for one in below if one.suffix == ".zarr"]
    return [*there, *(one for one in gone if one.with_suffix(".json").exists())]


def faults_of_run(folder: Path, cards: dict[str, set[str]] | None = None) -> list[str]:
    """Return the faults of the run in `folder`.

    `cards` maps names of the available datasets to their content hashes: if the run's dataset is among them,
    one of them must have the data on which the run was tested.
    """
    try:
        run = read_run(folder)
        errors, history, predictions = run.errors, run.history, run.predictions
        if (folder / records.WEIGHTS).exists():
            from resolvent.public.runs import load_run

            _ = load_run(folder).checkpoint
        elif records.CHECKPOINT in run.record.files:
            records.check_file(folder / records.CHECKPOINT, run.record)
    except ResolventError as error:
        return [_line(error)]
    record, faults = run.record, _faults_of_errors(run, errors)
    if list(history["epoch"]) != list(range(1, len(history) + 1)) or len(history) > run.cost.epochs:
        faults.append(f"history.csv: the epochs are not 1 to {run.cost.epochs}, the number in cost.json")
    tested = {node_name(resolution) for resolution in record.test_resolutions}
    if set(found := predictions.children) != tested:
        faults.append(f"predictions.nc: has {', '.join(found)}; expected {', '.join(sorted(tested))}")
    # With `test_dataset` the run was tested on another dataset, which the record does not name.
    known = set[str]().union(*cards.values()) if cards and record.dataset in cards else set[str]()
    if known and record.dataset_hash not in known:
        faults.append(f"run.json: tested on other data than the dataset '{record.dataset}' has now")
    return [f"{folder}/{fault}" for fault in faults]


def _faults_of_errors(run: Run, errors: pandas.DataFrame) -> list[str]:
    record, faults = run.record, []
    metrics = metric_columns(errors)
    if unnamed := sorted(set(metrics) ^ set(record.metrics)):
        faults.append(f"errors.csv: its metrics and those of run.json differ in {', '.join(unnamed)}")
    expected = {
        (str(resolution), float(level), draw)
        for resolution in record.test_resolutions
        for level in record.test_noise
        for draw in range(record.noise_realisations if level else 1)
    }
    numbers = range(record.training["test_samples"])
    groups: Any = errors.groupby(["resolution", "noise", "realisation"])
    found = {(str(at), float(level), int(draw)): sorted(rows["sample"]) for (at, level, draw), rows in groups}
    if set(found) != expected or any(rows != list(numbers) for rows in found.values()):
        faults.append("errors.csv: must have one row for each test sample and condition of run.json")
    values = errors[metrics].to_numpy(float)
    if not run.diverged and not (np.isfinite(values).all() and (values >= 0).all()):
        faults.append("errors.csv: an error is negative or not finite, but the run did not diverge")
    return faults


def _faults_of_file(file: Path, cards: dict[str, set[str]]) -> list[str]:
    try:
        match file.name:
            case "run.json":
                return faults_of_run(file.parent, cards)
            case "cost.json" if file.parent.name == "baselines":
                read_baselines_table(file.parent)
            case "cost.json":
                records.read_record(file, records.CostRecord)
            case "tuned.json":
                records.read_record(file, records.TunedRecord)
            case "comparison.csv":
                return _faults_of_comparison(file)
            case name if name in COLUMNS:
                return _columns(file, list(COLUMNS[name]))
            case name if name.endswith(SUFFIX):
                check_digest(file.with_suffix(""))
                return []
            case name if name in MADE_FROM:
                return _faults_of_format(file) or differs_from_source(file)
            case name if name == SUMS:
                return _faults_of_sums(file)
            case name if name.startswith(".") and name.endswith(".partial"):
                return [f"{file}: partial file of a job that was killed or is still running"]
        return _faults_of_format(file)
    except ResolventError as error:
        return [_line(error)]
    except OSError as error:
        return [f"{file}: cannot be read: {error.strerror}"]


def _listed(sums: Path) -> list[tuple[str, Path]]:
    lines = [line.partition("  ") for line in sums.read_text("utf-8", errors="replace").splitlines()]
    return [(digest, sums.parent / name) for digest, _, name in lines]


def _faults_of_sums(file: Path) -> list[str]:
    faults = []
    for digest, place in _listed(file):
        if not place.is_file():
            faults.append(f"{place}: is missing, but {file.name} lists it")
        elif file_digest(place) != digest:
            faults.append(f"{place}: its SHA-256 differs from {file.name}")
    return faults


def _faults_of_format(file: Path) -> list[str]:
    if file.suffix not in CHECKED:
        return []
    content = file.read_bytes()
    if not content:
        return [f"{file}: is empty"]
    try:
        if file.suffix == ".json":
            read_json(file, "the file")
        elif file.suffix == ".csv" and file.name not in ("errors.csv", "history.csv"):
            parse_table(file, [], may_be_empty=True)
        elif file.suffix == ".svg":
            ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        return [f"{file}: is not an SVG ({error})"]
    if file.suffix == ".html" and b"<html" in content and not content.rstrip().endswith(b"</html>"):
        return [f"{file}: is truncated"]
    if not content.startswith(BEGINNINGS.get(file.suffix, b"")):
        return [f"{file}: is not a {file.suffix[1:].upper()}"]
    return []


def _columns(file: Path, columns: list[str]) -> list[str]:
    found = list(parse_table(file, columns))
    return [] if found == columns else [f"{file}: its columns are not {', '.join(columns)}"]


def _faults_of_comparison(file: Path) -> list[str]:
    """Return the faults of a comparison: wrong columns, or statistics that differ from the runs' errors."""
    if faults := _columns(file, list(COMPARISON_COLUMNS)):
        return faults
    try:
        rows = read_comparison(file)
    except ValueError as error:  # pandas' MergeError
        return [f"{file.with_name(MODELS_FILE)}: {_line(error)}"]
    runs = sorted(path.parent for path in file.parent.glob("*/*/seed*/run.json"))
    baselines = [one for one in [file.with_name("baselines")] if one.exists()]
    try:
        with TemporaryDirectory() as place:
            write_comparison(runs, baselines, Path(place) / file.name)
            made = read_comparison(Path(place) / file.name)
    except (ResolventError, ValueError):  # reported with the runs and the baselines
        return []
    both: Any = rows.merge(made, on=list(ROW), suffixes=("", "_made"))
    both = both[both["statistic"].isin(POOLED) & ~np.isclose(both["value"], both["value_made"], rtol=1e-6)]
    return [
        f"{file}: {one.key} at {one.test_resolution}: the {one.statistic} of {one.metric} is "
        f"{one.value:.6g}, but {one.value_made:.6g} in errors.csv"
        for one in both.dropna(subset=["value", "value_made"]).itertuples()
    ]


def _line(error: Exception) -> str:
    return " ".join(str(error).split())


def verify(paths: list[Path]) -> int:
    """Print one line for each fault, and their number; return the exit status."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Unverified)  # reported as faults instead
        faults = list(faults_below(paths))
    unknown = list(not_verified(files_below(paths)))
    print(*map(printable, [*faults, *unknown]), sep="\n", end="\n" if faults or unknown else "")
    what = ", ".join(map(str, paths))
    said: str = counted(len(faults), "fault") if faults else "as specified"
    print(f"{what}: {said}{', except the files not verified' if unknown else ''}", file=sys.stderr)
    return 1 if faults else 0


def lost_digest(file: Path) -> list[str]:
    """Return a line if a file has lost the digest that it was written with."""
    if file.suffix == ".json":
        of_data = file.parent.suffix == ".shards" or file.with_suffix(".zarr").exists()
        lost = (of_data or file.name in INSIDE) and not _digest_inside(file)
    else:
        name = file.absolute().as_posix()
        lost = any(fnmatch(name, one) for one in SIDECAR) and not digest_path(file).exists()
    return [f"{file}: its digest is missing: delete the file and run snakemake"] if lost else []


def differs_from_source(file: Path) -> list[str]:
    """Return a line if a table differs from the table recomputed from its source file."""
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
    except (ResolventError, ValueError):  # reported with the source file
        return []
    return [] if same else [f"{file}: does not match {source.name}: delete it and run snakemake"]


def not_verified(files: Iterable[Path]) -> Iterator[str]:
    """Yield one line for each kind of file without a digest, and for comparisons without their runs."""
    files = list(files)
    summed = {place for file in files if file.name == SUMS for _, place in _listed(file)}
    kinds: dict[str, list[Path]] = {}
    for file in files:
        if file not in summed and not _is_vouched_for(file):
            kind = "of TensorBoard" if file.parent.name == "tensorboard" else file.suffix
            kinds.setdefault(kind, []).append(file)
    for kind, found in sorted(kinds.items()):
        names = ", ".join(sorted({file.name for file in found}))
        yield f"not verified: {counted(len(found), 'file')} {kind} without a digest: {names}"
    for file in files:
        if file.name == "comparison.csv" and (lost := " and ".join(_rows_without_runs(file))):
            yield f"not verified: {file}: the runs of {lost} are missing"


def _rows_without_runs(comparison: Path) -> list[str]:
    """Return the models and resolutions of a comparison whose runs are missing."""
    try:
        rows = parse_table(comparison, ["kind", "key", "trained_resolution"])
    except ResolventError:  # reported with the comparison
        return []
    models = rows[rows["kind"] == "model"][["key", "trained_resolution"]].drop_duplicates()
    places = [(key, f"n{at}" if str(at).isdigit() else str(at)) for key, at in models.itertuples(index=False)]
    folder = comparison.parent
    return [f"{key}, {node}" for key, node in places if not any((folder / key / node).glob("seed*/run.json"))]


def _is_vouched_for(file: Path) -> bool:
    name = file.name
    if name == SUMS or name.endswith(SUFFIX) or digest_path(file).exists():
        return True
    if file.suffix == ".json":
        return _digest_inside(file)
    if name in MADE_FROM:
        return file.with_name(MADE_FROM[name]).is_file()
    if name == records.WEIGHTS:
        return file.with_name("run.json").is_file()
    listed = (_content(file.with_name(one)).get("files", {}) for one in ("run.json", "cost.json"))
    return name in (*records.RUN_FILES, records.CHECKPOINT) and any(name in files for files in listed)


def _digest_inside(file: Path) -> bool:
    """Return whether a JSON file has a digest; also true for a damaged file, which is another fault."""
    content = _content(file)
    return not content or OWN_DIGEST in content


def _content(file: Path) -> dict:
    try:
        content = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
