"""Evaluate a trained operator on the test split under every condition asked for, sample by sample.

A condition is a resolution (another than that of training: zero-shot), and of noisy inputs the level of the
noise and one of its realisations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas
import torch
from torch import nn

from resolvent.common.files import write_atomically
from resolvent.common.predictions import Chosen, at_one_level, tree_of
from resolvent.datasets.loading import Samples, load_samples, training_noise
from resolvent.evaluation.metrics import METRICS, Metric, Scale, measure
from resolvent.evaluation.spectra import mean_power, wavenumbers
from resolvent.solvers.common.grid import Grid, Nodes
from resolvent.training.tensors import as_samples, batch_size, coordinate_tensor, function_tensor

if TYPE_CHECKING:
    import xarray

SHOWN_SAMPLES = 4  # predictions kept for the figures, as in Cao 2021, Fig. 9
BATCH_VALUES = 2**16  # grid values per batch: 128 samples at 512 points, 8 at 8192, 1 at 211 x 211


@dataclass(frozen=True)
class Condition:
    """How test samples are measured: the grid or times of the input, ε of its noise, and which draw."""

    resolution: int | str
    noise: float = 0.0
    realisation: int = 0


def measured(
    card: Path,
    resolutions: list[int | str],
    *,
    levels: list[float],
    realisations: int,
    counts: dict[str, int],
    grids: str = "stored",
) -> Iterator[tuple[Condition, Samples]]:
    """Yield the test samples under every condition, one after another.

    Each level of noise above 0 is drawn in `realisations`; there is nothing to draw at 0. `counts` are the
    samples of the splits; the training samples give the unit of the noise.
    """
    for resolution in resolutions:
        unit = training_noise(card, resolution, counts["train"], 1.0) if any(levels) else None
        for level in levels:
            for realisation in range(realisations if level else 1):
                noise = replace(unit, level=level, realisation=realisation) if level else None
                yield (
                    Condition(resolution, level, realisation),
                    load_samples(card, resolution, "test", counts["test"], grids=grids, noise=noise),
                )


@torch.no_grad()
def predict(operator: nn.Module, samples: Samples, device: torch.device) -> np.ndarray:
    """Return the predictions, shaped as the targets, in float64; the operator computes in float32."""
    operator.eval()
    coordinates = coordinate_tensor(samples.grid).to(device)
    inputs = function_tensor(samples.inputs, samples.grid)
    size = batch_size(samples.grid, BATCH_VALUES, len(samples))
    outputs = [as_samples(operator(batch.to(device), coordinates)).cpu() for batch in inputs.split(size)]
    return torch.cat(outputs).numpy().astype(np.float64)


def error_rows(
    prediction: np.ndarray,
    samples: Samples,
    condition: Condition,
    scale: Scale | None = None,
    metrics: tuple[Metric, ...] = METRICS,
) -> pandas.DataFrame:
    """Return one row per sample: the condition, the sample's index in the test split, and every metric.

    `scale`, mean and standard deviation (channels,) of the training targets, adds the error of standardised
    fields.
    """
    errors = measure(prediction, samples.targets, samples.target_grid, scale, metrics)
    return pandas.DataFrame({**asdict(condition), "sample": range(len(samples)), **errors})


def shown_samples(count: int, seed: int) -> np.ndarray:
    """Return the indices of the test samples shown in figures: the same for every model of a seed."""
    return np.sort(np.random.default_rng(seed).choice(count, min(SHOWN_SAMPLES, count), replace=False))


def evaluate(
    operator: nn.Module | None,
    test: Iterable[tuple[Condition, Samples]],
    device: torch.device,
    shown: np.ndarray,
    scale: Scale | None = None,
    metrics: tuple[Metric, ...] = METRICS,
) -> tuple[pandas.DataFrame, xarray.DataTree]:
    """Return the errors under every condition of `test`, and what is kept of the predictions.

    The latter is as `resolvent.common.predictions` describes it: the samples `shown`, those of median, worst
    and best error, the mean square of the errors by point and, on grids of space, the power by wavenumber; of
    several realisations of one noise the first one. `operator` is None for a diverged run: its errors and
    predictions are NaN, which tables show as such.
    """
    rows, kept = [], {}
    for condition, samples in test:
        if operator is None:
            prediction = np.full_like(samples.targets, np.nan)
        else:
            prediction = predict(operator, samples, device)
        errors = error_rows(prediction, samples, condition, scale, metrics)
        rows.append(errors)
        if condition.realisation == 0:
            extremes = median_worst_and_best(errors["relative_l2"].to_numpy())
            level = _kept(condition, samples, prediction, shown, extremes)
            kept.setdefault(condition.resolution, []).append(level)
    return pandas.concat(rows, ignore_index=True), tree_of(kept, {})


def median_worst_and_best(errors: np.ndarray) -> np.ndarray:
    """Return the positions of the samples of median error (the upper of two, if even), the worst and best."""
    order = np.argsort(errors, kind="stable")
    return order[[len(order) // 2, -1, 0]]


def _kept(
    condition: Condition, samples: Samples, prediction: np.ndarray, shown: np.ndarray, extremes: np.ndarray
) -> xarray.Dataset:
    grid, target_grid, power = samples.grid, samples.target_grid, None
    if isinstance(target_grid, Grid):
        power = {
            "wavenumber": wavenumbers(target_grid),
            "target": mean_power(samples.targets, target_grid),
            "prediction": mean_power(prediction, target_grid),
            "error": mean_power(prediction - samples.targets, target_grid),
        }
    chosen = (
        Chosen(those, samples.inputs[those], samples.targets[those], prediction[those])
        for those in (shown, extremes)
    )
    mean_square = {
        "target": np.mean(samples.targets**2, axis=0),
        "error": np.mean((prediction - samples.targets) ** 2, axis=0),
    }
    axes = _axes(grid)
    target_axes = axes if target_grid == grid else _axes(target_grid)
    return at_one_level(condition.noise, axes, target_axes, *chosen, power, mean_square)


def _axes(grid: Grid | Nodes) -> dict[str, np.ndarray]:
    """Return the coordinates of the axes of space or time, by name."""
    if isinstance(grid, Nodes):
        return {"time": grid.coordinates}
    return dict.fromkeys(("y", "x")[-grid.dimension :], grid.coordinates)


def write_table(table: pandas.DataFrame, path: Path) -> None:
    """Write a CSV atomically, numbers in full so that nothing is lost between jobs."""
    write_atomically(path, lambda temporary: table.to_csv(temporary, index=False))
