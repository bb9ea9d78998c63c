"""When Galerkin attention is a projection, and how good its approximation is at worst."""

import numpy as np
import pandas as pd

from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.style import MUTED, SPARE, grid_lines, new_figure, resolution_axis, title

BASES = {  # from the top down
    "orthonormal": "orthonormal\nQ = K",
    "dual_keys": "any Q,\nK its dual",
    "unit_columns": "Q = K,\nunit columns",
    "layer_norm": "layer norm\nof K and V",
    "as_drawn": "Q = K\nas drawn",
}
SPACES = {
    "fourier": ("Fourier in Fourier", "#0072b2", "o"),
    "legendre_fourier": ("Legendre, tested by Fourier", "#d55e00", "s"),
    "random": ("random functions", "#00805e", "^"),
    "noise": ("noise", SPARE[2], "x"),
}


def draw(projection: pd.DataFrame, quasi_optimality: pd.DataFrame):
    """Draw distances to the projection by basis; errors against their bounds; inf-sup constants by grid."""
    figure, ((left, middle, right),) = new_figure(1, 3, size=(10.4, 3.7), width_ratios=(1.15, 1.1, 1))
    _draw_distances(left, projection)
    _draw_bound(middle, quasi_optimality)
    _draw_constants(right, quasi_optimality)
    return figure


def _draw_distances(panel, table: pd.DataFrame) -> None:
    for row, basis in enumerate(BASES):
        group = table[table["basis"] == basis]
        ones = np.full(len(group), row)
        panel.plot(group["distance"], ones, ls="", marker="o", ms=6, color="#0072b2")
        panel.plot(
            group["distance_rescaled"], ones, ls="", marker="o", ms=6, mfc="white", mec="#0072b2", zorder=3
        )
    panel.set(xscale="log", xlim=(1e-17, 1e3), xlabel="relative distance")
    panel.set_yticks(range(len(BASES)), BASES.values())
    panel.set_ylim(len(BASES) - 0.5, -0.5)
    panel.axvspan(1e-17, 1e-13, color=MUTED, alpha=0.1, lw=0)
    panel.text(1.5e-13, 0.5, "rounding", color=MUTED, fontsize=8.5, va="center")
    panel.text(0.03, 0.03, "hollow: rescaled", transform=panel.transAxes, color=MUTED, fontsize=8.5)
    grid_lines(panel, "x")
    title(panel, "Distance from the projection")


def _draw_bound(panel, table: pd.DataFrame) -> None:
    limits = table["error"].min() / 20, table["bound"].max() * 2
    panel.fill_between(limits, limits, [limits[1]] * 2, color=MUTED, alpha=0.1, lw=0)
    panel.plot(limits, limits, color=MUTED, lw=1)
    for spaces, (label, colour, marker) in SPACES.items():
        group = table[table["spaces"] == spaces]
        panel.plot(
            group["bound"], group["error"], ls="", marker=marker, ms=4, color=colour, alpha=0.75, label=label
        )
    panel.set(xscale="log", yscale="log", xlim=limits, ylim=limits)
    panel.set(xlabel="bound  c⁻¹ min ‖f - q‖", ylabel="error  ‖f - p‖")
    panel.text(0.04, 0.95, "forbidden", transform=panel.transAxes, color=MUTED, fontsize=8.5, va="top")
    panel.legend(frameon=False, fontsize=8, loc="lower right", handletextpad=0.2)
    grid_lines(panel, "both")
    title(panel, "Never above the bound")


def _draw_constants(panel, table: pd.DataFrame) -> None:
    for spaces, (_, colour, marker) in SPACES.items():
        group = table[table["spaces"] == spaces].groupby("points")["inf_sup"]
        points = sorted(group.groups)
        panel.fill_between(points, group.min(), group.max(), color=colour, alpha=0.18, lw=0)
        panel.plot(points, group.mean(), color=colour, marker=marker, ms=4, lw=1.4)
    resolution_axis(panel, table["points"])
    panel.set(yscale="log", xlabel="points n", ylabel="inf-sup constant c")
    grid_lines(panel)
    title(panel, "Functions keep their constant")


PROJECTION = Exhibit(
    "Galerkin attention as a projection",
    "Left: relative distance of Q(KᵀV)/n from the least-squares projection of V onto the span of Q, for "
    "eight random trigonometric polynomials and n = {projection_points}; grids lie on each other. Hollow:"
    " after multiplication by the best number. Middle: error of the attention's approximation p to f "
    "against c⁻¹ times the smallest error in the span of Q, for three functions f, four kinds of spaces "
    "(six values, ten keys), five draws where they are random, and every n. Right: the constant c; band: "
    "all draws. In double precision.",
    draw,
)
