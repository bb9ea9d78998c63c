"""Draw the six pictures of docs/theory.md: docs/images/theory_….svg.

    PYTHONPATH=tests/theory python docs/scripts/theory.py

tests/theory has the measurements and their tests.
"""

from collections.abc import Iterable
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import theory_average
import theory_continuum
import theory_convergence
import theory_cost
import theory_fits
import theory_invariance
import theory_projection

from resolvent.figures.common import style
from resolvent.figures.common.style import COLOURS, MUTED, SPARE, grid_lines, new_figure, title
from resolvent.figures.papers.cao2021.tables import NAMES
from resolvent.models.registry import examples

IMAGES = Path(__file__).resolve().parents[1] / "images"
SEED = 1127802
DRAWS = 30  # of random points
PROJECTION_POINTS = [64, 128, 256, 512, 1024]
CONVERGENCE_POINTS = [16, 32, 64, 128, 256, 512, 1024]
COST_POINTS = [256, 512, 1024, 2048, 4096]
COST_FEATURES = 97  # of the head: 96 and x, as in Example 1 of Cao 2021
MONTE_CARLO_POINTS = [16, 64, 256, 1024]
INTERVALS = [16, 32, 64, 128, 256, 512, 1024]
AVERAGE_SIDES = [4, 6, 8, 12, 16, 24]
INVARIANCE_POINTS_1D = [32, 64, 128, 256]
INVARIANCE_POINTS_2D = [16, 32]

ORDERS = "order fitted (theory)"
DOTTED = {"color": MUTED, "lw": 1.1, "ls": (0, (2, 2))}  # theoretical lines
FIT_LINE = 0.062  # line height of the list of fits, as a fraction of the panel
BASES = {  # from top to bottom
    "orthonormal": "orthonormal\nQ = K",
    "dual_keys": "any Q,\nK its dual",
    "unit_columns": "Q = K,\nunit columns",
    "layer_norm": "layer norm\nof K and V",
    "as_drawn": "Q = K\nas drawn",
}
SPACES = {
    "fourier": ("Fourier, tested by Fourier", "#0072b2", "o"),
    "legendre_fourier": ("Legendre, tested by Fourier", "#d55e00", "s"),
    "random": ("random functions", "#00805e", "^"),
    "noise": ("noise", SPARE[2], "x"),
}
RULES = {
    "periodic": "Periodic: ρⁿ",
    "left_rectangle": "Not periodic, equal weights: 1/n",
    "trapezoid": "Not periodic, trapezoid: 1/n²",
}
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


def look(attention: str) -> style.Appearance:
    """Return the appearance of an attention; reassociated Fourier attention is dashed and hollow."""
    colour, marker = style.ATTENTIONS[attention.partition("_")[0]]
    reassociated = attention == "fourier_linear"
    return style.Appearance(colour, marker, (0, (4, 1.6)) if reassociated else "-", not reassociated)


def in_colour(fits: dict[str, str]) -> list[tuple[str, str]]:
    """Return the lines of `list_fits`: names of attentions with their fits, in their colours."""
    return [(f"{NAMES[attention]}  {fit}", look(attention).colour) for attention, fit in fits.items()]


def logarithmic(panel, points: pd.Series, label: str, *, small: bool = True) -> None:
    """Set logarithmic axes for these numbers of points; `small` makes their labels small."""
    style.resolution_axis(panel, points)
    if small:
        panel.tick_params(axis="x", labelsize=8)
    panel.set(yscale="log", xlabel=label)
    grid_lines(panel)


def guide(panel, points: pd.Series, order: float, top: float) -> None:
    """Draw a line of the given order through twice `top` at the fewest points."""
    ends = np.array([points.min(), points.max()], dtype=float)
    panel.plot(ends, 2 * top * (ends / ends[0]) ** -order, **DOTTED)


def list_fits(panel, head: str, fits: Iterable[tuple[str, str]], *, left: float, top: float) -> None:
    """List fitted orders, (text, colour), from a corner in axes fractions downwards."""
    for line, (words, colour) in enumerate([(head, MUTED), *fits]):
        y = top - FIT_LINE * line
        panel.text(left, y, words, transform=panel.transAxes, color=colour, fontsize=8.5, va="top")


def fits_of(orders: pd.DataFrame, measurement: str) -> Any:
    """Return the fits of one measurement by case."""
    return orders[orders["measurement"] == measurement].set_index("case")


def with_theory(fit: pd.Series) -> str:
    """Return the fitted order, and the theoretical order in parentheses."""
    return f"{fit['fitted']:.2f} ({fit['theory']:g})"


