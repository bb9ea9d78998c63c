"""Train every architecture of both papers at full size for two steps, stop, and resume for two more.

    python -m benchmarks.full_size [--only cao2021] [--folder build/full_size] [--output docs/performance.md]

Needs 24 GB of main memory and a few hours on one core. Results are saved in FOLDER, and are not measured
again. Steps that are predicted to need more memory than the machine has are skipped and listed.
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
from functools import partial
from pathlib import Path
from textwrap import fill

import torch
import yaml

from benchmarks.runner import Part, digits, run, table
from benchmarks.steps.memory import step_memory
from resolvent.common.files import read_json, write_json, write_text
from resolvent.common.machine import machine_memory
from resolvent.measurements.step_cost import in_new_processes
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.read import merged, read_configuration
from resolvent.planning.configuration.settings import Resolution
from resolvent.planning.plan import Plan
from resolvent.planning.prediction.costs import SAMPLE_BYTES
from resolvent.planning.prediction.needs import Needs
from resolvent.training import checkpoints
from resolvent.training.errors import TrainingError
from resolvent.training.fit import Trainer
from resolvent.training.train import train_run

NAMES = {"cao2021": "Cao 2021", "calvello2024": "Calvello et al. 2024"}
STEPS = 2  # before the run is stopped, and after it resumes
PAPERS: dict[str, dict[tuple[str, int | str], list[str]]] = {
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
# By dataset: five batches, or enough samples that no standard deviation is zero.
TRAIN = {"burgers": 100, "darcy_cao": 100, "darcy_cao_inverse": 40, "lorenz63_yz": 320, "darcy_lognormal": 40}
FRACTION = 0.7  # of the machine's memory available to a step
HEADER = (
    "experiment", "model", "n", "batch", "GB predicted", "GB measured", "measured / predicted", "s per step",
    "same bits after resuming",
)  # fmt: skip
TEXT = """\
Architectures at the sizes of `config/{paper}.yaml`, on stored samples. A first process trains for {steps}
steps until SIGTERM, a second resumes for {steps} more, and a third trains for {both} steps without
interruption. The final weights of both trainings are compared. Measured memory is the peak of the first
process minus its memory after imports; predicted memory is for a step and the samples.{left_out}"""


def step_bytes(needs: Needs, experiment: str, model: str, resolution: Resolution) -> float:
    """Predict the memory of a step in bytes, including all samples in memory."""
    run, dataset = (
        needs.plan.training(experiment, model, resolution),
        needs.plan.dataset_of(experiment).settings,
    )
    values = needs.operator(experiment, model, resolution, resolution).points  # per function
    held = SAMPLE_BYTES * (dataset.in_channels + dataset.out_channels) * values
    points, settings = round(values ** (1 / dataset.dimension)), run.settings.model_dump()
    step = step_memory(run.architecture, settings, points, run.training.batch_size, run.training.precision)
    return held * (run.counts["train"] + run.counts["validation"]) + step.peak


def measured(paper: str, given: Namespace) -> str:
    """Return the table of a paper's runs; finished runs in the folder are not repeated."""
    folder, cases, missing = given.folder, [], []
    plan, configuration = planned(paper, folder)
    needs = Needs(plan, gpu=False)
    for (experiment, resolution), models in PAPERS[paper].items():
        for model in models:
            label, predicted = (
                plan.configuration.models[model].label,
                step_bytes(needs, experiment, model, resolution),
            )
            if predicted > FRACTION * machine_memory():
                missing.append(f"{label} on {experiment} ({predicted / 1e9:.0f} GB)")
            else:
                cases.append((experiment, model, label, resolution, predicted))
    cards = sorted({str(plan.dataset_of(experiment).card) for experiment, *_ in cases})
    command = ["snakemake", *cards, "--cores", "2", "--configfile", str(configuration)]
    subprocess.run([sys.executable, "-m", *command], check=True)
    rows = []
    for experiment, model, label, resolution, predicted in cases:
        name = f"{experiment}-{model}-{resolution}"
        request = {
            "card": str(plan.dataset_of(experiment).card),
            "resolution": resolution,
            "run": plan.training(experiment, model, resolution).parameters,
        }
        if not (folder / f"{name}.json").exists():
            write_json(folder / f"{name}.json", outcome(request, folder / "runs" / name))
        found = read_json(folder / f"{name}.json", "a measurement")
        gigabytes = (predicted / 1e9, found["bytes"] / 1e9, found["bytes"] / predicted, found["seconds"])
        batch = str(request["run"]["training"]["batch_size"])
        same = "yes" if found["same"] else "no"
        rows.append((experiment, label, str(resolution), batch, *map(digits, gigabytes), same))
    memory = f"{machine_memory() / 1e9:.0f} GB"
    left_out = f" Skipped, because the machine has {memory}: {', '.join(missing)}." if missing else ""
    text = TEXT.format(paper=paper, steps=STEPS, both=2 * STEPS, left_out=left_out)
    return f"{fill(text, 110)}\n\n{table(HEADER, rows)}"


def planned(paper: str, folder: Path) -> tuple[Plan, Path]:
    """Return a paper's plan with few samples, and its configuration file."""
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


def outcome(request: dict, stopped: Path) -> dict:
    """Train, stop and resume a run, and train it without interruption; return the measurements."""
    whole, taken = stopped.with_name(f"{stopped.name}-whole"), []
    for old in (stopped, whole):
        shutil.rmtree(old, ignore_errors=True)
    for of_run, steps in ((stopped, STEPS), (stopped, STEPS), (whole, 2 * STEPS)):
        taken += in_new_processes("benchmarks.full_size", [request | {"folder": str(of_run), "steps": steps}])
    weights, expected = (checkpoints.load(run / "resume.pt")["operator"] for run in (stopped, whole))
    return taken[0] | {"same": all(torch.equal(weights[name], expected[name]) for name in expected)}


def train_until(card: str, resolution: int | str, run: dict, folder: str, steps: int) -> None:
    """Train for `steps` more steps like a job, ask the run to stop, and print memory and time."""
    done, gradients = [], Trainer._gradients
    before = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    def watched(trainer, share):
        done.append(time.perf_counter())
        if len(done) == steps:
            os.kill(os.getpid(), signal.SIGTERM)  # handled before the next step
        return gradients(trainer, share)

    Trainer._gradients = watched
    try:
        train_run(Path(card), Path(folder), resolution, 1127802, run, "full size", threads=1, gpus=0)
    except TrainingError as error:
        if "SIGTERM asked to end" not in str(error):
            raise
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    print(json.dumps([{"bytes": peak, "seconds": (done[-1] - done[0]) / (steps - 1)}]))


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1].startswith("["):  # a request of `outcome`
        (request,) = json.loads(sys.argv[1])
        train_until(**request)
    else:
        parts = {paper: Part(NAMES[paper], partial(measured, paper), ("torch",)) for paper in PAPERS}
        folder = {"type": Path, "default": Path("build/full_size")}
        run("both-papers", parts, rounds=None, folder=folder)
