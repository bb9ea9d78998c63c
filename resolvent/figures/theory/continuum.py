"""Figures on the theorems of Calvello et al. (2024) about attention between functions, measured on points."""

from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd

from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.numbers import scientific
from resolvent.figures.common.style import COLOURS, MUTED, SPARE, grid_lines, new_figure, title
from resolvent.figures.theory import panels as parts
from resolvent.figures.theory.panels import DOTTED, ORDERS, fits_of, list_fits, number, with_theory

ATTENTIONS = {  # with a colour
    "self": ("attention (theorem 6)", "#0072b2"),
    "cross": ("cross-attention (theorem 12)", "#d55e00"),
}
NODES = {  # with colour and marker
    "even": ("even", "#0072b2", "o"),
    "two_rates": ("two rates", "#d55e00", "s"),
    "random": ("random", "#00805e", "^"),
    "random_denser": ("random, denser at 1", "#b0418a", "D"),
    "random_without_ends": ("random, without ends", "#7a5230", "v"),
}
AVERAGES = {
    "trapezoid_1d": ("trapezoid, [0, 1]", "#0072b2", "o"),
    "trapezoid_2d": ("trapezoid, [0, 1]²", "#d55e00", "s"),
    "monte_carlo_1d": ("random, [0, 1]", "#00805e", "^"),
    "monte_carlo_2d": ("random, [0, 1]²", "#b0418a", "D"),
}
WEIGHTS = {  # with the heading of the orders
    "trapezoid": ("Trapezoidal weights", ORDERS),
    "equal": ("Equal weights", "order towards its limit (theory)"),
}
MARKERS = "os^DPXv<>ph"


def draw_monte_carlo(monte_carlo: pd.DataFrame, averages: pd.DataFrame, continuum_orders: pd.DataFrame):
    """Draw one panel per attention, for the function that is worst at most points, and one for means."""
    figure, ((*panels, right),) = new_figure(1, 3, size=(10.4, 3.9))
    for panel, (case, (heading, colour)) in zip(panels, ATTENTIONS.items(), strict=True):
        table = monte_carlo[monte_carlo["attention"] == case]
        fit = fits_of(continuum_orders, "monte_carlo").loc[case]
        worst = table.loc[table[table["points"] == table["points"].max()]["error"].idxmax(), "function"]
        group = table[table["function"] == worst]
        panel.fill_between(group["points"], group["low"], group["high"], color=colour, alpha=0.15, lw=0)
        panel.plot(group["points"], group["error"], color=colour, lw=1.4, marker="o", ms=5)
        panel.plot(group["points"], group["predicted"], **DOTTED)
        squares = {"ls": "", "marker": "s", "ms": 5, "mfc": "white", "mec": MUTED, "zorder": 3}
        panel.plot(group["points"], group["deviation"], **squares)
        parts.logarithmic(panel, table["points"], "random points N")
        panel.set_ylim(table["low"].min() / 6, table["high"].max() * 2)
        order = f"sup over x: order {number(fit['fitted'])} (theory {fit['theory']:g})"
        keys = ((order, colour), ("□  root mean square", MUTED), ("⋯  its prediction, no fit", MUTED))
        for line, (text, shade) in enumerate(keys):
            y = 0.17 - 0.065 * line
            panel.text(0.03, y, text, transform=panel.transAxes, color=shade, fontsize=8.5)
        title(panel, heading.capitalize())
    fits, words = fits_of(continuum_orders, "average"), []
    by_case = averages.groupby(averages["nodes"] + "_" + averages["dimension"].astype(str) + "d")
    for case, (label, colour, marker) in AVERAGES.items():
        group = by_case.get_group(case)
        right.plot(group["points"], group["error"], color=colour, marker=marker, ms=5, lw=1.4)
        parts.guide(right, group["points"], fits.loc[case, "theory"], group["error"].max())
        words.append((f"{label}  {with_theory(fits.loc[case])}", colour))
    parts.logarithmic(right, averages["points"], "points N")
    right.set_ylim(averages["error"].min() / 300, averages["error"].max() * 4)
    list_fits(right, ORDERS, words, left=0.03, top=0.33)
    title(right, "The layer of theorem 22")
    panels[0].set_ylabel("relative error")
    return figure


def draw_quadratures(quadratures: pd.DataFrame, continuum_orders: pd.DataFrame):
    """Draw one panel per kind of weights: errors on all nodes, theoretical lines, and remaining gaps."""
    figure, (panels,) = new_figure(1, 2, size=(9.6, 4.2), sharey=True)
    for panel, (weights, (heading, head)) in zip(panels, WEIGHTS.items(), strict=True):
        fits, words = fits_of(continuum_orders, weights), []
        of_nodes = dict(list(quadratures[quadratures["weights"] == weights].groupby("nodes")))
        for nodes, (label, colour, marker) in NODES.items():
            points, gap = of_nodes[nodes]["points"], of_nodes[nodes]["gap"].iloc[0]
            panel.plot(points, of_nodes[nodes]["error"], color=colour, marker=marker, ms=5, lw=1.4)
            if gap > 0:
                panel.axhline(gap, color=colour, lw=1.0, ls=(0, (2, 2)))
            rest = f", gap {gap:.2f}" if gap > 0 else ""
            words.append((f"{label}  {with_theory(fits.loc[nodes])}{rest}", colour))
        closing = [nodes for nodes in NODES if (of_nodes[nodes]["gap"] == 0).all()]
        for order, cases in fits.loc[closing].groupby("theory"):
            first = of_nodes[cases.index[0]]
            parts.guide(panel, first["points"], order, first["error"].max())
        panel.set(xscale="log", yscale="log", xlabel="points N")
        grid_lines(panel)
        list_fits(panel, head, words, left=0.03, top=0.4)
        place = {"transform": panel.transAxes, "ha": "right", "va": "top"}
        panel.text(0.98, 0.97, "dotted: theory", color=MUTED, fontsize=8.5, **place)
        title(panel, heading)
    panels[0].set_ylabel("relative error, sup over x")
    panels[0].set_ylim(quadratures["error"].min() / 60, quadratures["error"].max() * 6)
    return figure


