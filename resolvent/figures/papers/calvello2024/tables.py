"""Tables of Calvello et al. 2024: errors (1 and 3), growth of costs (2), parameters (4), operations (5).

One CSV has parameters and operations, counted and from the paper's formulas
(`resolvent.measurements.architecture_costs`).
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from resolvent.figures.common.comparison import PHYSICAL, STANDARDISED, Tested, by_condition
from resolvent.figures.common.numbers import DASH, in_units, power
from resolvent.figures.common.results import Run, on_home_grid, read_table, without_answer
from resolvent.figures.common.table import EMPTY, Cell, Column, Table, table_of
from resolvent.figures.experiment.error_table import interval
from resolvent.figures.papers.calvello2024.chosen import Experiments, title_of, widest
from resolvent.figures.papers.calvello2024.reported import DISTRIBUTION, FIRST, HIGH, LOW
from resolvent.figures.published.recipe import fields_of
from resolvent.figures.published.reported_numbers import record, reported_number
from resolvent.figures.published.tables import PaperTable

SETTINGS = {"modes": 12, "fano_modes": 9, "patches": 13, "smoother_modes": 64}  # sections 6.2.2 and 6.2.3
COLUMNS = [
    "model", "width", "points", "parameters", "parameters_complex_once", "forward_flop", "seconds",
    "formula_parameters", "formula_products", "formula_transforms", "rounds", "device", *SETTINGS,
]  # fmt: skip
NAMES = {
    "fno": "FNO", "afno": "AFNO", "tno": "Transformer NO", "vit_no": "ViT NO", "fano": "FANO",
    "galerkin_encoder": "Galerkin encoder",
}  # fmt: skip
SCALINGS = {  # as reported in Table 2
    "fno": "d N log √N + N d²",
    "afno": "d N log √N + N d²/b",
    "tno": "d N² + N d²",
    "vit_no": "d N (P + log √(N/P)) + N log √N + N d²",
    "fano": "d N (P + log √(N/P)) + N log N + N d²",
}
NO_FORMULA = "no formula in the paper"
LEFT_OUT = {  # omitted in the formulas of Table 4, in addition to biases and norms
    "fno": "lifting and projection with 2d hidden channels (formula: 128); a channel MLP in every layer",
    "vit_no": "the final convolution",
    "fano": "the final convolution",
    "galerkin_encoder": NO_FORMULA,
}
PAIRS = "the formula has one product for each pair of {}; attention has two, with K and with V"
WAVES = "Fourier transforms on patches are counted as products with few waves; the formula has FFTs"
WHY = {
    "fno": "FFTs are not counted; lifting, projection and channel MLPs as in Table 4",
    "afno": "FFTs are not counted; the formula is ours, by the rules of section C.2",
    "tno": PAIRS.format("points"),
    "vit_no": f"{PAIRS.format('patches')}; {WAVES}",
    "fano": f"{PAIRS.format('patches')}; {WAVES}",
    "galerkin_encoder": f"{NO_FORMULA}; computed as Q(KᵀV), in the paper as (QKᵀ)V",
}
Name = tuple[str, str]  # kind and key of a model or baseline


def draw_low_resolution(comparisons: list[pd.DataFrame], experiments: Experiments) -> Table:
    """Return Table 1: parameters and medians by experiment, ours and those of the versions with its data."""

    def cells(tested: Tested, run: Run | None, versions: list[str]) -> dict[str, Cell]:
        counts, medians = {}, {}
        for version in versions:
            row = run and LOW[version].row(record(run.record))
            counts[f"parameters, {version}"] = Cell(row["parameters"]) if row else EMPTY
            medians[f"median, {version} ×{power(1e-2)}"] = _reported(run, LOW[version], 1e-2)
        return {
            "parameters": _parameters(tested) if run else EMPTY,
            **counts,
            f"median ×{power(1e-2)}": _error(tested, 1e-2, STANDARDISED, "median"),
            **medians,
            f"mean ×{power(1e-2)}, physical units": _error(tested, 1e-2, PHYSICAL, "mean"),
        }

    return _table(comparisons, experiments, cells)


def draw_high_resolution(comparisons: list[pd.DataFrame], experiments: Experiments) -> Table:
    """Return Table 3: errors by experiment, ours and those of the paper's versions with its data."""

    def cells(tested: Tested, run: Run | None, versions: list[str]) -> dict[str, Cell]:
        unit = power(1e-3)
        reported = {f"{version} ×{unit}": _reported(run, HIGH[version], 1e-3) for version in versions}
        return {f"ours ×{unit}": _error(tested, 1e-3, STANDARDISED, "median"), **reported}

    return _table(comparisons, experiments, cells)


