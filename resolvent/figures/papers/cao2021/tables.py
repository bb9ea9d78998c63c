"""The tables of Cao 2021: costs of a step (1), errors (2a, 2b, 3, 8), sizes (5), hours of training (6).

Rows of errors have results with the text's recipe and with the public code's. The paper's numbers come from
the code, so ratios to reported numbers use the code's recipe. Baselines and our own models have a column of
their own.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd

from resolvent.figures.common.comparison import Place, Tested, by_condition
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.numbers import DASH, absent, in_units, power
from resolvent.figures.common.results import Run, grids_in_words, on_home_grid, read_table
from resolvent.figures.common.table import EMPTY, Cell, Column, Table, columns, table_of
from resolvent.figures.experiment.comparison import grouped
from resolvent.figures.experiment.error_table import BEST_TEST, error_cell
from resolvent.figures.papers.cao2021.reported import (
    SOURCE,
    TABLE_2A,
    TABLE_2B,
    TABLE_3,
    TABLE_6,
    TABLE_8,
    TABLES,
    network,
    parameters,
)
from resolvent.figures.published.reported_numbers import record, reported_number
from resolvent.figures.published.tables import PaperTable, reported_rows

STEP_COSTS = TABLES / "table1.csv"
PAPERS_SIZES = {"points": 8192, "batch_size": 4}
SCOPES = {"transformer1d": "Example 1", "encoder": "Encoders only"}
NAMES = {
    "galerkin": "Galerkin",
    "linear": "linear",
    "fourier_linear": "Fourier as Q(KᵀV)",
    "fourier_quadratic": "Fourier as (QKᵀ)V",
    "softmax": "softmax",
}
COLUMNS = [
    "scope", "attention", "contraction", "points", "batch_size", "peak_bytes", "allocated_bytes", "flop",
    "seconds",
]  # fmt: skip
PARTS = {  # group and head of a column of Table 5
    "encoder_layers": ("encoder", "layers"),
    "encoder_width": ("encoder", "width"),
    "heads": ("encoder", "heads"),
    "spectral_layers": ("decoder", "spectral layers"),
    "decoder_width": ("decoder", "width"),
    "modes": ("decoder", "modes"),
}
# Settings in these columns.
OF_TRANSFORMER = ("num_layers", "width", "num_heads", "decoder_layers", "decoder_width", "modes")
OF_FNO = ("num_layers", "width", "modes")
EXAMPLES = {"burgers": "Burgers", "darcy": "Darcy", "darcy_inverse": "inverse Darcy"}
PRINTED, CODED, OTHER = "as printed", "as coded", "other"
RECIPES = {"paper": PRINTED, "code": CODED, None: OTHER}
NORMS = {"regular": "regular norm", "projection": "K, V norm"}
Row = dict[tuple[Place, str], tuple[Tested, list[Run]]]  # by place and recipe: tested model and its runs


def draw_step_costs(cost_file: str | Path) -> Table:
    """Return Table 1: our measurements, and the paper's if the sizes agree."""
    paper = {(row["problem"], row["attention"]): row for row in reported_rows(STEP_COSTS)}
    rows = []
    for case in read_table(Path(cost_file), COLUMNS).to_dict("records"):
        attention, order, reported = case["attention"], case["contraction"], {}
        # The paper computes the n × n matrix of Fourier attention first.
        if not differences(case) and (attention, order) != ("fourier", "linear"):
            reported = paper[case["scope"], attention]
        name = NAMES[f"{attention}_{order}" if attention == "fourier" else attention]
        row: dict = {"attention": Cell(f"{SCOPES[case['scope']]}: {name}")}
        for head, measured in (
            ("peak GB", case["peak_bytes"] / 1e9),
            ("allocated GB", case["allocated_bytes"] / 1e9),
            ("steps/s", 1 / case["seconds"]),
            ("GFLOP", case["flop"] / 1e9),
        ):
            digits = f"{measured:,.0f}" if measured >= 1000 else f"{measured:#.3g}".rstrip(".")
            row["ours", head] = Cell(digits)
        for head, column in (
            ("memory, GB", "memory_gb"),
            ("CUDA memory, GB", "cuda_memory_gb"),
            ("steps/s", "steps_per_second"),
            ("GFLOP", "gflop"),
        ):
            row["Cao 2021", head] = Cell(reported[column]) if reported else EMPTY
        rows.append(row)
    return table_of(rows)


def differences(case: dict) -> list[str]:
    """List sizes that differ from the paper's."""
    differ = {name: size for name, size in PAPERS_SIZES.items() if case[name] != size}
    return [f"{name.replace('_', ' ')} {case[name]} (paper {size})" for name, size in differ.items()]


def remark(case: dict) -> tuple[str, list[str]]:
    """Return a description of the measurement, and its differences from the paper."""
    timings = "1 timing" if case["rounds"] == 1 else f"the median of {case['rounds']} timings"
    run = (
        f"One forward and backward pass at n = {case['points']:,}, batch {case['batch_size']}, no dropout, "
        f"on {case['device']}; {timings}, each attention in its own process."
    )
    return run, [*differences(case), "the machine (paper: one RTX 3090)"]


