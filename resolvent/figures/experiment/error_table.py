"""Tables of an experiment's errors by model and resolution of training and test, lowest error first.

The headline is arranged like Table 2a of Cao 2021: the mean relative L2 error and, if available, the paper's
statistic, protocol and number; for several noise levels, like Table 3. Other tables have all metrics.
"""

import math
from dataclasses import replace
from itertools import product
from pathlib import Path

import pandas as pd

from resolvent.common.records import home_grid
from resolvent.figures.common import numbers
from resolvent.figures.common.comparison import (
    RATIO,
    STANDARDISED,
    Place,
    Tested,
    by_condition,
    read_comparison,
)
from resolvent.figures.common.intervals import Interval
from resolvent.figures.common.results import grids_in_words, on_home_grid, same_noise, without_answer
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
NO_NUMBER = Cell(numbers.DASH, value=float("nan"))
STATISTICS = {"mean": INTERVAL, "median": INTERVAL, "worst": "sample"}  # with the text below each

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
    every = by_condition(on_home_grid(comparison))
    places, models, baselines = _by_place(every)
    tested_models = [tested for row in models for tested in row.values()]
    papers = [tested.facts["paper"] for tested in tested_models if isinstance(tested.facts["paper"], str)]

    def cells(tested: Tested) -> dict[Column, Cell]:
        facts, median = tested.facts, tested.error(STANDARDISED, "median")
        epoch = f"epoch {facts['best_test_epoch'] or math.nan:g}"
        of_paper = {Column(MEDIAN, note=INTERVAL): _number(median.value, interval(median))}
        of_paper |= {Column(paper): _reported(tested) for paper in papers[:1]}
        return {
            Column("error", note=INTERVAL): error_cell(tested),
            Column(OVER_BEST, note=INTERVAL, latex=False): _ratio(tested),
            Column(BEST_TEST): _number(facts["best_test_mean"], epoch),
            **(of_paper if papers else {}),
            Column("tuned"): EMPTY if numbers.absent(facts["tuned"]) else Cell(facts["tuned"], prose=True),
            Column("training", note="validation error reached", latex=False): _training(tested),
        }

    of_models = [cells(tested) for tested in tested_models]
    kept: list[Column] = []  # columns with a number of a model
    for column in of_models[0] if of_models else ():
        filled = any(by_column[column] not in (EMPTY, NO_NUMBER) for by_column in of_models)
        kept += [column] if filled or column.head in ("error", "training") else []
    heads = [replace(column, group=_heading(place, places)) for place in places for column in kept]

    def line(row: Row) -> list[Cell]:
        facts = next(iter(row.values())).facts
        count = int(facts["parameters"])
        of_places = [cells(row[place]) if place in row else {} for place in places]
        made = [by_column.get(column, EMPTY) for by_column in of_places for column in kept]
        return [Cell(facts["label"]), *made, Cell(f"{count:,}", value=count) if count else NO_NUMBER]

    compared = any(not numbers.absent(tested.error(statistic=RATIO).low) for tested in every)
    return Table(
        [Column("model"), *heads, Column("parameters", latex=False)],
        list(map(line, models)),
        list(map(line, baselines)),
        note=NOT_RANKED if compared and not any(tested.is_ranked() for tested in every) else "",
    )


def of_all_metrics(comparison: pd.DataFrame) -> list[Table]:
    """Return one table per resolution and noise: mean, median and worst error in every metric."""
    places, *bodies = _by_place(by_condition(on_home_grid(comparison)))
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


def by_grids(every: list[Tested]) -> Table:
    """Return models' mean errors: a row per training and a column per test grid; the home grid is framed."""
    rows: dict[tuple[str, int | str], dict[int | str, Tested]] = {}
    for tested in every:
        trained, on_grid, _ = tested.place
        if tested.facts["kind"] == "model":
            rows.setdefault((tested.facts["key"], trained), {})[on_grid] = tested
    resolutions = sorted({on_grid for row in rows.values() for on_grid in row})
    body = []
    for (_, trained), row in rows.items():
        home = home_grid(trained, row)
        leading = [Cell(row[home].facts["label"]), Cell(str(trained))]
        cells = [error_cell(row[points]) if points in row else EMPTY for points in resolutions]
        cells[resolutions.index(home)] = replace(error_cell(row[home]), framed=True)
        body.append(leading + cells)
    heads = [Column(str(points), "tested at") for points in resolutions]
    return Table([Column("model"), Column("trained at"), *heads], body)


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
    every, (names, heads) = by_condition(comparison), _columns(comparison)
    noisy = comparison["test_noise"].nunique() > 1
    of_paper = any(_reported(tested) is not EMPTY for tested in every)
    before = ["model", "trained at", "tested at", *["noise"] * noisy]
    after = [*["reported", "ours / reported"] * of_paper, "seeds", "status"]
    over_best = Column(OVER_BEST, numbers.name_of(names[0][0]), INTERVAL)
    bodies: dict[str, list[list[Cell]]] = {"model": [], "baseline": []}
    for tested in every:
        facts = tested.facts
        own = facts["trained_resolution"] == facts["test_resolution"]
        own = own and same_noise(facts["trained_noise"], facts["test_noise"])
        cells = [Cell(str(facts[name])) for name in ("label", "trained_resolution", "test_resolution")]
        if noisy:
            cells.append(Cell(f"{facts['test_noise']:g}", value=facts["test_noise"]))
        cells += [error_cell(tested, *name, short=True) for name in names]
        cells.append(_ratio(tested, names[0][0]))
        if of_paper:
            ratio = facts["ratio_to_reported"] if own else None
            cells.append(_reported(tested) if own else EMPTY)
            cells.append(EMPTY if numbers.absent(ratio) else Cell(f"{ratio:.2f}", note=facts["ratio_of"]))
        cells += [Cell(str(facts["seeds"])), Cell(facts["status"], prose=True)]
        bodies[facts["kind"]].append(cells)
    columns = [*map(Column, before), *heads, over_best, *map(Column, after)]
    return Table(columns, bodies["model"], bodies["baseline"])