def _table(
    comparisons: list[pd.DataFrame],
    experiments: Experiments,
    cells_of: Callable[[Tested, Run | None, list[str]], dict[str, Cell]],
) -> Table:
    """Return a table with a group of columns per experiment, trained and tested on its finest grid.

    Of models that differ only in width, only the widest is shown. `cells_of` returns cells by column from a
    tested model or baseline, the model's run, and the versions of the paper with the experiment's data.
    """
    groups: list[tuple[str, str, dict[Name, dict[str, Cell]]]] = []  # title, name, and cells of each row
    labels: dict[Name, str] = {}
    for comparison, runs in zip(comparisons, experiments, strict=True):
        finest = max(run.resolution for run in runs)
        models = {("model", run.model): run for run in runs if run.resolution == finest}
        tested = {
            row.name: row
            for row in by_condition(on_home_grid(comparison))
            if row.facts["trained_resolution"] == finest
        }
        first = next(iter(models.values()))
        # Versions with the experiment's coefficients; both if the equation has none.
        recorded = fields_of(first.record)
        tau = recorded["data.distribution.tau"] if recorded["data.equation"] == "darcy" else None
        versions = [name for name, distribution in DISTRIBUTION.items() if tau in (None, distribution["tau"])]
        title = title_of(first) + (f", coefficients of {FIRST}" if versions == [FIRST] else "")
        title += f", {first.where}" * (first.home != first.resolution)
        cells = {name: cells_of(row, models.get(name), versions) for name, row in tested.items()}
        groups.append((title, first.record.experiment, cells))
        labels |= {("model", key): models["model", key].label for key in widest(list(models.values()))}
        labels |= {name: row.facts["label"] for name, row in tested.items() if name[0] == "baseline"}
    titles = [title for title, *_ in groups]
    heads = [Column("model")]
    bodies: dict[str, list[list[Cell]]] = {"model": [], "baseline": []}
    for title, experiment, cells in groups:
        group = f"{title}, {experiment}" if titles.count(title) > 1 else title
        heads += [Column(head, group) for head in next(iter(cells.values()))]
    for name, label in labels.items():
        row = [Cell(label)]
        for *_, cells in groups:
            row += cells.get(name, dict.fromkeys(next(iter(cells.values())), EMPTY)).values()
        bodies[name[0]].append(row)
    return Table(heads, bodies["model"], bodies["baseline"])


def _parameters(tested: Tested) -> Cell:
    """Return the number of parameters of a model; a complex one counts once, as in the paper."""
    once, twice = tested.facts["parameters_complex_once"], tested.facts["parameters"]
    if pd.isna(once):
        return Cell(DASH, note="not recorded with complex ones once")
    return Cell(f"{once:,.0f}", note=f"complex as two: {twice:,.0f}" if twice != once else "")


def _reported(run: Run | None, table: PaperTable, unit: float) -> Cell:
    value = reported_number(run.record, run.cost, table).value if run else None
    return EMPTY if value is None else Cell(f"{value / unit:#.3g}".rstrip("."))


def _error(tested: Tested, unit: float, metric: str, statistic: str) -> Cell:
    error, facts, of_median = tested.error(metric, statistic), tested.facts, statistic == "median"
    if error.known:
        lost = f"; {facts['status']}" if facts["diverged_seeds"] and of_median else ""
        return Cell(in_units(error.value, unit), note=f"{interval(error, unit)}{lost}")
    no_answer, reason = without_answer(facts["status"])
    if no_answer:
        return Cell(no_answer, note=reason, lost=True)
    if facts["diverged_seeds"]:
        return Cell(facts["status"], lost=True)
    return Cell(DASH, note="not measured" if of_median else "")