def draw_projection(projection: pd.DataFrame, quasi_optimality: pd.DataFrame):
    """Draw distances to the projection by basis, errors with their bounds, and inf-sup constants by grid."""
    figure, ((left, middle, right),) = new_figure(1, 3, size=(10.4, 3.7), width_ratios=(1.15, 1.1, 1))
    blue = "#0072b2"
    for row, basis in enumerate(BASES):
        group = projection[projection["basis"] == basis]
        ones = np.full(len(group), row)
        left.plot(group["distance"], ones, ls="", marker="o", ms=6, color=blue)
        left.plot(group["distance_rescaled"], ones, ls="", marker="o", ms=6, mfc="white", mec=blue, zorder=3)
    left.set(xscale="log", xlim=(1e-17, 1e3), xlabel="relative distance")
    left.set_yticks(range(len(BASES)), BASES.values())
    left.set_ylim(len(BASES) - 0.5, -0.5)
    left.axvspan(1e-17, 1e-13, color=MUTED, alpha=0.1, lw=0)
    left.text(1.5e-13, 0.5, "rounding", color=MUTED, fontsize=8.5, va="center")
    left.text(0.03, 0.03, "hollow: rescaled", transform=left.transAxes, color=MUTED, fontsize=8.5)
    grid_lines(left, "x")
    title(left, "Distance from the projection")

    table = quasi_optimality
    limits = table["error"].min() / 20, table["bound"].max() * 2
    middle.fill_between(limits, limits, [limits[1]] * 2, color=MUTED, alpha=0.1, lw=0)
    middle.plot(limits, limits, color=MUTED, lw=1)
    for spaces, (label, colour, marker) in SPACES.items():
        group = table[table["spaces"] == spaces]
        marks = {"ls": "", "marker": marker, "ms": 4, "color": colour, "alpha": 0.75}
        middle.plot(group["bound"], group["error"], label=label, **marks)
        constants = group.groupby("points")["inf_sup"].agg(["min", "mean", "max"])
        band = (constants["min"], constants["max"])
        right.fill_between(constants.index, *band, color=colour, alpha=0.18, lw=0)
        right.plot(constants.index, constants["mean"], color=colour, marker=marker, ms=4, lw=1.4)
    middle.set(xscale="log", yscale="log", xlim=limits, ylim=limits)
    middle.set(xlabel="bound  c⁻¹ min ‖f - q‖", ylabel="error  ‖f - p‖")
    middle.text(0.04, 0.95, "forbidden", transform=middle.transAxes, color=MUTED, fontsize=8.5, va="top")
    middle.legend(frameon=False, fontsize=8, loc="lower right", handletextpad=0.2)
    grid_lines(middle, "both")
    title(middle, "Never above the bound")
    style.resolution_axis(right, table["points"])
    right.set(yscale="log", xlabel="points n", ylabel="inf-sup constant c")
    grid_lines(right)
    title(right, "Constant for functions and noise")
    return figure


def draw_cost(cost: pd.DataFrame, cost_orders: pd.DataFrame):
    """Draw one line per attention, and the fitted power of n."""
    figure, ((panel,),) = new_figure(1, 1, size=(5.6, 3.9))
    for attention, group in cost.groupby("attention", sort=False):
        own = look(str(attention))
        line = {"ls": own.dashes, "lw": 1.5, "ms": 5, "alpha": 0.9}
        panel.plot(group["points"], group["flops"], **line, **own.marks())
    logarithmic(panel, cost["points"], "points n", small=False)
    panel.set_ylabel("operations of the matrix products")
    low, high = panel.get_ylim()
    panel.set_ylim(low, high * (high / low) ** 0.35)  # space for the legend
    powers = {fit["attention"]: f"$n^{{{fit['fitted']:.2f}}}$" for fit in cost_orders.to_dict("records")}
    list_fits(panel, "fitted", in_colour(powers), left=0.03, top=0.97)
    return figure


