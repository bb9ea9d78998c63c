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
from resolvent.figures.papers.cao2021.reported import SOURCE, TABLE_2A, TABLE_2B, TABLE_3, TABLE_8
from resolvent.figures.published.beside import record, reported_beside
from resolvent.figures.published.tables import PaperTable

PRINTED, CODED, OTHER = "as printed", "as coded", "other"
RECIPES = {"paper": PRINTED, "code": CODED, None: OTHER}
NORMS = {"regular": "regular norm", "projection": "K, V norm"}
Place = tuple[int | str, float]  # where it was trained and tested: points, and noise of the inputs


def draw_burgers(comparisons: list[pd.DataFrame], experiments: list[list[Run]]) -> Table:
    """Return Table 2a."""
    return _side_by_side(comparisons, experiments, TABLE_2A)


def draw_darcy(comparisons: list[pd.DataFrame], experiments: list[list[Run]]) -> Table:
    """Return Table 2b."""
    return _side_by_side(comparisons, experiments, TABLE_2B)


def draw_inverse(comparisons: list[pd.DataFrame], experiments: list[list[Run]]) -> Table:
    """Return Table 3, from experiments that differ in the noise of training."""
    return _side_by_side(comparisons, experiments, TABLE_3)


def draw_ablation(comparisons: list[pd.DataFrame], experiments: list[list[Run]]) -> Table:
    """Return Table 8: a row for each layer norm, initialisation and dropout, with epochs."""

    def number(name: str) -> Callable[[dict], Cell]:
        def cell(recorded: dict) -> Cell:
            value = float(recorded.get(TABLE_8.setting(name, recorded), 0.0))
            return Cell(f"{value:g}", value=value)

        return cell

    leading = {
        "layer norm": lambda recorded: Cell(NORMS.get(recorded.get("layer_norm"), ""), prose=True),
        "η": number("projection_gain"),
        "δ": number("projection_diagonal"),
        "ζ": number("zeta"),
    }
    return _side_by_side(comparisons, experiments, TABLE_8, leading, epochs=True)


@dataclass
class Row:
    """A row of a table: what was tested, and its runs, by place and by recipe."""

    label: str
    recorded: dict
    tested: dict[tuple[Place, str], Tested] = field(default_factory=dict)
    runs: dict[tuple[Place, str], list[Run]] = field(default_factory=dict)


def _side_by_side(
    comparisons: list[pd.DataFrame],
    experiments: list[list[Run]],
    table: PaperTable,
    leading: dict[str, Callable[[dict], Cell]] | None = None,
    epochs: bool = False,
) -> Table:
    """Return a table: for each place a column for either recipe, the reported number, and the ratio to it.

    leading  further columns of a row, from what its runs have recorded.
    epochs   whether the epochs of the checkpoints stand below the errors.
    """
    leading = leading or {}
    found = by_condition(on_training_grid(pd.concat(comparisons, ignore_index=True)))
    rows = _rows(found, [group for runs in experiments for group in grouped(runs)], table)
    places = sorted({place for row in rows for place, _ in row.runs})
    coarse: dict[int | str, set[int]] = {}  # points a side of the grid on which attention works
    for run in (run for runs in experiments for run in runs):
        if run.record.coarse_points is not None:
            coarse.setdefault(run.resolution, set()).add(run.record.coarse_points)
    heads = columns(("", ["model", *leading]))
    for resolution, noise in places:
        group = resolution_in_words(resolution)
        if resolution in coarse:
            group += f" ({', '.join(map(str, sorted(coarse[resolution])))})"
        if any(level for _, level in places):
            group += f", ε = {noise:g}"
        group += f", ×{power(table.unit)}"
        heads += [Column(head, group) for head in (PRINTED, CODED, OTHER, SOURCE.name, "coded / reported")]
    body = [
        [
            Cell(row.label),
            *(make(row.recorded) for make in leading.values()),
            *(cell for place in places for cell in _cells(row, place, table, epochs)),
        ]
        for row in rows
    ]
    baselines: dict[str, dict[Place, Tested]] = {}
    for one in found:
        if one.facts["kind"] == "baseline" and _place(one) in places:
            baselines.setdefault(one.facts["key"], {})[_place(one)] = one
    below = []
    for by_place in baselines.values():
        below.append([Cell(next(iter(by_place.values())).facts["label"]), *[EMPTY] * len(leading)])
        for place in places:
            error = error_cell(by_place[place], unit=table.unit) if place in by_place else EMPTY
            below[-1] += [EMPTY, EMPTY, error, EMPTY, EMPTY]
    return Table(heads, body, below)


def _rows(found: list[Tested], groups: list[list[Run]], table: PaperTable) -> list[Row]:
    """Return the rows of the paper, in the order of the models, then those that it has not."""
    tested = {(one.facts["key"], _place(one)): one for one in found if one.facts["kind"] == "model"}
    rows: dict[tuple, Row] = {}
    for group in groups:
        first = group[0]
        recorded, place = record(first.record), (first.resolution, first.noise)
        name = table.key(
            recorded | {"resolution": None, "noise": None}
        )  # of the row, wherever it was trained
        of_paper = name in table.row_names
        row = rows.setdefault(
            (not of_paper, *(name if of_paper else (first.model,))), Row(first.label, recorded)
        )
        recipe = RECIPES[first.record.recipe]
        if (first.model, place) in tested and (place, recipe) not in row.runs:
            row.tested[place, recipe] = tested[first.model, place]
            row.runs[place, recipe] = group
        if recipe == PRINTED:
            row.label = first.label
    return [rows[name] for name in sorted(rows, key=lambda name: name[0])]


def _place(one: Tested) -> Place:
    return one.facts["trained_resolution"], float(one.facts["trained_noise"])


def _cells(row: Row, place: Place, table: PaperTable, epochs: bool) -> list[Cell]:
    """Return ours by recipe, the reported number, and the error as coded over it, by the paper's protocol."""
    ours = [
        _ours(row.tested[place, recipe], row.runs[place, recipe], table.unit, epochs)
        if (place, recipe) in row.tested
        else EMPTY
        for recipe in (PRINTED, CODED, OTHER)
    ]
    reported = ratio = EMPTY
    for recipe in (PRINTED, CODED):  # beside a run that has the number's setting, or that of the paper's text
        for run in row.runs.get((place, recipe), [])[:1]:
            beside = reported_beside(run.record, run.cost, table)
            if beside.shown is not None:
                note = f"epoch {beside.best_epoch}" if beside.best_epoch else ""
                reported = Cell(beside.digits, note=note, value=beside.shown)
            best = row.tested[place, recipe].facts["best_test_mean"]
            if recipe == CODED and beside.value is not None and not absent(best):
                ratio = Cell(f"{best / beside.value:.2f}", value=best / beside.value)
    return [*ours, reported, ratio]


def _ours(one: Tested, group: list[Run], unit: float, epochs: bool) -> Cell:
    """Return the mean error with its interval, and the same by the paper's protocol where it was recorded."""
    cell, facts = error_cell(one, unit=unit), one.facts
    words = [cell.note]
    chosen = sorted({run.cost.best_epoch for run in group if not run.diverged})
    if epochs and chosen:
        words.append(f"epoch {', '.join(map(str, chosen))}")
    if not absent(facts["best_test_mean"]):
        mean, epoch = in_units(facts["best_test_mean"], unit), f"epoch {facts['best_test_epoch']:g}"
        words.append(f"{BEST_TEST}: {mean}" + (f", {epoch}" if epochs else ""))
    return replace(cell, note="; ".join(filter(None, words)))
