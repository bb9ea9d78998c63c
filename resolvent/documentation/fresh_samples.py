"""What new samples in every epoch do to two models, at equal steps: a table of docs/datasets.md."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from resolvent.figures.common.numbers import duration
from resolvent.figures.common.results import Run, read_runs
from resolvent.figures.reported_vs_ours.markdown import table_lines

CONFIGURATION = "config/fresh_samples.yaml"
RUNS = "results/fresh_samples"
COMMAND = f"snakemake --cores 2 --resources gpu=0 --configfile {CONFIGURATION}"
HEAD = ("model", "training samples seen", "test error, mean", "least and largest of the seeds", "training")


def section(folders: list[Path]) -> str:
    """Return the table of the runs in `folders`, a row a model, and what they have in common.

    Raises `ResultError` as `read_runs` does.
    """
    models: dict[str, list[Run]] = {}
    for run in read_runs(folders):
        models.setdefault(run.record.label, []).append(run)
    first = next(iter(models.values()))[0]
    points = first.resolution
    rows = [_row(label, runs) for label, runs in models.items()]
    common = (
        f"Burgers' equation on {points} points, {first.cost.epochs} epochs of "
        f"{first.record.training['train_samples']} samples, {first.cost.steps:,} steps of every model, "
        f"{len(next(iter(models.values())))} seeds each. Errors are relative L² on "
        f"{first.record.training['test_samples']} test samples; {first.cost.device}, one thread, beside "
        f"other work.\nMade by `{COMMAND}`."
    )
    return "\n".join([common, "", *table_lines(HEAD, rows)])


def _row(label: str, runs: list[Run]) -> tuple[str, ...]:
    errors = [float(run.errors["relative_l2"].mean()) for run in runs]
    cost, training = runs[0].cost, runs[0].record.training
    epochs = cost.epochs if training["fresh_samples"] else 1
    seconds = float(np.mean([run.cost.train_seconds for run in runs]))
    return (
        label,
        f"{epochs * training['train_samples']:,}",
        f"{np.mean(errors):.2e}",
        f"{min(errors):.2e} to {max(errors):.2e}",
        duration(seconds),
    )
