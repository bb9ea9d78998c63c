"""Verify an exported run: recompute its test samples, and compare the errors of its weights with the record.

This verifies that the weights have the recorded errors on the samples that the dataset's card determines. It
cannot verify that the test samples were not used in training.
"""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from resolvent.common.digests import check_present
from resolvent.common.errors import FileError, ResolventError
from resolvent.common.files import read_json, write_json
from resolvent.common.records import WEIGHTS, file_digests
from resolvent.common.settings import settings_hash
from resolvent.public.consent import Allowed, addresses_in, check_allowed
from resolvent.public.runs import CARD, RECORD, TrainedRun, load_run

FILES = (RECORD, WEIGHTS, CARD, "errors.csv")  # of a verified run, with digests in the report
VERIFIED, JUDGED = "verified.json", "judged.json"
RELATIVE = 1e-3  # tolerance of a mean error, for rounding in labels and in the float32 operator
CONDITIONS = ["resolution", "noise"]
LIBRARIES = ("resolvent", "jax", "numpy", "scipy", "torch")
VERSIONS: dict = {}  # of datasets made again, which are not kept


def verify_run(
    folder: Path | str, *, allow: Allowed = (), by: str = "not stated", work: Path | str | None = None
) -> dict:
    """Verify an exported run, write `verified.json` into its folder, and return the file's content.

    Every mean error must agree with the record to within a thousandth of its value plus the stated accuracy
    of the labels. For a computed dataset only test samples are made, unless their noise is in units of the
    training samples. Raises `ResolventError` if files are missing, damaged, of different runs or not allowed,
    or if the test samples cannot be recomputed to their stated accuracy.

    allow  folders of the authors' modules, if the architecture or the equation is `module:name`, and
           addresses of imported test samples. Without it, none of their code runs, and no address is
           contacted.
    by     name of the person or group that verifies.
    work   folder for the samples; by default a temporary folder.
    """
    import torch

    from resolvent.evaluation.evaluate import evaluate_operator

    folder = Path(folder)
    for name in (RECORD, WEIGHTS, CARD):
        if not (folder / name).is_file():
            raise FileError(f"{folder} has no {name}: it is not an exported run (`resolvent export-run`)")
    run = load_run(folder, allow=allow)
    settings = run.card.get("settings", {})
    code = [run.record.architecture, str(settings.get("equation"))]
    check_allowed(folder, code, allow, addresses_in(settings.get("source")))
    _ = run.operator, run.errors  # reports faults before samples are made or requested
    with tempfile.TemporaryDirectory() if work is None else nullcontext(work) as place:
        card = _test_samples(run, Path(place))
        metadata = asdict(run.record)
        measured, _ = evaluate_operator(run.operator, card, metadata, torch.device("cpu"), seed=0)
        accuracy = read_json(card, "the dataset card").get("stated_accuracy")
    rows = list(_rows(run, measured, float(accuracy or 0.0)))
    report = {
        "run": _named(run),
        "dataset": run.record.dataset,
        "test_set": test_set(run.card),
        "files": file_digests(folder, FILES),
        "holds": all(row["holds"] for row in rows),
        "rows": rows,
        "not_verified": sorted(set(run.record.metrics) - set(measured.columns)),
        "by": by,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "versions": {name: version(name) for name in LIBRARIES},
    }
    write_json(folder / VERIFIED, report)
    return report


def compare(folders: Sequence[Path | str], tasks: Mapping[tuple, dict] | None = None) -> pd.DataFrame:
    """Return the errors of verified runs, the lowest first for each dataset, resolution and level of noise.

    A run is included only if it was verified, all numbers agreed, its files are unchanged, and its weights
    belong to the network in `run.json`. Judgements by `resolvent evaluate` are listed with the error on the
    first grid of their task; "kind" is the kind of source: "predictions", "program" or "verified". A run with
    inputs and targets of one of the `tasks` (`resolvent.judging.tasks.listed`) is listed under that task.
    """
    rows: list[dict[str, Any]] = []
    for folder in map(Path, folders):
        if (folder / JUDGED).is_file():
            rows.append(_judged(folder))
        if not (folder / VERIFIED).is_file():
            continue
        report = read_json(folder / VERIFIED, "the verification")
        try:
            if (run := _unchanged(folder, report)) is None:
                continue
            # A run on the fine grid has another target than the stored samples.
            fine = ", fine targets" if run.record.grids == "fine" else ""
            rows += [
                {
                    "dataset": report["dataset"],
                    "test_set": report["test_set"] + fine,
                    **{name: row[name] for name in CONDITIONS},
                    **(
                        {}
                        if fine or row["noise"]
                        else (tasks or {}).get((report["test_set"], row["samples"], row["resolution"]), {})
                    ),
                    "kind": "verified",
                    "model": report["run"]["label"],
                    "architecture": report["run"]["architecture"],
                    "trained_at": report["run"]["resolution"],
                    "seed": report["run"]["seed"],
                    "relative_l2": row["measured"],
                    "samples": row["samples"],
                    "verified_by": report["by"],
                    "date": report["date"],
                    "versions": _versions(report),
                    "folder": str(folder),
                }
                for row in report["rows"]
                if row["metric"] == "relative_l2"
            ]
        except (KeyError, TypeError):
            raise FileError(f"{folder / VERIFIED} is damaged: verify the run again") from None
    table = pd.DataFrame(rows)
    order = ["dataset", "test_set", *CONDITIONS, "relative_l2"]
    if not rows:
        return table

    def sortable(column: pd.Series) -> pd.Series:  # resolutions may be numbers and names
        return column if pd.api.types.is_numeric_dtype(column) else column.astype(str)

    return table.sort_values(order, key=sortable, ignore_index=True)