def of_one_run(comparison: pd.DataFrame) -> Table:
    """Return the table of `of_every_condition` for a single run, without constant columns."""
    constant = {"model", "trained at", "seeds", "status", OVER_BEST}
    return of_every_condition(comparison).select(lambda column: column.head not in constant)


def error_cell(
    tested: Tested, metric: str | None = None, statistic="mean", unit: float | None = None, short=False
) -> Cell:
    """Return a cell: a statistic with its interval, the worst error with its sample, or why there is none.

    Without a unit every number has its own exponent. A `short` cell omits losses and their reasons, which are
    in another column.
    """
    error, facts = tested.error(metric, statistic), tested.facts
    lost = facts["status"] if facts["diverged_seeds"] else ""
    if not error.known:
        if short:
            return NO_NUMBER
        no_answer, reason = without_answer(facts["status"])
        text = lost or no_answer or numbers.DASH
        return Cell(text, warning=reason, value=float("nan"), lost=text != numbers.DASH)
    of_mean = statistic == "mean"
    return Cell(
        numbers.scientific(error.value) if unit is None else numbers.in_units(error.value, unit),
        note=f"sample {error.sample:.0f}" if statistic == "worst" else interval(error, unit),
        warning="; ".join(filter(None, (lost, tested.verdict))) if of_mean and not short else "",
        value=error.value,
        bold=of_mean and tested.is_among_the_best(metric),
    )


def interval(error: Interval, unit: float | None = None) -> str:
    """Return the ends of an interval, "1.150 to 1.262" in a unit; an empty text if there are none."""
    if unit is None:
        return numbers.ends(error.low, error.high, error.value)
    ends = (numbers.in_units(end, unit) for end in (error.low, error.high))
    return "" if numbers.absent(error.low) else " to ".join(ends)


def _columns(comparison: pd.DataFrame) -> tuple[list[tuple[str, str]], list[Column]]:
    metrics = dict.fromkeys(comparison.loc[comparison["kind"] == "model", "metric"])
    names = [(metric, statistic) for metric in metrics for statistic in STATISTICS]
    heads = [Column(head, numbers.name_of(metric), STATISTICS[head]) for metric, head in names]
    return names, heads


def _number(value: float | None, note: str = "", digits: int = 3) -> Cell:
    if value is None or numbers.absent(value):
        return EMPTY
    return Cell(numbers.scientific(value, digits), note, value=value)


def _reported(tested: Tested) -> Cell:
    number = _number(tested.facts["reported"], digits=4)  # as printed in the papers
    other = tested.facts["reported_of_other_recipe"]
    return _number(other, OTHER_RECIPE, digits=4) if number is EMPTY else number


def _training(tested: Tested) -> Cell:
    facts, note = tested.facts, ""
    if not numbers.absent(facts["seconds_to_error"]):
        level, _, took = str(facts["seconds_to_error"]).split("; ")[-1].partition(": ")
        note = f"{float(level):.6g} in {numbers.duration(float(took))}"
    seconds = facts["train_seconds"]
    return Cell(numbers.duration(seconds), note=note, value=seconds)


def _ratio(tested: Tested, metric: str | None = None) -> Cell:
    ratio = tested.error(metric, RATIO)
    if not ratio.known:
        return NO_NUMBER
    return Cell(*numbers.ratio_in_words(ratio), value=ratio.value)


def _by_place(every: list[Tested]) -> tuple[list[Place], list[Row], list[Row]]:
    """Return the models' places, and the rows of models and of baselines by error at the last place."""
    rows: dict[tuple[str, str], Row] = {}
    for tested in every:
        rows.setdefault(tested.name, {})[tested.place] = tested
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
    trained, tested, noise = place
    heading = grids_in_words(trained, tested)
    return f"{heading}, ε = {noise:g}" if any(noise for *_, noise in places) else heading
