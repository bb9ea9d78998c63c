"""Rows that any model must beat, or explain why not: no network is trained for them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas

from resolvent.datasets.loading import Samples, load_samples, read_card, training_noise
from resolvent.datasets.tasks.registry import build_task, settings_of
from resolvent.datasets.tasks.task import Task
from resolvent.evaluation.conditions import Condition, Scale, error_rows, measured
from resolvent.evaluation.ridge import RidgeRegression
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.grid import Grid, Nodes
from resolvent.training.normalised_operator import Normaliser
from resolvent.training.tensors import function_tensor

LABELS = {
    "mean_predictor": "Mean of the training targets",
    "identity": "Identity: the input itself",
    "constant_coefficient": "Constant coefficient: solve with the geometric mean of the input",
    "interpolation_oracle": "Interpolate the input linearly, solve finely, restrict",
    "coarse_solve": "Classical solver on the same grid",
    "ridge_regression": "Linear ridge regression on the training samples",
}


def measured_baselines(
    card: Path, resolution: int | str, counts: dict[str, int], noise: float, realisations: int
) -> tuple[pandas.DataFrame, dict[str, dict]]:
    """Baselines on the training grid: on one grid of the dataset at `card`, one level of noise in training
    and test.

    `counts` are the samples of the splits, `realisations` the draws of the noise on each test sample.
    """
    unit = training_noise(card, resolution, counts["train"], noise)
    return baselines(
        load_samples(card, resolution, "train", counts["train"], noise=unit),
        list(measured(card, [resolution], levels=[noise], realisations=realisations, counts=counts)),
        build_task(settings_of(read_card(card)["settings"])),
    )


def baselines(
    train: Samples, test: list[tuple[Condition, Samples]], task: Task
) -> tuple[pandas.DataFrame, dict[str, dict]]:
    """Errors of every baseline under every condition of `test`, and what each costs per sample.

    Those of standardised fields are among them, as models with `normalisation: scalar` have them.
    `task` brings the classical answers that it has (`Task.baselines`). For one that
    has none on the test grid a linear operator is fitted to the training samples. Errors of a baseline
    without an answer to every sample are NaN; its costs then name the reason, `no_answer`.
    """
    mean = train.targets.mean(axis=0)
    answers: dict[str, Callable[[np.ndarray, Grid | Nodes], np.ndarray]] = {
        "mean_predictor": lambda inputs, grid: np.broadcast_to(mean, (len(inputs), *mean.shape)),
    }
    if task.input_answers:
        answers["identity"] = lambda inputs, grid: inputs
    answers |= task.baselines()
    if "coarse_solve" not in answers:
        ridge = RidgeRegression(train.inputs, train.targets)
        answers["ridge_regression"] = lambda inputs, grid: ridge(inputs)
    scale = _scale(train)
    rows, costs = [], {}
    for name, answer in answers.items():
        costs[name] = {
            "label": LABELS.get(name, name.replace("_", " ")),
            "seconds_per_sample": None,
            "parameters": 0,
        }
        try:
            predictions, costs[name]["seconds_per_sample"] = _answered(answer, test)
        except SolverError as error:
            predictions = [np.full(samples.targets.shape, np.nan) for _, samples in test]
            costs[name]["no_answer"] = error.finding
        for prediction, (condition, samples) in zip(predictions, test, strict=True):
            rows.append(error_rows(prediction, samples, condition, scale).assign(baseline=name))
    return pandas.concat(rows, ignore_index=True), costs


def _answered(
    answer: Callable[[np.ndarray, Grid | Nodes], np.ndarray], test: list[tuple[Condition, Samples]]
) -> tuple[list[np.ndarray], float]:
    """Predict the targets under every condition, and give the seconds that a sample takes.

    Raises a SolverError where a sample has no answer, or one that is not finite.
    """
    answer(test[0][1].inputs[:1], test[0][1].grid)  # compile before timing
    start = time.perf_counter()
    predictions = [answer(samples.inputs, samples.grid) for _, samples in test]
    seconds = (time.perf_counter() - start) / sum(len(samples) for _, samples in test)
    if not all(np.isfinite(prediction).all() for prediction in predictions):
        raise SolverError("its values are not finite")
    return predictions, seconds


def _scale(train: Samples) -> Scale:
    """Mean and deviation (channels,) of the training targets."""
    fitted = Normaliser.fitted(function_tensor(train.targets, train.target_grid), "scalar")
    return fitted.mean.numpy(), fitted.deviation.numpy()