def draw_convergence(convergence: pd.DataFrame, convergence_orders: pd.DataFrame):
    """Draw one panel per rule: errors of every attention, the theoretical line, and fitted orders."""
    figure, axes = new_figure(1, 3, size=(10.4, 3.9), sharey=True)
    for panel, (rule, heading) in zip(axes[0], RULES.items(), strict=True):
        table = convergence[convergence["rule"] == rule]
        fits = convergence_orders[convergence_orders["rule"] == rule].to_dict("records")
        theory, geometric = float(fits[0]["theory"]), fits[0]["quantity"] == "rate"
        points = np.sort(table["points"].unique()).astype(float)
        falls = theory ** (points - points[0]) if geometric else (points / points[0]) ** -theory
        expected = 3 * table[table["points"] == points[0]]["error"].max() * falls  # above the errors
        shown = expected > table["error"].min()
        panel.plot(points[shown], expected[shown], **DOTTED)
        for place, (attention, group) in enumerate(table.groupby("attention", sort=False)):
            marks = look(str(attention)).marks() | {"markerfacecolor": "none"}
            # Coinciding lines stay visible.
            panel.plot(group["points"], group["error"], lw=1.1, ms=9 - 2 * place, **marks)
        logarithmic(panel, convergence["points"], "points n")
        title(panel, heading)
        fitted = {fit["attention"]: f"{fit['fitted']:.2f}" for fit in fits}
        head = f"{'ρ' if geometric else 'order'} fitted (theory {theory:.2f})"
        left, top = (0.4, 0.97) if rule == "periodic" else (0.03, 0.33)
        list_fits(panel, head, in_colour(fitted), left=left, top=top)
    axes[0, 0].set_ylabel("relative error")
    axes[0, 0].set_ylim(convergence["error"].min() / 5, convergence["error"].max() * 1e3)
    return figure


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
        logarithmic(panel, table["points"], "random points N")
        panel.set_ylim(table["low"].min() / 6, table["high"].max() * 2)
        order = f"sup over x: order {fit['fitted']:.2f} (theory {fit['theory']:g})"
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
        guide(right, group["points"], fits.loc[case, "theory"], group["error"].max())
        words.append((f"{label}  {with_theory(fits.loc[case])}", colour))
    logarithmic(right, averages["points"], "points N")
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
            guide(panel, first["points"], order, first["error"].max())
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
    cases = (claimed["architecture"] + " " + claimed["variant"].fillna("")).str.strip()
    claimed = claimed.assign(case=cases, kind=cases.str.replace("[12]d", "", regex=True))
    marks = zip(cycle(COLOURS + SPARE), cycle(MARKERS), strict=False)
    looks = dict(zip(claimed["kind"].unique(), marks, strict=False))
    figure, (panels,) = new_figure(1, 2, size=(10.4, 3.9), sharey=True)
    for panel, dimension in zip(panels, (1, 2), strict=True):
        table, words = claimed[claimed["dimension"] == dimension], []
        for case, group in table.groupby("case", sort=False):
            colour, marker = looks[group["kind"].iloc[0]]
            panel.plot(group["points"], group["error"], color=colour, marker=marker, ms=5, lw=1.3, mfc="none")
            words.append((f"{case}  {with_theory(fits.loc[case])}", colour))
        logarithmic(panel, table["points"], "intervals per side n", small=False)
        list_fits(panel, ORDERS, words, left=1.02, top=1.0)
        title(panel, "One dimension" if dimension == 1 else "Two dimensions")
    panels[0].set_ylabel("relative difference of n and 2n")
    return figure


def main() -> None:
    """Measure, draw, and print the numbers that the page states."""
    projection = theory_projection.distances(PROJECTION_POINTS, SEED)
    quasi_optimality = theory_projection.quasi_optimality(PROJECTION_POINTS, SEED)
    cost = theory_cost.costs(COST_POINTS, COST_FEATURES)
    convergence = theory_convergence.errors(CONVERGENCE_POINTS)
    monte_carlo = theory_continuum.monte_carlo(MONTE_CARLO_POINTS, DRAWS, SEED)
    quadratures = theory_continuum.quadratures(INTERVALS, DRAWS, SEED)
    averages = theory_average.average_errors(AVERAGE_SIDES, DRAWS, SEED)
    invariance = theory_invariance.invariance_errors(
        examples(), INVARIANCE_POINTS_1D, INVARIANCE_POINTS_2D, SEED
    )
    orders = theory_fits.continuum_orders(monte_carlo, quadratures, averages, invariance)
    figures = {
        "projection": draw_projection(projection, quasi_optimality),
        "cost": draw_cost(cost, theory_fits.cost_orders(cost)),
        "convergence": draw_convergence(convergence, theory_fits.convergence_orders(convergence)),
        "monte_carlo": draw_monte_carlo(monte_carlo, averages, orders),
        "quadratures": draw_quadratures(quadratures, orders),
        "invariance": draw_invariance(invariance, orders),
    }
    for name, figure in figures.items():
        _, *others = style.save(figure, IMAGES / f"theory_{name}.svg")
        for other in others:  # the page shows only the SVG
            other.unlink()
    misfit = quasi_optimality["misfit"] / quasi_optimality["least_misfit"] - 1
    deviation = monte_carlo[monte_carlo["points"] == MONTE_CARLO_POINTS[-1]]
    ratio = deviation["deviation"] / deviation["predicted"]
    print(f"theorem 4.4: {len(misfit)} cases, misfit within {misfit.abs().max():.0e} of the least")
    print(f"theorem 6: deviation {ratio.min():.2f} to {ratio.max():.2f} times the predicted one")
    print(f"theorem 22: rounding at most {averages['rounding'].max():.0e}")


if __name__ == "__main__":
    main()
