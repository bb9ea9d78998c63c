"""Evaluate a trained operator on the test split under every condition asked for, sample by sample.

A condition is a resolution (another than that of training: zero-shot), and of noisy inputs the level of the
noise and one of its realisations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pandas
import torch
from torch import nn

from resolvent.common.files import write_atomically
from resolvent.datasets.loading import Samples, load_samples, training_noise
from resolvent.evaluation.metrics import METRICS, standardised_relative_l2
from resolvent.evaluation.spectra import mean_power, wavenumbers
from resolvent.training.tensors import as_samples, batch_size, coordinate_tensor, function_tensor

SHOWN_SAMPLES = 4  # predictions kept for the figures, as in Cao 2021, Fig. 9
BATCH_VALUES = 2**16  # grid values per batch: 128 samples at 512 points, 8 at 8192, 1 at 211 x 211


Scale = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Condition:
    """How test samples are measured: the grid or times of the input, ε of its noise, and which draw."""

    resolution: int | str
    noise: float = 0.0
    realisation: int = 0

    @property
    def tag(self) -> str:
        """What tells arrays of one level of noise from those of another by name."""
        return f"_noise{self.noise:g}" if self.noise else ""


def measured(
    card: Path,
    resolutions: list[int | str],
    *,
    levels: list[float],
    realisations: int,
    counts: dict[str, int],
    grids: str = "stored",
) -> Iterator[tuple[Condition, Samples]]:
    """The test samples under every condition, one after another.

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
    """Predictions, like the targets, in float64 for comparison; the operator computes in float32."""
    operator.eval()
    coordinates = coordinate_tensor(samples.grid).to(device)
    inputs = function_tensor(samples.inputs, samples.grid)
    size = batch_size(samples.grid, BATCH_VALUES, len(samples))
    outputs = [as_samples(operator(batch.to(device), coordinates)).cpu() for batch in inputs.split(size)]
    return torch.cat(outputs).numpy().astype(np.float64)


def error_rows(
    prediction: np.ndarray, samples: Samples, condition: Condition, scale: Scale | None = None
) -> pandas.DataFrame:
    """One row per sample: the condition, the sample's index in the test split, and every metric.

    `scale`, mean and deviation (channels,) of the training targets, adds the error of standardised fields.
    """
    grid = samples.target_grid
    errors = {name: metric(prediction, samples.targets, grid) for name, metric in METRICS.items()}
    if scale is not None:
        errors["standardised_relative_l2"] = standardised_relative_l2(
            prediction, samples.targets, grid, *scale
        )
    return pandas.DataFrame({**asdict(condition), "sample": range(len(samples)), **errors})


def shown_samples(count: int, seed: int) -> np.ndarray:
    """Indices of the test samples shown in figures: the same for every model of a seed."""
    return np.sort(np.random.default_rng(seed).choice(count, min(SHOWN_SAMPLES, count), replace=False))


def evaluate(
    operator: nn.Module | None,
    test: Iterable[tuple[Condition, Samples]],
    device: torch.device,
    shown: np.ndarray,
    scale: Scale | None = None,
) -> tuple[pandas.DataFrame, dict[str, np.ndarray]]:
    """Errors under every condition of `test`, and the predictions of the samples `shown`.

    Of several realisations of one noise the first is kept; of every condition also the samples of median and
    of worst error, numbered by `extremes_...`, under names that start with "extreme_"; and of fields on a
    square the power by wavenumber, a mean over all samples, of target, prediction and error: `spectrum_...`.
    `operator` is None for a diverged run: its errors and predictions are NaN, which tables show as such.
    """
    rows, kept = [], {"samples": shown}
    for condition, samples in test:
        if operator is None:
            prediction = np.full_like(samples.targets, np.nan)
        else:
            prediction = predict(operator, samples, device)
        errors = error_rows(prediction, samples, condition, scale)
        rows.append(errors)
        if condition.realisation == 0:
            kept |= _kept(condition, samples, prediction, shown)
            extremes = median_and_worst(errors["relative_l2"].to_numpy())
            kept[f"extremes_{condition.resolution}{condition.tag}"] = extremes
            kept |= _kept(condition, samples, prediction, extremes, "extreme_")
            if samples.target_grid.dimension == 2:
                kept |= _spectra(condition, samples, prediction)
    return pandas.concat(rows, ignore_index=True), kept


def median_and_worst(errors: np.ndarray) -> np.ndarray:
    """Positions of the sample of median error (of the upper two, if even) and of the worst one."""
    order = np.argsort(errors, kind="stable")
    return order[[len(order) // 2, -1]]


def _kept(
    condition: Condition, samples: Samples, prediction: np.ndarray, chosen: np.ndarray, prefix: str = ""
) -> dict:
    where, tag = condition.resolution, condition.tag
    kept = {
        f"x_{where}": samples.grid.coordinates,
        f"{prefix}target_{where}": samples.targets[chosen],
        f"{prefix}input_{where}{tag}": samples.inputs[chosen],
        f"{prefix}prediction_{where}{tag}": prediction[chosen],
    }
    if samples.target_grid != samples.grid:
        kept[f"x_target_{where}"] = samples.target_grid.coordinates
    return kept


def _spectra(condition: Condition, samples: Samples, prediction: np.ndarray) -> dict:
    where, tag, grid = condition.resolution, condition.tag, samples.target_grid
    return {
        f"wavenumber_{where}": wavenumbers(grid),
        f"spectrum_target_{where}": mean_power(samples.targets, grid),
        f"spectrum_prediction_{where}{tag}": mean_power(prediction, grid),
        f"spectrum_error_{where}{tag}": mean_power(prediction - samples.targets, grid),
    }


def write_table(table: pandas.DataFrame, path: Path) -> None:
    """Write a CSV atomically, numbers in full so that nothing is lost between jobs."""
    write_atomically(path, lambda temporary: table.to_csv(temporary, index=False))
