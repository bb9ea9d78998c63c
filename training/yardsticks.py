"""Rows that any model must beat, or explain why not: they need no training."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pandas

from datasets.loading import Samples
from training.evaluation import error_rows

LABELS = {
    "mean_predictor": "Mean of the training targets",
    "identity": "Identity: the input itself",
    "constant_coefficient": "Constant coefficient: solve with the geometric mean of the input",
    "interpolation_oracle": "Interpolate the input linearly, solve finely, restrict",
    "coarse_solve": "Classical solver on the same grid",
}


def yardsticks(train: Samples, test: Samples, task) -> tuple[pandas.DataFrame, dict[str, dict]]:
    """Errors of every yardstick on `test`, and what each costs per sample.

    `task` brings the classical answers: `solve_on_grid` and `solve_interpolated`, each from the input's
    values on the test grid to the target's. A task whose input is a coefficient, and so no answer itself, has
    `solve_constant` in place of the identity.
    """
    mean = train.targets.mean(axis=0)
    answers: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "mean_predictor": lambda inputs: np.broadcast_to(mean, (len(inputs), *mean.shape)),
    }
    if hasattr(task, "solve_constant"):
        answers["constant_coefficient"] = task.solve_constant
    else:
        answers["identity"] = lambda inputs: inputs
    answers |= {"interpolation_oracle": task.solve_interpolated, "coarse_solve": task.solve_on_grid}
    rows, costs = [], {}
    for name, answer in answers.items():
        answer(test.inputs[:1])  # compile before timing
        start = time.perf_counter()
        prediction = answer(test.inputs)
        seconds = (time.perf_counter() - start) / len(test)
        costs[name] = {"label": LABELS[name], "seconds_per_sample": seconds, "parameters": 0}
        rows.append(error_rows(prediction, test).assign(yardstick=name))
    return pandas.concat(rows, ignore_index=True), costs
