"""Orders and rates fitted to what is measured, beside those of the theory."""

from __future__ import annotations

import numpy as np
import pandas

from resolvent.measurements.theory.average import NODES
from resolvent.measurements.theory.continuum import NODE_SETS
from resolvent.measurements.theory.convergence import POLE, ROUNDING, RULES
from resolvent.measurements.theory.cost import ATTENTIONS
from resolvent.models.registry import settings_class


def order(points: np.ndarray, values: np.ndarray) -> float:
    """Fit p of values ≈ C pointsᵖ: the least-squares slope of the logarithms."""
    return float(np.polyfit(np.log(points), np.log(values), 1)[0])


def rate(points: np.ndarray, errors: np.ndarray, floor: float) -> float:
    """Fit ρ of errors ≈ C ρ^points to the errors above `floor` (rounding); NaN if those are under two."""
    above = errors > floor
    if above.sum() < 2:
        return float("nan")
    return float(np.exp(np.polyfit(points[above], np.log(errors[above]), 1)[0]))


def convergence_orders(table: pandas.DataFrame) -> pandas.DataFrame:
    """Fit the power of 1/n, beside theory; for periodic functions the factor that a point more brings.

    That factor is ρ = POLE - √(POLE² - 1): the distance of v's poles from the real line is log(1/ρ)/2π, and
    the rectangle rule converges like ρⁿ (Trefethen and Weideman 2014, Theorem 3.2).

    Columns: `attention`, `rule`, `quantity` (order or rate), `fitted`, `theory`.
    """
    theory = {"periodic": POLE - np.sqrt(POLE**2 - 1), "left_rectangle": 1.0, "trapezoid": 2.0}
    rows = []
    for (name, rule), group in table.groupby(["attention", "rule"], sort=False):
        points, error = group["points"].to_numpy(), group["error"].to_numpy()
        fitted = rate(points, error, ROUNDING) if RULES[rule] == "rate" else -order(points, error)
        rows.append((name, rule, RULES[rule], fitted, theory[rule]))
    return pandas.DataFrame(rows, columns=["attention", "rule", "quantity", "fitted", "theory"])


def cost_orders(table: pandas.DataFrame) -> pandas.DataFrame:
    """Fit powers of n beside those of the theory, on the larger half of the sizes.

    On the smaller ones a call costs more than its arithmetic.

    Columns: `attention`, `quantity` (flops or seconds), `fitted`, `theory`, `fitted_from` (points).
    """
    finer, rows = finer_half(table), []
    for name, group in finer.groupby("attention", sort=False):
        for quantity in ("flops", "seconds"):
            fitted = order(group["points"].to_numpy(), group[quantity].to_numpy())
            rows.append((name, quantity, fitted, ATTENTIONS[name][1], finer["points"].min()))
    return pandas.DataFrame(rows, columns=["attention", "quantity", "fitted", "theory", "fitted_from"])


def continuum_orders(
    monte_carlo: pandas.DataFrame,
    quadratures: pandas.DataFrame,
    averages: pandas.DataFrame,
    invariance: pandas.DataFrame,
) -> pandas.DataFrame:
    """Fit powers of 1/points, or of 1/n for the invariance, by least squares of the logarithms.

    Monte Carlo: of the error of the worst function, as theorems 6 and 12 are uniform over a compact set.
    Quadratures: of the error to the integral that the weights tend to, from the larger half of the sizes.
    Architectures that do not claim invariance have no theory; those that are not measured have no row.

    Columns: `measurement` (monte_carlo, trapezoid, equal, average or invariance), `case`, `fitted`, `theory`.
    """
    rows = []
    worst = monte_carlo.groupby(["attention", "points"], sort=False)["error"].max().reset_index()
    for attention, group in worst.groupby("attention", sort=False):
        rows.append(("monte_carlo", attention, fitted(group), 0.5))
    for (weights, nodes), group in quadratures.groupby(["weights", "nodes"], sort=False):
        theory = getattr(NODE_SETS[nodes], weights)
        rows.append((weights, nodes, fitted(finer_half(group), "error_to_limit"), theory))
    for (dimension, nodes), group in averages.groupby(["dimension", "nodes"], sort=False):
        rows.append(("average", f"{nodes}_{dimension}d", fitted(group), NODES[nodes](dimension)))
    measured = invariance.dropna(subset="points").astype({"points": int})
    for (architecture, variant), group in measured.groupby(["architecture", "variant"], sort=False):
        theory = settings_class(architecture).order if group["claims"].all() else None
        rows.append(("invariance", f"{architecture} {variant}".strip(), fitted(group), theory))
    return pandas.DataFrame(rows, columns=["measurement", "case", "fitted", "theory"])


def fitted(table: pandas.DataFrame, column: str = "error") -> float:
    """Fit p of values ≈ C points⁻ᵖ."""
    return -order(table["points"].to_numpy(), table[column].to_numpy())


def finer_half(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return the rows of the larger half of the sizes, of two at least."""
    sizes = np.sort(table["points"].unique())
    return table[table["points"] >= sizes[min(len(sizes) // 2, len(sizes) - 2)]]
