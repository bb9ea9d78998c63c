"""Autoregressive rollouts: apply a trained time step repeatedly, beyond the lead time of training.

The prediction after one lead time is fed back as input for every later frame stored in the dataset, and
compared with that frame. The baseline is persistence: the first vorticity at all times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from resolvent.common.digests import save_arrays
from resolvent.datasets.loading import Samples, load_arrays, read_card
from resolvent.datasets.storage.layout import grid_from_facts, group_name
from resolvent.evaluation.conditions import predict, shown_samples
from resolvent.evaluation.metrics import relative_l2
from resolvent.training import checkpoints
from resolvent.training.checkpoints import trained_operator
from resolvent.training.devices import choose_device
from resolvent.training.errors import TrainingError

VERSION = 1  # raised whenever the numbers change (docs/jobs.md)
WINDOW = "vorticity_window"  # variable of Kolmogorov datasets with more than one frame


def write_rollout(
    card: Path, folder: Path, *, resolution: int, test_samples: int, threads: int, gpus: int
) -> None:
    """Roll out the run in `folder` from the first `test_samples` test vorticities; write rollout.npz.

    times (frames)                since the first vorticity, in the time unit of the equation
    error (samples, frames)       relative L2 error; NaN once a prediction is not finite
    persistence (samples, frames) relative L2 error of the first vorticity
    sample                        index of the shown sample in the test split
    initial (n, n), target (frames, n, n), prediction (frames, n, n)
                                  of the shown sample, [y, x]

    Of a diverged run, predictions and errors are NaN. Raises `TrainingError` if there are no later frames.
    """
    torch.set_num_threads(threads)
    facts, group = read_card(card), group_name(resolution)
    if group not in facts["groups"] or WINDOW not in facts["groups"][group]["variables"]:
        raise TrainingError(f"{card} has no {WINDOW} at {resolution}: set `frames` of the dataset above 1")
    window = load_arrays(card, group, "test", test_samples, [WINDOW])[WINDOW]
    grid = grid_from_facts(facts["groups"][group]["grid"])
    shown = int(shown_samples(test_samples, facts["seed"])[0])
    device = choose_device(gpus)
    operator = trained_operator(checkpoints.load_run(folder))
    first, moments = window[:, 0], np.moveaxis(window[:, 1:], 1, 0)
    steps = len(moments)
    error, prediction = np.full((test_samples, steps), np.nan), np.full(moments[:, shown].shape, np.nan)
    if operator is not None:
        initial = Samples(grid, first, moments[0])
        predictions = rolled_out(operator.to(device), initial, steps, device)
        for step, (predicted, target) in enumerate(zip(predictions, moments, strict=True)):
            with np.errstate(over="ignore", invalid="ignore"):
                errors = relative_l2(predicted, target, grid)
            error[:, step] = np.where(np.isfinite(errors), errors, np.nan)
            prediction[step] = predicted[shown]
    arrays = {
        "times": facts["settings"]["lead_time"] * np.arange(1, steps + 1),
        "error": error,
        "persistence": np.stack([relative_l2(first, target, grid) for target in moments], axis=1),
        "sample": np.array(shown),
        "initial": first[shown],
        "target": window[shown, 1:],
        "prediction": prediction,
    }
    save_arrays(folder / "rollout.npz", arrays)


def rolled_out(
    operator: nn.Module, samples: Samples, steps: int, device: torch.device
) -> Iterator[np.ndarray]:
    """Yield predictions after 1, …, `steps` applications to the inputs, each (samples, ...)."""
    for _ in range(steps):
        samples = replace(samples, inputs=predict(operator, samples, device))
        yield samples.inputs
