"""The two jobs of a run: train it, then evaluate it. Result files in, result files out."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pandas
import torch

from datasets.files import sole_writer, write_arrays, write_json
from datasets.loading import Samples, load_samples, read_card, target_gradients, training_noise
from datasets.settings import settings_hash
from models.build import build
from models.parameter_counts import parameter_counts
from training import checkpoints
from training.devices import choose_device
from training.evaluation import evaluate, measured, shown_samples, write_table
from training.fit import HISTORY_COLUMNS, Progress, Trainer
from training.group import ALONE, Group
from training.launch import launch, visible_devices
from training.normalised_operator import in_physical_units
from training.operations import forward_operations
from training.settings import TrainingSettings
from training.trained import trained_operator

LIBRARIES = ("numpy", "torch")


def train_run(
    card: Path,
    folder: Path,
    resolution: int | str,
    seed: int,
    run: dict,
    code_digest: str,
    threads: int,
    gpus: int,
    processes: int = 1,
) -> None:
    """Train one run into `folder`: history.csv, cost.json and, last, checkpoint.pt.

    `run` is what `workflow.plan.Plan.training` gives: architecture, settings, grids, training, samples. A run
    that diverges (`training.fit`) ends there, which is a result: its checkpoint holds no operator. It is
    trained by as many `processes`, or by fewer where there are fewer GPUs, and without GPUs fewer `threads`.
    Raises `DatasetError` where another job trains this run: a killed Snakemake may have left its jobs behind.
    """
    devices = visible_devices() if gpus else []
    size = min(processes, len(devices) or threads)
    if size < processes:
        print(f"trains in {size} instead of {processes} processes: it was given no more", file=sys.stderr)
    arguments = {
        "card": str(card),
        "folder": str(folder),
        "resolution": resolution,
        "seed": seed,
        "run": run,
        "code_digest": code_digest,
        "threads": threads // size,
        "gpus": gpus,
    }
    with sole_writer(folder / "train.lock", f"the run {folder}"):
        if size == 1:
            train_in_group(ALONE, **arguments)
        else:
            launch("training.run:train_in_group", size, devices, arguments)


def train_in_group(
    group: Group,
    card: str,
    folder: str,
    resolution: int | str,
    seed: int,
    run: dict,
    code_digest: str,
    threads: int,
    gpus: int,
) -> None:
    """What one process of the group does; the files are written by the first one."""
    card = Path(card)
    torch.set_num_threads(threads)
    device = choose_device(gpus)
    settings = TrainingSettings.model_validate(run["training"])
    noise = training_noise(card, resolution, run["samples"]["train"], settings.noise)

    def load(split: str) -> Samples:
        count = run["samples"][split]
        return load_samples(card, resolution, split, count, grids=run["grids"], noise=noise)

    train = load("train")
    if settings.gradient_weight > 0:
        train = replace(train, gradients=target_gradients(card, train, "train"))
    trainer = Trainer(
        in_physical_units(build(run["architecture"], run["settings"], seed), settings, train),
        train,
        load("validation"),
        settings,
        seed=seed,
        device=device,
        identity=settings_hash(
            {
                **run,
                "resolution": resolution,
                "seed": seed,
                "code": code_digest,
                "data": read_card(card)["content_hash"],
            }
        ),
        directory=Path(folder),
        test=load("test") if settings.record_test_error else None,
        group=group,
    )
    progress = trainer.fit()
    if group.first:
        _write(trainer, progress, run, threads)


def _write(trainer: Trainer, progress: Progress, run: dict, threads: int) -> None:
    write_table(
        pandas.DataFrame(progress.history, columns=HISTORY_COLUMNS), trainer.directory / "history.csv"
    )
    write_json(trainer.directory / "cost.json", {**trainer.cost(threads), **_sizes(trainer)})
    diverged = progress.diverged_epoch is not None
    checkpoint = {
        "operator": None if diverged else progress.best_state,
        "architecture": run["architecture"],
        "settings": run["settings"],
        "training": run["training"],
        "epoch": progress.best_epoch,
        "identity": trainer.identity,
    }
    checkpoints.save(checkpoint, trainer.directory / "checkpoint.pt")


def _sizes(trainer: Trainer) -> dict[str, int]:
    """What the operator is, for cost.json: its parameters as Calvello et al. 2024 count them, and the
    operations of one output at the training resolution (`training.operations`)."""
    once, _ = parameter_counts(trainer.operator)
    inputs, coordinates = trainer.train.inputs[:1], trainer.train.coordinates
    return {
        "parameters_complex_once": once,
        "forward_flop": forward_operations(trainer.operator, inputs, coordinates),
    }


def evaluate_run(card: Path, folder: Path, description: dict, threads: int, gpus: int) -> None:
    """Evaluate the run in `folder` on the test split: errors.csv, predictions.npz, run.json.

    `description` is what `workflow.plan.Plan.description` gives; it names the resolutions and the levels of
    noise to test on.
    """
    torch.set_num_threads(threads)
    device = choose_device(gpus)
    facts = read_card(card)
    checkpoint = checkpoints.load(folder / "checkpoint.pt")
    operator, scale = trained_operator(checkpoint), None
    if operator is not None:
        if checkpoint["training"]["normalisation"] == "scalar":
            scale = tuple(part.numpy() for part in (operator.output.mean, operator.output.deviation))
        operator = operator.to(device)
    counts = {split: description["training"][f"{split}_samples"] for split in ("train", "test")}
    test = measured(
        card,
        description["test_resolutions"],
        levels=description["test_noise"],
        realisations=description["noise_realisations"],
        counts=counts,
        grids=description["grids"],
    )
    errors, kept = evaluate(operator, test, device, shown_samples(counts["test"], facts["seed"]), scale)
    write_table(errors, folder / "errors.csv")
    write_arrays(folder / "predictions.npz", kept, compressed=True)
    versions = {name: version(name) for name in LIBRARIES}
    write_json(
        folder / "run.json", {**description, "dataset_hash": facts["content_hash"], "versions": versions}
    )
    (folder / "resume.pt").unlink(missing_ok=True)