def draw_growth(cost_file: str | Path) -> Table:
    """Return Table 2: exponents of N at the largest width, and of the width d on the finest grid.

    They are fitted by least squares of the logarithms.
    """
    rows = []
    table = _read(cost_file)
    for model in dict.fromkeys(table["model"]):
        of_model = table[table["model"] == model]
        wide, fine = (of_model[of_model[name] == of_model[name].max()] for name in ("width", "points"))
        grids = " ".join(f"{points}²" for points in wide["points"])
        row: dict = {"architecture": Cell(NAMES[model])}
        row |= {"in the paper": Cell(SCALINGS.get(model, DASH), prose=True), "grids": Cell(grids)}
        for few, variable, group in ((wide, "N", "exponent of N"), (fine, "width", "exponent of d")):
            for column, head in (("forward_flop", "counted"), ("formula_flop", "formula")):
                row[group, head] = Cell(DASH, note=NO_FORMULA)
                if not few[column].isna().any():
                    exponent = np.polyfit(np.log(few[variable]), np.log(few[column]), 1)[0]
                    row[group, head] = Cell(f"{exponent:.2f}")
        rows.append(row)
    return table_of(rows)


def draw_parameters(cost_file: str | Path) -> Table:
    """Return Table 4: one row per architecture and width and, for AFNO, grid."""
    rows = []
    for row in _read(cost_file).drop_duplicates(["model", "width", "parameters"]).to_dict("records"):
        model, formula, counted = row["model"], row["formula_parameters"], row["parameters_complex_once"]
        reason = LEFT_OUT.get(model, "only biases and norms")
        rows.append({
            "architecture": Cell(NAMES[model] + (f", {row['points']}² points" if model == "afno" else "")),
            "width d": Cell(f"{row['width']}"),
            "formula": _number(formula, "{:,.0f}"),
            ("counted, a complex one as", "one"): Cell(f"{counted:,}"),
            ("counted, a complex one as", "two"): Cell(f"{row['parameters']:,}"),
            "one / formula": _number(counted / formula, "{:.3f}"),
            "not in the formula": Cell(reason if row["is_first"] else "", prose=True),
        })  # fmt: skip
    return table_of(rows)


def draw_operations(cost_file: str | Path) -> Table:
    """Return Table 5: one row per architecture and grid, at the largest width, in 10⁹ operations."""
    table, rows = _read(cost_file), []
    table = table[table["width"] == table["width"].max()]
    for row in table.assign(is_first=~table["model"].duplicated()).to_dict("records"):
        formula, counted = row["formula_flop"], row["forward_flop"]
        share = row["formula_transforms"] / formula
        rows.append({
            "architecture": Cell(NAMES[row["model"]]),
            "points": Cell(f"{row['points']}²"),
            ("10⁹ operations", "formula"): _billions(formula, f"FFTs {share:.1%}" if share > 0 else ""),
            ("10⁹ operations", "counted"): _billions(counted),
            "counted / formula": _number(counted / formula, "{:.2f}"),
            "seconds": _number(row["seconds"], "{:.2g}"),
            "why they differ": Cell(WHY[row["model"]] if row["is_first"] else "", prose=True),
        })  # fmt: skip
    return table_of(rows)


def remark(case: dict) -> tuple[str, list[str]]:
    """Return a description of the counts, and differences from the paper, from a row of the CSV."""
    timings = "one timing" if case["rounds"] == 1 else f"the median of {case['rounds']} timings"
    run = (
        "One forward pass of one sample with one input and one output channel, in evaluation mode, on "
        f"tensors without data; seconds, where given, are those of a real pass: {timings} on {case['device']}"
        f"{', one thread' if case['device'].endswith('(CPU)') else ''}."
    )
    differ = {name: paper for name, paper in SETTINGS.items() if case[name] != paper}
    sizes = [f"{name.replace('_', ' ')} {case[name]} (paper {paper})" for name, paper in differ.items()]
    return run, [*sizes, "AFNO with 8 blocks (paper: 16 in Table 4, 8 in Table 5)"]


def _read(cost_file: str | Path) -> pd.DataFrame:
    """Read the counts; `is_first` marks the first row of each model, which has its name."""
    table = read_table(Path(cost_file), COLUMNS)
    formula = table["formula_products"] + table["formula_transforms"]
    first = ~table["model"].duplicated()
    return table.assign(N=table["points"] ** 2, formula_flop=formula, is_first=first)


def _billions(operations: float, note: str = "") -> Cell:
    scaled = operations / 1e9
    return _number(scaled, "{:,.0f}" if scaled >= 1000 else "{:#.4g}", note)


def _number(value: float, form: str, note: str = "") -> Cell:
    return Cell(DASH) if np.isnan(value) else Cell(form.format(value), note=note)
