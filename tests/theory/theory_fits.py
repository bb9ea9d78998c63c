"""Fit orders and rates to measurements, and compare them with theory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
from theory_average import NODES
from theory_continuum import NODE_SETS
from theory_convergence import POLE, ROUNDING, RULES
from theory_cost import ATTENTIONS

from resolvent.models.registry import settings_class


def power(table: pandas.DataFrame, column: str = "error") -> float:
    """Fit p in values ≈ C pointsᵖ by least squares of the logarithms."""
    return float(np.polyfit(np.log(table["points"].to_numpy()), np.log(table[column].to_numpy()), 1)[0])


def rate(table: pandas.DataFrame) -> float:
    """Fit ρ in errors ≈ C ρ^points to errors above rounding; NaN for fewer than two such errors."""
    above = table[table["error"] > ROUNDING]
    if len(above) < 2:
        return float("nan")
    return float(np.exp(np.polyfit(above["points"].to_numpy(), np.log(above["error"].to_numpy()), 1)[0]))


def convergence_orders(table: pandas.DataFrame) -> pandas.DataFrame:
    """Fit the power of 1/n or, for periodic functions, the rate ρ, and compare with theory.

    In theory ρ = POLE - √(POLE² - 1): the poles of v have the distance log(1/ρ)/2π from the real line, and
    the rectangle rule converges like ρⁿ (Trefethen and Weideman 2014, Theorem 3.2).
    """
    theory = {"periodic": POLE - np.sqrt(POLE**2 - 1), "left_rectangle": 1.0, "trapezoid": 2.0}
    rows = []
    for (name, rule), group in groups(table, ["attention", "rule"]):
        fitted = rate(group) if RULES[rule] == "rate" else -power(group)
        rows.append((name, rule, RULES[rule], fitted, theory[rule]))
    return pandas.DataFrame(rows, columns=["attention", "rule", "quantity", "fitted", "theory"])


def cost_orders(table: pandas.DataFrame) -> pandas.DataFrame:
    """Fit powers of n to the numbers of operations, and compare with theory."""
    rows = [(name, power(group, "flops"), ATTENTIONS[name][1]) for name, group in groups(table, "attention")]
    return pandas.DataFrame(rows, columns=["attention", "fitted", "theory"])


def continuum_orders(
    monte_carlo: pandas.DataFrame,
    quadratures: pandas.DataFrame,
    averages: pandas.DataFrame,
    invariance: pandas.DataFrame,
) -> pandas.DataFrame:
    """Fit powers of 1/points, or 1/n for the invariance, by least squares of the logarithms.

    Monte Carlo: largest error of all functions, since theorems 6 and 12 are uniform over a compact set.
    Quadratures: error relative to the limit, on the larger half of the sizes. Architectures that do not claim
    invariance have no theoretical order; architectures without measurements have no row.
    """
    rows: list[tuple] = []
    worst = monte_carlo.groupby(["attention", "points"], sort=False)["error"].max().reset_index()
    for attention, group in groups(worst, "attention"):
        rows.append(("monte_carlo", attention, -power(group), 0.5))
    for (weights, nodes), group in groups(quadratures, ["weights", "nodes"]):
        theory = getattr(NODE_SETS[nodes], weights)
        rows.append((weights, nodes, -power(finer_half(group), "error_to_limit"), theory))
    for (dimension, nodes), group in groups(averages, ["dimension", "nodes"]):
        rows.append(("average", f"{nodes}_{dimension}d", -power(group), NODES[nodes](dimension)))
    measured = invariance.dropna(subset="points").astype({"points": int})
    for (architecture, variant), group in groups(measured, ["architecture", "variant"]):
        theory = settings_class(architecture).order if group["claims"].all() else None
        rows.append(("invariance", f"{architecture} {variant}".strip(), -power(group), theory))
    return pandas.DataFrame(rows, columns=["measurement", "case", "fitted", "theory"])


def groups(table: pandas.DataFrame, by: str | list[str]) -> Any:
    """Return the rows grouped by columns, in the table's order."""
    return table.groupby(by, sort=False)


def finer_half(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return the rows of the larger half of the sizes, at least two sizes."""
    sizes = np.sort(table["points"].unique())
    return table[table["points"] >= sizes[min(len(sizes) // 2, len(sizes) - 2)]]
