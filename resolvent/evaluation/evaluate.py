"""Evaluate a trained run: read a checkpoint and a dataset, write errors and a few predictions."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas
import torch
from torch import nn

from resolvent.common.files import write_text
from resolvent.common.predictions import write_predictions
from resolvent.common.records import (
    CHECKPOINT,
    RUN_FILES,
    CostRecord,
    RunRecord,
    check_same_run,
    file_digests,
    identity_of,
    read_record,
    write_record,
)
from resolvent.common.runs import metric_columns
from resolvent.datasets.loading import Split, read_card
from resolvent.datasets.storage.layout import group_name
from resolvent.evaluation.conditions import evaluate, measured, shown_samples, target_scale
from resolvent.evaluation.metrics import Metric, metric_words, metrics_with
from resolvent.training import checkpoints
from resolvent.training.checkpoints import trained_operator
from resolvent.training.devices import choose_device
from resolvent.training.normalisation import NormalisedOperator

if TYPE_CHECKING:
    import xarray

VERSION = 1  # raised whenever the numbers change (docs/jobs.md)
IDENTITY = ("experiment", "model", "label", "resolution", "seed", "config_hash")  # stored in predictions.nc


def evaluate_run(
    card: Path, folder: Path, description: dict, threads: int, gpus: int, metrics: Iterable[str] = ()
) -> None:
    """Evaluate the run in `folder` on the test split; write errors.csv, predictions.nc and, last, run.json.

    `description` is from `resolvent.planning.plan.Plan.description`: the fields of a `RunRecord` that are
    known before. `metrics` are user-defined, "module:name". Raises `EvaluationError` if one cannot be used,
    and `FileError` if checkpoint or cost.json are of another run.
    """
    torch.set_num_threads(threads)
    device = choose_device(gpus)
    facts = read_card(card)
    known = metrics_with(metrics, facts["targets"])
    checkpoint = checkpoints.load_run(folder, description)
    cost = read_record(folder / "cost.json", CostRecord)
    check_same_run(folder / "cost.json", identity_of(cost), description)
    operator = trained_operator(checkpoint)
    errors, predictions = evaluate_operator(operator, card, description, device, facts["seed"], known)
    spread, targets = predictions.attrs["prediction_spread"], predictions.attrs["targets"]
    predictions.attrs = {name: description[name] for name in IDENTITY}
    write_text(folder / "errors.csv", errors.to_csv(index=False))
    write_predictions(folder / "predictions.nc", predictions)
    found = {
        "grid": checkpoint["grid"],
        "dataset_hash": facts["content_hash"],
        "data_warnings": facts.get("imported", {}).get("warnings", []),
        "versions": {"numpy": version("numpy")} | checkpoint.get("versions", {"torch": version("torch")}),
        "computation": checkpoint.get("computation", {}),
        "targets": targets,
        "prediction_spread": spread if np.isfinite(spread) else None,
        "metrics": metric_words(metric_columns(errors), known),
        "files": file_digests(folder, (*RUN_FILES, CHECKPOINT)),
    }
    write_record(folder / "run.json", RunRecord(**description | found))
    (folder / "resume.pt").unlink(missing_ok=True)


def evaluate_operator(
    operator: nn.Module | None,
    card: Path,
    description: dict,
    device: torch.device,
    seed: int,
    metrics: tuple[Metric, ...] | None = None,
) -> tuple[pandas.DataFrame, xarray.DataTree]:
    """Return the errors of an operator on the test split at `card`, and the predictions to be stored.

    `description` is as in `evaluate_run`; `seed` selects the samples for figures. Standardised errors are
    measured for imported data, whose units are arbitrary, and for runs with scalar normalisation. For
    imported data on training grids, the attribute `targets` of the predictions has `names`, `mean` and
    `deviation` of the training targets.
    """
    training, scale, facts = description["training"], None, read_card(card)
    resolution, count = description["resolution"], training["noise_samples"]
    there = group_name(resolution) in facts["groups"] and count <= facts["samples"]["train"]
    targets: dict[str, list] = {}
    if "imported" in facts and there:
        train = Split(card, resolution, "train", count, grids=description["grids"])
        mean, deviation = (one.tolist() for one in target_scale(train))
        targets = {"names": facts["targets"], "mean": mean, "deviation": deviation}
        scale = np.array(mean), np.array(deviation)
    elif isinstance(operator, NormalisedOperator) and training["normalisation"] == "scalar":
        assert operator.output is not None
        scale = operator.output.mean.cpu().numpy(), operator.output.deviation.cpu().numpy()
    if operator is not None:
        operator = operator.to(device)
    test = measured(
        card,
        description["test_resolutions"],
        levels=description["test_noise"],
        realisations=description["noise_realisations"],
        counts={"train": training["noise_samples"], "test": training["test_samples"]},
        grids=description["grids"],
    )
    shown = shown_samples(training["test_samples"], seed)
    metrics = metrics or metrics_with((), facts["targets"])
    errors, predictions = evaluate(operator, test, device, shown, scale, metrics)
    predictions.attrs["targets"] = targets
    return errors, predictions
