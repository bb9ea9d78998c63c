"""Tables of docs/datasets.md: cost and accuracy of datasets, and the effect of new samples in every epoch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from resolvent.common.errors import ResolventError
from resolvent.common.files import read_json
from resolvent.datasets.loading import read_card
from resolvent.datasets.tasks.registry import EQUATIONS, settings_class
from resolvent.documentation.pages import planned, table
from resolvent.figures.common.numbers import DASH, duration
from resolvent.figures.common.results import Run, read_runs
from resolvent.planning.plan import DatasetPlan
from resolvent.planning.provenance import machine

MEASURED = "config/full_resolution.yaml"
COMMAND = f"snakemake datasets --cores 2 --configfile {MEASURED}"
FRESH_RUNS = "results/fresh_samples"
FRESH_COMMAND = "snakemake --cores 2 --resources gpu=0 --configfile config/fresh_samples.yaml"
CHECKS = ("dataset", "check", "samples", "median", "largest")


def measured(root: Path) -> str | None:
    """Return the table of costs and errors of the datasets in `MEASURED`, or None if one is missing.

    Values come from the cards and from the logs of the generation jobs in logs/.
    """
    costs, budgets, made = [], [], planned(MEASURED, root=root).datasets
    try:
        for name, dataset in made.items():
            costs.append((f"`{name}`", *_cost(root, dataset)))
            for check, entry in read_card(root / dataset.card)["error_budget"].items():
                if isinstance(entry, dict) and "largest_relative_l2" in entry:
                    errors = (f"{entry[f'{which}_relative_l2']:.1e}" for which in ("median", "largest"))
                    budgets.append((f"`{name}`", check.replace("_", " "), f"{entry['samples']:,}", *errors))
    except (ResolventError, FileNotFoundError):
        return None
    parts = [
        f"Made by `{COMMAND}` on {machine()}; written by `make docs`.",
        'The cost of making them: "generating" is the total time of the generation jobs, "finalising" the '
        "time of the job that verifies the store and measures its errors; core seconds a sample exclude "
        "imports and compilation.",
        table(
            ("dataset", "stored on", "samples", "generating", "finalising", "core seconds a sample"), costs
        ),
        "Their accuracy: relative L² errors of the stored solutions, median and largest over the samples "
        "checked.",
        table(CHECKS, budgets),
        "For the cost of the papers' full sizes, run `snakemake plan datasets` with their configurations.",
    ]
    return "\n\n".join(parts)


def _cost(root: Path, dataset: DatasetPlan) -> tuple[str, ...]:
    """Return the cells of a dataset. Core seconds per sample need a job with at least two batches."""
    settings, name = dataset.settings, dataset.base.name
    solved = root / "logs" / f"solve_{dataset.name}"
    shards = [solved / f"{name}-{shard}" for shard in range(settings.num_shards)]
    costs = [read_json(shard.with_suffix(".cost.json"), "the cost of a shard") for shard in shards]
    samples = sum(cost["samples"] for cost in costs)
    each = f"{sum(cost['core_seconds'] for cost in costs) / samples:.2g}" if samples else DASH
    # Snakemake's benchmark files contain job durations.
    generating = sum(pd.read_csv(shard.with_suffix(".tsv"), sep="\t")["s"].item() for shard in shards)
    finalised = root / "logs" / f"finalise_{dataset.name}" / f"{name}.tsv"
    times = (generating, pd.read_csv(finalised, sep="\t")["s"].item())
    stored_on = ", ".join(f"{n}{'²' * (settings.dimension == 2)}" for n in settings.resolutions)
    if hasattr(settings, "observations"):
        stored_on = f"{len(settings.observations)} sets of times"
    took = (f"{s / 60:.1f} min" if s >= 60 else f"{s:.0f} s" for s in times)
    return (stored_on, f"{settings.samples.total:,}", *took, each)


def accuracy(datasets_page: Path) -> str:
    """Return the table of README.md and docs/index.md: the rows of docs/datasets.md in `accuracy_rows`.

    Raises `KeyError` if a row in an equation's `accuracy_rows` is missing.
    """
    found = {}
    for line in datasets_page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == len(CHECKS) and line.startswith("| `"):
            found[cells[0].strip("`"), cells[1]] = cells[2:]
    rows = [
        (data, reference, *found[row])
        for equation in EQUATIONS
        for row, (data, reference) in settings_class(equation).accuracy_rows.items()
    ]
    return table(("data", "compared with", "samples", "median error", "largest"), rows)


def fresh_samples(folders: list[Path]) -> str | None:
    """Return a table of the effect of new samples in every epoch, one row per model of the runs in `folders`.

    Returns None without runs. Raises `ResultError` as in `read_runs`.
    """
    if not folders:
        return None
    models: dict[str, list[Run]] = {}
    for run in read_runs(folders):
        models.setdefault(run.record.label, []).append(run)
    rows = []
    for label, runs in models.items():
        errors = [float(run.errors["relative_l2"].mean()) for run in runs]
        training = runs[0].record.training
        seen = training["train_samples"] * (runs[0].cost.epochs if training["fresh_samples"] else 1)
        spread = f"{min(errors):.2e} to {max(errors):.2e}"
        took = duration(float(np.mean([run.cost.train_seconds for run in runs])))
        rows.append((label, f"{seen:,}", f"{np.mean(errors):.2e}", spread, took))
    first, *_ = seeds = next(iter(models.values()))
    training = first.record.training
    common = (
        f"Burgers' equation on {first.resolution} points, {first.cost.epochs} epochs of "
        f"{training['train_samples']} samples, {first.cost.steps:,} steps of every model, "
        f"{len(seeds)} seeds each. Errors are relative L² on {training['test_samples']} test samples; "
        f"{first.cost.device}, one thread, beside other work.\nMade by `{FRESH_COMMAND}`."
    )
    head = (
        "model", "training samples seen", "test error, mean", "least and largest of the seeds", "training",
    )  # fmt: skip
    return f"{common}\n\n{table(head, rows)}"
