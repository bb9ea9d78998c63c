"""Lorenz-63 with initial values that enter in several forms: a table of docs/equations/lorenz63.md."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from resolvent.figures.common.results import Run, error_matrix, read_runs
from resolvent.figures.reported_vs_ours.markdown import table_lines

CONFIGURATION = "config/lorenz63_initial_values.yaml"
RUNS = "results/lorenz63_initial_values"
COMMAND = f"snakemake --cores 2 --resources gpu=0 --configfile {CONFIGURATION}"
ERROR = "standardised_relative_l2"


def section(folders: Iterable[Path]) -> str:
    """Return what was trained, the table of errors, and the same as multiples of those at the training times.

    `folders` are those of runs. A cell has the median over the test samples, averaged over the seeds, and its
    range over them where there are several. Raises `ResultError` as `read_runs` does.
    """
    models: dict[str, list[Run]] = {}
    for run in read_runs(folders):
        models.setdefault(run.label, []).append(run)
    runs = [run for made in models.values() for run in made]
    home = runs[0].resolution
    times = list(dict.fromkeys(runs[0].errors["resolution"]))
    medians = {label: {one: _medians(made, one) for one in times} for label, made in models.items()}
    errors = [
        (f"{label} ({_seeds(models[label])})", *map(_cell, by_time.values()))
        for label, by_time in medians.items()
    ]
    ratios = [
        (label, *(f"{np.mean(found / by_time[home]):.2f}" for found in by_time.values()))
        for label, by_time in medians.items()
    ]
    header = ("initial values", *(f"{one}{'*' * (one == home)}" for one in times))
    introduction = (
        f"Written by `make docs` from the runs of `{COMMAND}`. {_training(runs)} "
        "Median over the test samples of the relative L² error of standardised y and z, averaged over the seeds, with the lowest and the "
        f"highest seed. Trained at {home}*."
    )
    divided = f"The same, each seed divided by its own error at {home}, averaged over the seeds:"
    tables = [table_lines(header, rows) for rows in (errors, ratios)]
    return "\n".join([introduction, "", *tables[0], "", divided, "", *tables[1]])


def _medians(runs: list[Run], time: int | str) -> np.ndarray:
    """Return a median a seed."""
    return np.median(error_matrix([run.errors for run in runs], time, 0.0, ERROR).to_numpy(), axis=1)


def _cell(medians: np.ndarray) -> str:
    spread = f" [{medians.min():.2e}, {medians.max():.2e}]" if len(medians) > 1 else ""
    return f"{medians.mean():.2e}{spread}"


def _seeds(runs: list[Run]) -> str:
    return f"{len(runs)} seed{'s' * (len(runs) != 1)}"


def _training(runs: list[Run]) -> str:
    """Say once what all runs have in common, and on which machines they were trained."""
    settings, training = runs[0].record.settings, runs[0].record.training
    machines = sorted({f"{run.cost.device}, {run.cost.threads} thread(s) a run" for run in runs})
    return (
        f"Width {settings['width']}, {settings['num_layers']} layers, "
        f"{training['train_samples']:,} training and {training['test_samples']:,} test trajectories, "
        f"{training['epochs']} epochs in batches of {training['batch_size']}, "
        f"schedule {training['schedule']}; {'; '.join(machines)}, shared with other work."
    )
