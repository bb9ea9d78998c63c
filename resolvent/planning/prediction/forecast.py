"""What a configuration will take, predicted before anything runs: jobs by rule, hours, memory and disk.

The jobs are those of Snakemake's own graph, with what their rules ask for, so that there is
no second list of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from shutil import disk_usage
from typing import Any

from resolvent.common.counts import counted
from resolvent.common.files import write_text
from resolvent.common.machine import machine_memory
from resolvent.planning.configuration.load import remarks
from resolvent.planning.gpus.devices import smallest_memory
from resolvent.planning.prediction.costs import Need, drawing
from resolvent.planning.prediction.needs import Needs, Step

HEADER = ("rule", "jobs", "done", "core-hours", "GPU-hours", "GB of a job", "GB on disk")
COLUMNS = ("rule", "output", "seconds", "memory_bytes", "disk_bytes")  # of the table with a row a job
DOUBT = 3.0  # how far the formula for the memory of a step may be off


@dataclass(frozen=True)
class Job:
    """A job: the files that it leaves, and what it is predicted to take, on a core or a GPU.

    Each of its `processes` has a core or a GPU of its own. A training has its `step`.
    """

    rule: str
    outputs: tuple[str, ...]
    need: Need
    gpu: bool = False
    processes: int = 1
    step: Step | None = None

    @property
    def done(self) -> bool:
        return all(Path(file).exists() for file in self.outputs)


def jobs(workflow, needs: Needs) -> list[Job]:
    """Return every job of `rule all`, whether or not it is done."""
    from resolvent.planning.dag import jobs_behind  # which can be imported within Snakemake alone

    found = []
    for job in jobs_behind(workflow, "all"):
        # As the rule has them: `--set-resources` changes what a cluster is asked for, and no prediction.
        asked: dict[str, Any] = (job.rule.ruleinfo.resources or ((), {}))[1]
        predicted = getattr(asked.get("runtime"), "need", None)
        processes = asked.get("processes", 1)
        found.append(
            Job(
                job.rule.name,
                tuple(job.output),
                predicted(job.wildcards) if predicted else drawing(1),
                gpu=needs.gpu and "gpu" in asked,
                processes=processes(job.wildcards) if callable(processes) else processes,
                step=needs.step(job.wildcards) if job.rule.name == "train" else None,
            )
        )
    order = [rule.name for rule in workflow.rules]
    return sorted(found, key=lambda one: (order.index(one.rule), one.outputs))


def print_forecast(workflow, needs: Needs, table: Path) -> None:
    """Print the forecast, and write what each job is predicted to take to the file `table`."""
    gpus = workflow.global_resources.get("gpu").value or 0
    needs.gpu = gpus > 0
    listed = jobs(workflow, needs)
    rows = [(one.rule, one.outputs[0], *astuple(one.need)) for one in listed]
    lines = (",".join(map(str, row)) for row in [COLUMNS, *rows])
    write_text(table, "".join(f"{line}\n" for line in lines))
    print(forecast(listed, workflow.cores or 1, gpus))
    for words in remarks(needs.plan.configuration):
        print(f"Warning: {words}")


def forecast(listed: Iterable[Job], cores: int, gpus: int) -> str:
    """Return a table of the jobs that are still to be done, and what it comes to on so many cores and
    GPUs."""
    by_rule: dict[str, list[Job]] = {}
    for job in listed:
        by_rule.setdefault(job.rule, []).append(job)
    rows = [HEADER, *(_row(rule, members) for rule, members in by_rule.items())]
    everything = [job for members in by_rule.values() for job in members]
    rows.append(_row("total", everything))
    first, *others = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    lines = []
    for rule, *cells in rows:
        right = [cell.rjust(width) for cell, width in zip(cells, others, strict=True)]
        lines.append("  ".join([rule.ljust(first), *right]))
    core_hours, gpu_hours = hours(everything)
    longest = max(core_hours / cores, gpu_hours / max(gpus, 1))
    on = counted(cores, "core") + (f" and {counted(gpus, 'GPU')}" if gpus else "")
    return "\n".join(
        [
            *lines,
            "",
            f"About {longest:.1f} hours on {on}, for what is not done yet. Predictions are good to a factor "
            "of two or three; a GPU's are guesses.",
            *(f"Warning: {shortage}" for shortage in shortages(everything)),
        ]
    )


def shortages(listed: Iterable[Job]) -> Iterator[str]:
    """Say what this machine lacks for the jobs that are not done: space on its disks, and memory.

    The memory of a training is that of its step, on a GPU the device's.
    """
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
            yield (
                f"{size / 1e9:,.1f} GB are to be written and {free / 1e9:,.1f} GB are free on the disk of "
                f"{places[device]}; name another in data_root or results_root"
            )
    memory = machine_memory()
    # A training that does not fit by the formula may by what is counted.
    others = (job for job in waiting if job.gpu or job.step is None)
    largest = max(others, key=lambda job: job.need.bytes, default=None)
    if largest and largest.need.bytes > memory:
        yield (
            f"a job of {largest.rule} needs {largest.need.bytes / 1e9:,.1f} GB and this machine has "
            f"{memory / 1e9:,.1f} GB; run it on a larger one, or make it smaller"
        )
    for gpu in (False, True):
        yield from steps_that_do_not_fit((job.step for job in waiting if job.step and job.gpu == gpu), gpu)


def hours(listed: Iterable[Job]) -> tuple[float, float]:
    """Return core-hours, and GPU-hours, of the jobs that are not done."""
    waiting = [job for job in listed if not job.done]
    on_cpu, on_gpu = (
        sum(job.processes * job.need.seconds for job in waiting if job.gpu == gpu) / 3600
        for gpu in (False, True)
    )
    return on_cpu, on_gpu


def _row(rule: str, members: list[Job]) -> tuple[str, ...]:
    core_hours, gpu_hours = hours(members)
    return (
        rule,
        f"{len(members):,}",
        f"{sum(job.done for job in members):,}",
        f"{core_hours:.2f}",
        f"{gpu_hours:.2f}" if any(job.gpu for job in members) else "",
        f"{max(job.need.bytes for job in members) / 1e9:.1f}",
        f"{sum(job.need.disk for job in members) / 1e9:.2f}" if any(job.need.disk for job in members) else "",
    )


def steps_that_do_not_fit(steps: Iterable[Step], gpu: bool) -> Iterator[str]:
    """Say which steps need more memory than the GPU has, or the machine, and what becomes of them.

    To count their arrays takes torch and a fraction of a second, so it is done for those steps only that may
    not fit by the formula of `resolvent.planning.prediction.costs`, which is good to a factor of three.
    """
    memory = smallest_memory() if gpu else machine_memory()
    if not memory:
        return
    place = "a GPU here has" if gpu else "this machine has"
    for step in dict.fromkeys(steps):
        if DOUBT * step.guess + step.samples <= memory:
            continue
        part = -(-step.batch // step.processes)
        needed = step_bytes(step, part)
        if needed <= memory:
            continue
        fitting = part // 2
        while fitting and step_bytes(step, fitting) > memory:
            fitting //= 2
        then = (
            f"they are taken {fitting} at a time" if fitting else "not even one fits: choose a smaller model"
        )
        yield (
            f"a step of {step.name} needs {needed / 1e9:,.1f} GB for {counted(part, 'sample')} and {place} "
            f"{memory / 1e9:,.1f} GB; {then}"
        )


def step_bytes(step: Step, batch: int) -> float:
    """Predict the bytes that a step of `batch` samples takes, with all samples that are held."""
    from resolvent.training.memory import step_memory

    settings = json.loads(step.settings)
    return step.samples + step_memory(step.architecture, settings, step.points, batch, step.precision).peak
