"""Evaluate a trained operator on the test split at every stored resolution (zero-shot), sample by sample."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import torch
from torch import nn

from datasets.files import write_atomically
from datasets.loading import Samples
from training.metrics import METRICS
from training.tensors import batch_size, coordinate_tensor, function_tensor

SHOWN_SAMPLES = 4  # predictions kept for the figures, as in Cao 2021, Fig. 9
BATCH_VALUES = 2**16  # grid values per batch: 128 samples at 512 points, 8 at 8192, 1 at 211 x 211


@torch.no_grad()
def predict(operator: nn.Module, samples: Samples, device: torch.device) -> np.ndarray:
    """Predictions (samples, ...space) in float64 for comparison; the operator computes in float32."""
    operator.eval()
    coordinates = coordinate_tensor(samples.grid).to(device)
    inputs = function_tensor(samples.inputs)
    size = batch_size(samples.grid, BATCH_VALUES, len(samples))
    outputs = [operator(batch.to(device), coordinates).squeeze(-1).cpu() for batch in inputs.split(size)]
    return torch.cat(outputs).numpy().astype(np.float64)


def error_rows(prediction: np.ndarray, samples: Samples) -> pandas.DataFrame:
    """One row per sample: the resolution, the sample's index in the test split, and every metric."""
    errors = {name: metric(prediction, samples.targets, samples.grid) for name, metric in METRICS.items()}
    return pandas.DataFrame({"resolution": samples.grid.points, "sample": range(len(samples)), **errors})


def shown_samples(count: int, seed: int) -> np.ndarray:
    """Indices of the test samples shown in figures: the same for every model of a seed."""
    return np.sort(np.random.default_rng(seed).choice(count, min(SHOWN_SAMPLES, count), replace=False))


def evaluate(
    operator: nn.Module | None, test: dict[int, Samples], device: torch.device, shown: np.ndarray
) -> tuple[pandas.DataFrame, dict[str, np.ndarray]]:
    """Errors at every resolution of `test`, and the predictions of the samples `shown`.

    `operator` is None for a diverged run: its errors and predictions are NaN, which tables show as such.
    """
    rows, kept = [], {"samples": shown}
    for points, samples in test.items():
        if operator is None:
            prediction = np.full_like(samples.targets, np.nan)
        else:
            prediction = predict(operator, samples, device)
        rows.append(error_rows(prediction, samples))
        kept[f"x_{points}"] = samples.grid.coordinates
        kept[f"input_{points}"] = samples.inputs[shown]
        kept[f"target_{points}"] = samples.targets[shown]
        kept[f"prediction_{points}"] = prediction[shown]
    return pandas.concat(rows, ignore_index=True), kept


def write_table(table: pandas.DataFrame, path: Path) -> None:
    """Write a CSV atomically, numbers in full so that nothing is lost between jobs."""
    write_atomically(path, lambda temporary: table.to_csv(temporary, index=False))
