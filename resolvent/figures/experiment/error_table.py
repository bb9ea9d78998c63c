"""The errors of an experiment as tables: models by resolution, trained and tested there.

The first is laid out like Table 2a of Cao 2021: beside the mean relative L2 error stand, where there are
such, the paper's statistic or protocol, and its number where a paper has the example. Where runs trained on
inputs of several levels of noise, a group of columns is a resolution and a level, as in Table 3. The others
have every metric. The model with the lowest error comes first, and so does that baseline. Without a unit
every number has an exponent of its own.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from resolvent.figures.common.comparison import (
    RATIO,
    STANDARDISED,
    Error,
    Tested,
    by_condition,
    metrics_in,
    read_comparison,
)
from resolvent.figures.common.intervals import Interval
from resolvent.figures.common.numbers import (
    DASH,
    absent,
    duration,
    ends,
    in_units,
    in_words,
    name_of,
    power,
    times,
)
from resolvent.figures.common.results import on_training_grid, resolution_in_words, without_answer
from resolvent.figures.common.table import ALONE, EMPTY, Cell, Column, Table, write_table

BEST_TEST = "best epoch on the test samples"  # the protocol of Cao 2021, beside ours
MEDIAN = "median, standardised fields"  # as the public code of Calvello et al. 2024 has it
OTHER_RECIPE = "reported, by another recipe"
INTERVAL = "95 % interval"
OVER_BEST = "ratio to the best other"
NOT_RANKED = "Nothing is ranked: that takes three seeds of a model."
NO_NUMBER = Cell(DASH, value=float("nan"))
STATISTICS = ("mean", "median", "worst")


@dataclass(frozen=True, order=True)
class Place:
    """Where rows were trained and tested: points, and level of the noise on the inputs."""

    resolution: int | str
    noise: float = 0.0


def write_error_tables(comparison: str | Path, outputs: list[str | Path]) -> None:
    """Write the headline of a comparison.csv and the tables of all metrics, in the format of each suffix."""
    rows = read_comparison(comparison)
    write_table([headline(rows), *of_all_metrics(rows)], outputs, style=ALONE)


def headline(
    comparison: pd.DataFrame, unit: float | None = None, headings: dict[int | str, str] | None = None
) -> Table:
    """Return the headline table, the lowest error at the last resolution first.

    `headings` replace "n = 141" at a resolution.
    """
    found = by_condition(on_training_grid(comparison))
    models = [one for one in found if one.facts["kind"] == "model"]
    papers = _papers(found)
    cells: dict[Column, Callable[[Tested], Cell]] = {
        Column(f"error{_in_unit(unit)}", note=INTERVAL): lambda one: error_cell(one, unit=unit),
    }
    if any(one.error(statistic=RATIO).known for one in models):
        cells[Column(OVER_BEST, note=INTERVAL, latex=False)] = _ratio
    if any(not absent(one.facts["best_test_mean"]) for one in models):
        cells[Column(BEST_TEST)] = lambda one: _best_test(one.facts, unit)
    if papers and any(one.error(STANDARDISED, "median").known for one in models):
        cells[Column(MEDIAN, note=INTERVAL)] = lambda one: _median(one, unit)
    if any(
        not absent(one.facts[name]) for one in models for name in ("reported", "reported_of_other_recipe")
    ):
        cells[Column(papers[0])] = lambda one: _reported(one.facts, unit)
    if any(not absent(one.facts["tuned"]) for one in models):
        cells[Column("tuned")] = lambda one: _tuned(one.facts)
    cells[Column("training", latex=False)] = lambda one: _training(one.facts)
    return _table(found, cells, headings or {})


def of_all_metrics(comparison: pd.DataFrame, unit: float | None = None) -> list[Table]:
    """Return a table for each resolution and noise: mean, median and worst error in every metric."""
    found = by_condition(on_training_grid(comparison))
    rows, places = _rows(found), _places(found)
    names = _names(comparison)
    heads = _heads(names, unit)
    tables = []
    for place in places:
        bodies = (
            [
                [
                    _name(row),
                    *(error_cell(row[place], *name, unit) if place in row else EMPTY for name in names),
                ]
                for row in rows[kind]
            ]
            for kind in ("model", "baseline")
        )
        title = f"All metrics, {_heading(place, {}, places)}"
        tables.append(Table([Column("model"), *heads], *bodies, title=title))
    return tables


def of_every_condition(comparison: pd.DataFrame, unit: float | None = None) -> Table:
    """Return a table with a row for each model or baseline under each condition that it was tested in."""
    found = by_condition(comparison)
    names = _names(comparison)
    noisy = comparison["test_noise"].nunique() > 1
    heads = [Column(head) for head in ("model", "trained at", "tested at", *["noise"] * noisy)]
    heads += _heads(names, unit)
    heads += [Column(OVER_BEST, name_of(names[0][0]), INTERVAL)]
    of_paper = bool(_papers(found))
    heads += [Column(head) for head in ("reported", "ours / reported")] * of_paper
    heads += [Column(head) for head in ("seeds", "status")]
    bodies = {"model": [], "baseline": []}
    for one in found:
        facts = one.facts
        noise = [Cell(f"{facts['test_noise']:g}", value=facts["test_noise"])] * noisy
        trained, tested = (Cell(str(facts[f"{when}_resolution"])) for when in ("trained", "test"))
        ratio = facts["ratio_to_reported"] if one.on_training_grid else None
        reported = [
            _reported(facts, unit) if one.on_training_grid else EMPTY,
            EMPTY if absent(ratio) else Cell(f"{ratio:.2f}", note=facts["ratio_of"]),
        ] * of_paper
        bodies[facts["kind"]].append(
            [
                Cell(facts["label"]), trained, tested, *noise,
                *(error_cell(one, *name, unit, short=True) for name in names),
                _ratio(one, names[0][0]),
                *reported,
                Cell(str(facts["seeds"])), Cell(facts["status"], prose=True),
            ]
        )  # fmt: skip
    return Table(heads, bodies["model"], bodies["baseline"])


def of_one_run(comparison: pd.DataFrame) -> Table:
    """Return the same of a single run, without the columns that are alike in all its rows."""
    table = of_every_condition(comparison)
    dropped = {"model", "trained at", "seeds", "status", OVER_BEST}
    kept = [number for number, column in enumerate(table.columns) if column.head not in dropped]
    return Table(
        [table.columns[number] for number in kept], [[row[number] for number in kept] for row in table.rows]
    )


def error_cell(
    one: Tested,
    metric: str | None = None,
    statistic: str = "mean",
    unit: float | None = None,
    short: bool = False,
) -> Cell:
    """Return a cell: a statistic with its interval, or the worst error with its sample, or why there is none.

    A `short` cell leaves out what was lost, and why: another column has it.
    """
    error, facts = one.error(metric, statistic), one.facts
    lost = bool(facts["diverged_seeds"])
    if not error.known:
        if short:
            return NO_NUMBER
        no_answer, reason = without_answer(facts["status"])
        text = facts["status"] if lost else no_answer or DASH
        return Cell(text, warning=reason, value=float("nan"), lost=text != DASH)
    note = f"sample {error.sample:.0f}" if statistic == "worst" else interval(error, unit)
    return Cell(
        in_words(error.value, unit),
        note=note,
        warning=_warning(one) if statistic == "mean" and not short else "",
        value=error.value,
        bold=statistic == "mean" and one.is_among_the_best(metric),
    )


def _warning(one: Tested) -> str:
    """Say which seeds were lost, and what a model has not learned."""
    lost = one.facts["status"] if one.facts["diverged_seeds"] else ""
    return "; ".join(filter(None, (lost, one.verdict)))


def _names(comparison: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the metrics that any model has, each with every statistic."""
    metrics = metrics_in(comparison[comparison["kind"] == "model"])
    return [(metric, statistic) for metric in metrics for statistic in STATISTICS]


