"""Tables 1 and 3 of Calvello et al. 2024: median errors of standardised fields, at low and high resolution.

Table 1 also has the mean error in physical units, as everywhere else.
"""

from collections.abc import Callable

import pandas as pd

from resolvent.figures.common.comparison import Tested, by_condition
from resolvent.figures.common.numbers import DASH, in_units, power
from resolvent.figures.common.results import Run, on_training_grid, without_answer
from resolvent.figures.common.table import Cell, Table, columns
from resolvent.figures.experiment.error_table import STANDARDISED, interval
from resolvent.figures.papers.calvello2024.chosen import widest
from resolvent.figures.papers.calvello2024.recipe import DISTRIBUTION, FIRST
from resolvent.figures.papers.calvello2024.reported import HIGH, LOW
from resolvent.figures.published.beside import example_of, record, reported_beside
from resolvent.figures.published.recipe import fields_of
from resolvent.figures.published.tables import PaperTable

LOW_UNIT, HIGH_UNIT = 1e-2, 1e-3


def draw_low_resolution(comparisons: list[pd.DataFrame], experiments: list[list[Run]]) -> Table:
    """Return Table 1: a row for each model, trained on the finest grid of its experiment.

    By experiment: parameters and medians, ours and of the versions of the paper with its coefficients, and
    our mean in physical units.
    """
    unit = power(LOW_UNIT)

    def cells(run: Run, row: Tested) -> list[Cell]:
        reported = [LOW[version].row(record(run.record)) for version in versions_of(run)]
        counts = [Cell(one["parameters"] if one else DASH) for one in reported]
        medians = [_median(row, LOW_UNIT), *_reported(run, LOW, LOW_UNIT)]
        return [_parameters(row.facts), *counts, *medians, _mean(row, LOW_UNIT)]

    def heads(versions: list[str]) -> list[str]:
        return [
            "parameters",
            *(f"parameters, {version}" for version in versions),
            f"median ×{unit}",
            *(f"median, {version} ×{unit}" for version in versions),
            f"mean ×{unit}, physical units",
        ]

    def of_baseline(row: Tested, versions: list[str]) -> list[Cell]:
        none = [Cell(DASH)] * len(versions)
        return [Cell(DASH), *none, _median(row, LOW_UNIT), *none, _mean(row, LOW_UNIT)]

    return _table(comparisons, experiments, cells, heads, of_baseline)


def draw_high_resolution(comparisons: list[pd.DataFrame], experiments: list[list[Run]]) -> Table:
    """Return Table 3: a row for each model; by experiment ours, and the versions of the paper with its data.

    Of models that differ in their width alone the widest; trained on the finest grid of the experiment.
    """

    def cells(run: Run, row: Tested) -> list[Cell]:
        return [_median(row, HIGH_UNIT), *_reported(run, HIGH, HIGH_UNIT)]

    def heads(versions: list[str]) -> list[str]:
        return [f"{whose} ×{power(HIGH_UNIT)}" for whose in ("ours", *versions)]

    def of_baseline(row: Tested, versions: list[str]) -> list[Cell]:
        return [_median(row, HIGH_UNIT), *[Cell(DASH)] * len(versions)]

    return _table(comparisons, experiments, cells, heads, of_baseline)


def versions_of(run: Run) -> list[str]:
    """Return the versions of the paper whose coefficients a run's are; both, of an equation without any."""
    recorded = fields_of(run.record)
    if recorded["data.equation"] != "darcy":
        return list(DISTRIBUTION)
    taus = {version: distribution["tau"] for version, distribution in DISTRIBUTION.items()}
    return [version for version, tau in taus.items() if tau == recorded["data.distribution.tau"]]


