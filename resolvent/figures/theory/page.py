"""The page of the theory: six figures, and the numbers that they show. Self-contained."""

from pathlib import Path

import pandas as pd

from resolvent.figures.common.numbers import DASH
from resolvent.figures.common.page import inlined_figure, render
from resolvent.figures.common.results import read_table
from resolvent.figures.theory.collection import NAMES
from resolvent.figures.theory.continuum import (
    average_rows,
    invariance_rows,
    monte_carlo_rows,
    quadrature_rows,
)
from resolvent.figures.theory.convergence import RULES
from resolvent.figures.theory.projection import BASES, SPACES

COMPARED = ["galerkin", "fourier", "softmax", "linear"]  # the columns of the table of convergence


def write_theory_page(
    output: str | Path,
    *,
    distances: str | Path,
    quasi_optimality: str | Path,
    costs: str | Path,
    cost_orders: str | Path,
    convergence_orders: str | Path,
    monte_carlo: str | Path,
    quadratures: str | Path,
    averages: str | Path,
    invariance: str | Path,
    continuum_orders: str | Path,
    figures: list[tuple[str | Path, str, str]],
    command: str,
    provenance: dict[str, str],
    root: str | Path,
) -> None:
    """Write the page, all at once. `figures` are (SVG or PNG file, title, caption)."""
    cost = read_table(Path(costs), ["attention", "points", "seconds", "repetitions", "device"])
    optimal = read_table(
        Path(quasi_optimality), ["spaces", "inf_sup", "ratio", "reproduction", "misfit", "least_misfit"]
    )
    continuum = read_table(Path(continuum_orders), ["measurement", "case", "fitted", "theory"])
    render(
        "theory.html.j2",
        output,
        root=root,
        breadcrumbs=[("Theory", "")],
        figures=[inlined_figure(*figure, folder=Path(output).parent) for figure in figures],
        cases=len(optimal),
        tables={
            "distances": distance_rows(
                read_table(Path(distances), ["basis", "distance", "distance_rescaled"])
            ),
            "spaces": space_rows(optimal),
            "costs": cost_rows(
                cost, read_table(Path(cost_orders), ["attention", "quantity", "fitted", "theory"])
            ),
            "orders": order_rows(
                read_table(Path(convergence_orders), ["attention", "rule", "fitted", "theory"])
            ),
            "monte_carlo": monte_carlo_rows(
                read_table(Path(monte_carlo), ["attention", "points", "deviation", "predicted"]), continuum
            ),
            "quadratures": quadrature_rows(
                read_table(Path(quadratures), ["nodes", "weights", "points", "error", "gap"]), continuum
            ),
            "averages": average_rows(
                read_table(Path(averages), ["dimension", "nodes", "rounding"]), continuum
            ),
            "invariance": invariance_rows(
                read_table(Path(invariance), ["architecture", "variant", "claims", "points", "error"]),
                continuum,
            ),
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
