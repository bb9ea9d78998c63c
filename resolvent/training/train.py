"""Train a run: read a dataset, write a checkpoint."""

from __future__ import annotations

import csv
import io
import sys
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from resolvent.common.errors import printable
from resolvent.common.files import write_text
from resolvent.common.locks import sole_writer
from resolvent.common.records import HISTORY_COLUMNS, CostRecord, write_record
from resolvent.common.settings import settings_hash
from resolvent.datasets.imported.arrays_checks import unscaled
from resolvent.datasets.loading import FreshSplit, Samples, Source, Split, read_card, training_noise
from resolvent.datasets.storage.layout import grid_facts, group_name
from resolvent.datasets.tasks.registry import build_task, settings_on
from resolvent.models.build import build, parameter_counts
from resolvent.models.registry import ARCHITECTURES, resolve, settings_class
from resolvent.training import checkpoints
from resolvent.training.check_model import check_output, findings
from resolvent.training.data import read_where_it_fits
from resolvent.training.devices import choose_device
from resolvent.training.distributed.group import ALONE, Group
from resolvent.training.distributed.launch import launch, nodes_given, visible_devices
from resolvent.training.fit import Progress, Trainer, computation_of
from resolvent.training.normalisation import NormalisedOperator, in_physical_units
from resolvent.training.operations import forward_operations
from resolvent.training.settings import TrainingSettings
from resolvent.training.tensors import coordinate_tensor, function_tensor

VERSION = 1  # raised whenever the numbers change (docs/jobs.md)
CHECKED = 2  # samples for the check of an operator's output before training


