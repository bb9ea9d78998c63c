"""Why errors of Lorenz-63 grow at other times where the first token alone has the initial values.

The trained operators are changed in one respect and tested again: the first token has the weight that it had
in training, half the first interval of the training times, whatever the times of the test.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from resolvent.common.runs import read_run
from resolvent.datasets.loading import Samples, load_samples
from resolvent.evaluation.conditions import predict
from resolvent.evaluation.metrics import measure
from resolvent.models.layers.quadrature import trapezoid_weights
from resolvent.training import checkpoints
from resolvent.training.checkpoints import trained_operator

ERROR = "standardised_relative_l2"
SAMPLES = 50  # of the test
CPU = torch.device("cpu")


def with_first_weight(weight: float):
    """Return what gives an operator trapezoidal log-weights, the first of `weight`."""

    def log_weights(x: Tensor) -> Tensor:
        weights = trapezoid_weights(x)
        return torch.cat([weights.new_tensor([weight]), weights[1:]]).log()

    return log_weights


def first_token_rows(folder: Path, card: Path, times: Iterable[str]) -> list[tuple[str, dict[str, float]]]:
    """Measure a trained run in three respects: pairs of words and a number for each set of times.

    The error, the error with the first weight of training, and how far the prediction moves, at all times but
    the first, when every sample gets the initial values of the next one; medians over `SAMPLES` test
    samples, of standardised y and z, relative.
    """
    run = read_run(folder)
    operator = trained_operator(checkpoints.load(folder / "checkpoint.pt"))
    scale = (operator.output.mean.numpy(), operator.output.deviation.numpy())
    tokens = operator.operator
    home = load_samples(card, str(run.record.resolution), "test", 1).grid.coordinates
    found: dict[str, dict[str, float]] = {
        "error": {},
        "first weight of training": {},
        "initial values of others": {},
    }
    for time in times:
        test = load_samples(card, time, "test", SAMPLES)
        plain = predict(operator, test, CPU)
        others = test.inputs.copy()
        others[:, 1:] = np.roll(test.inputs[:, 1:], 1, axis=0)
        moved = predict(operator, Samples(test.grid, others, test.targets), CPU)
        moved[..., 0] = plain[..., 0]
        tokens.log_weights = with_first_weight((home[1] - home[0]) / 2)
        weighted = predict(operator, test, CPU)
        del tokens.log_weights
        for words, prediction, target in (
            ("error", plain, test.targets),
            ("first weight of training", weighted, test.targets),
            ("initial values of others", moved, plain),
        ):
            found[words][time] = float(np.median(measure(prediction, target, test.grid, scale)[ERROR]))
    return list(found.items())
