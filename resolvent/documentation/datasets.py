"""Tables of docs/datasets.md: what datasets cost, how wrong they are, what new samples in every epoch do."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np

from resolvent.common.errors import ResolventError
from resolvent.datasets.loading import read_card
from resolvent.datasets.tasks.registry import EQUATIONS, build_task, settings_class
from resolvent.documentation.pages import table
from resolvent.figures.common.numbers import duration
from resolvent.figures.common.results import Run, read_runs
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.read import read_configuration
from resolvent.planning.plan import DatasetPlan, Plan
from resolvent.planning.provenance import machine

MEASURED = "config/full_resolution.yaml"
PAPERS = ("config/cao2021.yaml", "config/calvello2024.yaml")
COMMAND = f"snakemake datasets --cores 2 --configfile {MEASURED}"
FRESH_RUNS = "results/fresh_samples"
FRESH_COMMAND = "snakemake --cores 2 --resources gpu=0 --configfile config/fresh_samples.yaml"
CHECKS = ("dataset", "check", "samples", "median", "largest")


def measured(root: Path) -> str | None:
    """Return what the datasets of `MEASURED` cost and how wrong they are; None where one was not made.

    Everything is read from the cards and from what the generation jobs left in logs/.
    """
    made = _plan(root, MEASURED).datasets
    try:
        costs = {name: _cost(root, dataset) for name, dataset in made.items()}
        budgets = _budgets(root, made)
    except (ResolventError, FileNotFoundError):
        return None
    return "\n\n".join(
        [
            f"Made by `{COMMAND}` on {machine()}; written by `make docs`.",
            "What making them took. Generating is the sum over generation jobs from start to end, finalising "
            "the job that verifies the store and measures its errors; core seconds a sample leave out "
            "imports and compilation.",
            _costs(made, costs),
            "How wrong they are: relative L² errors of the stored solutions, median and largest over the "
            "samples checked.",
            budgets,
            "What the papers' full sizes take, predicted from these core seconds (of a dataset that is not "
            "above, from the one of the same equation). Disk is what the arrays hold before compression. "
            "GPU-hours: not measured.",
            _predictions(root, made, costs),
        ]
    )


def _plan(root: Path, overlay: str) -> Plan:
    return Plan(load_configuration(read_configuration([root / overlay])))


def _cost(root: Path, dataset: DatasetPlan) -> dict[str, float]:
    """Return the seconds of generation and finalising jobs; core seconds a sample, NaN where no job had a
    second batch."""
    generating, samples, core_seconds = 0.0, 0, 0.0
    for shard in range(dataset.settings.num_shards):
        log = root / "logs" / f"solve_{dataset.name}" / f"{dataset.base.name}-{shard}"
        generating += _job_seconds(f"{log}.tsv")
        cost = json.loads(Path(f"{log}.cost.json").read_text(encoding="utf-8"))
        samples += cost["samples"]
        core_seconds += cost["core_seconds"]
    each = core_seconds / samples if samples else math.nan
    finalising = _job_seconds(root / "logs" / f"finalise_{dataset.name}" / f"{dataset.base.name}.tsv")
    return {"generating": generating, "finalising": finalising, "core_seconds_a_sample": each}


def _job_seconds(benchmark: str | Path) -> float:
    """Return the duration of a job, from Snakemake's benchmark file."""
    (row,) = csv.DictReader(Path(benchmark).read_text(encoding="utf-8").splitlines(), delimiter="\t")
    return float(row["s"])


def _costs(made: dict[str, DatasetPlan], costs: dict) -> str:
    rows = []
    for name, dataset in made.items():
        settings, cost = dataset.settings, costs[name]
        square = "²" if settings.dimension == 2 else ""
        stored_on = ", ".join(f"{n}{square}" for n in settings.resolutions)
        if hasattr(settings, "observations"):
            stored_on = f"{len(settings.observations)} sets of times"
        rows.append(
            (
                f"`{name}`",
                stored_on,
                f"{settings.samples.total:,}",
                _duration(cost["generating"]),
                _duration(cost["finalising"]),
                _number(cost["core_seconds_a_sample"]),
            )
        )
    head = ("dataset", "stored on", "samples", "generating", "finalising", "core seconds a sample")
    return table(head, rows)


def _budgets(root: Path, made: dict[str, DatasetPlan]) -> str:
    rows = []
    for name, dataset in made.items():
        for check, entry in read_card(root / dataset.card)["error_budget"].items():
            if isinstance(entry, dict) and "largest_relative_l2" in entry:
                errors = (f"{entry[f'{which}_relative_l2']:.1e}" for which in ("median", "largest"))
                rows.append((f"`{name}`", check.replace("_", " "), f"{entry['samples']:,}", *errors))
    return table(CHECKS, rows)


def _predictions(root: Path, made: dict[str, DatasetPlan], costs: dict) -> str:
    rows = []
    for overlay in PAPERS:
        for name, dataset in _plan(root, overlay).datasets.items():
            settings, count = dataset.settings, dataset.settings.samples.total
            # Of a dataset that was not measured: the first of the same equation, NaN if there is none.
            alike = [other for other, one in made.items() if one.settings.equation == settings.equation]
            known = costs.get(name) or (costs[alike[0]] if alike else {})
            hours = count * known.get("core_seconds_a_sample", math.nan) / 3600
            size = count * build_task(settings).layout.bytes_per_sample / 2**30
            rows.append((f"`{overlay}`", f"`{name}`", f"{count:,}", _number(hours), f"{size:.2g} GB"))
    return table(("configuration", "dataset", "samples", "core-hours", "disk"), rows)


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.0f} s"


def _number(value: float) -> str:
    return "—" if math.isnan(value) else f"{value:.2g}"


def accuracy(datasets_page: Path) -> str:
    """Return the table of README.md and docs/index.md: rows of docs/datasets.md that equations choose.

    Raises
    ------
    KeyError
        When a row of an equation's `accuracy_rows` is not there.
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
    """Return what new samples in every epoch do to the models of the runs in `folders`, a row a model.

    None without runs. Raises `ResultError` as `read_runs` does.
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
        epochs = runs[0].cost.epochs if training["fresh_samples"] else 1
        rows.append(
            (
                label,
                f"{epochs * training['train_samples']:,}",
                f"{np.mean(errors):.2e}",
                f"{min(errors):.2e} to {max(errors):.2e}",
                duration(float(np.mean([run.cost.train_seconds for run in runs]))),
            )
        )
    seeds = next(iter(models.values()))
    first = seeds[0]
    common = (
        f"Burgers' equation on {first.resolution} points, {first.cost.epochs} epochs of "
        f"{first.record.training['train_samples']} samples, {first.cost.steps:,} steps of every model, "
        f"{len(seeds)} seeds each. Errors are relative L² on "
        f"{first.record.training['test_samples']} test samples; {first.cost.device}, one thread, beside "
        f"other work.\nMade by `{FRESH_COMMAND}`."
    )
    head = (
        "model",
        "training samples seen",
        "test error, mean",
        "least and largest of the seeds",
        "training",
    )
    return f"{common}\n\n{table(head, rows)}"
