"""Every architecture of both papers at full size: two steps of training, stopped, resumed for two more.

    python -m benchmarks.full_size [--only cao2021] [--folder build/full_size] [--output docs/performance.md]

Needs 24 GB of main memory and a few hours of one core. What was measured is in FOLDER, and is not measured
again. A step that is predicted to need more memory than the machine has is left out, and named.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from argparse import Namespace
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from textwrap import fill
from types import SimpleNamespace

import torch
import yaml

from benchmarks.runner import Part, digits, run, table
from resolvent.common.files import read_json, write_json, write_text
from resolvent.common.machine import machine_memory
from resolvent.datasets.storage.layout import group_name
from resolvent.measurements.step_cost import in_new_processes
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.read import merged, read_configuration
from resolvent.planning.plan import Plan
from resolvent.planning.prediction.forecast import step_bytes
from resolvent.planning.prediction.needs import Needs
from resolvent.training import checkpoints
from resolvent.training.errors import TrainingError
from resolvent.training.fit import Trainer
from resolvent.training.train import train_run

NAMES = {"cao2021": "Cao 2021", "calvello2024": "Calvello et al. 2024"}
STEPS = 2  # before the run is stopped, and after it is resumed
PAPERS = {
    "cao2021": {
        ("burgers", 8192): ["fno_public_code", "fourier_public_code", "galerkin_public_code",
            "softmax_public_code", "linear_public_code"],
        ("darcy", 211): ["fno2d_public_code", "fourier2d_public_code", "galerkin2d_public_code",
            "softmax2d_public_code", "linear2d_public_code"],
        ("darcy_inverse_clean", 211): ["fourier2d_coarse_public_code", "galerkin2d_coarse_public_code",
            "softmax2d_coarse_public_code", "linear2d_coarse_public_code"],
    },
    "calvello2024": {
        ("lorenz63_yz", "dt0.01"): ["tno", "transformer"],
        ("darcy_lognormal_low", 64): ["tno2d", "fno_package", "afno", "galerkin_encoder"],
        ("darcy_lognormal", 416): ["vit_no", "fano", "fno_package", "afno"],
    },
}  # fmt: skip
# Of each dataset: training samples are five batches, or as many as keep deviations from zero.
TRAIN = {"burgers": 100, "darcy_cao": 100, "darcy_cao_inverse": 40, "lorenz63_yz": 320, "darcy_lognormal": 40}
FRACTION = 0.7  # of the memory of the machine that a step may take
HEADER = (
    "experiment", "model", "n", "batch", "GB predicted", "GB measured", "measured / predicted", "s a step",
    "resumed to the same bits",
)  # fmt: skip
INTRODUCTION = """\
## Both papers at full size"""
TEXT = """\
Architectures at sizes of `config/{paper}.yaml`, on stored samples. A first process trains for {steps} steps
until SIGTERM ends it, a second one goes on for {steps} more; a third trains for {both} without a stop, and
the weights of both runs are compared. Memory is the peak of the first process beyond what its imports take;
what is predicted is that of a step and of the samples, by which `snakemake plan` warns.{left_out}"""


@dataclass(frozen=True)
class Case:
    """A run at full size: what `train_run` is given, and the bytes that it is predicted to take."""

    experiment: str
    model: str
    label: str
    resolution: int | str
    card: str
    run: dict
    predicted: float

    @property
    def name(self) -> str:
        return f"{self.experiment}-{self.model}-{self.resolution}"


def measured(paper: str, given: Namespace) -> str:
    """Return the table of a paper's runs; those that are in the folder are not done again."""
    folder = given.folder
    plan, configuration = planned(paper, folder)
    cases = [
        case_of(plan, experiment, model, resolution)
        for (experiment, resolution), models in PAPERS[paper].items()
        for model in models
    ]
    fitting = [case for case in cases if case.predicted <= FRACTION * machine_memory()]
    cards = sorted({case.card for case in fitting})
    command = ["snakemake", *cards, "--cores", "2", "--configfile", str(configuration)]
    subprocess.run([sys.executable, "-m", *command], check=True)
    rows = []
    for case in fitting:
        found = folder / f"{case.name}.json"
        if not found.exists():
            found.parent.mkdir(parents=True, exist_ok=True)
            write_json(found, outcome(case, folder))
        rows.append(row(case, read_json(found, "a measurement")))
    missing = [
        f"{case.label} on {case.experiment} ({case.predicted / 1e9:.0f} GB)"
        for case in cases
        if case not in fitting
    ]
    memory = f"{machine_memory() / 1e9:.0f} GB"
    left_out = f" Left out, for the machine has {memory}: {', '.join(missing)}." if missing else ""
    text = TEXT.format(paper=paper, steps=STEPS, both=2 * STEPS, left_out=left_out)
    return f"{fill(text, 110)}\n\n{table(HEADER, rows)}"


