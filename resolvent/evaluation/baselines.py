"""Baselines without a neural network, with which every model is compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas

from resolvent.common.errors import EvaluationError
from resolvent.common.files import write_text
from resolvent.common.norms import relative_l2
from resolvent.common.outside import find
from resolvent.common.records import ERROR_COLUMNS, BaselineCost, BaselinesRecord, file_digests, write_record
from resolvent.common.runs import metric_columns
from resolvent.datasets.loading import Samples, Source, Split, blocks, read_card, training_noise
from resolvent.datasets.tasks.registry import build_task, settings_on
from resolvent.datasets.tasks.task import Task
from resolvent.evaluation.conditions import CPU, Condition, error_rows, measured, target_scale
from resolvent.evaluation.metrics import METRICS, Metric, Scale, metric_words, metrics_with
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.grid import AnyGrid
from resolvent.training.data import read_where_it_fits

Answer = Callable[[np.ndarray, AnyGrid], np.ndarray]


@dataclass(frozen=True)
class Baseline:
    """A user-defined baseline, which an experiment names as "module:name".

    name     key in errors.csv.
    label    name in tables and figures.
    prepare  takes the training samples and returns a function (inputs, grid) → predictions, in the shape of
             the targets.
    """

    name: str
    label: str
    prepare: Callable[[Samples], Answer]


LABELS = {
    "mean_predictor": "Mean of the training targets",
    "identity": "Identity: the input itself",
    "constant_coefficient": "Geometric-mean coefficient",
    "interpolation_oracle": "Fine solve, interpolated input",
    "coarse_solve": "Classical solver on the same grid",
    "ridge_regression": "Linear ridge regression",
}
# Raised whenever the numbers of a baseline change (docs/jobs.md).
VERSIONS = dict.fromkeys(LABELS, 1)

# Linear ridge regression: share of held-out samples that select the penalty, and the penalties in units of
# the mean eigenvalue of the inputs' Gram matrix.
HELD_OUT = 1 / 8
PENALTIES = np.logspace(-10, 2, 25)


def write_baselines(
    card: Path,
    folder: Path,
    *,
    experiment: str,
    resolutions: list[int | str],
    counts: dict[str, int],
    noise: float,
    realisations: int,
    metrics: Iterable[str] = (),
    own: Iterable[str] = (),
    test_card: Path | None = None,
) -> None:
    """Measure the baselines of an experiment at `resolutions`; write errors.csv and, last, cost.json.

    `card` and `test_card` (default: `card`) are of training and test data. Raises `EvaluationError` if
    user-defined `metrics` or baselines (`own`), "module:name", cannot be used.
    """
    facts = read_card(test_card or card)
    every_metric = metrics_with(metrics, facts["targets"])
    try:
        added = [find(location, Baseline) for location in own]
    except ValueError as error:
        raise EvaluationError(f"baselines: {error}") from None
    tables, costs = [], {}
    for resolution in resolutions:
        how = card, resolution, counts, noise, realisations, every_metric, added
        errors, costs[str(resolution)] = measured_baselines(*how, test_card)
        tables.append(errors)
    # Without training samples on any test grid, there are no baselines.
    errors = pandas.concat(tables or [pandas.DataFrame(columns=["baseline", *ERROR_COLUMNS])])
    write_text(folder / "errors.csv", errors.to_csv(index=False))
    record = BaselinesRecord(
        experiment=experiment,
        dataset_hash=facts["content_hash"],
        costs=costs,
        metrics=metric_words(metric_columns(errors), every_metric),
        files=file_digests(folder, ("errors.csv",)),
    )
    write_record(folder / "cost.json", record)


def measured_baselines(
    card: Path,
    resolution: int | str,
    counts: dict[str, int],
    noise: float,
    realisations: int,
    metrics: tuple[Metric, ...] = METRICS,
    own: Iterable[Baseline] = (),
    test_card: Path | None = None,
) -> tuple[pandas.DataFrame, dict[str, BaselineCost]]:
    """Return the errors and costs of the baselines on one grid.

    `card` and `test_card` (default: `card`) are of training and test data, `counts` is the number of samples
    of each split, `noise` the level on the inputs of training and test, `realisations` the number of draws of
    noise on each test sample.
    """
    unit, tested = training_noise(card, resolution, counts["train"], noise), test_card or card
    return baselines(
        read_where_it_fits(Split(card, resolution, "train", counts["train"], noise=unit), CPU),
        list(measured(tested, [resolution], levels=[noise], realisations=realisations, counts=counts)),
        build_task(settings_on(read_card(tested), tested)),
        metrics,
        own,
    )


def baselines(
    train: Source,
    test: list[tuple[Condition, Source]],
    task: Task,
    metrics: tuple[Metric, ...] = METRICS,
    own: Iterable[Baseline] = (),
) -> tuple[pandas.DataFrame, dict[str, BaselineCost]]:
    """Return the errors of every baseline under every condition of `test`, and the cost of each per sample.

    Includes `Task.baselines`, a linear operator fitted to the training samples if these lack "coarse_solve",
    and a user's `own`. If a baseline fails on a sample, all its errors are NaN, and its cost states the
    reason (`no_answer`). Fitted baselines fail if the training samples do not fit into memory.

    Raises `EvaluationError` if the name of a user's baseline is taken, or its predictions have another shape
    than the targets.
    """
    mean = sum(block.targets.sum(axis=0) for block in blocks(train)) / len(train)
    answers: dict[str, Answer] = {
        "mean_predictor": lambda inputs, grid: np.broadcast_to(mean, (len(inputs), *mean.shape))
    }
    if task.input_answers:
        answers["identity"] = lambda inputs, grid: inputs
    answers |= task.baselines()
    labels = dict(LABELS)
    if "coarse_solve" not in answers:
        key = "ridge_regression"
        own = [Baseline(key, LABELS[key], lambda known: RidgeRegression(known.inputs, known.targets)), *own]
    for baseline in own:
        if baseline.name in answers:
            raise EvaluationError(f"baselines: the name {baseline.name!r} is taken; choose another")
        learnt = _too_many if isinstance(train, Split) else baseline.prepare(train)
        answers[baseline.name], labels[baseline.name] = learnt, baseline.label
    scale = target_scale(train)
    rows, costs = [], {}
    for name, answer in answers.items():
        seconds, no_answer = None, None
        try:
            errors, seconds = _answered(name, answer, test, scale, metrics)
        except SolverError as error:
            no_answer = error.finding
            errors, _ = _answered(name, None, test, scale, metrics)
        label = labels.get(name, name.replace("_", " "))
        costs[name] = BaselineCost(label=label, seconds_per_sample=seconds, parameters=0, no_answer=no_answer)
        rows.append(errors.assign(baseline=name))
    return pandas.concat(rows, ignore_index=True), costs


class RidgeRegression:
    """Linear regression v = A(u - mean) + mean with penalty λ‖A‖², on pointwise standardised inputs.

    Fitted to `inputs` (samples, ...) and `targets` (samples, ...) in float64, by the Gram matrix (samples,
    samples). Predictions are clipped to the range of the training targets, which can only reduce the error.
    """

    def __init__(self, inputs: np.ndarray, targets: np.ndarray):
        held = max(1, round(HELD_OUT * len(inputs)))
        others = _Fit(inputs[:-held], targets[:-held])
        errors = [
            relative_l2(others.predict(inputs[-held:], penalty), targets[-held:]).mean()
            for penalty in PENALTIES
        ]
        self.penalty = PENALTIES[np.argmin(errors)]
        self.fit = _Fit(inputs, targets)

    def __call__(self, inputs: np.ndarray, grid: AnyGrid | None = None) -> np.ndarray:
        return self.fit.predict(inputs, self.penalty)


class _Fit:
    """An eigendecomposition that gives the regression for every penalty."""

    def __init__(self, inputs: np.ndarray, targets: np.ndarray):
        self.mean, deviation = inputs.mean(axis=0, dtype=np.float64), inputs.std(axis=0, dtype=np.float64)
        self.scale = np.where(deviation > 0, deviation, 1.0)
        self.inputs = self._standardised(inputs)
        self.eigenvalues, self.vectors = np.linalg.eigh(self.inputs @ self.inputs.T)
        self.eigenvalues = np.maximum(self.eigenvalues, 0)
        self.target_mean, self.range = targets.mean(axis=0, dtype=np.float64), (targets.min(), targets.max())
        self.targets = self.vectors.T @ (targets - self.target_mean).reshape(len(targets), -1)

    def _standardised(self, inputs: np.ndarray) -> np.ndarray:
        return ((inputs - self.mean) / self.scale).reshape(len(inputs), -1)

    def predict(self, inputs: np.ndarray, penalty: float) -> np.ndarray:
        damped = self.eigenvalues + penalty * self.eigenvalues.mean()
        weights = self._standardised(inputs) @ self.inputs.T @ self.vectors / damped
        deviation = (weights @ self.targets).reshape(len(inputs), *self.target_mean.shape)
        return np.clip(self.target_mean + deviation, *self.range)


def _too_many(inputs: np.ndarray, grid: AnyGrid) -> np.ndarray:
    raise SolverError("the training samples do not fit into memory")


def _answered(
    name: str,
    answer: Answer | None,
    test: list[tuple[Condition, Source]],
    scale: Scale,
    metrics: tuple[Metric, ...],
) -> tuple[pandas.DataFrame, float]:
    """Return the errors under every condition (NaN if `answer` is None), and the seconds per sample.

    Raises `SolverError` if a sample has no finite answer.
    """
    if answer:
        first = next(blocks(test[0][1]))
        answer(first.inputs[:1].copy(), first.grid)  # compile before timing
    tables, seconds = [], 0.0
    for condition, source in test:
        parts = []
        for samples in blocks(source):
            unknown = np.full(samples.targets.shape, np.nan)
            inputs = samples.inputs.copy()  # a user's baseline may change them, and all have the same
            start = time.perf_counter()
            prediction = answer(inputs, samples.grid) if answer else unknown
            seconds += time.perf_counter() - start
            if np.shape(prediction) != samples.targets.shape:
                raise EvaluationError(
                    f"baseline {name!r} returned shape {np.shape(prediction)}; expected: "
                    f"{samples.targets.shape}, the shape of the targets"
                )
            if answer and not np.isfinite(prediction).all():
                raise SolverError("its values are not finite")
            parts.append(error_rows(prediction, samples, condition, scale, metrics))
        tables.append(pandas.concat(parts, ignore_index=True).assign(sample=np.arange(len(source))))
    return pandas.concat(tables), seconds / sum(len(source) for _, source in test)
