"""Tables 1 and 3 of Calvello et al. 2024: median errors of standardised fields, at low and high resolution.

Table 1 also has parameters, and the mean error in physical units, as everywhere else.
"""

import pandas as pd

from resolvent.figures.common.comparison import Tested, by_condition
from resolvent.figures.common.numbers import in_units, power
from resolvent.figures.common.results import Run, on_training_grid, without_answer
from resolvent.figures.common.table import EMPTY, Cell, Table, columns
from resolvent.figures.experiment.error_table import STANDARDISED, interval
from resolvent.figures.papers.calvello2024.chosen import Experiments, title_of, widest
from resolvent.figures.papers.calvello2024.reported import (
    DISTRIBUTION,
    FIRST,
    JOURNAL,
    TABLE_1,
    TABLE_1_FIRST,
    TABLE_3,
    TABLE_3_FIRST,
)
from resolvent.figures.published.beside import record, reported_beside
from resolvent.figures.published.recipe import fields_of

LOW = {JOURNAL: TABLE_1, FIRST: TABLE_1_FIRST}
HIGH = {JOURNAL: TABLE_3, FIRST: TABLE_3_FIRST}


def draw_low_resolution(comparisons: list[pd.DataFrame], experiments: Experiments) -> Table:
    """Return Table 1: by experiment parameters and medians, ours and of versions with its coefficients."""
    unit = power(1e-2)

    def heads(versions: list[str]) -> list[str]:
        return [
            "parameters",
            *(f"parameters, {version}" for version in versions),
            f"median ×{unit}",
            *(f"median, {version} ×{unit}" for version in versions),
            f"mean ×{unit}, physical units",
        ]

    def cells(row: Tested, run: Run | None, versions: list[str]) -> list[Cell]:
        reported = [run and LOW[version].row(record(run.record)) for version in versions]
        counts = [Cell(one["parameters"]) if one else EMPTY for one in reported]
        medians = [_error(row, 1e-2, STANDARDISED, "median"), *_reported(run, versions, LOW, 1e-2)]
        parameters = _parameters(row.facts) if run else EMPTY
        return [parameters, *counts, *medians, _error(row, 1e-2, "relative_l2", "mean")]

    return _table(comparisons, experiments, heads, cells)


def draw_high_resolution(comparisons: list[pd.DataFrame], experiments: Experiments) -> Table:
    """Return Table 3: by experiment ours, and the versions of the paper with its data."""

    def heads(versions: list[str]) -> list[str]:
        return [f"{whose} ×{power(1e-3)}" for whose in ("ours", *versions)]

    def cells(row: Tested, run: Run | None, versions: list[str]) -> list[Cell]:
        return [_error(row, 1e-3, STANDARDISED, "median"), *_reported(run, versions, HIGH, 1e-3)]

    return _table(comparisons, experiments, heads, cells)


def _table(comparisons: list[pd.DataFrame], experiments: Experiments, heads, cells) -> Table:
    """Return a table with a group of columns for each experiment, trained and tested on its finest grid.

    Of models that differ in their width alone the widest. `heads` are those of the versions of the paper with
    the data of an experiment, `cells` what stands below them of a model (tested, and its run) or baseline.
    """
    groups, found = [], []
    labels: dict[str, str] = {}
    named: dict[str, str] = {}
    for comparison, runs in zip(comparisons, experiments, strict=True):
        finest = max(run.resolution for run in runs)
        models = {run.model: run for run in runs if run.resolution == finest}
        tested = {
            (one.facts["kind"], one.facts["key"]): one
            for one in by_condition(on_training_grid(comparison))
            if one.facts["trained_resolution"] == finest
        }
        first = next(iter(models.values()))
        versions = versions_of(first)
        title = title_of(first) + (f", coefficients of {FIRST}" if versions == [FIRST] else "")
        groups.append((title, heads(versions)))
        found.append((models, tested, versions))
        labels |= {key: models[key].label for key in widest(list(models.values()))}
        named |= {key: one.facts["label"] for (kind, key), one in tested.items() if kind == "baseline"}

    def row(kind: str, key: str, label: str) -> list[Cell]:
        entries = [Cell(label)]
        for (models, tested, versions), (_, names) in zip(found, groups, strict=True):
            one = tested.get((kind, key))
            run = models.get(key) if kind == "model" else None
            entries += cells(one, run, versions) if one else [EMPTY] * len(names)
        return entries

    rows = [row("model", key, label) for key, label in labels.items()]
    return Table(
        columns(("", ["model"]), *groups), rows, [row("baseline", key, label) for key, label in named.items()]
    )


def versions_of(run: Run) -> list[str]:
    """Return the versions of the paper whose coefficients a run's are; both, of an equation without any."""
    recorded = fields_of(run.record)
    if recorded["data.equation"] != "darcy":
        return list(DISTRIBUTION)
    tau = recorded["data.distribution.tau"]
    return [version for version, distribution in DISTRIBUTION.items() if distribution["tau"] == tau]


def _parameters(facts: dict) -> Cell:
    """Return the number of parameters, a complex one counted once, as in the paper."""
    once, twice = facts["parameters_complex_once"], facts["parameters"]
    if pd.isna(once):
        return Cell(EMPTY.text, note="complex ones once: not recorded")
    return Cell(f"{once:,.0f}", note=f"complex as two: {twice:,.0f}" if twice != once else "")


def _error(one: Tested, unit: float, metric: str, statistic: str) -> Cell:
    error, facts = one.error(metric, statistic), one.facts
    if error.known:
        lost = f"; {facts['status']}" if facts["diverged_seeds"] and statistic == "median" else ""
        return Cell(in_units(error.value, unit), note=f"{interval(error, unit)}{lost}")
    no_answer, reason = without_answer(facts["status"])
    if no_answer:
        return Cell(no_answer, note=reason, lost=True)
    if facts["diverged_seeds"]:
        return Cell(facts["status"], lost=True)
    return Cell(EMPTY.text, note="not measured" if statistic == "median" else "")


def _reported(run: Run | None, versions: list[str], tables: dict, unit: float) -> list[Cell]:
    """Return the paper's numbers, in each of its versions with such data."""
    if run is None:
        return [EMPTY] * len(versions)
    found = [reported_beside(run.record, run.cost, tables[one]).value for one in versions]
    return [EMPTY if value is None else Cell(f"{value / unit:#.3g}".rstrip(".")) for value in found]