def draw_sizes(experiments: list[list[Run]]) -> Table:
    """Return Table 5: sizes and number of parameters of each model, and the paper's where they differ."""
    rows = []
    for run in {run.model: run for runs in experiments for run in runs}.values():  # of the finest grid
        recorded, count = record(run.record), run.cost.parameters
        reported, paper_count = network(recorded), Cell(DASH, note="not in the paper")
        row: dict = {"model": Cell(run.label)}
        for (column, head), ours in zip(PARTS.items(), _sizes(recorded), strict=True):
            paper = reported[column] if reported else ""
            same = reported is None or paper.partition("x")[0] == ours  # "32x32" is the width 32
            row[head] = Cell(ours or DASH, note="" if same else f"paper {paper or DASH}")
        if reported:
            low, high = parameters(recorded) or (0, 0)
            paper_count = Cell(reported["parameters"], note="" if low <= count <= high else "differs")
        row |= {("parameters", "ours"): Cell(f"{count:,}"), ("parameters", SOURCE.name): paper_count}
        rows.append(row)
    return table_of(rows)


def _sizes(recorded: dict) -> list[str]:
    """Return our sizes in the order of `PARTS`, empty for missing parts."""
    values = [recorded.get(name) for name in OF_TRANSFORMER]
    if recorded["architecture"].startswith("fno"):
        values = [0, None, None, *map(recorded.get, OF_FNO)]
    elif "modes" not in recorded:
        values[3:] = 0, None, None
    return ["" if value is None else str(value) for value in values]


def draw_hours(experiments: list[list[Run]]) -> Table:
    """Return Table 6: a pair of columns (ours, the paper's) for each example and resolution.

    Ours is the mean over finished runs with any seed and noise.
    """
    # By label, among the models with this label at a place, and by example and resolution.
    cells: dict[tuple[str, int], dict[tuple, list[Run]]] = {}
    models: dict[tuple, list[str]] = {}
    every = [run for runs in experiments for run in runs]
    # Other equations than the paper's come last.
    equations = list(dict.fromkeys([*EXAMPLES, *(run.record.dataset_settings["equation"] for run in every)]))
    for run in every:
        place = (equations.index(run.record.dataset_settings["equation"]), run.resolution)
        alike = models.setdefault((run.label, place), [])
        alike += [run.model] * (run.model not in alike)
        cells.setdefault((run.label, alike.index(run.model)), {}).setdefault(place, []).append(run)
    places = sorted({place for by_place in cells.values() for place in by_place})
    rows = []
    for (label, _), by_place in cells.items():
        row = [Cell(label)]
        for runs in (by_place.get(place, []) for place in places):
            paper = reported_number(runs[0].record, runs[0].cost, TABLE_6) if runs else None
            hours = [run.cost.train_seconds / 3600 for run in runs if not run.diverged]
            ours = Cell("diverged", lost=True) if runs else EMPTY
            if hours:
                ours = Cell(in_units(sum(hours) / len(hours), TABLE_6.unit))
            row += [ours, EMPTY if paper is None or paper.value is None else Cell(paper.digits)]
        rows.append(row)
    names = [EXAMPLES.get(equation, equation) for equation in equations]
    groups = ((f"{names[equation]}, n = {points}", ["ours", "Cao 2021"]) for equation, points in places)
    return Table(columns(("", ["model"]), *groups), rows)


def _number(name: str, recorded: dict) -> Cell:
    value = float(recorded.get(TABLE_8.setting(name, recorded), 0.0))
    return Cell(f"{value:g}", value=value)


# Further columns of Table 8, from the records of a row's runs; in Table 8, epochs are below the errors.
OF_ABLATION: dict[str, Callable[[dict], Cell]] = {
    "layer norm": lambda recorded: Cell(NORMS.get(recorded.get("layer_norm", ""), ""), prose=True),
    "η": partial(_number, "projection_gain"),
    "δ": partial(_number, "projection_diagonal"),
    "ζ": partial(_number, "zeta"),
}