def train_run(
    card: Path,
    folder: Path,
    resolution: int | str,
    seed: int,
    run: dict,
    code_versions: dict,
    threads: int,
    gpus: int,
    processes: int = 1,
    nodes: int = 1,
) -> None:
    """Train one run; write history.csv, cost.json and, last, checkpoint.pt to `folder`.

    `run` are the parameters from `resolvent.planning.plan.Plan.training`: architecture, settings, grids,
    training, samples; settings that are left out have their defaults. `code_versions` are the versions of
    what computes. A run that diverges (`resolvent.training.fit`) stops, which is a result: its checkpoint
    has no operator. Uses as many `processes`, divided among the `nodes` of a SLURM job, or fewer if there are
    fewer GPUs (without GPUs: fewer `threads`). Raises `FileError` if another job trains this run, since a
    killed Snakemake may have left its jobs running.
    """
    devices = visible_devices() if gpus else []
    nodes = nodes_given(nodes)
    here = min(processes // nodes, len(devices) or threads // nodes)
    size = here * nodes
    if size < processes:
        print(f"training in {size} instead of {processes} processes, as granted to this job", file=sys.stderr)
    arguments: dict[str, Any] = {
        "card": str(card), "folder": str(folder), "resolution": resolution, "seed": seed, "run": run,
        "code_versions": code_versions, "threads": threads // size, "gpus": gpus,
    }  # fmt: skip
    with sole_writer(folder / "train.lock", f"the run {folder}"):
        if size == 1:
            train_in_group(ALONE, **arguments)
        else:
            task = "resolvent.training.train:train_in_group"
            launch(task, here, devices, arguments, nodes, shared=folder)


def train_in_group(
    group: Group,
    card: str,
    folder: str,
    resolution: int | str,
    seed: int,
    run: dict,
    code_versions: dict,
    threads: int,
    gpus: int,
) -> None:
    """Run the training in one process of the group; the first process writes the files."""
    torch.set_num_threads(threads)
    device, path = choose_device(gpus), Path(card)
    of_run = {"resolution": resolution, "seed": seed}
    # Runs with equal data, settings and versions are identical.
    origin = of_run | {"code": code_versions, "data": read_card(path)["content_hash"]}
    settings = TrainingSettings.model_validate(run["training"])
    model = resolve(run["architecture"], run["settings"]).model_dump(mode="json")
    noise = training_noise(path, resolution, run["noise_samples"], run["noise"])

    def split(name: str, kind: type[Split] = Split) -> Split:
        labelled = settings.reads_labels or name != "train"
        options = {"grids": run["grids"], "noise": noise, "labelled": labelled}
        return kind(path, resolution, name, run["samples"][name], **options)

    def read(name: str, given: TrainingSettings | None = None) -> Source:
        return read_where_it_fits(split(name), device, given, group.size)

    train = read("train", settings)
    some = train.read(range(min(CHECKED, len(train))))
    operator = build(run["architecture"], model, seed)
    check_output(operator, some, run["architecture"])
    equation = guess = None
    if settings.augment != "none" or not settings.reads_labels:
        equation = settings_on(read_card(path), path)
    if equation is not None and not settings.reads_labels:
        guess = build_task(equation).baselines()["constant_coefficient"]
    operator = in_physical_units(operator, settings, train, guess)
    if group.first and run["architecture"] not in ARCHITECTURES:
        warn_of_findings(operator, some, run["architecture"], model, settings.precision)
    if settings.fresh_samples:
        train = split("train", FreshSplit)
    trainer = Trainer(
        operator,
        train,
        read("validation"),
        settings,
        seed=seed,
        device=device,
        identity=settings_hash(run | origin),
        directory=Path(folder),
        test=read("test") if settings.record_test_error else None,
        group=group,
        equation=equation,
        recordable=recordable(run["architecture"], model, settings.loss),
    )
    progress = trainer.fit()
    if group.first:
        if progress.diverged_epoch is not None:
            print(trainer.words_of_divergence(), file=sys.stderr)
            functions = {"inputs": some.inputs} | ({"targets": some.targets} if settings.reads_labels else {})
            moments = {name: (float(f.mean()), float(f.std())) for name, f in functions.items()}
            for name, (mean, deviation) in moments.items():
                spacing = np.spacing(np.float32(abs(mean)))
                print(
                    f"{name}: mean {mean:.4g}, standard deviation {deviation:.3g}; numbers in single "
                    f"precision near the mean are {spacing:.1g} apart",
                    file=sys.stderr,
                )
            if settings.normalisation == "none":  # a likely reason is data whose size is far from 1
                for remark in unscaled(moments):
                    print(remark, file=sys.stderr)
        network = {
            "architecture": run["architecture"],
            "settings": model,
            "training": settings.model_dump(mode="json"),
        }
        of_run |= {"config_hash": settings_hash(run)}
        stored = read_card(path)["groups"][group_name(resolution)]["grid"]
        grid = grid_facts(train.grid) | {key: stored[key] for key in ("origin",) if key in stored}
        _write(trainer, progress, network, of_run, grid, threads)


def recordable(architecture: str, settings: dict, loss: str) -> bool:
    """Return whether a GPU may record the steps of a training with these settings of the model."""
    # torch's checkpointing reads the random state, which is not possible during a recording. A user's loss
    # may wait for the device, or change with the steps.
    known = architecture in ARCHITECTURES or settings_class(architecture).recordable
    return known and not settings.get("checkpointing", False) and ":" not in loss


def warn_of_findings(
    operator: nn.Module, samples: Samples, architecture: str, settings: dict, precision: str
) -> None:
    """Print a warning for each fault of an architecture elsewhere, whose `operator` is in physical units."""
    u = function_tensor(samples.inputs, samples.grid, torch.float64)
    if isinstance(operator, NormalisedOperator) and operator.input is not None:
        u = operator.input.normalise(u)
    another = build(architecture, settings, seed=0)  # the check changes it
    halves = [torch.bfloat16] if precision == "bfloat16" else []
    for line in findings(another, u.float(), coordinate_tensor(samples.grid), halves):
        print(f"warning: model {architecture}: {printable(line)}", file=sys.stderr)


def versions_of(operator: nn.Module) -> dict[str, str]:
    """Return the versions of torch and of every package that provides a module of the operator."""
    others = {type(module).__module__.partition(".")[0] for module in operator.modules()}
    others -= {"torch", "resolvent"}
    # Reads the metadata of all installed packages, which takes half a second.
    distributions = packages_distributions() if others else {}
    names = {"torch"} | {name for package in others for name in distributions.get(package, ())}
    return {name: version(name) for name in sorted(names)}


def _write(
    trainer: Trainer, progress: Progress, network: dict, of_run: dict, grid: dict, threads: int
) -> None:
    """Write the files of the run.

    The checkpoint has the fields of `network` (architecture, settings and training, with all defaults) and of
    `of_run` (resolution, seed, config_hash).
    """
    history = io.StringIO()
    csv.writer(history, lineterminator="\n").writerows([HISTORY_COLUMNS, *progress.history])
    write_text(trainer.directory / "history.csv", history.getvalue())
    # Count parameters as Calvello et al. 2024, and operations for one sample at the training resolution.
    once, _ = parameter_counts(trainer.operator)
    sample = next(trainer.validation.batches([torch.arange(1)]))
    cost = CostRecord(
        **of_run,
        **trainer.measured_cost(threads),
        parameters_complex_once=once,
        forward_flop=forward_operations(trainer.operator, sample.inputs, trainer.validation.coordinates),
    )
    write_record(trainer.directory / "cost.json", cost)
    diverged = progress.diverged_epoch is not None
    checkpoint = {
        "operator": None if diverged else progress.best_state,
        **network,
        "computation": computation_of(trainer.optimizer, trainer.settings.precision),
        "versions": versions_of(trainer.operator),
        "epoch": progress.best_epoch,
        "identity": trainer.identity,
        "grid": grid,
        **of_run,
    }
    checkpoints.save(checkpoint, trainer.directory / "checkpoint.pt")
