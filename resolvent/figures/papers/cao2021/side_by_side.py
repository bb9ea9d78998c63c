"""Tables 2a, 2b, 3 and 8 of Cao 2021: a row as the text has it beside the same row as the public code has it.

The code made the paper's numbers, so the ratio to a reported number is of the row as coded. What is neither,
a baseline or a model of our own, has a column beside.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pandas as pd

from resolvent.figures.common.comparison import Tested, by_condition
from resolvent.figures.common.numbers import absent, in_units, power
from resolvent.figures.common.results import Run, on_training_grid, resolution_in_words
from resolvent.figures.common.table import EMPTY, Cell, Column, Table, columns
from resolvent.figures.experiment.comparison import grouped
from resolvent.figures.experiment.error_table import BEST_TEST, error_cell
from resolvent.figures.papers.cao2021.reported import SOURCE
from resolvent.figures.published.beside import record, reported_beside
from resolvent.figures.published.tables import PaperTable

PRINTED, CODED, OTHER = "as printed", "as coded", "other"
RECIPES = {"paper": PRINTED, "code": CODED, None: OTHER}
HEADS = [PRINTED, CODED, OTHER, SOURCE.name, "coded / reported"]
Place = tuple[int | str, float]  # where it was trained and tested: points, and noise of the inputs
Leading = dict[str, Callable[[dict], Cell]]


@dataclass
class Row:
    """A row of a table: what was tested, and its runs, by place and by recipe."""

    label: str
    recorded: dict
    tested: dict[tuple[Place, str], Tested] = field(default_factory=dict)
    runs: dict[tuple[Place, str], list[Run]] = field(default_factory=dict)


def side_by_side(
    comparisons: list[pd.DataFrame],
    experiments: list[list[Run]],
    table: PaperTable,
    *,
    headings: dict[int, str] | None = None,
    leading: Leading | None = None,
    epochs: bool = False,
) -> Table:
    """Return a table: for each place a column for either recipe, the reported number, and the ratio to it.

    headings  in place of "n = 141" at a resolution.
    leading   further columns of a row, from what its runs have recorded.
    epochs    whether the epochs of the checkpoints stand below the errors.
    """
    found = by_condition(on_training_grid(pd.concat(comparisons, ignore_index=True)))
    groups = [group for runs in experiments for group in grouped(runs)]
    rows = _rows(found, groups, table)
    places = sorted({place for row in rows for place, _ in row.runs})
    noisy = any(noise for _, noise in places)
    heads = columns(("", ["model", *(leading or {})]))
    for resolution, noise in places:
        words = (headings or {}).get(resolution, resolution_in_words(resolution))
        group = f"{words}, ε = {noise:g}, ×{power(table.unit)}" if noisy else f"{words}, ×{power(table.unit)}"
        heads += [Column(head, group) for head in HEADS]
    body = [
        [
            Cell(row.label),
            *(make(row.recorded) for make in (leading or {}).values()),
            *(cell for place in places for cell in _cells(row, place, table, epochs)),
        ]
        for row in rows
    ]
    return Table(heads, body, _baselines(found, places, table.unit, len(leading or {})))


def _rows(found: list[Tested], groups: list[list[Run]], table: PaperTable) -> list[Row]:
    """Return the rows of the paper, in the order of the models, then those that it has not."""
    tested = {(one.facts["key"], _place(one)): one for one in found if one.facts["kind"] == "model"}
    rows: dict[tuple, Row] = {}
    for group in groups:
        first = group[0]
        recorded, place = record(first.record), (first.resolution, first.noise)
        of_paper = _is_row(table, recorded)
        names = _row_name(table, recorded) if of_paper else (first.model,)
        row = rows.setdefault((not of_paper, *names), Row(first.label, recorded))
        recipe = RECIPES[first.record.recipe]
        if (first.model, place) in tested and (place, recipe) not in row.runs:
            row.tested[place, recipe] = tested[first.model, place]
            row.runs[place, recipe] = group
        if recipe == PRINTED:
            row.label = first.label
    return [rows[name] for name in sorted(rows, key=lambda name: name[0])]


def _row_name(table: PaperTable, recorded: dict) -> tuple[str, ...]:
    """Return what names a row of the table, at whatever resolution and noise."""
    return table.key(recorded | {"resolution": None, "noise": None})


def _is_row(table: PaperTable, recorded: dict) -> bool:
    return _row_name(table, recorded) in table.row_names


def _place(one: Tested) -> Place:
    return one.facts["trained_resolution"], float(one.facts["trained_noise"])


def _cells(row: Row, place: Place, table: PaperTable, epochs: bool) -> list[Cell]:
    ours = [
        _ours(row.tested[place, recipe], row.runs[place, recipe], table.unit, epochs)
        if (place, recipe) in row.tested
        else EMPTY
        for recipe in (PRINTED, CODED, OTHER)
    ]
    return [*ours, _reported(row, place, table), _ratio(row, place, table)]


def _ours(one: Tested, group: list[Run], unit: float, epochs: bool) -> Cell:
    """Return the mean error with its interval, and the same by the paper's protocol where it was recorded."""
    cell, facts = error_cell(one, unit=unit), one.facts
    words = [cell.note]
    if epochs and not all(run.diverged for run in group):
        chosen = sorted({run.cost.best_epoch for run in group if not run.diverged})
        words.append(f"epoch {', '.join(map(str, chosen))}")
    if not absent(facts["best_test_mean"]):
        mean, epoch = in_units(facts["best_test_mean"], unit), f"epoch {facts['best_test_epoch']:g}"
        words.append(f"{BEST_TEST}: {mean}" + (f", {epoch}" if epochs else ""))
    return replace(cell, note="; ".join(filter(None, words)))


def _reported(row: Row, place: Place, table: PaperTable) -> Cell:
    """Return the paper's number, beside a run that has its setting or that of the paper's text."""
    for recipe in (CODED, PRINTED):
        for run in row.runs.get((place, recipe), [])[:1]:
            beside = reported_beside(run.record, run.cost, table)
            if beside.shown is not None:
                note = f"epoch {beside.best_epoch}" if beside.best_epoch else ""
                return Cell(beside.digits, note=note, value=beside.shown)
    return EMPTY


def _ratio(row: Row, place: Place, table: PaperTable) -> Cell:
    """Return the error as coded over the reported one, both at the best epoch on the test samples."""
    if (place, CODED) not in row.runs:
        return EMPTY
    run = row.runs[place, CODED][0]
    reported = reported_beside(run.record, run.cost, table).value
    ours = row.tested[place, CODED].facts["best_test_mean"]
    if reported is None or absent(ours):
        return EMPTY
    return Cell(f"{ours / reported:.2f}", value=ours / reported)


def _baselines(found: list[Tested], places: list[Place], unit: float, leading: int) -> list[list[Cell]]:
    baselines: dict[str, dict[Place, Tested]] = {}
    for one in found:
        if one.facts["kind"] == "baseline" and _place(one) in places:
            baselines.setdefault(one.facts["key"], {})[_place(one)] = one
    rows = []
    for by_place in baselines.values():
        row = [Cell(next(iter(by_place.values())).facts["label"]), *[EMPTY] * leading]
        for place in places:
            error = error_cell(by_place[place], unit=unit) if place in by_place else EMPTY
            row += [EMPTY, EMPTY, error, EMPTY, EMPTY]
        rows.append(row)
    return rows
