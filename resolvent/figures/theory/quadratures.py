"""Compare quadratures: the density of the nodes matters with equal weights, not with trapezoidal ones."""

import pandas as pd

from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.style import MUTED, grid_lines, new_figure, title
from resolvent.figures.theory.collection import list_fits
from resolvent.figures.theory.continuum import NODES, fits_of, guide, number

WEIGHTS = {  # with what the orders are of
    "trapezoid": ("Trapezoidal weights", "order fitted (theory)"),
    "equal": ("Equal weights", "order towards its limit (theory)"),
}


def draw(quadratures: pd.DataFrame, continuum_orders: pd.DataFrame):
    """Draw a panel for either weights: errors on all nodes, guides of the theory, the gaps that remain."""
    table, fits = quadratures, continuum_orders
    figure, axes = new_figure(1, 2, size=(9.6, 4.2), sharey=True)
    for panel, (weights, (heading, head)) in zip(axes[0], WEIGHTS.items(), strict=True):
        _draw_errors(panel, table[table["weights"] == weights], fits_of(fits, weights), head)
        title(panel, heading)
    axes[0, 0].set_ylabel("relative error, sup over x")
    axes[0, 0].set_ylim(table["error"].min() / 60, table["error"].max() * 6)
    return figure


def _draw_errors(panel, table: pd.DataFrame, fits: pd.DataFrame, head: str) -> None:
    lines = []
    for nodes, (label, colour, marker) in NODES.items():
        group = table[table["nodes"] == nodes]
        panel.plot(group["points"], group["error"], color=colour, marker=marker, ms=5, lw=1.4)
        gap = group["gap"].iloc[0]
        if gap > 0:
            panel.axhline(gap, color=colour, lw=1.0, ls=(0, (2, 2)))
        fit = fits.loc[nodes]
        rest = f", gap {gap:.2f}" if gap > 0 else ""
        lines.append((f"{label}  {number(fit['fitted'])} ({fit['theory']:g}){rest}", colour))
    closing = [nodes for nodes in NODES if (table[table["nodes"] == nodes]["gap"] == 0).all()]
    for order, cases in fits.loc[closing].groupby("theory"):
        group = table[table["nodes"] == cases.index[0]]
        guide(panel, group["points"], order, group["error"].max())
    panel.set(xscale="log", yscale="log", xlabel="points N")
    grid_lines(panel)
    list_fits(panel, head, lines, left=0.03, top=0.4)
    words = "dotted: theory"
    panel.text(0.98, 0.97, words, transform=panel.transAxes, color=MUTED, fontsize=8.5, ha="right", va="top")


QUADRATURES = Exhibit(
    "Weights against nodes",
    "Relative error of self-attention, sup over seventeen x, on nodes in [0, 1]: evenly spaced; with two "
    "rates, the steps doubled from the middle on; random, with and without the ends; random and three "
    "times as dense at 1 as at 0. As many nodes as {quadrature_intervals} intervals have (two rates: "
    "three quarters); random nodes: mean of {continuum_draws} draws. Dotted: order of the theory, and on "
    "the right the distance of the limit from the integral.",
    draw,
)