def planned(paper: str, folder: Path) -> tuple[Plan, Path]:
    """Return a paper's plan with few samples, and the file of its configuration."""
    content = read_configuration([f"config/{paper}.yaml"])
    few = {
        name: {"samples": {"train": count, "validation": 2, "test": 2}, "samples_per_shard": 20}
        for name, count in TRAIN.items()
    }
    base = Plan(load_configuration(content))
    experiments = {
        name: {"samples": {"train": TRAIN[base.experiment(name).dataset]}} for name, _ in PAPERS[paper]
    }
    overlay = {"data_root": str(folder / "data"), "results_root": str(folder / "results")}
    content = merged(content, {"datasets": few, "experiments": experiments, **overlay})
    file = folder / f"{paper}.yaml"
    write_text(file, yaml.safe_dump(content))
    return Plan(load_configuration(content)), file


def case_of(plan: Plan, experiment: str, model: str, resolution: int | str) -> Case:
    """Return a run of the plan, with its predicted bytes."""
    named = SimpleNamespace(experiment=experiment, model=model, group=group_name(resolution))
    step = Needs(plan, gpu=False).step(named)
    return Case(
        experiment,
        model,
        plan.configuration.models[model].label,
        resolution,
        str(plan.dataset_of(experiment).card),
        plan.training(experiment, model, resolution).parameters,
        step_bytes(step, step.batch),
    )


def outcome(case: Case, folder: Path) -> dict:
    """Train, stop and resume a run, and train it without a stop; return what was seen."""
    stopped, whole = folder / "runs" / case.name, folder / "runs" / f"{case.name}-whole"
    for old in (stopped, whole):
        shutil.rmtree(old, ignore_errors=True)
    taken = []
    for of_run, steps in ((stopped, STEPS), (stopped, STEPS), (whole, 2 * STEPS)):
        request = {"case": asdict(case), "folder": str(of_run), "steps": steps}
        taken += in_new_processes("benchmarks.full_size", [request])
    weights, expected = (checkpoints.load(run / "resume.pt")["operator"] for run in (stopped, whole))
    return taken[0] | {"same": all(torch.equal(weights[name], expected[name]) for name in expected)}


def train_until(case: Case, folder: Path, steps: int) -> None:
    """Train for so many more steps, as a job does, ask the run to end, and print what it took."""

    done, gradients = [], Trainer._gradients
    before = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    def watched(trainer, share):
        done.append(time.perf_counter())
        if len(done) == steps:
            os.kill(os.getpid(), signal.SIGTERM)  # it is heard before the next step
        return gradients(trainer, share)

    Trainer._gradients = watched
    try:
        train_run(Path(case.card), folder, case.resolution, 1127802, case.run, "full size", threads=1, gpus=0)
    except TrainingError as error:
        if "SIGTERM asked to end" not in str(error):
            raise
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    print(json.dumps([{"bytes": peak, "seconds": (done[-1] - done[0]) / (steps - 1)}]))


def row(case: Case, found: dict) -> tuple[str, ...]:
    """Return the cells of a run, under HEADER."""
    return (
        case.experiment,
        case.label,
        str(case.resolution),
        str(case.run["training"]["batch_size"]),
        digits(case.predicted / 1e9),
        digits(found["bytes"] / 1e9),
        digits(found["bytes"] / case.predicted),
        digits(found["seconds"]),
        "yes" if found["same"] else "no",
    )


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1].startswith("["):  # a request of `outcome`
        (request,) = json.loads(sys.argv[1])
        train_until(Case(**request["case"]), Path(request["folder"]), request["steps"])
    else:
        parts = {paper: Part(NAMES[paper], partial(measured, paper), ("torch",)) for paper in PAPERS}
        folder = {"type": Path, "default": Path("build/full_size")}
        run("both-papers", INTRODUCTION, parts, rounds=None, folder=folder)
