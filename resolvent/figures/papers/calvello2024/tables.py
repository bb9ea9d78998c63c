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
from resolvent.figures.common.results import Run, on_training_grid, read_table, without_answer
from resolvent.figures.common.table import EMPTY, Cell, Table, columns
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
Maker = Callable[[Tested, Run | None], Cell]  # (tested model or baseline, the model's run) → cell


def draw_low_resolution(comparisons: list[pd.DataFrame], experiments: Experiments) -> Table:
    """Return Table 1: parameters and medians by experiment, ours and those of the versions with its data."""
    unit = power(1e-2)

    def makers(versions: list[str]) -> dict[str, Maker]:
        return {
            "parameters": _parameters,
            **{f"parameters, {one}": _reported_parameters(LOW[one]) for one in versions},
            f"median ×{unit}": _error(1e-2, STANDARDISED, "median"),
            **{f"median, {one} ×{unit}": _reported(LOW[one], 1e-2) for one in versions},
            f"mean ×{unit}, physical units": _error(1e-2, PHYSICAL, "mean"),
        }

    return _table(comparisons, experiments, makers)


def draw_high_resolution(comparisons: list[pd.DataFrame], experiments: Experiments) -> Table:
    """Return Table 3: errors by experiment, ours and those of the paper's versions with its data."""
    unit = power(1e-3)

    def makers(versions: list[str]) -> dict[str, Maker]:
        reported = {f"{one} ×{unit}": _reported(HIGH[one], 1e-3) for one in versions}
        return {f"ours ×{unit}": _error(1e-3, STANDARDISED, "median"), **reported}

    return _table(comparisons, experiments, makers)


def _table(
    comparisons: list[pd.DataFrame],
    experiments: Experiments,
    makers_of: Callable[[list[str]], dict[str, Maker]],
) -> Table:
    """Return a table with a group of columns per experiment, trained and tested on its finest grid.

    Of models that differ only in width, only the widest is shown. `makers_of` returns the columns, given the
    versions of the paper with the experiment's data.
    """
    titles: list[str] = []
    makers_of_each: list[dict[str, Maker]] = []
    found: list[tuple[dict[str, Run], dict[tuple[str, str], Tested]]] = []
    labels: dict[tuple[str, str], str] = {}
    for comparison, runs in zip(comparisons, experiments, strict=True):
        finest = max(run.resolution for run in runs)
        models = {run.model: run for run in runs if run.resolution == finest}
        tested = {
            (one.facts["kind"], one.facts["key"]): one
            for one in by_condition(on_training_grid(comparison))
            if one.facts["trained_resolution"] == finest
        }
        first = next(iter(models.values()))
        # Versions with the experiment's coefficients; both if the equation has none.
        recorded = fields_of(first.record)
        tau = recorded["data.distribution.tau"] if recorded["data.equation"] == "darcy" else None
        versions = [one for one, distribution in DISTRIBUTION.items() if tau in (None, distribution["tau"])]
        title = title_of(first) + (f", coefficients of {FIRST}" if versions == [FIRST] else "")
        titles.append(title)
        makers_of_each.append(makers_of(versions))
        found.append((models, tested))
        labels |= {("model", key): models[key].label for key in widest(list(models.values()))}
        labels |= {name: one.facts["label"] for name, one in tested.items() if name[0] == "baseline"}
    names = [runs[0].record.experiment for runs in experiments]
    titles = [  # with the experiment's name, where several have the same title
        f"{title}, {name}" if titles.count(title) > 1 else title
        for title, name in zip(titles, names, strict=True)
    ]
    groups = list(zip(titles, makers_of_each, strict=True))
    bodies: dict[str, list[list[Cell]]] = {"model": [], "baseline": []}
    for (kind, key), label in labels.items():
        row = [Cell(label)]
        for (models, tested), (_, makers) in zip(found, groups, strict=True):
            one = tested.get((kind, key))
            run = models.get(key) if kind == "model" else None
            row += [make(one, run) if one else EMPTY for make in makers.values()]
        bodies[kind].append(row)
    return Table(columns(("", ["model"]), *groups), bodies["model"], bodies["baseline"])


def _parameters(one: Tested, run: Run | None) -> Cell:
    """Return the number of parameters; a complex one counts once, as in the paper."""
    if run is None:
        return EMPTY
    once, twice = one.facts["parameters_complex_once"], one.facts["parameters"]
    if pd.isna(once):
        return Cell(DASH, note="not recorded with complex ones once")
    return Cell(f"{once:,.0f}", note=f"complex as two: {twice:,.0f}" if twice != once else "")


