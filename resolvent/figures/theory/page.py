"""The page of the theory: six figures, and the numbers that they show. Self-contained."""

from pathlib import Path
from typing import Any

import pandas as pd

from resolvent.figures.common.exhibit import Sources
from resolvent.figures.common.numbers import DASH
from resolvent.figures.common.page import render
from resolvent.figures.common.results import read_table
from resolvent.figures.theory.collection import NAMES
from resolvent.figures.theory.continuum import (
    average_rows,
    invariance_rows,
    monte_carlo_rows,
    quadrature_rows,
)
from resolvent.figures.theory.convergence import CONVERGENCE, RULES
from resolvent.figures.theory.cost import COST
from resolvent.figures.theory.invariance import INVARIANCE
from resolvent.figures.theory.monte_carlo import MONTE_CARLO
from resolvent.figures.theory.projection import BASES, PROJECTION, SPACES
from resolvent.figures.theory.quadratures import QUADRATURES

COMPARED = ["galerkin", "fourier", "softmax", "linear"]  # the columns of the table of convergence


# What is measured, by name of the table: the columns that are read.
TABLES = {
    "projection": ["basis", "points", "distance", "distance_rescaled"],
    "quasi_optimality": [
        *("spaces", "points", "inf_sup", "error", "bound", "ratio", "reproduction", "misfit", "least_misfit")
    ],
    "cost": ["attention", "points", "flops", "seconds", "repetitions", "device"],
    "cost_orders": ["attention", "quantity", "fitted", "theory", "fitted_from"],
    "convergence": ["attention", "rule", "points", "error"],
    "convergence_orders": ["attention", "rule", "quantity", "fitted", "theory"],
    "monte_carlo": ["attention", "function", "points", "error", "low", "high", "deviation", "predicted"],
    "quadratures": ["nodes", "weights", "points", "error", "gap"],
    "averages": ["dimension", "nodes", "points", "error", "rounding"],
    "invariance": ["architecture", "variant", "dimension", "claims", "points", "error"],
    "continuum_orders": ["measurement", "case", "fitted", "theory"],
}
EXHIBITS = {
    "theory_projection": PROJECTION,
    "theory_cost": COST,
    "theory_convergence": CONVERGENCE,
    "theory_monte_carlo": MONTE_CARLO,
    "theory_quadratures": QUADRATURES,
    "theory_invariance": INVARIANCE,
}


def write_theory_page(
    output: str | Path,
    *,
    folder: str | Path,
    settings: dict[str, Any],
    command: str,
    provenance: dict[str, str],
    root: str | Path,
) -> None:
    """Draw the figures in `folder`, where the tables are, and write the page, all at once."""
    folder = Path(folder)
    tables = {name: read_table(folder / f"{name}.csv", columns) for name, columns in TABLES.items()}
    facts = {
        key: ", ".join(map(str, value)) if isinstance(value, list) else value
        for key, value in settings.items()
    }
    sources, figures = Sources({}, facts=facts, **tables), []
    for name, exhibit in EXHIBITS.items():
        path = folder / f"{name}.svg"
        exhibit.write(sources, path)
        figures.append(exhibit.on_page(sources, path, Path(output).parent))
    cost, continuum = tables["cost"], tables["continuum_orders"]
    render(
        "theory.html.j2",
        output,
        root=root,
        breadcrumbs=[("Theory", "")],
        figures=figures,
        cases=len(tables["quasi_optimality"]),
        tables={
            "distances": distance_rows(tables["projection"]),
            "spaces": space_rows(tables["quasi_optimality"]),
            "costs": cost_rows(cost, tables["cost_orders"]),
            "orders": order_rows(tables["convergence_orders"]),
            "monte_carlo": monte_carlo_rows(tables["monte_carlo"], continuum),
            "quadratures": quadrature_rows(tables["quadratures"], continuum),
            "averages": average_rows(tables["averages"], continuum),
            "invariance": invariance_rows(tables["invariance"], continuum),
        },
        device=cost["device"].iloc[0],
        repetitions=int(cost["repetitions"].iloc[0]),
        finest=int(cost["points"].max()),
        compared=[NAMES[attention] for attention in COMPARED],
        command=command,
        provenance=provenance,
    )


def distance_rows(table: pd.DataFrame) -> list[list[str]]:
    """Return basis, largest distance over the grids, and largest after rescaling."""
    largest = table.groupby("basis")[["distance", "distance_rescaled"]].max().loc[list(BASES)]
    return [
        [BASES[basis].replace("\n", " "), f"{row['distance']:.1e}", f"{row['distance_rescaled']:.1e}"]
        for basis, row in largest.iterrows()
    ]


def space_rows(table: pd.DataFrame) -> list[list[str]]:
    """Return spaces, range of c, largest error / bound, in reproducing the best q, and of the misfit."""
    rows = []
    for spaces, (label, _, _) in SPACES.items():
        group = table[table["spaces"] == spaces]
        rows.append(
            [
                label,
                f"{group['inf_sup'].min():.3f} to {group['inf_sup'].max():.3f}",
                f"{group['ratio'].max():.3f}",
                f"{group['reproduction'].max():.1e}",
                f"{(group['misfit'] / group['least_misfit'] - 1).abs().max():.1e}",
            ]
        )
    return rows


def cost_rows(costs: pd.DataFrame, orders: pd.DataFrame) -> list[list[str]]:
    """Return attention, milliseconds at the finest grid, fitted powers of n (operations, seconds), theory."""
    finest = costs[costs["points"] == costs["points"].max()].set_index("attention")
    rows = []
    for attention, group in orders.groupby("attention", sort=False):
        fitted = group.set_index("quantity")
        milliseconds = 1000 * finest.loc[attention, "seconds"]
        rows.append(
            [
                NAMES[attention],
                f"{milliseconds:,.0f}" if milliseconds >= 100 else f"{milliseconds:.3g}",
                f"{fitted.loc['flops', 'fitted']:.2f}",
                f"{fitted.loc['seconds', 'fitted']:.2f}",
                f"{fitted.loc['flops', 'theory']:g}",
            ]
        )
    return rows


def order_rows(table: pd.DataFrame) -> list[list[str]]:
    """Return rule, fitted number of each attention, that of the theory."""
    rows = []
    for rule, label in RULES.items():
        group = table[table["rule"] == rule].set_index("attention").loc[COMPARED]
        fitted = [DASH if value != value else f"{value:.3f}" for value in group["fitted"]]
        rows.append([label, *fitted, f"{group['theory'].iloc[0]:.3f}"])
    return rows