def _table(
    comparisons: list[pd.DataFrame],
    experiments: list[list[Run]],
    cells: Callable[[Run, Tested], list[Cell]],
    heads: Callable[[list[str]], list[str]],
    of_baseline: Callable[[Tested, list[str]], list[Cell]],
) -> Table:
    """Return a table with a group of columns for each experiment."""
    first = [_first(runs) for runs in experiments]
    compared = [_rows(comparison) for comparison in comparisons]
    leading = [next(iter(one.values())) for one in first]
    versions = [versions_of(run) for run in leading]
    widths = [len(heads(one)) for one in versions]
    labels = {key: one[key].label for one in first for key in widest(list(one.values()))}
    rows = []
    for key, label in labels.items():
        rows.append([Cell(label)])
        for of_experiment, (models, _), width in zip(first, compared, widths, strict=True):
            run = of_experiment.get(key)
            rows[-1] += cells(run, models[key]) if run else [Cell(DASH)] * width
    named = {key: row.facts["label"] for _, baselines in compared for key, row in baselines.items()}
    below = []
    for key, label in named.items():
        below.append([Cell(label)])
        for (_, baselines), its_versions, width in zip(compared, versions, widths, strict=True):
            row = baselines.get(key)
            below[-1] += of_baseline(row, its_versions) if row else [Cell(DASH)] * width
    groups = [(_title(run, its), heads(its)) for run, its in zip(leading, versions, strict=True)]
    return Table(columns(("", ["model"]), *groups), rows, below)


def _title(run: Run, versions: list[str]) -> str:
    title = example_of(run.record).title
    return f"{title}, coefficients of {FIRST}" if versions == [FIRST] else title


def _first(runs: list[Run]) -> dict[str, Run]:
    """Return one run of each model, on the finest grid that any is trained on."""
    finest = max(run.resolution for run in runs)
    return {run.model: run for run in runs if run.resolution == finest}


def _rows(comparison: pd.DataFrame) -> tuple[dict[str, Tested], dict[str, Tested]]:
    """Return models and baselines, trained and tested on the finest training grid, by key."""
    found = by_condition(on_training_grid(comparison))
    finest = max(one.facts["trained_resolution"] for one in found if one.facts["kind"] == "model")
    here = [one for one in found if one.facts["trained_resolution"] == finest]
    models, baselines = (
        {one.facts["key"]: one for one in here if one.facts["kind"] == kind} for kind in ("model", "baseline")
    )
    return models, baselines


def _parameters(facts: dict) -> Cell:
    """Return the number of parameters, a complex one counted once, as in the paper."""
    once, twice = facts["parameters_complex_once"], facts["parameters"]
    if pd.isna(once):
        return Cell(DASH, note="complex ones once: not recorded")
    note = f"complex as two: {twice:,.0f}" if twice != once else ""
    return Cell(f"{once:,.0f}", note=note)


def _median(one: Tested, unit: float) -> Cell:
    error = one.error(STANDARDISED, "median")
    if not error.known:
        return _lost(one.facts, "not measured")
    return Cell(in_units(error.value, unit), note=f"{interval(error, unit)}{_lost_seeds(one.facts)}")


def _mean(one: Tested, unit: float) -> Cell:
    error = one.error("relative_l2", "mean")
    return (
        Cell(in_units(error.value, unit), note=interval(error, unit)) if error.known else _lost(one.facts, "")
    )


def _lost(facts: dict, note: str) -> Cell:
    no_answer, reason = without_answer(facts["status"])
    if no_answer:
        return Cell(no_answer, note=reason, lost=True)
    return Cell(facts["status"], lost=True) if facts["diverged_seeds"] else Cell(DASH, note=note)


def _lost_seeds(facts: dict) -> str:
    return f"; {facts['status']}" if facts["diverged_seeds"] else ""


def _reported(run: Run, tables: dict[str, PaperTable], unit: float) -> list[Cell]:
    """Return the paper's numbers, in each of its versions with such data."""
    entries = []
    for version in versions_of(run):
        table = tables[version]
        beside = reported_beside(run.record, run.cost, table)
        if beside.value is None:
            entries.append(Cell(DASH))
        else:
            entries.append(Cell(f"{beside.value / unit:#.3g}".rstrip(".")))
    return entries