def _reported_parameters(table: PaperTable) -> Maker:
    def make(one: Tested, run: Run | None) -> Cell:
        row = run and table.row(record(run.record))
        return Cell(row["parameters"]) if row else EMPTY

    return make


def _reported(table: PaperTable, unit: float) -> Maker:
    def make(one: Tested, run: Run | None) -> Cell:
        value = reported_number(run.record, run.cost, table).value if run else None
        return EMPTY if value is None else Cell(f"{value / unit:#.3g}".rstrip("."))

    return make


def _error(unit: float, metric: str, statistic: str) -> Maker:
    def make(one: Tested, run: Run | None) -> Cell:
        error, facts, of_median = one.error(metric, statistic), one.facts, statistic == "median"
        if error.known:
            lost = f"; {facts['status']}" if facts["diverged_seeds"] and of_median else ""
            return Cell(in_units(error.value, unit), note=f"{interval(error, unit)}{lost}")
        no_answer, reason = without_answer(facts["status"])
        if no_answer:
            return Cell(no_answer, note=reason, lost=True)
        if facts["diverged_seeds"]:
            return Cell(facts["status"], lost=True)
        return Cell(DASH, note="not measured" if of_median else "")

    return make


def draw_growth(cost_file: str | Path) -> Table:
    """Return Table 2: exponents of N at the largest width, and of the width d on the finest grid.

    They are fitted by least squares of the logarithms.
    """
    rows = []
    table = _read(cost_file)
    for model in dict.fromkeys(table["model"]):
        here = table[table["model"] == model]
        wide, fine = (here[here[name] == here[name].max()] for name in ("width", "points"))
        grids = " ".join(f"{points}²" for points in wide["points"])
        rows.append([Cell(NAMES[model]), Cell(SCALINGS.get(model, DASH), prose=True), Cell(grids)])
        for few, variable in ((wide, "N"), (fine, "width")):
            for operations in (few["forward_flop"], few["formula_flop"]):
                cell = Cell(DASH, note=NO_FORMULA)
                if not operations.isna().any():
                    cell = Cell(f"{np.polyfit(np.log(few[variable]), np.log(operations), 1)[0]:.2f}")
                rows[-1].append(cell)
    heads = columns(
        ("", ["architecture", "in the paper", "grids"]),
        ("exponent of N", ["counted", "formula"]),
        ("exponent of d", ["counted", "formula"]),
    )
    return Table(heads, rows)


def draw_parameters(cost_file: str | Path) -> Table:
    """Return Table 4: one row per architecture and width and, for AFNO, grid."""
    rows = []
    for row in _read(cost_file).drop_duplicates(["model", "width", "parameters"]).to_dict("records"):
        model, formula, counted = row["model"], row["formula_parameters"], row["parameters_complex_once"]
        reason = LEFT_OUT.get(model, "only biases and norms")
        rows.append([
            Cell(NAMES[model] + (f", {row['points']}² points" if model == "afno" else "")),
            Cell(f"{row['width']}"),
            _number(formula, "{:,.0f}"),
            Cell(f"{counted:,}"),
            Cell(f"{row['parameters']:,}"),
            _number(counted / formula, "{:.3f}"),
            Cell(reason if row["is_first"] else "", prose=True),
        ])  # fmt: skip
    heads = columns(
        ("", ["architecture", "width d", "formula"]),
        ("counted, a complex one as", ["one", "two"]),
        ("", ["one / formula", "not in the formula"]),
    )
    return Table(heads, rows)


def draw_operations(cost_file: str | Path) -> Table:
    """Return Table 5: one row per architecture and grid, at the largest width, in 10⁹ operations."""
    table, rows = _read(cost_file), []
    table = table[table["width"] == table["width"].max()]
    for row in table.assign(is_first=~table["model"].duplicated()).to_dict("records"):
        formula, counted = row["formula_flop"], row["forward_flop"]
        share = row["formula_transforms"] / formula
        rows.append([
            Cell(NAMES[row["model"]]),
            Cell(f"{row['points']}²"),
            _billions(formula, note=f"FFTs {share:.1%}" if share > 0 else ""),
            _billions(counted),
            _number(counted / formula, "{:.2f}"),
            _number(row["seconds"], "{:.2g}"),
            Cell(WHY[row["model"]] if row["is_first"] else "", prose=True),
        ])  # fmt: skip
    heads = columns(
        ("", ["architecture", "points"]),
        ("10⁹ operations", ["formula", "counted"]),
        ("", ["counted / formula", "seconds", "why they differ"]),
    )
    return Table(heads, rows)


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