def _heads(names: list[tuple[str, str]], unit: float | None) -> list[Column]:
    """Return a column for each metric and statistic."""
    notes = {"worst": "sample"}
    return [
        Column(statistic, f"{name_of(metric)}{_in_unit(unit, ', ')}", notes.get(statistic, INTERVAL))
        for metric, statistic in names
    ]


def _in_unit(unit: float | None, between: str = " ") -> str:
    return "" if unit is None else f"{between}×{power(unit)}"


def interval(error: Error | Interval, unit: float | None) -> str:
    """Return the ends of an interval: "1.150 to 1.262" in a unit, without one as `ends` writes them.

    Nothing is returned where one sample has none.
    """
    if unit is None:
        return ends(error.low, error.high, error.value)
    return "" if absent(error.low) else f"{in_units(error.low, unit)} to {in_units(error.high, unit)}"


def _best_test(facts: dict, unit: float | None) -> Cell:
    if absent(facts["best_test_mean"]):
        return EMPTY
    return Cell(in_words(facts["best_test_mean"], unit), note=f"epoch {facts['best_test_epoch']:g}")


def _median(one: Tested, unit: float | None) -> Cell:
    error = one.error(STANDARDISED, "median")
    return Cell(in_words(error.value, unit), note=interval(error, unit)) if error.known else EMPTY