def _judged(folder: Path) -> dict[str, Any]:
    """Return the row of a judgement. Raises `FileError` if it is damaged."""
    record = read_json(folder / JUDGED, "the judgement")
    try:
        first = next(row for row in record["rows"] if row["who"] == record["label"])
        if record["kind"] not in ("predictions", "program") or first["metric"] != "relative_l2":
            raise KeyError("kind")
        return {
            "dataset": str(record["task"]),
            "test_set": "of the task",
            "resolution": str(first["grid"]),
            "noise": 0.0,
            "kind": record["kind"],
            "model": str(record["label"]),
            "relative_l2": float(first["mean"]),
            "samples": int(first["samples"]),
            "date": str(record["date"]),
            "versions": _versions(record),
            "folder": str(folder),
        }
    except (AttributeError, KeyError, StopIteration, TypeError, ValueError):
        raise FileError(f"{folder / JUDGED} is damaged: judge the predictions again") from None


def _versions(record: dict) -> str:
    return " ".join(f"{name} {one}" for name, one in record["versions"].items())


def test_set(card: dict) -> str:
    """Return twelve hexadecimal digits of all settings of a dataset that determine its test samples.

    The numbers of samples and of jobs are not included, nor settings at their defaults.
    """
    settings = card["identity"]["settings"].items()
    return settings_hash({name: value for name, value in settings if not name.startswith("samples")})


def _named(run: TrainedRun) -> dict[str, Any]:
    return {name: getattr(run.record, name) for name in ("label", "architecture", "resolution", "seed")}


def _unchanged(folder: Path, report: dict) -> TrainedRun | None:
    """Return the run in `folder` if a report is of its present state, and every number in it agrees.

    Measured numbers are not recomputed, only checked to be within the tolerance of the numbers in errors.csv.
    """
    try:
        for name in FILES:
            check_present(folder / name)
        if not report["holds"] or file_digests(folder, FILES) != report["files"]:
            return None
        run = load_run(folder)
        _ = run.checkpoint
        means = run.errors.groupby(CONDITIONS)["relative_l2"].mean()
        agree = all(
            abs(row["measured"] - means[tuple(row[name] for name in CONDITIONS)]) <= row["tolerance"]
            for row in report["rows"]
            if row["metric"] == "relative_l2"
        )
        same = report["run"] == _named(run) and report["test_set"] == test_set(run.card)
        return run if agree and same else None
    except ResolventError:
        return None


def _test_samples(run: TrainedRun, place: Path) -> Path:
    """Recompute the run's test samples from the settings on the card, and return their card."""
    from resolvent.datasets.making import make_dataset
    from resolvent.datasets.tasks.settings import SplitSizes

    settings = run.equation
    name = run.record.dataset  # used as the name of a folder
    if not name or name.startswith(".") or "/" in name or "\0" in name:
        raise FileError(f"{run.directory / RECORD}: invalid dataset name {name!r}: download the run again")
    if hasattr(settings, "source"):
        _hold_files(run, settings)
    elif not any(run.record.test_noise):
        sizes = SplitSizes(train=1, validation=1, test=run.record.training["test_samples"])
        settings = settings.model_copy(update={"samples": sizes})
    return make_dataset(settings, place / name / "made_again", VERSIONS)


def _hold_files(run: TrainedRun, settings: Any) -> None:
    """Raise `DatasetError` if the source files of imported samples are missing or changed.

    They are checked before any reader opens them, because an HDF5 file may link to other files of this
    machine.
    """
    from resolvent.datasets.errors import DatasetError
    from resolvent.datasets.imported.readers.source import is_remote
    from resolvent.datasets.imported.sources import check_digests, content_digest, paths_of

    paths, files = paths_of(settings.source), run.card.get("imported", {}).get("files", [])
    if not settings.sha256:
        words = f"has no SHA-256 of {', '.join(paths)}: download the run again"
        raise DatasetError(f"{run.directory / CARD} {words}")
    try:
        # Readers report missing files and devices; a device has no end and cannot be hashed.
        there = [one for one in paths if is_remote(one) or Path(one).is_file() or Path(one).is_dir()]
        known = dict(zip(paths, settings.sha256, strict=False))
        expected = [known.get(one, "none") for one in there]
        check_digests(expected, there, [content_digest(one) for one in there], "get it from the authors")
        settings.with_contents()
    except DatasetError as error:
        whole = ", ".join(f"{one['file']} with the SHA-256 {one['sha256']}" for one in files)
        remedy = "which an exported run does not contain: get it from the authors"
        raise DatasetError(f"{error}; the test samples are read from {whole}, {remedy}") from None


def _rows(run: TrainedRun, measured: pd.DataFrame, accuracy: float) -> Iterator[dict[str, Any]]:
    """Yield the mean of every metric under every condition, recorded and measured again.

    `accuracy` is the accuracy of the recomputed labels.
    """
    recorded = dict(iter(run.errors.groupby(CONDITIONS)))
    again_by = dict(iter(measured.groupby(CONDITIONS)))
    if set(recorded) != set(again_by):
        raise FileError(
            f"{run.directory / 'errors.csv'} has other resolutions or levels of noise than {RECORD}: "
            "download the run again"
        )
    for condition, again in again_by.items():
        before = recorded[condition]
        for metric in (name for name in run.record.metrics if name in measured.columns):
            then, now = float(before[metric].mean()), float(again[metric].mean())
            tolerance = RELATIVE * then + accuracy
            yield {
                **dict(zip(CONDITIONS, condition, strict=True)),
                "metric": metric,
                "samples": again["sample"].nunique(),  # not counting realisations of noise
                "recorded": then,
                "measured": now,
                "tolerance": tolerance,
                "holds": len(before) == len(again) and abs(then - now) <= tolerance,
            }
