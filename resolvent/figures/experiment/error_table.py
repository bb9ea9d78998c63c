"""Tables of an experiment's errors by model and resolution of training and test, lowest error first.

The headline is arranged like Table 2a of Cao 2021: the mean relative L2 error and, if available, the paper's
statistic, protocol and number; for several noise levels, like Table 3. Other tables have all metrics.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import pandas as pd

from resolvent.figures.common.comparison import RATIO, STANDARDISED, Tested, by_condition, read_comparison
from resolvent.figures.common.intervals import Interval
from resolvent.figures.common.numbers import (
    DASH,
    absent,
    duration,
    ends,
    in_units,
    name_of,
    ratio_in_words,
    scientific,
)
from resolvent.figures.common.results import on_training_grid, resolution_in_words, same_noise, without_answer
from resolvent.figures.common.table import ALONE, EMPTY, Cell, Column, Table, write_table

BEST_TEST = "best epoch on the test samples"  # the protocol of Cao 2021, in addition to ours
MEDIAN = "median, standardised fields"  # as in the public code of Calvello et al. 2024
OTHER_RECIPE = "reported for another recipe"
INTERVAL = "95 % interval"
ALL_METRICS, METRICS = "All metrics", "metrics.tex"
OVER_BEST = "ratio to the best other"
NOT_RANKED = "No ranking: a model needs three seeds to be ranked."
# Below the headline in a file of its own; the report explains its columns itself.
KEY = (
    "Mean error over test samples and seeds, with its 95 % interval in brackets. Bold: the lowest, and "
    "those above it up to the first that is shown to be worse. Below the time of training: a round "
    "validation error, and the time after which it was reached."
)
NO_NUMBER = Cell(DASH, value=float("nan"))
STATISTICS = {"mean": INTERVAL, "median": INTERVAL, "worst": "sample"}  # with the text below each

Place = tuple[int | str, float]  # resolution and input noise of training and test
Row = dict[Place, Tested]


def write_error_tables(comparison: str | Path, outputs: list[str | Path]) -> None:
    """Write the headline of a comparison.csv and the tables of all metrics, in the format of each suffix.

    A LaTeX file has one table: metrics.tex all metrics, any other the headline.
    """
    rows = read_comparison(comparison)
    tables = [headline(rows), *of_all_metrics(rows)]
    for output in map(Path, outputs):
        if output.suffix == ".tex":
            write_table(_as_one(tables[1:]) if output.name == METRICS else tables[0], [output])
        else:
            note = " ".join(filter(None, (KEY, tables[0].note)))
            write_table([replace(tables[0], note=note), *tables[1:]], [output], style=ALONE)


def headline(comparison: pd.DataFrame) -> Table:
    """Return the headline table, lowest error at the last resolution first, without empty columns."""
    found = by_condition(on_training_grid(comparison))
    places, models, baselines = _by_place(found)
    tested = [one for row in models for one in row.values()]
    paper = next((one.facts["paper"] for one in tested if isinstance(one.facts["paper"], str)), None)
    makers: dict[Column, Callable[[Tested], Cell]] = {
        Column("error", note=INTERVAL): error_cell,
        Column(OVER_BEST, note=INTERVAL, latex=False): _ratio,
        Column(BEST_TEST): lambda one: _number(
            one.facts["best_test_mean"], f"epoch {one.facts['best_test_epoch'] or math.nan:g}"
        ),
        **({Column(MEDIAN, note=INTERVAL): _median, Column(paper): _reported} if paper else {}),
        Column("tuned"): lambda one: (
            EMPTY if absent(one.facts["tuned"]) else Cell(one.facts["tuned"], prose=True)
        ),
        Column("training", note="validation error reached", latex=False): _training,
    }
    cells = {
        column: make
        for column, make in makers.items()
        if make in (error_cell, _training) or any(make(one) not in (EMPTY, NO_NUMBER) for one in tested)
    }
    heads = [replace(column, group=_heading(place, places)) for place in places for column in cells]

    def line(row: Row) -> list[Cell]:
        facts = next(iter(row.values())).facts
        made = [make(row[place]) if place in row else EMPTY for place in places for make in cells.values()]
        count = int(facts["parameters"])
        return [Cell(facts["label"]), *made, Cell(f"{count:,}", value=count) if count else NO_NUMBER]

    compared = any(not absent(one.error(statistic=RATIO).low) for one in found)
    return Table(
        [Column("model"), *heads, Column("parameters", latex=False)],
        list(map(line, models)),
        list(map(line, baselines)),
        note=NOT_RANKED if compared and not any(one.is_ranked() for one in found) else "",
    )


def of_all_metrics(comparison: pd.DataFrame) -> list[Table]:
    """Return one table per resolution and noise: mean, median and worst error in every metric."""
    places, *bodies = _by_place(by_condition(on_training_grid(comparison)))
    names, heads = _columns(comparison)

    def line(row: Row, place: Place) -> list[Cell]:
        cells = [error_cell(row[place], *name) if place in row else EMPTY for name in names]
        return [Cell(next(iter(row.values())).facts["label"]), *cells]

    tables = []
    for place in places:
        models, baselines = ([line(row, place) for row in rows] for rows in bodies)
        title = f"{ALL_METRICS}, {_heading(place, places)}"
        tables.append(Table([Column("model"), *heads], models, baselines, title=title))
    return tables


def _as_one(tables: list[Table]) -> Table:
    """Return the tables of all metrics as one; for several, its second column is the title of each."""
    if len(tables) == 1:
        return tables[0]
    bodies: dict[str, list[list[Cell]]] = {"rows": [], "baselines": []}
    for (kind, rows), table in product(bodies.items(), tables):
        on = Cell(table.title.removeprefix(f"{ALL_METRICS}, "), prose=True)
        rows += [[row[0], on, *row[1:]] for row in getattr(table, kind)]
    name, *heads = tables[0].columns
    return Table([name, Column("on"), *heads], bodies["rows"], bodies["baselines"], title=ALL_METRICS)


def of_every_condition(comparison: pd.DataFrame) -> Table:
    """Return a table with one row per model or baseline and test condition."""
    found, (names, heads) = by_condition(comparison), _columns(comparison)
    noisy = comparison["test_noise"].nunique() > 1
    of_paper = any(_reported(one) is not EMPTY for one in found)
    before = ["model", "trained at", "tested at", *["noise"] * noisy]
    after = [*["reported", "ours / reported"] * of_paper, "seeds", "status"]
    over_best = Column(OVER_BEST, name_of(names[0][0]), INTERVAL)
    bodies: dict[str, list[list[Cell]]] = {"model": [], "baseline": []}
    for one in found:
        facts = one.facts
        own = facts["trained_resolution"] == facts["test_resolution"]
        own = own and same_noise(facts["trained_noise"], facts["test_noise"])
        cells = [Cell(str(facts[name])) for name in ("label", "trained_resolution", "test_resolution")]
        if noisy:
            cells.append(Cell(f"{facts['test_noise']:g}", value=facts["test_noise"]))
        cells += [error_cell(one, *name, short=True) for name in names]
        cells.append(_ratio(one, names[0][0]))
        if of_paper:
            ratio = facts["ratio_to_reported"] if own else None
            cells.append(_reported(one) if own else EMPTY)
            cells.append(EMPTY if absent(ratio) else Cell(f"{ratio:.2f}", note=facts["ratio_of"]))
        cells += [Cell(str(facts["seeds"])), Cell(facts["status"], prose=True)]
        bodies[facts["kind"]].append(cells)
    columns = [*map(Column, before), *heads, over_best, *map(Column, after)]
    return Table(columns, bodies["model"], bodies["baseline"])


def of_one_run(comparison: pd.DataFrame) -> Table:
    """Return the table of `of_every_condition` for a single run, without constant columns."""
    constant = {"model", "trained at", "seeds", "status", OVER_BEST}
    return of_every_condition(comparison).select(lambda column: column.head not in constant)


def error_cell(
    one: Tested, metric: str | None = None, statistic="mean", unit: float | None = None, short=False
) -> Cell:
    """Return a cell: a statistic with its interval, the worst error with its sample, or why there is none.

    Without a unit every number has its own exponent. A `short` cell omits losses and their reasons, which are
    in another column.
    """
    error, facts = one.error(metric, statistic), one.facts
    lost = facts["status"] if facts["diverged_seeds"] else ""
    if not error.known:
        if short:
            return NO_NUMBER
        no_answer, reason = without_answer(facts["status"])
        text = lost or no_answer or DASH
        return Cell(text, warning=reason, value=float("nan"), lost=text != DASH)
    of_mean = statistic == "mean"
    return Cell(
        scientific(error.value, 4) if unit is None else in_units(error.value, unit),
        note=f"sample {error.sample:.0f}" if statistic == "worst" else interval(error, unit),
        warning="; ".join(filter(None, (lost, one.verdict))) if of_mean and not short else "",
        value=error.value,
        bold=of_mean and one.is_among_the_best(metric),
    )


def interval(error: Interval, unit: float | None = None) -> str:
    """Return the ends of an interval, "1.150 to 1.262" in a unit; an empty text if there are none."""
    if unit is None:
        return ends(error.low, error.high, error.value)
    return "" if absent(error.low) else f"{in_units(error.low, unit)} to {in_units(error.high, unit)}"


def _columns(comparison: pd.DataFrame) -> tuple[list[tuple[str, str]], list[Column]]:
    metrics = dict.fromkeys(comparison.loc[comparison["kind"] == "model", "metric"])
    names = [(metric, statistic) for metric in metrics for statistic in STATISTICS]
    return names, [Column(statistic, name_of(metric), STATISTICS[statistic]) for metric, statistic in names]


def _number(value: float | None, note: str = "") -> Cell:
    return EMPTY if value is None or absent(value) else Cell(scientific(value, 4), note, value=value)


def _median(one: Tested) -> Cell:
    error = one.error(STANDARDISED, "median")
    return _number(error.value, interval(error))


def _reported(one: Tested) -> Cell:
    number = _number(one.facts["reported"])
    return _number(one.facts["reported_of_other_recipe"], OTHER_RECIPE) if number is EMPTY else number


def _training(one: Tested) -> Cell:
    facts, note = one.facts, ""
    if not absent(facts["seconds_to_error"]):
        level, _, took = str(facts["seconds_to_error"]).split("; ")[-1].partition(": ")
        note = f"{float(level):.6g} in {duration(float(took))}"
    seconds = facts["train_seconds"]
    return Cell(duration(seconds), note=note, value=seconds)


def _ratio(one: Tested, metric: str | None = None) -> Cell:
    ratio = one.error(metric, RATIO)
    if not ratio.known:
        return NO_NUMBER
    return Cell(*ratio_in_words(ratio), value=ratio.value)


def _by_place(found: list[Tested]) -> tuple[list[Place], list[Row], list[Row]]:
    """Return the places of training, and the rows of models and of baselines by error at the last place."""
    rows: dict[tuple[str, str], Row] = {}
    for one in found:
        place = one.facts["trained_resolution"], float(one.facts["trained_noise"])
        rows.setdefault((one.facts["kind"], one.facts["key"]), {})[place] = one
    places = sorted({place for (kind, _), row in rows.items() if kind == "model" for place in row})

    def error(row: Row) -> float:
        known = places[-1] in row and row[places[-1]].error().known
        return row[places[-1]].error().value if known else math.inf

    models, baselines = (
        sorted((row for (its, _), row in rows.items() if its == kind and set(row) & set(places)), key=error)
        for kind in ("model", "baseline")
    )
    return places, models, baselines


def _heading(place: Place, places: list[Place]) -> str:
    words = resolution_in_words(place[0])
    return f"{words}, ε = {place[1]:g}" if any(noise for _, noise in places) else words
