"""Lorenz-63 with initial values that enter in several forms: tables of docs/equations/lorenz63.md.

The second table says why errors grow at other times where the first token alone has the initial values. The
trained operators are changed in one respect and tested again: the first token has the weight that it had in
training, half the first interval of the training times, whatever the times of the test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from resolvent.common.counts import counted
from resolvent.common.runs import read_run
from resolvent.datasets.loading import Samples, load_samples
from resolvent.documentation.pages import planned, table
from resolvent.evaluation.conditions import predict
from resolvent.evaluation.metrics import measure
from resolvent.figures.common.results import Run, error_matrix, read_runs
from resolvent.models.layers.continuum_attention import trapezoid_weights
from resolvent.training import checkpoints
from resolvent.training.checkpoints import trained_operator

CONFIGURATION = "config/lorenz63_initial_values.yaml"
RUNS = "results/lorenz63_initial_values"
COMMAND = f"snakemake --cores 2 --resources gpu=0 --configfile {CONFIGURATION}"
ERROR = "standardised_relative_l2"
SAMPLES = 50  # of the test, for the first token
CPU = torch.device("cpu")
TOKENS = (
    "`first_token` seed by seed: its error; its error if the first token keeps the weight that it had in "
    "training, whatever the times; and how far the prediction moves, relative to itself and at all times but "
    f"the first, if every sample gets the initial values of another one. Medians over {SAMPLES} test samples."
)


def section(root: Path, folders: list[Path]) -> str | None:
    """Return what was trained, the errors at all times, and what the first token's weight does to them.

    `folders` are those of runs below `root`, where the configuration's dataset is too. A cell has the median
    over the test samples, averaged over the seeds, and its range over them where there are several. None
    without runs. Raises `ResultError` as `read_runs` does, `DatasetError` where the dataset is missing.
    """
    if not folders:
        return None
    models: dict[str, list[Run]] = {}
    for run in read_runs(folders):
        models.setdefault(run.record.model, []).append(run)
    runs = [run for made in models.values() for run in made]
    first = runs[0]
    times = list(dict.fromkeys(first.errors["resolution"]))
    header = tuple(f"{one}{'*' * (one == first.resolution)}" for one in times)
    errors = []
    for made in models.values():
        form = made[0].record.settings["initial_values"]
        cells = [f"`{form}`, {counted(len(made), 'seed')}"]
        for one in times:
            matrix = error_matrix([run.errors for run in made], one, 0.0, ERROR)
            medians = np.median(matrix.to_numpy(), axis=1)
            spread = f" [{medians.min():.2e}, {medians.max():.2e}]" if len(medians) > 1 else ""
            cells.append(f"{medians.mean():.2e}{spread}")
        errors.append(cells)
    card = root / planned(CONFIGURATION, root=root).datasets[first.record.dataset].card
    tokens = [
        (f"{run.seed}: {words}", *(f"{found[one]:.2e}" for one in times))
        for run in runs
        if run.record.settings["initial_values"] == "first_token"
        for words, found in first_token_rows(run.directory, card, times).items()
    ]
    settings, training = first.record.settings, first.record.training
    machines = sorted({f"{run.cost.device}, {run.cost.threads} thread(s) a run" for run in runs})
    parts = [
        f"Written by `make docs` from the runs of `{COMMAND}`. "
        f"Width {settings['width']}, {settings['num_layers']} layers, "
        f"{training['train_samples']:,} training and {training['test_samples']:,} test trajectories, "
        f"{training['epochs']} epochs in batches of {training['batch_size']}, "
        f"schedule {training['schedule']}; {'; '.join(machines)}, shared with other work.",
        "Median over the test samples of the relative L² error of standardised y and z, averaged over the "
        f"seeds, with the lowest and the highest seed. Trained at {first.resolution}*.",
        table(("initial values", *header), errors),
        TOKENS,
        table(("seed", *header), tokens),
    ]
    return "\n\n".join(parts)


def with_first_weight(weight: float) -> Callable[[Tensor], Tensor]:
    """Return what gives an operator trapezoidal log-weights, the first of `weight`."""

    def log_weights(x: Tensor) -> Tensor:
        weights = trapezoid_weights(x)
        return torch.cat([weights.new_tensor([weight]), weights[1:]]).log()

    return log_weights


def first_token_rows(folder: Path, card: Path, times: Iterable[str]) -> dict[str, dict[str, float]]:
    """Measure a trained run in three respects: by words, a number for each set of times.

    The error, the error with the first weight of training, and how far the prediction moves, at all times but
    the first, when every sample gets the initial values of the next one; medians over `SAMPLES` test
    samples, of standardised y and z, relative.
    """
    run = read_run(folder)
    operator: Any = trained_operator(checkpoints.load(folder / "checkpoint.pt"))
    scale = (operator.output.mean.numpy(), operator.output.deviation.numpy())
    tokens = operator.operator
    home = load_samples(card, str(run.record.resolution), "test", 1).grid.coordinates
    found: dict[str, dict[str, float]] = {}
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
            error = measure(prediction, target, test.grid, scale)[ERROR]
            found.setdefault(words, {})[time] = float(np.median(error))
    return found
