"""Evaluate a trained run: a checkpoint and a dataset in, errors and a few predictions out."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import torch

from resolvent.common.files import write_arrays, write_json
from resolvent.datasets.loading import read_card
from resolvent.evaluation.conditions import evaluate, measured, shown_samples, write_table
from resolvent.training import checkpoints
from resolvent.training.devices import choose_device
from resolvent.training.trained import trained_operator

LIBRARIES = ("numpy", "torch")


def evaluate_run(card: Path, folder: Path, description: dict, threads: int, gpus: int) -> None:
    """Evaluate the run in `folder` on the test split: errors.csv, predictions.npz, run.json.

    `description` is what `resolvent.planning.plan.Plan.description` gives; it names the resolutions and the
    levels of noise to test on.
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