def draw_invariance(invariance: pd.DataFrame, continuum_orders: pd.DataFrame):
    """Draw one panel per dimension: differences between n and 2n, and fitted orders.

    Only operators that claim invariance are shown; a kind has the same appearance in one and two dimensions.
    """
    fits = fits_of(continuum_orders, "invariance")
    claimed = invariance[invariance["claims"] & invariance["points"].notna()].astype({"points": int})
    kinds = dict.fromkeys(kind_of(case) for case, _ in by_operator(claimed))
    looks = dict(zip(kinds, zip(cycle(COLOURS + SPARE), cycle(MARKERS), strict=False), strict=False))
    figure, (panels,) = new_figure(1, 2, size=(10.4, 3.9), sharey=True)
    for panel, dimension in zip(panels, (1, 2), strict=True):
        table, words = claimed[claimed["dimension"] == dimension], []
        for case, group in by_operator(table):
            colour, marker = looks[kind_of(case)]
            panel.plot(group["points"], group["error"], color=colour, marker=marker, ms=5, lw=1.3, mfc="none")
            words.append((f"{case}  {with_theory(fits.loc[case])}", colour))
        parts.logarithmic(panel, table["points"], "intervals per side n", small=False)
        list_fits(panel, ORDERS, words, left=1.02, top=1.0)
        title(panel, "One dimension" if dimension == 1 else "Two dimensions")
    panels[0].set_ylabel("relative difference of n and 2n")
    return figure


def invariance_rows(table: pd.DataFrame, orders: pd.DataFrame) -> list[list[str]]:
    """Return operator, claim, errors on the coarsest and the finest grid, order, and theoretical order."""
    fits = fits_of(orders, "invariance")
    rows = []
    for claims in (True, False):
        for case, group in by_operator(table[table["claims"] == claims]):
            words = [scientific(one, 2) for one in group.sort_values("points")["error"].iloc[[0, -1]]]
            fit = fits.loc[case] if case in fits.index else {"fitted": np.nan, "theory": np.nan}
            orders_of = [number(fit["fitted"]), number(fit["theory"], 0)]
            rows.append([case, "yes" if claims else "no", *words, *orders_of])
    return rows


def by_operator(table: pd.DataFrame) -> Any:
    """Group rows by architecture and variant, in the table's order."""
    names = (table["architecture"] + " " + table["variant"].fillna("")).str.strip()
    return table.groupby(names, sort=False)


def kind_of(case: str) -> str:
    return case.replace("1d", "").replace("2d", "")


MONTE_CARLO = Exhibit(
    "Attention over random points",
    "Left and middle: relative error, sup over seventeen x, of attention over N = {continuum_points} "
    "independent uniform points, compared with the integral by Gauss-Legendre quadrature; cross-attention "
    "maps functions on [0, 1] to functions on [0, 1]². Of four functions, the one with the largest error at "
    "the largest N is shown. Line: mean of {continuum_draws} draws; band: 5 % to 95 %. Squares: root mean "
    "square over draws and x; dotted: its prediction by the delta method. Right: the layer f(W₁v + b₁ + mean "
    "of v) on grids and on random points, {average_sides} per side in two dimensions and as many points in "
    "one; dotted: theoretical order. Double precision.",
    draw_monte_carlo,
)
QUADRATURES = Exhibit(
    "Weights and nodes",
    "Relative error of self-attention, sup over seventeen x, on nodes in [0, 1]: evenly spaced; with two "
    "rates, the second half with doubled steps; random, with and without the ends; random and three times as "
    "dense at 1 as at 0. Intervals between nodes: {quadrature_intervals} (two rates: three quarters of "
    "these); random nodes: mean of {continuum_draws} draws. Dotted: theoretical order and, on the "
    "right, the distance of the limit from the integral.",
    draw_quadratures,
)
INVARIANCE = Exhibit(
    "From n to 2n points",
    "Relative L² difference, at the common points, between an operator's outputs for one smooth function on "
    "n and on 2n intervals per side, n = {invariance_points_1d} in one dimension and {invariance_points_2d} "
    "in two; half as many if every point attends to every point. The operators are small and untrained, with "
    "normal noise added to their weights; only operators that claim discretisation invariance are shown.",
    draw_invariance,
)
