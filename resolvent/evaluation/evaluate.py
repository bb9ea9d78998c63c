"""Evaluate a trained run: read a checkpoint and a dataset, write errors and a few predictions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas
import torch
from torch import nn

from resolvent.common import records
from resolvent.common.files import write_text
from resolvent.common.predictions import write_predictions
from resolvent.common.runs import metric_columns
from resolvent.datasets.loading import Source, Split, read_card
from resolvent.datasets.storage.layout import group_name
from resolvent.evaluation.conditions import Condition, evaluate, measured, shown_samples, target_scale
from resolvent.evaluation.metrics import Metric, Scale, metric_words, metrics_with
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
    every_metric = metrics_with(metrics, facts["targets"])
    checkpoint = checkpoints.load_run(folder, description)
    cost = records.read_record(folder / "cost.json", records.CostRecord)
    records.check_same_run(folder / "cost.json", records.identity_of(cost), description)
    operator = trained_operator(checkpoint)
    errors, predictions = evaluate_operator(operator, card, description, device, facts["seed"], every_metric)
    spread, targets = predictions.attrs["prediction_spread"], predictions.attrs["targets"]
    predictions.attrs = {name: description[name] for name in IDENTITY}
    write_text(folder / "errors.csv", errors.to_csv(index=False))
    write_predictions(folder / "predictions.nc", predictions)
    measured_facts = {
        "grid": checkpoint["grid"],
        "dataset_hash": facts["content_hash"],
        "data_warnings": facts.get("imported", {}).get("warnings", []),
        "versions": {"numpy": version("numpy")} | checkpoint.get("versions", {"torch": version("torch")}),
        "computation": checkpoint.get("computation", {}),
        "targets": targets,
        "prediction_spread": spread if np.isfinite(spread) else None,
        "metrics": metric_words(metric_columns(errors), every_metric),
        "files": records.file_digests(folder, (*records.RUN_FILES, records.CHECKPOINT)),
    }
    records.write_record(folder / "run.json", records.RunRecord(**description | measured_facts))
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

    `description` is as in `evaluate_run`; `seed` selects the samples for figures. For imported data on
    training grids, the attribute `targets` of the predictions has `names`, `mean` and `deviation` of the
    training targets.
    """
    facts, scale = read_card(card), scale_of(operator, card, description)
    targets: dict[str, list] = {}
    if "imported" in facts and _has_training(facts, description):
        assert scale is not None
        mean, deviation = (array.tolist() for array in scale)
        targets = {"names": facts["targets"], "mean": mean, "deviation": deviation}
    if operator is not None:
        operator = operator.to(device)
    shown = shown_samples(description["training"]["test_samples"], seed)
    metrics = metrics or metrics_with((), facts["targets"])
    errors, predictions = evaluate(operator, tested(card, description), device, shown, scale, metrics)
    predictions.attrs["targets"] = targets
    return errors, predictions


def tested(card: Path, description: dict) -> Iterator[tuple[Condition, Source]]:
    """Yield the test samples at `card` under every condition of a run, described as in `evaluate_run`."""
    training = description["training"]
    return measured(
        card,
        description["test_resolutions"],
        levels=description["test_noise"],
        realisations=description["noise_realisations"],
        counts={"train": training["noise_samples"], "test": training["test_samples"]},
        grids=description["grids"],
    )


def scale_of(operator: nn.Module | None, card: Path, description: dict) -> Scale | None:
    """Return the units of standardised errors, or None if none are measured.

    They are measured for imported data, whose units are arbitrary, and for runs with scalar normalisation.
    """
    facts, training = read_card(card), description["training"]
    if "imported" in facts and _has_training(facts, description):
        count, grids = training["noise_samples"], description["grids"]
        return target_scale(Split(card, description["resolution"], "train", count, grids=grids))
    if isinstance(operator, NormalisedOperator) and training["normalisation"] == "scalar":
        assert operator.output is not None
        return operator.output.mean.cpu().numpy(), operator.output.deviation.cpu().numpy()
    return None


def _has_training(facts: dict, description: dict) -> bool:
    count = description["training"]["noise_samples"]
    return group_name(description["resolution"]) in facts["groups"] and count <= facts["samples"]["train"]