def _papers(found: list[Tested]) -> list[str]:
    """Return the paper that has this example, of each run that is of one."""
    return [one.facts["paper"] for one in found if isinstance(one.facts["paper"], str)]


def _reported(facts: dict, unit: float | None) -> Cell:
    if not absent(facts["reported"]):
        return Cell(in_words(facts["reported"], unit))
    other = facts["reported_of_other_recipe"]
    return EMPTY if absent(other) else Cell(in_words(other, unit), note=OTHER_RECIPE)


def _tuned(facts: dict) -> Cell:
    return EMPTY if absent(facts["tuned"]) else Cell(facts["tuned"], prose=True)


def _training(facts: dict) -> Cell:
    return Cell(duration(facts["train_seconds"]), value=facts["train_seconds"])


def _ratio(one: Tested, metric: str | None = None) -> Cell:
    ratio = one.error(metric, RATIO)
    if not ratio.known:
        return NO_NUMBER
    note = "" if absent(ratio.low) else f"{times(ratio.low)} to {times(ratio.high)}"
    return Cell(times(ratio.value), note=note, value=ratio.value)


def _name(row: dict[Place, Tested]) -> Cell:
    return Cell(next(iter(row.values())).facts["label"])


def _rows(found: list[Tested]) -> dict[str, list[dict[Place, Tested]]]:
    """Group models, and baselines, by where they were trained; baselines only where models were.

    The lowest error at the last of these places comes first.
    """
    places = _places(found)
    rows: dict[tuple[str, str], dict[Place, Tested]] = {}
    for one in found:
        rows.setdefault((one.facts["kind"], one.facts["key"]), {})[_place(one)] = one
    last = list(places)[-1:]

    def error(row: dict[Place, Tested]) -> float:
        """Return what to sort by: the error at the last place, or infinity where there is none."""
        known = [row[place].error() for place in last if place in row]
        return known[0].value if known and known[0].known else math.inf

    here = {kind: [row for (of, _), row in rows.items() if of == kind] for kind in ("model", "baseline")}
    return {
        kind: sorted((row for row in some if any(place in places for place in row)), key=error)
        for kind, some in here.items()
    }


def _places(found: list[Tested]) -> dict[Place, None]:
    return dict.fromkeys(sorted({_place(one) for one in found if one.facts["kind"] == "model"}))


def _place(one: Tested) -> Place:
    return Place(one.facts["trained_resolution"], float(one.facts["trained_noise"]))


def _heading(place: Place, headings: dict[int | str, str], places: dict[Place, None]) -> str:
    """Return the heading "n = 141", and the noise if there is any."""
    points = headings.get(place.resolution, resolution_in_words(place.resolution))
    return f"{points}, ε = {place.noise:g}" if any(one.noise for one in places) else points


def _table(
    found: list[Tested], cells: dict[Column, Callable[[Tested], Cell]], headings: dict[int | str, str]
) -> Table:
    """Return a table of the cells for each place, between label and number of parameters."""
    places, rows = _places(found), _rows(found)
    heads = [Column("model")]
    for place in places:
        group = _heading(place, headings, places)
        heads += [Column(one.head, group, one.note, one.latex) for one in cells]
    heads.append(Column("parameters", latex=False))

    def line(row: dict[Place, Tested]) -> list[Cell]:
        parameters = int(next(iter(row.values())).facts["parameters"])
        count = Cell(f"{parameters:,}", value=parameters) if parameters else NO_NUMBER
        made = [make(row[place]) if place in row else EMPTY for place in places for make in cells.values()]
        return [_name(row), *made, count]

    compared = any(one.error(statistic=RATIO).known for one in found)
    note = NOT_RANKED if compared and not any(one.is_ranked() for one in found) else ""
    bodies = ([line(row) for row in rows[kind]] for kind in ("model", "baseline"))
    return Table(heads, *bodies, note=note)
