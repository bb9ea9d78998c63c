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

from resolvent.figures.common.comparison import Tested, by_condition
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.numbers import DASH, absent, in_units, power
from resolvent.figures.common.results import Run, on_training_grid, read_table, resolution_in_words
from resolvent.figures.common.table import EMPTY, Cell, Column, Table, columns
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
# Columns of Table 5, for transformers and FNOs.
PARTS = ("encoder_layers", "encoder_width", "heads", "spectral_layers", "decoder_width", "modes")
OF_TRANSFORMER = ("num_layers", "width", "num_heads", "decoder_layers", "decoder_width", "modes")
OF_FNO = ("num_layers", "width", "modes")
EXAMPLES = {"burgers": "Burgers", "darcy": "Darcy", "darcy_inverse": "inverse Darcy"}
PRINTED, CODED, OTHER = "as printed", "as coded", "other"
RECIPES = {"paper": PRINTED, "code": CODED, None: OTHER}
NORMS = {"regular": "regular norm", "projection": "K, V norm"}
Place = tuple[int | str, float]  # resolution and input noise of training and test
Row = dict[tuple[Place, str], tuple[Tested, list[Run]]]  # by place and recipe: tested model and its runs


def draw_step_costs(cost_file: str | Path) -> Table:
    """Return Table 1: our measurements, and the paper's if the sizes agree."""
    paper = {(row["problem"], row["attention"]): row for row in reported_rows(STEP_COSTS)}
    rows = []
    for case in read_table(Path(cost_file), COLUMNS).to_dict("records"):
        gigabytes = case["peak_bytes"] / 1e9, case["allocated_bytes"] / 1e9
        measured = *gigabytes, 1 / case["seconds"], case["flop"] / 1e9
        reported, cells = paper[case["scope"], case["attention"]], [EMPTY] * 4
        # The paper computes the n × n matrix of Fourier attention first.
        if not differences(case) and (case["attention"], case["contraction"]) != ("fourier", "linear"):
            names = ("memory_gb", "cuda_memory_gb", "steps_per_second", "gflop")
            cells = [Cell(reported[name]) for name in names]
        digits = [f"{one:,.0f}" if one >= 1000 else f"{one:#.3g}".rstrip(".") for one in measured]
        order = f"_{case['contraction']}" if case["attention"] == "fourier" else ""
        name = f"{SCOPES[case['scope']]}: {NAMES[case['attention'] + order]}"
        rows.append([Cell(name), *map(Cell, digits), *cells])
    heads = columns(
        ("", ["attention"]),
        ("ours", ["peak GB", "allocated GB", "steps/s", "GFLOP"]),
        ("Cao 2021", ["memory, GB", "CUDA memory, GB", "steps/s", "GFLOP"]),
    )
    return Table(heads, rows)


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
        row = [Cell(run.label)]
        for name, ours in zip(PARTS, _sizes(recorded), strict=True):
            paper = reported[name] if reported else ""
            same = reported is None or paper.partition("x")[0] == ours  # "32x32" is the width 32
            row.append(Cell(ours or DASH, note="" if same else f"paper {paper or DASH}"))
        if reported:
            low, high = parameters(recorded) or (0, 0)
            paper_count = Cell(reported["parameters"], note="" if low <= count <= high else "differs")
        rows.append([*row, Cell(f"{count:,}"), paper_count])
    heads = columns(
        ("", ["model"]),
        ("encoder", ["layers", "width", "heads"]),
        ("decoder", ["spectral layers", "width", "modes"]),
        ("parameters", ["ours", "Cao 2021"]),
    )
    return Table(heads, rows)


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
    names = [EXAMPLES.get(one, one) for one in equations]
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
    found = by_condition(on_training_grid(pd.concat(comparisons, ignore_index=True)))
    rows = _rows(found, groups, table)
    places = sorted({place for *_, row in rows for place, _ in row})
    coarse: dict[int | str, set[int]] = {}  # points per side of the attention's grid
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
    body = []
    for label, recorded, row in rows:
        cells = (cell for place in places for cell in _cells(row, place, table))
        body.append([Cell(label), *(make(recorded) for make in leading.values()), *cells])
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


draw_burgers = partial(_side_by_side, TABLE_2A)
draw_darcy = partial(_side_by_side, TABLE_2B)
draw_inverse = partial(_side_by_side, TABLE_3)  # from experiments that differ in the noise of training
draw_ablation = partial(_side_by_side, TABLE_8)  # a row for each layer norm, initialisation and dropout


def _rows(found: list[Tested], groups: list[list[Run]], table: PaperTable) -> list[tuple[str, dict, Row]]:
    """Return label, settings and results of the paper's rows, in the models' order, then of further rows.

    In a row of the paper, a place has one model of each recipe; any other model has a row of its own.
    """
    tested = {(one.facts["key"], _place(one)): one for one in found if one.facts["kind"] == "model"}
    by_row: dict[tuple, list[list[Run]]] = {}
    model_of: dict[tuple, str] = {}  # by row of the paper, recipe and place
    for group in groups:
        first = group[0]
        # The row's key without the place of training.
        key = table.key(record(first.record) | {"resolution": None, "noise": None})
        spots = [
            (key, one.record.recipe, one.resolution, one.noise)
            for one, *_ in groups
            if one.model == first.model
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
            place = first.resolution, first.noise
            if (first.model, place) in tested:
                row.setdefault((place, recipe), (tested[first.model, place], group))
            label = first.label if recipe == PRINTED else label
        rows.append((label, record(leading.record), row))
    return rows


def _place(one: Tested) -> Place:
    return one.facts["trained_resolution"], float(one.facts["trained_noise"])


def _cells(row: Row, place: Place, table: PaperTable) -> list[Cell]:
    here = {recipe: found for (where, recipe), found in row.items() if where == place}
    recipes = (PRINTED, CODED, OTHER)
    ours = [_ours(*here[one], table) if one in here else EMPTY for one in recipes]
    reported = ratio = EMPTY
    for recipe in (PRINTED, CODED):  # the code's row comes last: its number takes precedence
        if recipe not in here:
            continue
        tested, (run, *_) = here[recipe]
        paper, best = reported_number(run.record, run.cost, table), tested.facts["best_test_mean"]
        if paper.shown is not None:
            note = f"epoch {paper.best_epoch}" if paper.best_epoch else ""
            reported = Cell(paper.digits, note=note, value=paper.shown)
        if recipe == CODED and paper.value is not None and not absent(best):
            ratio = Cell(f"{best / paper.value:.2f}", value=best / paper.value)
    return [*ours, reported, ratio]


def _ours(one: Tested, group: list[Run], table: PaperTable) -> Cell:
    """Return the mean error with its interval and, if recorded, the error with the paper's protocol."""
    cell, facts, epochs = error_cell(one, unit=table.unit), one.facts, table is TABLE_8
    words = [cell.note]
    chosen = sorted({run.cost.best_epoch for run in group if not run.diverged})
    if epochs and chosen:
        words.append(f"epoch {', '.join(map(str, chosen))}")
    if not absent(facts["best_test_mean"]):
        mean, epoch = in_units(facts["best_test_mean"], table.unit), f"epoch {facts['best_test_epoch']:g}"
        words.append(f"{BEST_TEST}: {mean}" + (f", {epoch}" if epochs else ""))
    return replace(cell, note="; ".join(filter(None, words)))
