"""Figures on the claims of Cao (2021) about attention: a projection, linear cost, and a quadrature."""

import numpy as np
import pandas as pd

from resolvent.figures.common import style
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.numbers import scientific
from resolvent.figures.common.style import MUTED, Appearance, grid_lines, new_figure, title
from resolvent.figures.theory.panels import DOTTED, list_fits, logarithmic, number

NAMES = {
    "galerkin": "Galerkin",
    "linear": "linear",
    "fourier": "Fourier",
    "fourier_linear": "Fourier as Q(KᵀV)",
    "fourier_quadratic": "Fourier as (QKᵀ)V",
    "softmax": "softmax",
}
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
    "noise": ("noise", style.SPARE[2], "x"),
}
QUANTITIES = {
    "flops": ("Counted", "operations of the matrix products"),
    "seconds": ("Measured", "seconds, one thread"),
}
RULES = {
    "periodic": "Periodic: ρⁿ",
    "left_rectangle": "Not periodic, equal weights: 1/n",
    "trapezoid": "Not periodic, trapezoid: 1/n²",
}


def look(attention: str) -> Appearance:
    """Return the appearance of an attention; reassociated Fourier attention is dashed and hollow."""
    colour, marker = style.ATTENTIONS[attention.partition("_")[0]]
    reassociated = attention == "fourier_linear"
    return Appearance(colour, marker, (0, (4, 1.6)) if reassociated else "-", not reassociated)


def in_colour(fits: dict[str, str]) -> list[tuple[str, str]]:
    return [(f"{NAMES[attention]}  {fit}", look(attention).colour) for attention, fit in fits.items()]


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
    figure, axes = new_figure(1, 2, size=(9.6, 3.9))
    for panel, (quantity, (heading, label)) in zip(axes[0], QUANTITIES.items(), strict=True):
        for attention, group in cost.groupby("attention", sort=False):
            own = look(str(attention))
            line = {"ls": own.dashes, "lw": 1.5, "ms": 5, "alpha": 0.9}
            panel.plot(group["points"], group[quantity], **line, **own.marks())
        logarithmic(panel, cost["points"], "points n", small=False)
        panel.set_ylabel(label)
        low, high = panel.get_ylim()
        panel.set_ylim(low, high * (high / low) ** 0.35)  # space for the legend
        fits = cost_orders[cost_orders["quantity"] == quantity].to_dict("records")
        powers = {fit["attention"]: f"$n^{{{fit['fitted']:.2f}}}$" for fit in fits}
        head = f"fitted from n = {fits[0]['fitted_from']:,}"
        list_fits(panel, head, in_colour(powers), left=0.03, top=0.97)
        title(panel, heading)
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
        fitted = {fit["attention"]: number(fit["fitted"]) for fit in fits}
        head = f"{'ρ' if geometric else 'order'} fitted (theory {theory:.2f})"
        left, top = (0.4, 0.97) if rule == "periodic" else (0.03, 0.33)
        list_fits(panel, head, in_colour(fitted), left=left, top=top)
    axes[0, 0].set_ylabel("relative error")
    axes[0, 0].set_ylim(convergence["error"].min() / 5, convergence["error"].max() * 1e3)
    return figure


def distance_rows(table: pd.DataFrame) -> list[list[str]]:
    """Return basis, largest distance over the grids, and largest after rescaling."""
    largest = table.groupby("basis")[["distance", "distance_rescaled"]].max().to_dict("index")
    return [
        [words.replace("\n", " "), *(scientific(one, 2) for one in largest[basis].values())]
        for basis, words in BASES.items()
    ]


def space_rows(table: pd.DataFrame) -> list[list[str]]:
    """Return spaces, range of c, largest error / bound, largest errors of reproduction and of the misfit."""
    found = table.assign(off=(table["misfit"] / table["least_misfit"] - 1).abs()).groupby("spaces")
    low, high = found["inf_sup"].min(), found.max(numeric_only=True).to_dict("index")
    rows = []
    for spaces, (label, *_) in SPACES.items():
        one = high[spaces]
        constants = f"{low[spaces]:.3f} to {one['inf_sup']:.3f}"
        missed = [scientific(one[name], 2) for name in ("reproduction", "off")]
        rows.append([label, constants, f"{one['ratio']:.3f}", *missed])
    return rows


PROJECTION = Exhibit(
    "Galerkin attention as a projection",
    "Left: relative distance of Q(KᵀV)/n from the least-squares projection of V onto the span of Q, for "
    "eight random trigonometric polynomials and n = {projection_points}; marks of all grids coincide. "
    "Hollow: after multiplication by the best constant. Middle: error of the attention's approximation p to "
    "f against c⁻¹ times the smallest error in the span of Q, for three functions f, four kinds of spaces "
    "(six values, ten keys), five draws of random spaces, and every n. Right: the constant c; bands cover "
    "all draws. Double precision.",
    draw_projection,
)
COST = Exhibit(
    "Linear and quadratic cost",
    "One head with {cost_features} features, batch size 1, forward pass, single precision, n = "
    "{cost_points}. Left: two operations for each multiply-add of the matrix products; some lines coincide. "
    "Right: median of {cost_repetitions} timings on one CPU thread, alternating between attentions and "
    "sizes; softmax is torch's fused kernel. Times vary between runs.",
    draw_cost,
)
CONVERGENCE = Exhibit(
    "From sums to integrals",
    "Relative error at sixteen points of each attention for three-component functions q, k, v on n = "
    "{convergence_points} intervals, compared with the integral operator by Gauss-Legendre quadrature. "
    "Dotted: the theoretical rate. For periodic functions it is geometric, with ρ from the poles of v, down "
    "to rounding. Without a softmax, Galerkin and Fourier attention compute the same sums. Double precision.",
    draw_convergence,
)
