"""Tables 2, 4 and 5 of Calvello et al. 2024: growth of cost, parameters and operations.

They are counted, and by the paper's formulas, both in one CSV (`resolvent.measurements.architecture_costs`).
"""

from pathlib import Path

import numpy as np
import pandas as pd

from resolvent.figures.common.numbers import DASH
from resolvent.figures.common.results import read_table
from resolvent.figures.common.table import Cell, Table, columns

SETTINGS = {"modes": 12, "fano_modes": 9, "patches": 13, "smoother_modes": 64}  # sections 6.2.2 and 6.2.3
COLUMNS = [
    "model", "width", "points", "parameters", "parameters_complex_once", "forward_flop", "seconds",
    "formula_parameters", "formula_products", "formula_transforms", "rounds", "device", *SETTINGS,
]  # fmt: skip
NAMES = {
    "fno": "FNO",
    "afno": "AFNO",
    "tno": "Transformer NO",
    "vit_no": "ViT NO",
    "fano": "FANO",
    "galerkin_encoder": "Galerkin encoder",
}
SCALINGS = {  # as reported in Table 2
    "fno": "d N log √N + N d²",
    "afno": "d N log √N + N d²/b",
    "tno": "d N² + N d²",
    "vit_no": "d N (P + log √(N/P)) + N log √N + N d²",
    "fano": "d N (P + log √(N/P)) + N log N + N d²",
}
LEFT_OUT = {  # of the formulas of Table 4, beside biases and norms
    "fno": "lifting and projection have 2d hidden channels here and 128 there; a channel MLP in every layer",
    "vit_no": "the final convolution",
    "fano": "the final convolution",
    "galerkin_encoder": "no formula in the paper",
}
PAIRS = "the formula has one product for each pair of {}, attention has two: of Q with K, and with V"
WAVES = "Fourier transforms on patches are counted: as products with few waves, of which the formula has FFTs"
WHY = {
    "fno": "no FFTs are counted; lifting, projection and channel MLPs as in Table 4",
    "afno": "no FFTs are counted; the formula is ours, by the rules of section C.2",
    "tno": PAIRS.format("points"),
    "vit_no": f"{PAIRS.format('patches')}; {WAVES}",
    "fano": f"{PAIRS.format('patches')}; {WAVES}",
    "galerkin_encoder": "no formula in the paper; computed as Q(KᵀV), in the paper as (QKᵀ)V",
}


def draw_growth(cost_file: str | Path) -> Table:
    """Return Table 2: exponents of N, at the largest width, and of the width d, on the finest grid.

    They are slopes of least-squares lines through the logarithms.
    """
    rows = []
    for model, here in _read(cost_file).groupby("model", sort=False):
        wide, fine = (here[here[name] == here[name].max()] for name in ("width", "points"))
        grids = " ".join(f"{points}²" for points in wide["points"])
        exponents = [
            _exponent(few[variable], few[counted])
            for few, variable in ((wide, "N"), (fine, "width"))
            for counted in ("forward_flop", "formula_flop")
        ]
        scaling = Cell(SCALINGS.get(model, DASH), prose=True)
        rows.append([Cell(NAMES[model]), scaling, Cell(grids), *exponents])
    heads = columns(
        ("", ["architecture", "in the paper", "grids"]),
        ("exponent of N", ["counted", "formula"]),
        ("exponent of d", ["counted", "formula"]),
    )
    return Table(heads, rows)


def draw_parameters(cost_file: str | Path) -> Table:
    """Return Table 4: a row for each architecture and width, and for AFNO also each grid."""
    rows = []
    table = _read(cost_file).drop_duplicates(["model", "width", "parameters"])
    for row in table.to_dict("records"):
        on_grid = f", {row['points']}² points" if row["model"] == "afno" else ""
        formula, counted = row["formula_parameters"], row["parameters_complex_once"]
        rows.append(
            [
                Cell(f"{NAMES[row['model']]}{on_grid}"),
                Cell(f"{row['width']}"),
                _number(formula, "{:,.0f}"),
                Cell(f"{counted:,}"),
                Cell(f"{row['parameters']:,}"),
                _number(counted / formula, "{:.3f}"),
                Cell(LEFT_OUT.get(row["model"], "biases and norms alone"), prose=True),
            ]
        )
    rows = _reasons_once(rows, table["model"])
    heads = columns(
        ("", ["architecture", "width d", "formula"]),
        ("counted, a complex one as", ["one", "two"]),
        ("", ["one / formula", "not in the formula"]),
    )
    return Table(heads, rows)


def draw_operations(cost_file: str | Path) -> Table:
    """Return Table 5: a row for each architecture and grid, at the largest width, in 10⁹ operations."""
    table = _read(cost_file)
    table = table[table["width"] == table["width"].max()]
    rows = []
    for row in table.to_dict("records"):
        formula, counted = row["formula_flop"], row["forward_flop"]
        share = row["formula_transforms"] / formula
        rows.append(
            [
                Cell(NAMES[row["model"]]),
                Cell(f"{row['points']}²"),
                _billions(formula, note=f"FFTs {share:.1%}" if share > 0 else ""),
                _billions(counted),
                _number(counted / formula, "{:.2f}"),
                _number(row["seconds"], "{:.2g}"),
                Cell(WHY[row["model"]], prose=True),
            ]
        )
    rows = _reasons_once(rows, table["model"])
    heads = columns(
        ("", ["architecture", "points"]),
        ("10⁹ operations", ["formula", "counted"]),
        ("", ["counted / formula", "seconds", "why they differ"]),
    )
    return Table(heads, rows)


def remark(case: dict) -> tuple[str, list[str]]:
    """Return what was counted, and how it differs from the paper, from a row of the CSV."""
    timings = "one timing" if case["rounds"] == 1 else f"the median of {case['rounds']} timings"
    run = (
        "One forward pass of one sample with one channel in and out, in evaluation, on tensors without "
        f"numbers; seconds, where given, are of a real one: {timings} on {case['device']}"
        f"{', one thread' if case['device'].endswith('(CPU)') else ''}."
    )
    sizes = [
        f"{name.replace('_', ' ')} {case[name]} (paper {paper})"
        for name, paper in SETTINGS.items()
        if case[name] != paper
    ]
    return run, [*sizes, "AFNO of 8 blocks (paper: 16 in Table 4, 8 in Table 5)"]


def _read(cost_file: str | Path) -> pd.DataFrame:
    table = read_table(Path(cost_file), COLUMNS)
    formula = table["formula_products"] + table["formula_transforms"]
    return table.assign(N=table["points"] ** 2, formula_flop=formula)


def _reasons_once(rows: list[list[Cell]], models: pd.Series) -> list[list[Cell]]:
    """Return the rows, the last column empty where the row above is of the same model."""
    return [
        [*row[:-1], Cell("", prose=True)] if repeated else row
        for row, repeated in zip(rows, models == models.shift(), strict=True)
    ]


def _exponent(variable: pd.Series, operations: pd.Series) -> Cell:
    if operations.isna().any():
        return Cell(DASH, note="no formula in the paper")
    slope, _ = np.polyfit(np.log(variable), np.log(operations), 1)
    return Cell(f"{slope:.2f}")


def _billions(operations: float, note: str = "") -> Cell:
    """Return four digits, in units of 10⁹."""
    scaled = operations / 1e9
    return _number(scaled, "{:,.0f}" if scaled >= 1000 else "{:#.4g}", note)


def _number(value: float, form: str, note: str = "") -> Cell:
    return Cell(DASH) if np.isnan(value) else Cell(form.format(value), note=note)
