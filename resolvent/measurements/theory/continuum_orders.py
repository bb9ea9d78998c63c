"""Fitted orders of what is measured of Calvello et al. (2024), beside those of the theory."""

from __future__ import annotations

import numpy as np
import pandas

from resolvent.measurements.theory.average import NODES
from resolvent.measurements.theory.continuum import NODE_SETS
from resolvent.measurements.theory.fits import order
from resolvent.measurements.theory.invariance import ORDERS


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
        theory = ORDERS.get(architecture, 1) if group["claims"].all() else None
        rows.append(("invariance", f"{architecture} {variant}".strip(), fitted(group), theory))
    return pandas.DataFrame(rows, columns=["measurement", "case", "fitted", "theory"])


def fitted(table: pandas.DataFrame, column: str = "error") -> float:
    """Fit p of values ≈ C points⁻ᵖ."""
    return -order(table["points"].to_numpy(), table[column].to_numpy())


def finer_half(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return the rows of the larger half of the sizes, of two at least."""
    sizes = np.sort(table["points"].unique())
    return table[table["points"] >= sizes[min(len(sizes) // 2, len(sizes) - 2)]]
