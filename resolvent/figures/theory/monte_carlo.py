"""Attention over random points approaches its integral, and a layer with Q = K = 0 is a mean."""

import pandas as pd

from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.style import MUTED, grid_lines, new_figure, resolution_axis, title
from resolvent.figures.theory.collection import list_fits
from resolvent.figures.theory.continuum import ATTENTIONS, AVERAGES, fits_of, guide, number

COLOURS = {"self": "#0072b2", "cross": "#d55e00"}


def draw(monte_carlo: pd.DataFrame, averages: pd.DataFrame, continuum_orders: pd.DataFrame):
    """Draw a panel for either attention, of the function that is worst at most points; one for the means."""
    figure, axes = new_figure(1, 3, size=(10.4, 3.9))
    for panel, case in zip(axes[0], ATTENTIONS, strict=False):
        group = monte_carlo[monte_carlo["attention"] == case]
        _draw_attention(panel, group, COLOURS[case], fits_of(continuum_orders, "monte_carlo").loc[case])
        title(panel, ATTENTIONS[case].capitalize())
    _draw_means(axes[0, 2], averages, fits_of(continuum_orders, "average"))
    axes[0, 0].set_ylabel("relative error")
    return figure


def _draw_attention(panel, table: pd.DataFrame, colour: str, fit: pd.Series) -> None:
    worst = table.loc[table[table["points"] == table["points"].max()]["error"].idxmax(), "function"]
    group = table[table["function"] == worst]
    panel.fill_between(group["points"], group["low"], group["high"], color=colour, alpha=0.15, lw=0)
    panel.plot(group["points"], group["error"], color=colour, lw=1.4, marker="o", ms=5)
    panel.plot(group["points"], group["predicted"], color=MUTED, lw=1.1, ls=(0, (2, 2)))
    panel.plot(group["points"], group["deviation"], ls="", marker="s", ms=5, mfc="white", mec=MUTED, zorder=3)
    _logarithmic(panel, table["points"], "random points N")
    panel.set_ylim(table["low"].min() / 6, table["high"].max() * 2)
    words = [
        (f"sup over x: order {number(fit['fitted'])} (theory {fit['theory']:g})", colour),
        ("□  root mean square", MUTED),
        ("⋯  its prediction, no fit", MUTED),
    ]
    for line, (text, shade) in enumerate(words):
        panel.text(0.03, 0.17 - 0.065 * line, text, transform=panel.transAxes, color=shade, fontsize=8.5)


def _draw_means(panel, table: pd.DataFrame, fits: pd.DataFrame) -> None:
    words = []
    for case, (label, colour, marker) in AVERAGES.items():
        nodes, _, dimension = case.rpartition("_")
        group = table[(table["nodes"] == nodes) & (table["dimension"] == int(dimension[0]))]
        panel.plot(group["points"], group["error"], color=colour, marker=marker, ms=5, lw=1.4)
        guide(panel, group["points"], fits.loc[case, "theory"], group["error"].max())
        words.append((f"{label}  {number(fits.loc[case, 'fitted'])} ({fits.loc[case, 'theory']:g})", colour))
    _logarithmic(panel, table["points"], "points N")
    panel.set_ylim(table["error"].min() / 300, table["error"].max() * 4)
    list_fits(panel, "order fitted (theory)", words, left=0.03, top=0.33)
    title(panel, "The layer of theorem 22")


def _logarithmic(panel, points: pd.Series, label: str) -> None:
    resolution_axis(panel, points)
    panel.tick_params(axis="x", labelsize=8)
    panel.set(yscale="log", xlabel=label)
    grid_lines(panel)


MONTE_CARLO = Exhibit(
    "Attention over random points",
    "Left and middle: relative error, sup over seventeen x, of attention over N = {continuum_points} "
    "independent uniform points, against the integral by Gauss-Legendre quadrature; cross-attention is "
    "from functions on [0, 1] to functions on [0, 1]². Shown is the function, of four, whose error is "
    "largest at most points; line: mean of {continuum_draws} draws, band: 5 % to 95 %. Squares: root of "
    "the mean square over draws and x; dotted: what the delta method predicts of it. Right: the layer "
    "f(W₁v + b₁ + mean of v) on grids and on random points, {average_sides} a side in two dimensions and "
    "as many in one; dotted: the order of the theory. In double precision.",
    draw,
)
