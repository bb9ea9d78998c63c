"""What the datasets of config/full_resolution.yaml cost and how wrong they are: tables of docs/datasets.md.

Everything is read from the cards and from what the generation jobs left in logs/.
"""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

from resolvent.datasets.loading import read_card
from resolvent.datasets.tasks.registry import build_task
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.read import read_configuration
from resolvent.planning.plan import DatasetPlan, Plan
from resolvent.planning.provenance import machine

MEASURED = "config/full_resolution.yaml"
PAPERS = ("config/cao2021.yaml", "config/calvello2024.yaml")
COMMAND = f"snakemake datasets --cores 2 --configfile {MEASURED}"


def tables(root: Path) -> str:
    """Return the tables in Markdown.

    Raises
    ------
    DatasetError
        When a dataset of the configuration has not been made.
    """
    made = _plan(root, MEASURED).datasets
    costs = {name: _cost(root, dataset) for name, dataset in made.items()}
    return "\n\n".join(
        [
            f"Made by `{COMMAND}` on {machine()}; written by `make docs`.",
            "What making them took. Generating is the sum over generation jobs from start to end, finalising "
            "the job that verifies the store and measures its errors; core seconds a sample leave out "
            "imports and compilation.",
            _costs(made, costs),
            "How wrong they are: relative L² errors of the stored solutions, median and largest over the "
            "samples checked.",
            _budgets(root, made),
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
    rows = [
        "| dataset | stored on | samples | generating | finalising | core seconds a sample |",
        "|---|---|---|---|---|---|",
    ]
    for name, dataset in made.items():
        cost = costs[name]
        rows.append(
            f"| `{name}` | {_stored_on(dataset.settings)} | {dataset.settings.samples.total:,} | "
            f"{_duration(cost['generating'])} | {_duration(cost['finalising'])} | "
            f"{_number(cost['core_seconds_a_sample'])} |"
        )
    return "\n".join(rows)


def _budgets(root: Path, made: dict[str, DatasetPlan]) -> str:
    rows = ["| dataset | check | samples | median | largest |", "|---|---|---|---|---|"]
    for name, dataset in made.items():
        for check, entry in read_card(root / dataset.card)["error_budget"].items():
            if isinstance(entry, dict) and "largest_relative_l2" in entry:
                rows.append(
                    f"| `{name}` | {check.replace('_', ' ')} | {entry['samples']:,} | "
                    f"{entry['median_relative_l2']:.1e} | {entry['largest_relative_l2']:.1e} |"
                )
    return "\n".join(rows)


def _predictions(root: Path, made: dict[str, DatasetPlan], costs: dict) -> str:
    rows = ["| configuration | dataset | samples | core-hours | disk |", "|---|---|---|---|---|"]
    for overlay in PAPERS:
        for name, dataset in _plan(root, overlay).datasets.items():
            settings, count = dataset.settings, dataset.settings.samples.total
            hours = count * _core_seconds(name, settings.equation, made, costs) / 3600
            size = count * build_task(settings).layout.bytes_per_sample / 2**30
            rows.append(f"| `{overlay}` | `{name}` | {count:,} | {_number(hours)} | {size:.2g} GB |")
    return "\n".join(rows)


def _core_seconds(name: str, equation: str, made: dict[str, DatasetPlan], costs: dict) -> float:
    """Return those of a sample of this dataset, else of one of the same equation; NaN if not measured."""
    alike = [other for other, dataset in made.items() if dataset.settings.equation == equation]
    return costs[name if name in made else alike[0]]["core_seconds_a_sample"] if alike else math.nan


def _stored_on(settings) -> str:
    if hasattr(settings, "observations"):
        return f"{len(settings.observations)} sets of times"
    return ", ".join(f"{n}²" if settings.dimension == 2 else str(n) for n in settings.resolutions)


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.0f} s"


def _number(value: float) -> str:
    return "—" if math.isnan(value) else f"{value:.2g}"
