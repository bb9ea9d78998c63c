"""Rows that any model must beat, or explain why not: no network is trained for them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas

from resolvent.common.errors import EvaluationError
from resolvent.common.norms import relative_l2
from resolvent.common.outside import find
from resolvent.common.records import BaselineCost, BaselinesRecord, file_digests, write_record
from resolvent.common.runs import metric_columns
from resolvent.datasets.loading import Samples, Source, Split, blocks, read_card, training_noise
from resolvent.datasets.tasks.registry import build_task, settings_of
from resolvent.datasets.tasks.task import Task
from resolvent.evaluation.conditions import CPU, Condition, error_rows, measured, target_scale, write_table
from resolvent.evaluation.metrics import METRICS, Metric, Scale, metric_words, metrics_with
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.grid import AnyGrid
from resolvent.training.data import read_where_it_fits

Answer = Callable[[np.ndarray, AnyGrid], np.ndarray]


@dataclass(frozen=True)
class Baseline:
    """A baseline of a user's own, which an experiment names as "module:name".

    name     its key in errors.csv.
    label    what tables and figures call it.
    prepare  from the training samples to the answer: (inputs, grid) → predictions, shaped as the targets.
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

# Of linear ridge regression: the share of the samples that chooses the penalty, on a fit to the others, and
# the penalties in units of the mean eigenvalue of the inputs' Gram matrix.
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
) -> None:
    """Measure the baselines of an experiment on all its grids: errors.csv and, last, cost.json.

    `metrics` and `own` are metrics and baselines of a user's own, "module:name".

    Raises `EvaluationError` when one of them cannot be used.
    """
    facts = read_card(card)
    known = metrics_with(metrics, facts["targets"])
    try:
        added = [find(location, Baseline) for location in own]
    except ValueError as error:
        raise EvaluationError(f"baselines: {error}") from None
    tables, costs = [], {}
    for one in resolutions:
        errors, costs[str(one)] = measured_baselines(card, one, counts, noise, realisations, known, added)
        tables.append(errors)
    errors = pandas.concat(tables)
    write_table(errors, folder / "errors.csv")
    record = BaselinesRecord(
        experiment=experiment,
        dataset_hash=facts["content_hash"],
        costs=costs,
        metrics=metric_words(metric_columns(errors), known),
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
) -> tuple[pandas.DataFrame, dict[str, BaselineCost]]:
    """Return the errors and costs of the baselines on one grid of the dataset at `card`, that of training.

    `counts` are the samples of the splits, `noise` is the level on the inputs in training and test alike,
    `realisations` are the draws of it on each test sample.
    """
    unit = training_noise(card, resolution, counts["train"], noise)
    return baselines(
        read_where_it_fits(Split(card, resolution, "train", counts["train"], noise=unit), CPU),
        list(measured(card, [resolution], levels=[noise], realisations=realisations, counts=counts)),
        build_task(settings_of(read_card(card)["settings"])),
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
    """Return the errors of every baseline under every condition of `test`, and what each costs per sample.

    `task` brings the classical answers that it has (`Task.baselines`). For one that has none on the test grid
    a linear operator is fitted to the training samples. Errors of a baseline without an answer to every
    sample are NaN; its costs then name the reason, `no_answer`. Those of a user's `own` come last. A baseline
    that learns has no answer where the training samples do not fit into memory.

    Raises `EvaluationError` when one of its own has the name of another, or answers in another shape than the
    targets'.
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
        own = [Baseline("ridge_regression", LABELS["ridge_regression"], RidgeRegression.prepare), *own]
    for one in own:
        if one.name in answers:
            raise EvaluationError(f"baselines: the name {one.name!r} is taken; choose another")
        learnt = _too_many if isinstance(train, Split) else one.prepare(train)
        answers[one.name], labels[one.name] = learnt, one.label
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
    """v = A(u - mean) + mean, with the penalty λ‖A‖² on inputs that are standardised point by point.

    Fitted to `inputs` (samples, ...) and `targets` (samples, ...) in float64, through the Gram matrix
    (samples, samples). Predictions are kept within the range of the training targets, which only helps.
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

    @classmethod
    def prepare(cls, train: Samples) -> Answer:
        fitted = cls(train.inputs, train.targets)
        return lambda inputs, grid: fitted(inputs)

    def __call__(self, inputs: np.ndarray) -> np.ndarray:
        return self.fit.predict(inputs, self.penalty)


class _Fit:
    """The regressions of every penalty at once."""

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
    raise SolverError("it learns from all training samples at once, and they do not fit into memory")


def _answered(
    name: str,
    answer: Answer | None,
    test: list[tuple[Condition, Source]],
    scale: Scale,
    metrics: tuple[Metric, ...],
) -> tuple[pandas.DataFrame, float]:
    """Return the errors under every condition, NaN without an answer, and the seconds of a sample.

    Raises a SolverError where a sample has no answer, or one that is not finite; an EvaluationError where
    answers are not shaped as the targets.
    """
    if answer:
        first = next(blocks(test[0][1]))
        answer(first.inputs[:1], first.grid)  # compile before timing
    tables, seconds = [], 0.0
    for condition, source in test:
        parts = []
        for samples in blocks(source):
            unknown, start = np.full(samples.targets.shape, np.nan), time.perf_counter()
            prediction = answer(samples.inputs, samples.grid) if answer else unknown
            seconds += time.perf_counter() - start
            if np.shape(prediction) != samples.targets.shape:
                raise EvaluationError(
                    f"baseline {name!r} answered in shape {np.shape(prediction)}; expected: "
                    f"{samples.targets.shape}, that of the targets"
                )
            if answer and not np.isfinite(prediction).all():
                raise SolverError("its values are not finite")
            parts.append(error_rows(prediction, samples, condition, scale, metrics))
        tables.append(pandas.concat(parts, ignore_index=True).assign(sample=np.arange(len(source))))
    return pandas.concat(tables), seconds / sum(len(source) for _, source in test)
