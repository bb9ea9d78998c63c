"""Which trainings collapse: one model, from several seeds at several peaks of the learning rate.

Every run is trained by `resolvent.training.train` as any other. Of a finished one its curves are kept, in a
file of its own; so a job that is killed, or asked for further seeds, trains only what is missing, and the run
begun goes on from its last epoch.
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
            record: dict[str, Any] = read_json(kept, "the run") if kept.exists() else {"identity": None}
            if record["identity"] != identity:  # of other data, settings or code, or not trained yet
                place = kept.with_suffix("")
                train_run(card, place, resolution, seed, trained, code_digest, threads, gpus)
                cost = read_record(place / "cost.json", CostRecord)
                # As text: nothing is rounded on the way.
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
