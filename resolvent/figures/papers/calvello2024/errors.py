"""Tables 1 and 3 of Calvello et al. 2024: median errors of standardised fields, at low and high resolution.

Table 1 also has the mean error in physical units, as everywhere else.
"""

from pathlib import Path

import pandas as pd

from resolvent.figures.common.comparison import Tested, by_condition, read_comparison
from resolvent.figures.common.numbers import DASH, in_units, power
from resolvent.figures.common.results import Run, on_training_grid, read_runs, without_answer
from resolvent.figures.common.table import Cell, Table, columns, write_table
from resolvent.figures.experiment.error_table import STANDARDISED, interval
from resolvent.figures.papers.calvello2024.chosen import widest
from resolvent.figures.papers.calvello2024.reported import HIGH, JOURNAL, LOW
from resolvent.figures.published.beside import example_of, record, reported_beside
from resolvent.figures.published.tables import PaperTable

LOW_UNIT, HIGH_UNIT = 1e-2, 1e-3


def write_low_resolution(comparisons: list[str], runs: list[list[str]], outputs: list[str | Path]) -> None:
    """Write Table 1: a row for each model of its experiment, trained on the finest of its grids."""
    models, baselines = _rows(comparisons[0])
    first = _first(runs[0])
    rows = []
    for key, run in first.items():
        row = models[key]
        reported = LOW[JOURNAL].row(record(run.record))
        rows.append(
            [Cell(run.label), _parameters(row.facts), Cell(reported["parameters"] if reported else DASH)]
        )
        rows[-1] += [_median(row, LOW_UNIT), *_reported(run, LOW, LOW_UNIT), _mean(row, LOW_UNIT)]
    none = Cell(DASH)
    below = [
        [Cell(row.facts["label"]), none, none, _median(row, LOW_UNIT), none, none, _mean(row, LOW_UNIT)]
        for row in baselines.values()
    ]
    unit = power(LOW_UNIT)
    heads = columns(
        ("", ["model"]),
        ("parameters", ["ours", JOURNAL]),
        (f"median, standardised, ×{unit}", ["ours", *LOW]),
        (f"mean, ×{unit}", ["physical units"]),
    )
    write_table(Table(heads, rows, below), outputs)


def write_high_resolution(comparisons: list[str], runs: list[list[str]], outputs: list[str | Path]) -> None:
    """Write Table 3: a row for each model, by experiment three columns: ours, both versions of the paper.

    Of models that differ in their width alone the widest; trained on the finest grid of the experiment.
    """
    first = [_first(folders) for folders in runs]
    compared = [_rows(comparison) for comparison in comparisons]
    titles = [example_of(next(iter(one.values())).record).title for one in first]
    labels = {key: one[key].label for one in first for key in widest(list(one.values()))}
    rows = []
    for key, label in labels.items():
        rows.append([Cell(label)])
        for of_experiment, (models, _) in zip(first, compared, strict=True):
            if key in of_experiment:
                run = of_experiment[key]
                rows[-1] += [_median(models[key], HIGH_UNIT), *_reported(run, HIGH, HIGH_UNIT)]
            else:
                rows[-1] += [Cell(DASH)] * 3
    named = {key: row.facts["label"] for _, baselines in compared for key, row in baselines.items()}
    below = []
    for key, label in named.items():
        below.append([Cell(label)])
        for _, baselines in compared:
            ours = _median(baselines[key], HIGH_UNIT) if key in baselines else Cell(DASH)
            below[-1] += [ours, *[Cell(DASH)] * 2]
    heads = columns(
        ("", ["model"]), *((f"{title}, ×{power(HIGH_UNIT)}", ["ours", *HIGH]) for title in titles)
    )
    write_table(Table(heads, rows, below), outputs)


def _first(folders: list[str]) -> dict[str, Run]:
    """Return one run of each model, on the finest grid that any is trained on."""
    runs = read_runs(folders)
    finest = max(run.resolution for run in runs)
    return {run.model: run for run in runs if run.resolution == finest}


def _rows(comparison: str) -> tuple[dict[str, Tested], dict[str, Tested]]:
    """Return models and baselines, trained and tested on the finest training grid, by key."""
    found = by_condition(on_training_grid(read_comparison(comparison)))
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
    """Return the paper's numbers, in each of its versions."""
    entries = []
    for table in tables.values():
        beside = reported_beside(run.record, run.cost, table)
        if beside.value is None:
            entries.append(Cell(DASH))
        else:
            entries.append(Cell(f"{beside.value / unit:#.3g}".rstrip(".")))
    return entries