def _side_by_side(table: PaperTable, comparisons: list[pd.DataFrame], experiments: list[list[Run]]) -> Table:
    """Return a table with columns for each place: both recipes, the reported number, and the ratio to it."""
    groups = [group for runs in experiments for group in grouped(runs)]
    first_of: dict[tuple, Run] = {}
    for run, *_ in groups:
        other = first_of.setdefault((run.model, run.resolution, run.noise), run)
        if other is not run:
            raise ResultError(
                f"{other.directory} and {run.directory} are runs of one model with the same grid and noise: "
                "list only one of their experiments"
            )
    leading = OF_ABLATION if table is TABLE_8 else {}
    every = by_condition(pd.concat(map(on_home_grid, comparisons), ignore_index=True))
    rows = _rows(every, groups, table)
    places = sorted({place for *_, row in rows for place, _ in row})
    coarse: dict[int | str, set[int]] = {}  # points per side of the attention's grid
    for run in (run for runs in experiments for run in runs):
        if run.record.coarse_points is not None:
            coarse.setdefault(run.resolution, set()).add(run.record.coarse_points)
    heads = columns(("", ["model", *leading]))
    for resolution, on_grid, noise in places:
        group = grids_in_words(resolution, on_grid)
        if resolution in coarse:
            group += f" ({', '.join(map(str, sorted(coarse[resolution])))})"
        if any(level for *_, level in places):
            group += f", ε = {noise:g}"
        group += f", ×{power(table.unit)}"
        heads += [Column(head, group) for head in (PRINTED, CODED, OTHER, SOURCE.name, "coded / reported")]
    body = []
    for label, recorded, row in rows:
        cells = (cell for place in places for cell in _cells(row, place, table))
        body.append([Cell(label), *(make(recorded) for make in leading.values()), *cells])
    baselines: dict[str, list[Cell]] = {}
    for tested in every:
        if tested.facts["kind"] == "baseline" and tested.place in places:
            empty = [Cell(tested.facts["label"]), *[EMPTY] * (len(heads) - 1)]
            column = 1 + len(leading) + 5 * places.index(tested.place) + 2  # of other models
            cell = error_cell(tested, unit=table.unit)
            baselines.setdefault(tested.facts["key"], empty)[column] = cell
    return Table(heads, body, list(baselines.values()))


draw_burgers = partial(_side_by_side, TABLE_2A)
draw_darcy = partial(_side_by_side, TABLE_2B)
draw_inverse = partial(_side_by_side, TABLE_3)  # from experiments that differ in the noise of training
draw_ablation = partial(_side_by_side, TABLE_8)  # a row for each layer norm, initialisation and dropout


def _rows(every: list[Tested], groups: list[list[Run]], table: PaperTable) -> list[tuple[str, dict, Row]]:
    """Return label, settings and results of the paper's rows, in the models' order, then of further rows.

    In a row of the paper, a place has one model of each recipe; any other model has a row of its own.
    """
    of_models = {(row.facts["key"], row.place): row for row in every if row.facts["kind"] == "model"}
    by_row: dict[tuple, list[list[Run]]] = {}
    model_of: dict[tuple, str] = {}  # by row of the paper, recipe and place
    for group in groups:
        first = group[0]
        # The row's key without the place of training.
        key = table.key(record(first.record) | {"resolution": None, "noise": None})
        spots = [
            (key, run.record.recipe, run.resolution, run.noise)
            for run, *_ in groups
            if run.model == first.model
        ]
        alone = all(model_of.setdefault(spot, first.model) == first.model for spot in spots)
        name = (False, *key) if key in table.row_names and alone else (True, first.model)
        by_row.setdefault(name, []).append(group)
    rows = []
    for name in sorted(by_row, key=lambda name: name[0]):
        (leading, *_), *_ = by_row[name]
        label, row = leading.label, Row()
        for group in by_row[name]:
            first, recipe = group[0], RECIPES[group[0].record.recipe]
            place = first.resolution, first.home, first.noise
            if (first.model, place) in of_models:
                row.setdefault((place, recipe), (of_models[first.model, place], group))
            label = first.label if recipe == PRINTED else label
        rows.append((label, record(leading.record), row))
    return rows


def _cells(row: Row, place: Place, table: PaperTable) -> list[Cell]:
    by_recipe = {recipe: result for (where, recipe), result in row.items() if where == place}
    recipes = (PRINTED, CODED, OTHER)
    ours = [_ours(*by_recipe[recipe], table) if recipe in by_recipe else EMPTY for recipe in recipes]
    reported = ratio = EMPTY
    for recipe in (PRINTED, CODED):  # the code's row comes last: its number takes precedence
        if recipe not in by_recipe:
            continue
        tested, (run, *_) = by_recipe[recipe]
        paper, best = reported_number(run.record, run.cost, table), tested.facts["best_test_mean"]
        if paper.shown is not None:
            note = f"epoch {paper.best_epoch}" if paper.best_epoch else ""
            reported = Cell(paper.digits, note=note, value=paper.shown)
        if recipe == CODED and paper.value is not None and not absent(best):
            ratio = Cell(f"{best / paper.value:.2f}", value=best / paper.value)
    return [*ours, reported, ratio]


def _ours(tested: Tested, group: list[Run], table: PaperTable) -> Cell:
    """Return the mean error with its interval and, if recorded, the error with the paper's protocol."""
    cell, facts, epochs = error_cell(tested, unit=table.unit), tested.facts, table is TABLE_8
    notes = [cell.note]
    chosen = sorted({run.cost.best_epoch for run in group if not run.diverged})
    if epochs and chosen:
        notes.append(f"epoch {', '.join(map(str, chosen))}")
    if not absent(facts["best_test_mean"]):
        mean, epoch = in_units(facts["best_test_mean"], table.unit), f"epoch {facts['best_test_epoch']:g}"
        notes.append(f"{BEST_TEST}: {mean}" + (f", {epoch}" if epochs else ""))
    return replace(cell, note="; ".join(filter(None, notes)))
