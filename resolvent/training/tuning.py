"""Choose training settings from short runs by their validation error, and apply them to a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from operator import itemgetter
from pathlib import Path

from resolvent.common.records import (
    Candidate,
    CostRecord,
    TunedRecord,
    check_same_run,
    identity_of,
    read_record,
    write_record,
)
from resolvent.common.settings import settings_hash

VERSION = 1  # raised whenever the numbers change (docs/jobs.md)


def choose_settings(
    short_runs: Mapping[str, dict], *, resolution: int | str, seed: int, epochs: int, output: Path
) -> None:
    """Write a `TunedRecord` with the settings of the short run with the lowest validation error.

    `short_runs` are from `resolvent.planning.plan.Plan.short_runs`, by folder. The first of equal errors
    wins. Raises `FileError` if a folder has no cost.json, or the cost.json of another run.
    """
    tried: list[Candidate] = []
    for folder, run in short_runs.items():
        path = Path(folder) / "cost.json"
        cost = read_record(path, CostRecord)
        expected = {"resolution": resolution, "seed": seed, "config_hash": run["config_hash"]}
        check_same_run(path, identity_of(cost), expected)
        tried.append(
            {
                "settings": run["settings"],
                "validation_relative_l2": None if cost.diverged_epoch else cost.best_validation_relative_l2,
                "diverged_epoch": cost.diverged_epoch,
                "train_seconds": cost.train_seconds,
            }
        )
    finished = [run for run in tried if run["validation_relative_l2"] is not None]
    best = min(finished, key=itemgetter("validation_relative_l2"), default=tried[0])
    record = TunedRecord(epochs=epochs, seed=seed, candidates=tried, chosen=best["settings"])
    write_record(output, record)
    for folder in short_runs:
        (Path(folder) / "resume.pt").unlink(missing_ok=True)


def tuned_run(run: dict, tuned: Path) -> dict:
    """Return the parameters `run` of `Plan.training` with the settings chosen in the file `tuned`."""
    return {**run, "training": {**run["training"], **read_record(tuned, TunedRecord).chosen}}


def tuned_description(description: dict, tuned: Path) -> dict:
    """Return the description of `Plan.description` with the settings chosen in the file `tuned`."""
    record = read_record(tuned, TunedRecord)
    rest = {name: value for name, value in description.items() if name != "run"}
    return rest | {
        "training": {**rest["training"], **record.chosen},
        "config_hash": settings_hash(tuned_run(description["run"], tuned)),
        "tuning": asdict(record),
    }
