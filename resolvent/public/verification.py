"""Verify a run that others give away: make its test samples again, and compare the errors of its weights.

What is verified are the numbers: that these weights have these errors on samples that the card of the dataset
determines. That the weights never saw the test samples in training cannot be verified in this way.
"""

from __future__ import annotations

import platform
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from resolvent.common.errors import FileError
from resolvent.common.files import read_json, write_json
from resolvent.common.records import file_digests
from resolvent.common.settings import settings_hash
from resolvent.public.runs import CARD, RECORD, WEIGHTS, TrainedRun, load_run

if TYPE_CHECKING:
    from resolvent.datasets.tasks.settings import DatasetSettings

VERIFIED = "verified.json"
RELATIVE = 1e-3  # of a mean error: rounding of another machine, in labels and in the operator's float32
CONDITIONS = ["resolution", "noise"]
LIBRARIES = ("resolvent", "jax", "numpy", "scipy", "torch")
CODE = "verify-run"  # in the place of the digest of the code that made the dataset


def verify_run(
    folder: Path | str,
    *,
    code: Path | str | None = None,
    by: str = "not stated",
    work: Path | str | None = None,
) -> dict:
    """Verify an exported run, write `verified.json` into its folder, and return what is in it.

    Every mean error must agree with the recorded one within a thousandth of it and the stated accuracy of the
    labels. Of a dataset that is computed only the test samples are made, unless the noise on them is measured
    in units of the training samples.

    Parameters
    ----------
    code
        The folder of the authors' own modules, where the architecture or the equation is `module:name`.
        Naming it lets their code run.
    by
        Who verifies.
    work
        Where the samples are made, and kept; by default a temporary folder.

    Raises
    ------
    FileError
        When files are missing, damaged or of different runs, or their code was not named.
    DatasetError
        When the test samples cannot be made again to their stated accuracy, or are imported and their files
        are not there.
    TrainingError
        When the run diverged or its weights are damaged.
    """
    folder = Path(folder)
    for name in (RECORD, WEIGHTS, CARD):
        if not (folder / name).is_file():
            raise FileError(f"{folder} has no {name}: it is no exported run (`resolvent export-run`)")
    _let_run(folder, code)
    run = load_run(folder)
    if work is not None:
        measured = _measured_again(run, Path(work))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            measured = _measured_again(run, Path(temporary))
    rows = list(_rows(run, measured))
    known = set(measured.columns)
    report = {
        "run": {name: getattr(run.record, name) for name in ("label", "architecture", "resolution", "seed")},
        "dataset": run.record.dataset,
        "test_set": test_set(run.card),
        "files": file_digests(folder, (RECORD, WEIGHTS, CARD, "errors.csv")),
        "holds": all(row["holds"] for row in rows),
        "rows": rows,
        "not_verified": sorted(set(run.record.metrics) - known),
        "by": by,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "versions": {name: version(name) for name in LIBRARIES},
    }
    write_json(folder / VERIFIED, report)
    return report


def leaderboard(folders: list[Path | str]) -> pd.DataFrame:
    """Return the verified errors of runs, the lowest first for each dataset, resolution and level of noise.

    A run is left out unless it was verified, every number held, and its files are still those.

    Raises
    ------
    FileError
        When a `verified.json` is damaged.
    """
    rows = []
    for folder in map(Path, folders):
        if not (folder / VERIFIED).is_file():
            continue
        report = read_json(folder / VERIFIED, "the verification")
        try:
            if not report["holds"] or file_digests(folder, report["files"]) != report["files"]:
                continue
            rows += [
                {
                    "dataset": report["dataset"],
                    "test_set": report["test_set"],
                    **{name: row[name] for name in CONDITIONS},
                    "model": report["run"]["label"],
                    "trained_at": report["run"]["resolution"],
                    "seed": report["run"]["seed"],
                    "relative_l2": row["measured"],
                    "samples": row["samples"],
                    "verified_by": report["by"],
                    "date": report["date"],
                    "versions": " ".join(f"{name} {one}" for name, one in report["versions"].items()),
                    "folder": str(folder),
                }
                for row in report["rows"]
                if row["metric"] == "relative_l2"
            ]
        except (KeyError, TypeError):
            raise FileError(f"{folder / VERIFIED} is damaged: verify the run again") from None
    table = pd.DataFrame(rows)
    order = ["dataset", "test_set", *CONDITIONS, "relative_l2"]
    return table.sort_values(order, key=_sortable, ignore_index=True) if rows else table


