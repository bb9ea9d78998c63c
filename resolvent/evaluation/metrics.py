"""Error metrics of predictions: per sample, relative, in any dimension.

Predictions and targets have the layout of `resolvent.datasets.loading.Samples`; norms of several functions
add their squares. Metrics in `METRICS` appear in every errors.csv, with their label and description in every
run.json; user-defined metrics appear in the runs of the experiments that name them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from resolvent.common import norms
from resolvent.common.errors import EvaluationError
from resolvent.common.norms import square_norm
from resolvent.common.outside import find
from resolvent.common.records import CONDITION_COLUMNS, MetricWords
from resolvent.datasets.gradients import gradient
from resolvent.solvers.common.grid import AnyGrid

# Raised whenever the numbers of a metric change (docs/jobs.md).
VERSIONS = {"relative_l2": 1, "relative_h1": 1, "standardised_relative_l2": 1}
Scale = tuple[np.ndarray, np.ndarray]  # mean and standard deviation (channels,) of the training targets


def relative_l2(prediction: np.ndarray, target: np.ndarray, grid: AnyGrid) -> np.ndarray:
    """Return ‖p - u‖/‖u‖ of each sample with the grid's quadrature; (samples, ...) → (samples,)."""
    return norms.relative_l2(prediction, target, grid.weights)


def relative_h1(prediction: np.ndarray, target: np.ndarray, grid: AnyGrid) -> np.ndarray:
    """Return the relative error in the H1 norm, ‖v‖² + ‖∇v‖², with the grid's own derivative."""
    return np.sqrt(_square_h1(prediction - target, grid) / _square_h1(target, grid))


def _square_h1(values: np.ndarray, grid: AnyGrid) -> np.ndarray:
    components = np.moveaxis(gradient(values, grid), 1, 0)
    slope = sum(square_norm(component, grid.weights) for component in components)
    return square_norm(values, grid.weights) + slope


@dataclass(frozen=True)
class Metric:
    """A metric: a column `name` of errors.csv, with label and description for run.json.

    function      (prediction, target, grid) → (samples,).
    standardised  whether the metric applies to (u - mean)/standard deviation, with one mean and standard
                  deviation per channel of the training targets; only measured if these are known.
    """

    name: str
    function: Callable[[np.ndarray, np.ndarray, AnyGrid], np.ndarray]
    label: str
    description: str
    standardised: bool = False


METRICS = (
    Metric(
        "relative_l2",
        relative_l2,
        "relative L² error",
        "‖p - u‖/‖u‖ of prediction p and target u in physical units, with the quadrature of the grid",
    ),
    Metric(
        "relative_h1",
        relative_h1,
        "relative H¹ error",
        "the same in the norm ‖v‖² + ‖∇v‖², with the derivative of the grid",
    ),
    Metric(
        "standardised_relative_l2",
        relative_l2,
        "relative L² error of standardised functions",
        "the relative L² error after subtracting the training targets' mean and dividing by their standard "
        "deviation, of each channel; larger where the mean is not zero. The public code of Calvello et al. "
        "2024 has it, in one dimension with mean and deviation of each split",
        standardised=True,
    ),
)


def metrics_with(own: Iterable[str], targets: Sequence[str] = ()) -> tuple[Metric, ...]:
    """Return the standard metrics, one for each of several `targets`, and user-defined ones ("module:name").

    Several targets need their own, since the largest function dominates a norm of all. Raises
    `EvaluationError` if a metric cannot be imported, is not a `Metric`, or its name is taken.
    """
    metrics = {metric.name: metric for metric in METRICS}
    for channel, target in enumerate(targets if len(targets) > 1 else ()):
        name, label = f"relative_l2_{target}", f"relative L² error, {target}"
        words = f"the relative L² error of the function '{target}' alone"
        metrics[name] = Metric(name, partial(_of_one_function, channel), label, words)
    for location in own:
        try:
            metric = find(location, Metric)
        except ValueError as error:
            raise EvaluationError(f"metrics: {error}") from None
        if metric.name in (*metrics, *CONDITION_COLUMNS, "baseline"):
            raise EvaluationError(f"metrics: {location}: the name {metric.name!r} is taken; choose another")
        metrics[metric.name] = metric
    return tuple(metrics.values())


def measure(
    prediction: np.ndarray,
    target: np.ndarray,
    grid: AnyGrid,
    scale: Scale | None = None,
    metrics: tuple[Metric, ...] = METRICS,
) -> dict[str, np.ndarray]:
    """Return every metric of each sample, by name: (samples, [channels,] ...space) → (samples,).

    With the `scale` of the training targets, standardised metrics too. Raises `EvaluationError` if a metric
    does not return one number per sample.
    """
    pairs = {False: (prediction, target)}
    if scale is not None:
        shape = (-1,) + (1,) * grid.dimension
        mean, deviation = (array.reshape(shape) for array in scale)
        standard, wanted = (
            (values.reshape(len(values), -1, *values.shape[-grid.dimension :]) - mean) / deviation
            for values in (prediction, target)
        )
        pairs[True] = standard, wanted
    errors, samples = {}, len(target)
    for metric in metrics:
        if metric.standardised in pairs:
            errors[metric.name] = metric.function(*pairs[metric.standardised], grid)
            if (shape := np.shape(errors[metric.name])) != (samples,):
                raise EvaluationError(
                    f"metric {metric.name!r} returned shape {shape} for {samples} samples; expected: "
                    f"({samples},), one number per sample"
                )
    return errors


def metric_words(names: Iterable[str], metrics: tuple[Metric, ...] = METRICS) -> dict[str, MetricWords]:
    """Return label and description of the metrics `names`, for the record of a run."""
    known = {metric.name: metric for metric in metrics}
    return {name: {"label": known[name].label, "description": known[name].description} for name in names}


def _of_one_function(channel: int, prediction: np.ndarray, target: np.ndarray, grid: AnyGrid) -> np.ndarray:
    return relative_l2(prediction[:, channel], target[:, channel], grid)
