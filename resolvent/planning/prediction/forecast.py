"""Forecast the cost of a configuration before anything runs: jobs by rule, hours, memory and disk space.

The jobs come from Snakemake's own graph, with the resources of their rules, so they cannot differ from it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from shutil import disk_usage
from typing import Any

from resolvent.common.counts import counted
from resolvent.common.files import write_text
from resolvent.common.machine import machine_memory
from resolvent.figures.common.numbers import duration
from resolvent.planning.configuration.load import remarks
from resolvent.planning.gpus import GpuError, devices_for
from resolvent.planning.prediction.costs import Need, drawing
from resolvent.planning.prediction.needs import Needs

HEADER = ("rule", "jobs", "done", "core-hours", "GPU-hours", "longest job", "GB of a job", "GB on disk")
COLUMNS = ("rule", "output", "seconds", "memory_bytes", "disk_bytes")  # of the table with one row per job
TRAININGS = ("train", "train_short")


@dataclass(frozen=True)
class Job:
    """A job: its output files, and its predicted resources; each of its `processes` has its own device.

    `planned` is whether it runs although its outputs may exist.
    """

    rule: str
    outputs: tuple[str, ...]
    need: Need
    gpu: bool = False
    processes: int = 1
    planned: bool = False

    @property
    def done(self) -> bool:
        return not self.planned and all(Path(file).exists() for file in self.outputs)


def jobs(workflow, gpu: bool, of_dry_run: bool = False) -> list[Job]:
    """Return every job of `rule all`, done or not, or those that a dry run has planned.

    `gpu` is whether there are GPUs.
    """
    from resolvent.planning.dag import jobs_behind, planned_jobs  # can only be imported inside Snakemake

    listed = []
    for job in planned_jobs(workflow) if of_dry_run else jobs_behind(workflow, "all"):
        # The resources of the rule, not of the job: `--set-resources` changes requests, but not predictions.
        asked: dict[str, Any] = (job.rule.ruleinfo.resources or ((), {}))[1]
        predicted = getattr(asked.get("runtime"), "need", None)
        need = predicted(job.wildcards) if predicted else drawing(1)
        processes = asked.get("processes", 1)
        processes = processes(job.wildcards) if callable(processes) else processes
        on_gpu = gpu and "gpu" in asked
        listed.append(Job(job.rule.name, tuple(job.output), need, on_gpu, processes, planned=of_dry_run))
    order = [rule.name for rule in workflow.rules]
    return sorted(listed, key=lambda job: (order.index(job.rule), job.outputs))


def print_forecast(workflow, needs: Needs, table: Path) -> None:
    """Print the forecast of the study, and write a row for each of its jobs into `table`."""
    gpus = _gpus(workflow, needs)
    listed = jobs(workflow, needs.gpu)
    rows = [(job.rule, job.outputs[0], job.need.seconds, job.need.bytes, job.need.disk) for job in listed]
    write_text(table, "".join(",".join(map(str, row)) + "\n" for row in [COLUMNS, *rows]))
    print(forecast(listed, workflow.cores or 1, gpus))
    for words in remarks(needs.plan.configuration):
        print(f"Warning: {words}")


def print_forecast_of_dry_run(workflow, needs: Needs) -> None:
    """Print the forecast of the jobs that `snakemake -n` has planned, if it has planned any."""
    gpus = _gpus(workflow, needs)
    if listed := jobs(workflow, needs.gpu, of_dry_run=True):
        print(forecast(listed, workflow.cores or 1, gpus))


def _gpus(workflow, needs: Needs) -> int:
    """Return how many GPUs the forecast is for; with none, the times in `needs` are those of a CPU."""
    gpus = workflow.global_resources.get("gpu").value or 0
    # The default profile allows one GPU, which this host may not have. `--resources gpu=2` may be a question
    # about another host.
    if workflow.nodes is None and not any(word.startswith("gpu=") for word in sys.argv):
        gpus = min(gpus, usable_gpus(needs.plan.configuration.gpu_jobs_per_device))
    needs.gpu = gpus > 0
    return gpus


def usable_gpus(jobs_per_device: int) -> int:
    """Return the number of jobs that can use a GPU of this host at once."""
    with suppress(GpuError):  # of CUDA_VISIBLE_DEVICES, which the jobs report
        return jobs_per_device * len(devices_for(1, lambda message: None))
    return 0


def forecast(listed: list[Job], cores: int, gpus: int) -> str:
    """Return a table of the jobs, and the time that the remaining jobs take on so many cores and GPUs."""
    rules = dict.fromkeys(job.rule for job in listed)
    rows = [HEADER, *(_row(rule, [job for job in listed if job.rule == rule]) for rule in rules)]
    rows.append(_row("total", listed))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for rule, *cells in rows:
        lines.append("  ".join([rule.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]))
    core_hours, gpu_hours = hours(listed)
    longest = max(core_hours / cores, gpu_hours / max(gpus, 1))
    on = counted(cores, "core") + (f" and {counted(gpus, 'GPU')}" if gpus else "")
    about = (
        f"About {longest:.1f} hours on {on} for the remaining jobs. Predictions are accurate to a factor of "
        "two or three; predictions for GPUs are guesses."
    )
    return "\n".join([*lines, "", about, *(f"Warning: {shortage}" for shortage in shortages(listed))])


def trainings_left(needs: Needs) -> tuple[int, float]:
    """Return the number of trainings without a result, short runs included, and their predicted hours."""
    number, seconds, plan = 0, 0.0, needs.plan
    for name, experiment in plan.configuration.experiments.items():
        for model, resolution in product(experiment.models, experiment.resolutions):
            costs = needs.costs_of_seeds(name, model, resolution)
            left = sum(not Path(file).exists() for file in costs)
            number, seconds = number + left, seconds + left * needs.train(name, model, resolution).seconds
            for candidate in experiment.tuning.candidates if experiment.tuning and left else ():
                number += 1
                seconds += needs.train_short(name, model, resolution, candidate).seconds
    return number, seconds / 3600


def shortages(listed: Iterable[Job]) -> Iterator[str]:
    """Yield a warning for too little disk space or memory on this machine for the remaining jobs."""
    waiting = [job for job in listed if not job.done]
    needed: dict[int, float] = {}
    places: dict[int, Path] = {}
    for job in waiting:
        place = next(parent for parent in Path(job.outputs[0]).absolute().parents if parent.exists())
        device = place.stat().st_dev
        places.setdefault(device, place)
        needed[device] = needed.get(device, 0.0) + job.need.disk
    for device, size in needed.items():
        if size > (free := disk_usage(places[device]).free):
            sizes = f"{size / 1e9:,.1f} GB will be written, but {free / 1e9:,.1f} GB are free on the disk of"
            yield f"{sizes} {places[device]}; set data_root or results_root to another disk"
    memory = machine_memory()
    # Trainings on the CPU split their batches if they do not fit into memory.
    others = (job for job in waiting if job.gpu or job.rule not in TRAININGS)
    largest = max(others, key=lambda job: job.need.bytes, default=None)
    if largest and largest.need.bytes > memory:
        needs = f"a job of {largest.rule} needs {largest.need.bytes / 1e9:,.1f} GB of memory"
        there = f"this machine has {memory / 1e9:,.1f} GB"
        yield f"{needs}, but {there}; use a larger machine, or reduce the sizes"


def hours(listed: Iterable[Job]) -> tuple[float, float]:
    waiting = [(job.gpu, job.processes * job.need.seconds / 3600) for job in listed if not job.done]
    return sum(time for gpu, time in waiting if not gpu), sum(time for gpu, time in waiting if gpu)


def _row(rule: str, members: list[Job]) -> tuple[str, ...]:
    core_hours, gpu_hours = hours(members)
    disk = sum(job.need.disk for job in members)
    return (
        rule,
        f"{len(members):,}",
        f"{sum(job.done for job in members):,}",
        f"{core_hours:.2f}",
        f"{gpu_hours:.2f}" if any(job.gpu for job in members) else "",
        duration(max((job.need.seconds for job in members if not job.done), default=0)),
        f"{max(job.need.bytes for job in members) / 1e9:.1f}",
        f"{disk / 1e9:.2f}" if disk else "",
    )
