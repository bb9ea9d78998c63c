"""Costs in Calvello et al. 2024: Tables 2, 4 and 5, and errors against costs, Figures 10 and 11.

Parameters and operations of the tables are counted, and by the paper's formulas, both in one CSV
(`resolvent.measurements.architecture_costs`).
"""

from pathlib import Path

import numpy as np
import pandas as pd

from resolvent.figures.common.comparison import errors_of
from resolvent.figures.common.labels import label_right
from resolvent.figures.common.numbers import DASH
from resolvent.figures.common.results import on_training_grid, read_table, resolution_in_words
from resolvent.figures.common.style import (
    MUTED,
    appearances,
    error_limits,
    grid_lines,
    new_figure,
    say_no_errors,
    title,
)
from resolvent.figures.common.table import Cell, Table, columns
from resolvent.figures.papers.calvello2024.chosen import Experiments, families, title_of

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
    table = _read(cost_file)
    for model in dict.fromkeys(table["model"]):
        here = table[table["model"] == model]
        wide, fine = (here[here[name] == here[name].max()] for name in ("width", "points"))
        grids = " ".join(f"{points}²" for points in wide["points"])
        rows.append([Cell(NAMES[model]), Cell(SCALINGS.get(model, DASH), prose=True), Cell(grids)])
        for few, variable in ((wide, "N"), (fine, "width")):
            for operations in (few["forward_flop"], few["formula_flop"]):
                cell = Cell(DASH, note="no formula in the paper")
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
    """Return Table 4: a row for each architecture and width, and for AFNO also each grid."""
    rows: list[list[Cell]] = []
    named: set[str] = set()
    for row in _read(cost_file).drop_duplicates(["model", "width", "parameters"]).to_dict("records"):
        model, formula, counted = row["model"], row["formula_parameters"], row["parameters_complex_once"]
        rows.append(
            [
                Cell(NAMES[model] + (f", {row['points']}² points" if model == "afno" else "")),
                Cell(f"{row['width']}"),
                _number(formula, "{:,.0f}"),
                Cell(f"{counted:,}"),
                Cell(f"{row['parameters']:,}"),
                _number(counted / formula, "{:.3f}"),
                _once(model, LEFT_OUT.get(model, "biases and norms alone"), named),
            ]
        )
    heads = columns(
        ("", ["architecture", "width d", "formula"]),
        ("counted, a complex one as", ["one", "two"]),
        ("", ["one / formula", "not in the formula"]),
    )
    return Table(heads, rows)


def draw_operations(cost_file: str | Path) -> Table:
    """Return Table 5: a row for each architecture and grid, at the largest width, in 10⁹ operations."""
    table = _read(cost_file)
    rows: list[list[Cell]] = []
    named: set[str] = set()
    for row in table[table["width"] == table["width"].max()].to_dict("records"):
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
                _once(row["model"], WHY[row["model"]], named),
            ]
        )
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


def _once(model: str, words: str, named: set[str]) -> Cell:
    """Return the words in the first row of a model, and nothing below."""
    cell = Cell("" if model in named else words, prose=True)
    named.add(model)
    return cell


def _billions(operations: float, note: str = "") -> Cell:
    """Return four digits, in units of 10⁹."""
    scaled = operations / 1e9
    return _number(scaled, "{:,.0f}" if scaled >= 1000 else "{:#.4g}", note)


def _number(value: float, form: str, note: str = "") -> Cell:
    return Cell(DASH) if np.isnan(value) else Cell(form.format(value), note=note)


def draw_against_parameters(comparisons: list[pd.DataFrame], experiments: Experiments):
    """Draw Figure 10: a panel for each experiment; a complex parameter counts once, as in the paper."""
    return _draw(comparisons, experiments, "parameters_complex_once", "parameters, a complex one as one")


def draw_against_operations(comparisons: list[pd.DataFrame], experiments: Experiments):
    """Draw Figure 11: a panel for each experiment; operations as `resolvent.training.operations` counts."""
    return _draw(comparisons, experiments, "forward_flop", "counted operations of a forward pass")


def _draw(comparisons: list[pd.DataFrame], experiments: Experiments, cost: str, words: str):
    """Draw a line for each architecture through its widths; one of a single width only if all are such."""
    shown = [
        [line for line in lines if len(line) > 1] or lines for lines in (families(one) for one in experiments)
    ]
    # The look of a line is its widest model's, the same in every panel.
    widest = {line[-1] for lines in shown for line in lines}
    looks = appearances(run for runs in experiments for run in runs if run.model in widest)
    figure, axes = new_figure(len(shown), 1, size=(8.6, 0.4 + 3.2 * len(shown)), sharex=True)
    labels: list[list[tuple]] = []
    for panel, comparison, one, lines in zip(axes[:, 0], comparisons, experiments, shown, strict=True):
        table = on_training_grid(errors_of(comparison, "standardised_relative_l2", "median"))
        finest = max(run.resolution for run in one)
        table = table[(table["trained_resolution"] == finest) & np.isfinite(table["value"])]
        table = table[np.isfinite(table[cost])].set_index("key")
        title(panel, f"{title_of(one[0])}, {resolution_in_words(finest)}")
        panel.set(xscale="log", ylabel="median relative L² error")
        grid_lines(panel, "both")
        widths = {run.model: run.record.settings.get("width") for run in one}
        labels.append([])
        for line in lines:
            rows = table.loc[[key for key in line if key in table.index]]
            if rows.empty:
                continue
            look, x, median = looks[line[-1]], rows[cost], rows["value"]
            panel.plot(x, median, color=look.colour, lw=1.4, zorder=3)
            panel.vlines(x, rows["low"], rows["high"], color=look.colour, lw=1.1, zorder=2)
            panel.plot(x, median, ls="", ms=6, zorder=4, **look.marks())
            beside = {"xytext": (4, 4), "textcoords": "offset points", "color": MUTED, "fontsize": 7.5}
            for key, place, error in zip(rows.index, x, median, strict=True):
                panel.annotate(f"{widths[key]}", (place, error), **beside)
            labels[-1].append((float(median.iloc[-1]), str(rows["label"].iloc[-1]), look.colour))
        drawn = table.index.isin([key for line in lines for key in line])
        error_limits(panel, table.loc[drawn, "value"], margin=1.6)
    axes[-1, 0].set_xlabel(words)
    for panel, named in zip(axes[:, 0], labels, strict=True):
        label_right(panel, named)
        if not named:
            say_no_errors(panel)
    return figure