def test_set(card: dict) -> str:
    """Name by twelve hexadecimal digits all settings of a dataset that determine its test samples.

    Those of how many there are, and in how many jobs they are made, are not among them.
    """
    settings = {name: one for name, one in card["settings"].items() if not name.startswith("samples")}
    return settings_hash(settings)


def _let_run(folder: Path, code: Path | str | None) -> None:
    """Put the authors' code on the path, or raise a FileError where it is needed and was not named."""
    record, card = (read_json(folder / name, "the record") for name in (RECORD, CARD))
    places = [str(record.get("architecture")), str(card.get("settings", {}).get("equation"))]
    if code is not None:
        sys.path.insert(0, str(code))
    elif own := [place for place in places if ":" in place]:
        raise FileError(
            f"{folder} needs code of its authors, {' and '.join(own)}: read it, and name the folder that it "
            "is in to let it run (--code FOLDER)"
        )


def _measured_again(run: TrainedRun, place: Path) -> pd.DataFrame:
    """Make the test samples in `place`, and return the errors of the run's operator on them."""
    import torch

    from resolvent.evaluation.evaluate import evaluate_operator

    card = _test_samples(run, place)
    errors, _ = evaluate_operator(run.operator, card, asdict(run.record), torch.device("cpu"), seed=0)
    return errors


def _test_samples(run: TrainedRun, place: Path) -> Path:
    """Make the samples that the run was tested on from the settings on the card, and return their card."""
    from resolvent.datasets.storage.card import finalise
    from resolvent.datasets.storage.generation import generate_shard
    from resolvent.datasets.tasks.registry import build_task, settings_of
    from resolvent.datasets.tasks.settings import SplitSizes

    settings = settings_of(run.card["settings"])
    if "imported" in run.card:
        _hold_files(settings, run.card["imported"]["files"])
    elif not any(run.record.test_noise):
        sizes = SplitSizes(train=1, validation=1, test=run.record.training["test_samples"])
        settings = settings.model_copy(update={"samples": sizes})
    task, base = build_task(settings), place / run.record.dataset / "made_again"
    store, receipts = base.with_suffix(".zarr"), []
    for shard in range(settings.num_shards):
        receipts.append(base.with_suffix(".shards") / f"{shard:04d}.json")
        if not receipts[-1].exists():
            generate_shard(task, store, shard, receipts[-1], CODE)
    finalise(task, store, receipts, base.with_suffix(".json"), CODE)
    return base.with_suffix(".json")


def _hold_files(settings: DatasetSettings, files: list[dict]) -> None:
    """Raise a DatasetError where the files that imported samples were read from are not there unchanged."""
    from resolvent.datasets.errors import DatasetError

    try:
        settings.with_contents()
    except DatasetError as error:
        known = ", ".join(f"{one['file']} with the SHA-256 {one['sha256']}" for one in files)
        raise DatasetError(
            f"{error}; the test samples were imported: they are not made again, but read again from "
            f"{known}, which is not part of an exported run; get it from the authors"
        ) from None


def _rows(run: TrainedRun, measured: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the mean of every metric under every condition, as recorded and as measured again."""
    accuracy = float(run.card.get("stated_accuracy") or 0.0)
    recorded = run.errors.groupby(CONDITIONS)
    for condition, again in measured.groupby(CONDITIONS):
        before = recorded.get_group(condition)
        for metric in (name for name in run.record.metrics if name in measured.columns):
            then, now = float(before[metric].mean()), float(again[metric].mean())
            tolerance = RELATIVE * then + accuracy
            yield {
                **dict(zip(CONDITIONS, condition, strict=True)),
                "metric": metric,
                "samples": len(again),
                "recorded": then,
                "measured": now,
                "tolerance": tolerance,
                "holds": len(before) == len(again) and abs(then - now) <= tolerance,
            }


def _sortable(column: pd.Series) -> pd.Series:
    return column if pd.api.types.is_numeric_dtype(column) else column.astype(str)
