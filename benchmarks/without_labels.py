"""Measure what the energy loss and symmetries are worth on Darcy flow, in errors on new samples.

    python -m benchmarks.without_labels [--only losses symmetries] [--seeds 3]
        [--output docs/equations/darcy.md]

Trains a small FNO on 29 nodes a side, every run with as many steps.
"""

from __future__ import annotations

import tempfile
from argparse import Namespace
from functools import partial
from pathlib import Path

import numpy as np
import torch

from benchmarks.runner import Part, run, table
from resolvent.common.norms import relative_l2
from resolvent.datasets.loading import FreshSplit
from resolvent.datasets.tasks.registry import build_task, settings_of
from resolvent.models.build import build
from resolvent.training.fit import Trainer
from resolvent.training.normalisation import in_physical_units
from resolvent.training.settings import TrainingSettings
from resolvent.training.tensors import as_samples, coordinate_tensor, function_tensor

POINTS, BATCH, STEPS, TEST = 29, 8, 352, 64
EQUATION = settings_of({"equation": "darcy", "finest": POINTS, "resolutions": [POINTS]})
NETWORK = {"width": 16, "num_layers": 3, "modes": 8, "projection_width": 32}
COMMON = {
    "batch_size": BATCH, "learning_rate": 4e-3, "normalisation": "pointwise", "boundary": "zero",
    "gradient_weight": 0.0,
}  # fmt: skip
# Training inputs, and settings that are not COMMON; after the words of the tables.
Runs = list[tuple[str, int, dict]]
LOSSES: Runs = [
    ("L² loss", 64, {}),
    ("H¹ loss", 64, {"loss": "h1"}),
    ("energy loss", 64, {"loss": "energy"}),
    ("energy loss, new inputs in every step", 64, {"loss": "energy", "fresh_samples": True}),
]
SYMMETRIES: Runs = [
    ("as stored", 32, {}),
    ("mapped by symmetries", 32, {"augment": "symmetries"}),
    ("as stored", 64, {}),
    ("mapped by symmetries", 64, {"augment": "symmetries"}),
    ("as stored", 128, {}),
    ("as stored", 256, {}),
]


def errors_of(count: int, given: dict, seed: int) -> tuple[float, float]:
    """Train a network, and return its mean relative errors in L² and in the energy norm."""
    settings = TrainingSettings(**COMMON, **given, epochs=STEPS // (count // BATCH))
    split = FreshSplit.of(EQUATION, POINTS, "train", count)
    split.labelled = settings.reads_labels
    stored = split.all()
    guess = None if settings.reads_labels else build_task(EQUATION).baselines()["constant_coefficient"]
    operator = in_physical_units(build("fno2d", NETWORK, seed), settings, stored, guess)
    validation = FreshSplit.of(EQUATION, POINTS, "validation", 16).all()
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            operator, split if settings.fresh_samples else stored, validation, settings, seed=seed,
            device=torch.device("cpu"), identity="", directory=Path(folder), equation=EQUATION,
        )  # fmt: skip
        operator.load_state_dict(trainer.fit().best_state)
    test = FreshSplit.of(EQUATION, POINTS, "test", TEST).all()
    with torch.no_grad():
        answers = operator.eval()(function_tensor(test.inputs, test.grid), coordinate_tensor(test.grid))
    inputs, prediction, targets = (
        values.astype(np.float64) for values in (test.inputs, as_samples(answers).numpy(), test.targets)
    )
    energy = EQUATION.energy_error(inputs, prediction, targets)
    return float(relative_l2(prediction, targets).mean()), float(energy.mean())


def measured(given: Namespace, runs: Runs) -> str:
    """Tabulate means over seeds, with the lowest and the highest."""
    torch.set_num_threads(1)
    rows = []
    for label, count, settings in runs:
        errors = np.array([errors_of(count, settings, seed) for seed in range(given.seeds)])
        cells = [f"{each.mean():.3g} ({each.min():.3g} to {each.max():.3g})" for each in errors.T]
        rows.append((label, str(count), *cells))
    head = ("training", "inputs an epoch", "L² error", "error in the energy norm")
    return (
        f"FNO on {POINTS}² nodes, {STEPS} steps of {BATCH} samples. Mean relative errors on {TEST} new "
        f"samples, over {given.seeds} seeds (lowest and highest seed).\n\n{table(head, rows)}"
    )


if __name__ == "__main__":
    parts = {"losses": LOSSES, "symmetries": SYMMETRIES}
    run(
        "without-labels",
        {name: Part("", partial(measured, runs=runs), ("torch",)) for name, runs in parts.items()},
        rounds=None,
        seeds={"type": int, "default": 3, "help": "trainings of each row"},
    )
