"""The attentions approach their integral operators as fast as the quadrature allows."""

import numpy as np
import pandas as pd

from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.numbers import DASH
from resolvent.figures.common.style import MUTED, grid_lines, new_figure, resolution_axis, title
from resolvent.figures.theory.collection import NAMES, list_fits, look

RULES = {
    "periodic": "Periodic: ρⁿ",
    "left_rectangle": "Not periodic, equal weights: 1/n",
    "trapezoid": "Not periodic, trapezoid: 1/n²",
}
GUIDE = 3  # how far the line of the theory stands above the errors


def draw(convergence: pd.DataFrame, convergence_orders: pd.DataFrame):
    """Draw a panel for each rule: errors of every attention, the theory's line, the fitted orders."""
    table, fits = convergence, convergence_orders
    figure, axes = new_figure(1, 3, size=(10.4, 3.9), sharey=True)
    for panel, (rule, heading) in zip(axes[0], RULES.items(), strict=True):
        of_rule = fits[fits["rule"] == rule]
        _draw_guide(panel, table[table["rule"] == rule], of_rule.iloc[0])
        for number, (attention, group) in enumerate(
            table[table["rule"] == rule].groupby("attention", sort=False)
        ):
            marks = {**look(attention).marks(), "markerfacecolor": "none"}
            size = 9 - 2 * number  # what coincides stays visible
            panel.plot(group["points"], group["error"], lw=1.1, ms=size, **marks)
        resolution_axis(panel, table["points"])
        panel.tick_params(axis="x", labelsize=8)
        panel.set(yscale="log", xlabel="points n")
        grid_lines(panel)
        title(panel, heading)
        words = [
            (f"{NAMES[fit['attention']]}  {_number(fit['fitted'])}", look(fit["attention"]).colour)
            for fit in of_rule.to_dict("records")
        ]
        kind = "ρ" if of_rule.iloc[0]["quantity"] == "rate" else "order"
        head = f"{kind} fitted (theory {of_rule.iloc[0]['theory']:.2f})"
        left, top = (0.4, 0.97) if rule == "periodic" else (0.03, 0.33)
        list_fits(panel, head, words, left=left, top=top)
    axes[0, 0].set_ylabel("relative error")
    axes[0, 0].set_ylim(table["error"].min() / 5, table["error"].max() * 1e3)
    return figure


def _number(fitted: float) -> str:
    return DASH if np.isnan(fitted) else f"{fitted:.2f}"


def _draw_guide(panel, table: pd.DataFrame, fit: pd.Series) -> None:
    points = np.sort(table["points"].unique()).astype(float)
    first = GUIDE * table[table["points"] == points[0]]["error"].max()
    steps = points - points[0]
    values = (
        fit["theory"] ** steps if fit["quantity"] == "rate" else (points / points[0]) ** -float(fit["theory"])
    )
    shown = first * values > table["error"].min()
    panel.plot(points[shown], first * values[shown], color=MUTED, lw=1.1, ls=(0, (2, 2)))


CONVERGENCE = Exhibit(
    "From sums to integrals",
    "Relative error of each attention of three-component functions q, k, v on n = {convergence_points} "
    "intervals against the integral operator by Gauss-Legendre quadrature, at sixteen points. Dotted: the"
    " rate of the theory. For periodic functions it is geometric, with ρ from the poles of v; rounding "
    "ends it. Without a softmax, Galerkin and Fourier compute the same sums. In double precision.",
    draw,
)
