"""What the figures and tables of continuum attention have in common: names, fits, rows of the page."""

import numpy as np
import pandas as pd

from resolvent.figures.common.numbers import DASH
from resolvent.figures.common.style import MUTED

ATTENTIONS = {"self": "attention (theorem 6)", "cross": "cross-attention (theorem 12)"}
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
GUIDE = 2  # how far the line of the theory stands above the errors


def fits_of(orders: pd.DataFrame, measurement: str) -> pd.DataFrame:
    """Return `fitted` and `theory` by case."""
    return orders[orders["measurement"] == measurement].set_index("case")


def guide(panel, points: pd.Series, order: float, top: float) -> None:
    """Draw a dotted line of this order, from `top` at the fewest points."""
    ends = np.array([points.min(), points.max()], dtype=float)
    panel.plot(ends, GUIDE * top * (ends / ends[0]) ** -order, color=MUTED, lw=1.1, ls=(0, (2, 2)))


def number(value: float, digits: int = 2) -> str:
    """Return a number with these decimals, or a dash where there is none."""
    return DASH if value != value else f"{value:.{digits}f}"


def monte_carlo_rows(table: pd.DataFrame, orders: pd.DataFrame) -> list[list[str]]:
    """Return attention, fitted order, theory, range of deviation/predicted at most points."""
    finest = table[table["points"] == table["points"].max()]
    rows = []
    for case, fit in fits_of(orders, "monte_carlo").iterrows():
        group = finest[finest["attention"] == case]
        ratio = group["deviation"] / group["predicted"]
        rows.append(
            [
                ATTENTIONS[case],
                number(fit["fitted"]),
                f"{fit['theory']:g}",
                f"{ratio.min():.2f} to {ratio.max():.2f}",
            ]
        )
    return rows


def average_rows(table: pd.DataFrame, orders: pd.DataFrame) -> list[list[str]]:
    """Return the points, fitted order, theory, largest difference from eq. 37 with the mean over the
    points."""
    rows = []
    for case, fit in fits_of(orders, "average").iterrows():
        group = table[table["nodes"] + "_" + table["dimension"].astype(str) + "d" == case]
        rows.append(
            [
                AVERAGES[case][0],
                number(fit["fitted"]),
                f"{fit['theory']:g}",
                f"{group['rounding'].max():.0e}",
            ]
        )
    return rows


def quadrature_rows(table: pd.DataFrame, orders: pd.DataFrame) -> list[list[str]]:
    """Return nodes, orders and theory of trapezoidal and of equal weights, gap and error of the latter."""
    trapezoid, equal = fits_of(orders, "trapezoid"), fits_of(orders, "equal")
    rows = []
    for nodes, (label, _, _) in NODES.items():
        group = table[(table["nodes"] == nodes) & (table["weights"] == "equal")]
        finest = group.loc[group["points"].idxmax()]
        rows.append(
            [
                label,
                *(number(fit["fitted"]) for fit in (trapezoid.loc[nodes], equal.loc[nodes])),
                " and ".join(f"{fit['theory']:g}" for fit in (trapezoid.loc[nodes], equal.loc[nodes])),
                f"{finest['gap']:.3f}",
                f"{finest['error']:.3f}",
            ]
        )
    return rows


def invariance_rows(table: pd.DataFrame, orders: pd.DataFrame) -> list[list[str]]:
    """Return operator, its claim, errors on the coarsest and the finest grid, order and theory.

    Those that claim it come first.
    """
    fits = fits_of(orders, "invariance")
    rows = []
    for claims in (True, False):
        for case, group in by_operator(table[table["claims"] == claims]):
            errors = group.sort_values("points")["error"]
            fit = fits.loc[case] if case in fits.index else {"fitted": np.nan, "theory": np.nan}
            rows.append(
                [
                    case,
                    "yes" if claims else "no",
                    *(
                        DASH if error != error else f"{error:.1e}"
                        for error in (errors.iloc[0], errors.iloc[-1])
                    ),
                    number(fit["fitted"]),
                    number(fit["theory"], 0),
                ]
            )
    return rows


def by_operator(table: pd.DataFrame):
    """Group the rows by operator, architecture and variant in one name, in the table's order."""
    names = (table["architecture"] + " " + table["variant"].fillna("")).str.strip()
    return table.groupby(names, sort=False)
