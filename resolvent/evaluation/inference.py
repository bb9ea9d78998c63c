"""Measure inference times of trained operators and classical solvers, for one function and for a batch.

One job times all operators and solvers of an experiment on the same test samples and cores, so that times are
comparable. An operator is compared with the fastest solver that is at least as accurate on these samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pandas
import torch
from torch.utils.benchmark import Timer
from torch.utils.benchmark.utils.timer import timer as default_timer

from resolvent.common.norms import relative_l2
from resolvent.common.records import INFERENCE_COLUMNS, CostRecord, RunRecord, read_record
from resolvent.common.runs import save_table
from resolvent.datasets.loading import Samples, read_card
from resolvent.datasets.tasks.registry import build_task, settings_on
from resolvent.datasets.tasks.task import Task
from resolvent.evaluation.conditions import first_tested, predict
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.lanes import lanes_here
from resolvent.training import checkpoints
from resolvent.training.checkpoints import trained_operator
from resolvent.training.devices import choose_device, device_name

VERSION = 2  # raised whenever the numbers change (docs/jobs.md)
SAMPLES = 32  # samples in a batch, over which errors are averaged
SHORTEST = 0.1  # minimum seconds of a timing
ON_GPU = {"gpu": 1, "cpu": 0}  # whether JAX solvers run on a GPU, by platform


def measure_inference(
    card: Path,
    test_card: Path,
    runs: list[Path],
    output: Path,
    *,
    counts: dict[str, int],
    threads: int,
    gpus: int,
) -> None:
    """Time an experiment's operators and the classical solvers of its equation; write the table `output`.

    `card` and `test_card` are of training and test data; `counts` is the number of samples of each split. Of
    the folders `runs`, all seeds of a model at a resolution follow each other: the first finished run is
    timed, on its home grid and with its noise, and solvers if the targets are on the same grid.
    """
    torch.set_num_threads(threads)
    device = choose_device(gpus)
    # One run for each model and resolution, with the seconds of its seeds that diverged.
    finished: list[tuple[CostRecord, Path, float]] = []
    for _, folders in groupby(runs, key=lambda folder: folder.parent):
        costs = {folder: read_record(folder / "cost.json", CostRecord) for folder in folders}
        lost = sum(cost.train_seconds for cost in costs.values() if cost.status != "finished")
        timed_runs = [(cost, folder, lost) for folder, cost in costs.items() if cost.status == "finished"]
        finished += timed_runs[:1]
    sample_seconds = seconds_to_make(read_card(card)) if finished else math.nan
    task = build_task(settings_on(read_card(test_card), test_card))
    solver_device = device_name(torch.device("cuda" if task.on_gpu and lanes_here(ON_GPU) else "cpu"))

    def error_of(answers: np.ndarray, samples: Samples) -> float:
        return float(relative_l2(answers, samples.targets, samples.target_grid.weights).mean())

    rows: list[dict] = []
    solved: dict[tuple, list[dict]] = {}
    for cost, folder, lost in finished:
        record = read_record(folder / "run.json", RunRecord)
        samples = first_tested(test_card, record, counts, SAMPLES)
        alike = (record.resolution, record.noise, record.grids)
        shared = {"resolution": record.resolution, "threads": threads}
        if alike not in solved:
            solvers = solvers_timed(task, samples) if record.grids == "stored" else ()
            solved[alike] = [
                {"kind": "solver", "key": label, "label": label, "device": solver_device}
                | {"error": error_of(answers, samples)}
                | times
                for label, answers, times in solvers
            ]
            rows += [row | shared for row in solved[alike]]
        operator = trained_operator(checkpoints.load(folder / "checkpoint.pt"))
        assert operator is not None  # the run is finished
        answer = partial(predict, operator.to(device), device=device)
        row = {"error": error_of(answer(samples), samples)} | timed(answer, samples)
        row |= {"kind": "model", "key": record.model, "label": record.label, "device": device_name(device)}
        made = sum(record.training[f"{split}_samples"] for split in ("train", "validation"))
        short_runs = record.tuning["candidates"] if record.tuning else []
        row |= {"train_seconds": cost.train_seconds, "data_seconds": made * sample_seconds, **shared}
        row["search_seconds"] = lost + sum(candidate["train_seconds"] for candidate in short_runs)
        rows.append(row | beside_the_fastest(row, solved[alike], cost.device))
    save_table(pandas.DataFrame(rows, columns=list(INFERENCE_COLUMNS)), output)


def beside_the_fastest(model: dict, solvers: list[dict], trained_on: str) -> dict:
    """Return the fastest solver as accurate as a model, if any, and the break-even point in queries."""
    accurate = [solver for solver in solvers if solver["error"] <= model["error"]]
    if not accurate:
        return {}
    fastest = min(accurate, key=lambda solver: solver["many_seconds"])
    gain = fastest["many_seconds"] - model["many_seconds"]
    spent = model["train_seconds"] + model["search_seconds"] + np.nan_to_num(model["data_seconds"])
    devices = {"training": trained_on, "model": model["device"], "solver": fastest["device"]}
    several = "; ".join(f"{what} on {device}" for what, device in devices.items())
    return {
        "solver": fastest["label"],
        "solver_one_seconds": fastest["one_seconds"],
        "solver_many_seconds": fastest["many_seconds"],
        "queries": math.ceil(spent / gain) if gain > 0 else math.inf,
        "timed_on": trained_on if len(set(devices.values())) == 1 else several,
    }


def seconds_to_make(card: dict) -> float:
    """Return the seconds to solve a sample, in batches as in generation jobs; NaN for imported data."""
    if "imported" in card:
        return math.nan
    task = build_task(settings_on(card))
    batch = [("train", index) for index in range(min(task.batch, task.settings.samples.train))]
    task.compute_with_errors(batch)  # compiles
    start = perf_counter()
    task.compute_with_errors(batch)
    return (perf_counter() - start) / len(batch)


def solvers_timed(task: Task, samples: Samples) -> Iterator[tuple[str, np.ndarray, dict]]:
    """Yield label, answers and times (`timed`) of each classical solver that can solve all `samples`."""
    for label, solver in task.classical_solvers().items():

        def answer(some: Samples, solver: Callable = solver) -> np.ndarray:
            return solver(some.inputs, some.grid)

        try:
            answers, times = answer(samples), timed(answer, samples)
        except SolverError:
            continue
        if np.isfinite(answers).all():
            yield label, answers, times


def timed(answer: Callable[[Samples], np.ndarray], samples: Samples) -> dict:
    """Return the median seconds for a single function, and per function in a batch of `SAMPLES`."""
    single, several = (samples.read(range(min(count, len(samples)))) for count in (1, SAMPLES))
    threads = torch.get_num_threads()
    alone = threads == 1 and not torch.cuda.is_available()  # its processor time depends on no other jobs
    answer(single)  # compiles
    answer(several)
    one_seconds, many_seconds = (
        Timer(
            "answer(samples)",
            globals={"answer": answer, "samples": batch},
            timer=process_time if alone else default_timer,
            num_threads=threads,
        )
        .blocked_autorange(min_run_time=SHORTEST)
        .median
        for batch in (single, several)
    )
    many_seconds /= len(several)
    return {"samples": len(several), "one_seconds": one_seconds, "many_seconds": many_seconds}
