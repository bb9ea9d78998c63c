"""Tables 1 and 3 of Calvello et al. 2024: median errors of standardised fields, at low and high resolution.

Table 1 also has the mean error in physical units, in which all else here is told.
"""

from pathlib import Path

import pandas as pd

from resolvent.figures.common.results import Run, on_training_grid, present, read_runs, without_answer
from resolvent.figures.common.sheet import Entry, Sheet, write_sheet
from resolvent.figures.common.table import DASH, in_units, power
from resolvent.figures.papers.calvello2024.families import widest
from resolvent.figures.papers.calvello2024.printed import HIGH, JOURNAL, LOW
from resolvent.figures.published.beside import example_of, record, reported_beside
from resolvent.figures.published.tables import PaperTable

LOW_UNIT, HIGH_UNIT = 1e-2, 1e-3


def write_low_resolution(comparisons: list[str], runs: list[list[str]], outputs: list[str | Path]) -> None:
    """Table 1: a row for each model of its experiment, trained on the finest of its grids."""
    models, baselines = _rows(comparisons[0])
    first = _first(runs[0])
    rows = []
    for key, run in first.items():
        row = models[key]
        printed = LOW[JOURNAL].row(record(run.record))
        rows.append([Entry(run.label), _parameters(row), Entry(printed["parameters"] if printed else DASH)])
        rows[-1] += [_median(row, LOW_UNIT), *_reported(run, LOW, LOW_UNIT), _mean(row, LOW_UNIT)]
    none = Entry(DASH)
    below = [
        [Entry(row["label"]), none, none, _median(row, LOW_UNIT), none, none, _mean(row, LOW_UNIT)]
        for row in baselines.values()
    ]
    unit = power(LOW_UNIT)
    groups = [("", 1), ("parameters", 2), (f"median, standardised, ×{unit}", 3), (f"mean, ×{unit}", 1)]
    heads = ["model", "ours", JOURNAL, "ours", *LOW, "physical units"]
    write_sheet(Sheet(groups, heads, rows, below), outputs)


def write_high_resolution(comparisons: list[str], runs: list[list[str]], outputs: list[str | Path]) -> None:
    """Table 3: a row for each model, three columns for each experiment: ours and both versions of the paper.

    Of models that differ in their width alone the widest; trained on the finest grid of the experiment.
    """
    first = [_first(folders) for folders in runs]
    compared = [_rows(comparison) for comparison in comparisons]
    titles = [example_of(next(iter(one.values())).record).title for one in first]
    labels = {key: one[key].label for one in first for key in widest(list(one.values()))}
    rows = []
    for key, label in labels.items():
        rows.append([Entry(label)])
        for of_experiment, (models, _) in zip(first, compared, strict=True):
            if key in of_experiment:
                run = of_experiment[key]
                rows[-1] += [_median(models[key], HIGH_UNIT), *_reported(run, HIGH, HIGH_UNIT)]
            else:
                rows[-1] += [Entry(DASH)] * 3
    named = {key: row["label"] for _, baselines in compared for key, row in baselines.items()}
    below = []
    for key, label in named.items():
        below.append([Entry(label)])
        for _, baselines in compared:
            ours = _median(baselines[key], HIGH_UNIT) if key in baselines else Entry(DASH)
            below[-1] += [ours, *[Entry(DASH)] * 2]
    groups = [("", 1), *((f"{title}, ×{power(HIGH_UNIT)}", 3) for title in titles)]
    write_sheet(Sheet(groups, ["model", *["ours", *HIGH] * len(titles)], rows, below), outputs)


def _first(folders: list[str]) -> dict[str, Run]:
    """One run of each model, on the finest grid that any is trained on."""
    runs = read_runs(folders)
    finest = max(run.resolution for run in runs)
    return {run.model: run for run in runs if run.resolution == finest}


def _rows(comparison: str) -> tuple[dict[str, dict], dict[str, dict]]:
    """Models and baselines on the training grid on the finest training grid, by key."""
    table = on_training_grid(pd.read_csv(present(Path(comparison))))
    finest = table.loc[table["kind"] == "model", "trained_resolution"].max()
    here = table[table["trained_resolution"] == finest]
    models, baselines = (here[here["kind"] == kind].to_dict("records") for kind in ("model", "baseline"))
    return {row["key"]: row for row in models}, {row["key"]: row for row in baselines}


def _parameters(row: dict) -> Entry:
    """With a complex one counted once, as the paper does."""
    once, twice = row["parameters_complex_once"], row["parameters"]
    if pd.isna(once):
        return Entry(DASH, hint="not recorded as the paper counts them")
    note = f"complex as two: {twice:,.0f}" if twice != once else ""
    return Entry(f"{once:,.0f}", note=note)


def _median(row: dict, unit: float) -> Entry:
    if pd.isna(row["standardised_median"]):
        return _lost(row, "errors of standardised fields were not measured")
    low, high = (in_units(row[f"standardised_{end}"], unit) for end in ("low", "high"))
    return Entry(in_units(row["standardised_median"], unit), note=f"{low} to {high}{_lost_seeds(row)}")


def _mean(row: dict, unit: float) -> Entry:
    if pd.isna(row["mean"]):
        return _lost(row, "")
    low, high = (in_units(row[end], unit) for end in ("low", "high"))
    return Entry(in_units(row["mean"], unit), note=f"{low} to {high}")


def _lost(row: dict, hint: str) -> Entry:
    no_answer, reason = without_answer(row["status"])
    if no_answer:
        return Entry(no_answer, note=reason, lost=True)
    return Entry(row["status"], lost=True) if row["diverged_seeds"] else Entry(DASH, hint=hint)


def _lost_seeds(row: dict) -> str:
    return f"; {row['status']}" if row["diverged_seeds"] else ""


def _reported(run: Run, tables: dict[str, PaperTable], unit: float) -> list[Entry]:
    """The paper's numbers, in each of its versions."""
    entries = []
    for table in tables.values():
        beside = reported_beside(run.record, run.cost, table)
        if beside.value is None:
            entries.append(Entry(DASH, hint=beside.reason))
        else:
            entries.append(Entry(f"{beside.value / unit:#.3g}".rstrip("."), hint=beside.reason))
    return entries
