"""Study of training collapse: one model with several seeds and several peak learning rates.

Runs are trained by `resolvent.training.train` like any other. The curves of each finished run are saved in a
separate file, so a killed job, or a job with additional seeds, trains only missing runs and resumes the
interrupted run at its last epoch.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pandas

from resolvent.common.files import read_json, remove, write_json
from resolvent.common.progress import progress_bar
from resolvent.common.records import HISTORY_COLUMNS, CostRecord, read_record
from resolvent.common.runs import save_table
from resolvent.training.train import run_identity, train_run

VERSION = 1  # raised whenever the numbers change (docs/jobs.md)
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
    code_versions: dict,
    threads: int,
    gpus: int,
) -> None:
    """Train a model for every learning rate and seed; write `output`, a CSV table with one row per epoch.

    Its columns are `OF_RUN`, which includes the peak learning rate, and the columns of history.csv. `run` is
    the result of `resolvent.planning.plan.Plan.training`; its learning rate is replaced. All rates of a seed
    are trained before the next seed.

    Raises
    ------
    TrainingError
        If a signal stops the job. The state of the run is saved first.
    """
    folder, runs = output.with_suffix(".runs"), list(product(seeds, learning_rates))
    rows: list[list] = []
    with progress_bar(len(runs), f"training {model}", "runs") as bar:
        for seed, peak in runs:
            trained = run | {"training": run["training"] | {"learning_rate": peak}}
            identity = run_identity(card, trained, resolution, seed, code_versions)
            kept = folder / f"peak{peak:g}_seed{seed}.json"
            record: dict[str, Any] = read_json(kept, "the run") if kept.exists() else {"identity": None}
            if record["identity"] != identity:  # other data, settings or code, or not trained yet
                place = kept.with_suffix("")
                train_run(card, place, resolution, seed, trained, code_versions, threads, gpus)
                cost = read_record(place / "cost.json", CostRecord)
                # Read as text to avoid rounding.
                history = pandas.read_csv(place / "history.csv", dtype=str, keep_default_na=False)
                record = {
                    "identity": identity,
                    "status": cost.status,
                    "seconds": cost.train_seconds,
                    "device": cost.device,
                    "history": history[list(HISTORY_COLUMNS)].to_numpy().tolist(),
                }
                write_json(kept, record)
                remove(place)
            of_run = [model, peak, seed, record["status"], record["seconds"], record["device"]]
            rows += [[*of_run, *epoch] for epoch in record["history"]]
            bar.update()
    save_table(pandas.DataFrame(rows, columns=[*OF_RUN, *HISTORY_COLUMNS]), output)
