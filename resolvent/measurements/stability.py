"""Which trainings collapse: one model, from several seeds at several peaks of the learning rate.

Every run is trained by `resolvent.training.train` as any other. Of a finished one its curves are kept, in a
file of its own; so a job that is killed, or asked for further seeds, trains only what is missing, and the run
begun goes on from its last epoch.
"""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path

from resolvent.common.digests import write_digest
from resolvent.common.files import read_json, remove, write_atomically, write_json
from resolvent.common.progress import progress_bar
from resolvent.common.records import HISTORY_COLUMNS, CostRecord, read_record
from resolvent.training.train import run_identity, train_run

OF_RUN = ["model", "peak", "seed", "status", "seconds", "device"]


def train_study(
    output: Path,
    *,
    card: Path,
    model: str,
    resolution: int | str,
    run: dict,
    learning_rates: list[float],
    seeds: list[int],
    code_digest: str,
    threads: int,
    gpus: int,
) -> None:
    """Train every learning rate and seed of a model; write `output`, a CSV table with a row an epoch.

    Its columns are OF_RUN, with the peak of the learning rate, and those of history.csv. `run` is what
    `resolvent.planning.plan.Plan.training` gives, whose learning rate is replaced. All rates of one seed come
    before the next seed.

    Raises
    ------
    TrainingError
        When a signal asks to end: the state of the run is saved first.
    """
    folder, runs = output.with_suffix(".runs"), list(product(seeds, learning_rates))
    rows: list[list] = []
    with progress_bar(len(runs), f"trainings of {model}", "runs") as bar:
        for seed, peak in runs:
            trained = run | {"training": run["training"] | {"learning_rate": peak}}
            identity = run_identity(card, trained, resolution, seed, code_digest)
            kept = folder / f"peak{peak:g}_seed{seed}.json"
            if (record := _finished(kept, identity)) is None:
                place = kept.with_suffix("")
                train_run(card, place, resolution, seed, trained, code_digest, threads, gpus)
                record = {"identity": identity, **_curves(place)}
                write_json(kept, record)
                remove(place)
            of_run = [model, peak, seed, record["status"], record["seconds"], record["device"]]
            rows += [[*of_run, *epoch] for epoch in record["history"]]
            bar.update()
    write_atomically(output, lambda path: _write(path, rows))
    write_digest(output)


def _finished(kept: Path, identity: str) -> dict | None:
    """Return the record of a run that was trained on the same data with the same settings and code."""
    if not kept.exists():
        return None
    record = read_json(kept, "the run")
    return record if record["identity"] == identity else None


def _curves(place: Path) -> dict:
    """Return what is kept of a run: how it ended, what it took, and a list a row of its history."""
    cost = read_record(place / "cost.json", CostRecord)
    with open(place / "history.csv", encoding="utf-8", newline="") as file:
        history = [[row[name] for name in HISTORY_COLUMNS] for row in csv.DictReader(file)]
    return {
        "status": cost.status,
        "seconds": cost.train_seconds,
        "device": cost.device,
        "history": history,
    }


def _write(path: Path, rows: list[list]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([*OF_RUN, *HISTORY_COLUMNS])
        table.writerows(rows)
