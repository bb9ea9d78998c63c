"""Evaluate a trained operator on the test split under several conditions, sample by sample.

A condition is a resolution (zero-shot if it is not the training resolution) and, for noisy inputs, the level
of the noise and the number of a realisation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas
import torch
from torch import nn

from resolvent.common.moments import Moments
from resolvent.common.predictions import Chosen, at_one_level, tree_of
from resolvent.common.progress import alive
from resolvent.common.records import RunRecord
from resolvent.datasets.loading import Samples, Source, Split, blocks, training_noise
from resolvent.datasets.spectra import powers, wavenumbers
from resolvent.datasets.storage.layout import coordinates_of
from resolvent.evaluation.metrics import METRICS, Metric, Scale, measure
from resolvent.solvers.common.grid import AnyGrid, Grid, Product
from resolvent.training.data import read_where_it_fits
from resolvent.training.devices import tf32
from resolvent.training.normalisation import Normaliser, dtype_of
from resolvent.training.tensors import (
    as_samples,
    batch_size,
    coordinate_tensor,
    function_tensor,
    stored_type,
)

if TYPE_CHECKING:
    import xarray

CPU = torch.device("cpu")
SHOWN_SAMPLES = 4  # predictions stored for figures, as in Cao 2021, Fig. 9
BATCH_VALUES = 2**16  # grid values per batch: 128 samples at 512 points, 8 at 8192, 1 at 211 x 211


@dataclass(frozen=True)
class Condition:
    """Condition of a test: grid or times of the input, level ε of its noise, and realisation."""

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
) -> Iterator[tuple[Condition, Source]]:
    """Yield the test samples under every condition; samples that do not fit into memory are streamed.

    Each level of noise above 0 has `realisations` draws. `counts` is the number of samples of each split;
    the training samples determine the unit of the noise.
    """
    for resolution in resolutions:
        unit = training_noise(card, resolution, counts["train"], float(any(levels)))
        for level in levels:
            for realisation in range(realisations if level else 1):
                noise = replace(unit, level=level, realisation=realisation) if unit and level else None
                split = Split(card, resolution, "test", counts["test"], grids=grids, noise=noise)
                yield Condition(resolution, level, realisation), read_where_it_fits(split, CPU)


def first_tested(card: Path, record: RunRecord, counts: dict[str, int], most: int) -> Samples:
    """Return at most `most` test samples at `card`, as a run with this record has them on its home grid."""
    noise = training_noise(card, record.home, counts["train"], record.noise)
    split = Split(card, record.home, "test", counts["test"], grids=record.grids, noise=noise)
    return split.read(range(min(most, counts["test"])))


def target_scale(train: Source) -> Scale:
    """Return mean and standard deviation (channels,) of the training targets, in physical units."""
    targets = (
        function_tensor(block.targets, block.target_grid, stored_type(block.targets))
        for block in blocks(train)
    )
    fitted = Normaliser.fitted(targets, "scalar")
    return fitted.mean.numpy(), fitted.deviation.numpy()


@torch.no_grad()
def predict(operator: nn.Module, samples: Samples, device: torch.device) -> np.ndarray:
    """Return the predictions of an operator, in its own precision, as float64 in the shape of the targets."""
    operator.eval()
    coordinates = coordinate_tensor(samples.grid).to(device)
    inputs = function_tensor(samples.inputs, samples.grid, dtype_of(operator))
    size = batch_size(samples.grid, BATCH_VALUES, len(samples))
    on_gpu = device.type == "cuda"
    # A user's script has torch's default, which allows TF32 for convolutions.
    with torch.random.fork_rng(devices=[device] if on_gpu else []), tf32(False) if on_gpu else nullcontext():
        torch.manual_seed(0)  # the same masks in every call, for operators with dropout in evaluation
        outputs = []
        for batch in inputs.split(size):
            outputs.append(as_samples(operator(batch.to(device), coordinates)).cpu())
            alive()  # attention at 8192 points takes hours on a CPU
    return torch.cat(outputs).numpy().astype(np.float64)


def error_rows(
    prediction: np.ndarray,
    samples: Samples,
    condition: Condition,
    scale: Scale | None = None,
    metrics: tuple[Metric, ...] = METRICS,
) -> pandas.DataFrame:
    """Return one row per sample: condition, index in the test split, and every metric."""
    errors = measure(prediction, samples.targets, samples.target_grid, scale, metrics)
    return pandas.DataFrame({**asdict(condition), "sample": range(len(samples)), **errors})


def shown_samples(count: int, seed: int) -> np.ndarray:
    """Return the indices of the test samples in figures, which depend only on `count` and `seed`."""
    return np.sort(np.random.default_rng(seed).choice(count, min(SHOWN_SAMPLES, count), replace=False))


def evaluate(
    operator: nn.Module | None,
    test: Iterable[tuple[Condition, Source]],
    device: torch.device,
    shown: np.ndarray,
    scale: Scale | None = None,
    metrics: tuple[Metric, ...] = METRICS,
) -> tuple[pandas.DataFrame, xarray.DataTree]:
    """Return the errors under every condition of `test`, and the predictions to be stored.

    The stored predictions (`resolvent.common.predictions`) include the samples `shown`, with the first
    realisation of each level of noise. Their attribute `prediction_spread` is `Means.spread` under the first
    condition. `operator` is None for a diverged run, whose errors and predictions are NaN.
    """
    rows, spread = [], None
    kept: dict[int | str, list[xarray.Dataset]] = {}
    for condition, source in test:
        tables, means = [], Means(source.target_grid)
        for block in blocks(source):
            prediction = _prediction(operator, block, device)
            tables.append(error_rows(prediction, block, condition, scale, metrics))
            means.add(block.targets, prediction)
        errors = pandas.concat(tables, ignore_index=True)
        errors["sample"] = np.arange(len(errors))
        spread = means.spread() if spread is None else spread
        rows.append(errors)
        if condition.realisation:
            continue
        chosen = places = [shown, median_worst_and_best(errors["relative_l2"].to_numpy())]
        if len(tables) > 1:  # the samples are no longer in memory
            block = source.read(np.concatenate(chosen))
            prediction = _prediction(operator, block, device)
            places = [np.arange(len(shown)), len(shown) + np.arange(3)]
        of_shown, extremes = (
            Chosen(which, block.inputs[place], block.targets[place], prediction[place])
            for which, place in zip(chosen, places, strict=True)
        )
        axes, target_axes = (coordinates_of(grid) for grid in (source.grid, source.target_grid))
        target_axes = axes if source.target_grid == source.grid else target_axes
        level = at_one_level(
            condition.noise, axes, target_axes, of_shown, extremes, means.power(), means.mean_square()
        )
        kept.setdefault(condition.resolution, []).append(level)
    return pandas.concat(rows, ignore_index=True), tree_of(kept, {"prediction_spread": spread})


def _prediction(operator: nn.Module | None, samples: Samples, device: torch.device) -> np.ndarray:
    """Return the predictions, or NaN without an operator."""
    return np.full_like(samples.targets, np.nan) if operator is None else predict(operator, samples, device)


class Means:
    """Means over blocks of samples: of the squares at each point, and of the power by wavenumber."""

    def __init__(self, grid: AnyGrid):
        self.grid, self.count = grid, 0
        self.waves = grid if isinstance(grid, Grid | Product) and grid.even else None
        self.moments = {"target": Moments(), "prediction": Moments()}
        self.squares: dict[str, Any] = defaultdict(float)
        self.powers: dict[str, Any] = defaultdict(float)

    def add(self, target: np.ndarray, prediction: np.ndarray) -> None:
        """Add a block of targets and predictions."""
        self.count += len(target)
        functions = {"target": target, "prediction": prediction, "error": prediction - target}
        for name, values in functions.items():
            self.squares[name] += np.sum(values**2, axis=0)
            if self.waves is not None:
                self.powers[name] += powers(values, self.waves).sum(axis=0)
        for name, moments in self.moments.items():
            values = functions[name]
            moments.add(len(values), values.mean(axis=0), values.var(axis=0))

    def spread(self) -> float:
        """Return the ratio of the standard deviations over samples of predictions and targets.

        Each is a root mean square over points. For several functions this is the largest ratio.
        """
        axes = tuple(range(-self.grid.dimension, 0))
        prediction, target = (self.moments[name].variance.mean(axes) for name in ("prediction", "target"))
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.max(np.sqrt(prediction / target)))

    def mean_square(self) -> dict[str, np.ndarray]:
        """Return the mean square of targets and errors at every point."""
        return {name: self.squares[name] / self.count for name in ("target", "error")}

    def power(self) -> dict[str, np.ndarray] | None:
        """Return the wavenumbers and the mean power at each; None on uneven points."""
        if self.waves is None:
            return None
        means = {name: total / self.count for name, total in self.powers.items()}
        return {"wavenumber": wavenumbers(self.waves)} | means


def median_worst_and_best(errors: np.ndarray) -> np.ndarray:
    """Return the indices of the samples with median (upper of two, if even), worst and best error."""
    order = np.argsort(errors, kind="stable")
    return order[[len(order) // 2, -1, 0]]
