"""The self-contained page on theory: six figures and their numbers."""

from pathlib import Path
from typing import Any

from resolvent.figures.common.exhibit import Sources
from resolvent.figures.common.page import render
from resolvent.figures.common.results import read_table
from resolvent.figures.theory import attention, continuum

TABLES = (
    "projection", "quasi_optimality", "cost", "cost_orders", "convergence", "convergence_orders",
    "monte_carlo", "quadratures", "averages", "invariance", "continuum_orders",
)  # fmt: skip
EXHIBITS = {
    "theory_projection": attention.PROJECTION,
    "theory_cost": attention.COST,
    "theory_convergence": attention.CONVERGENCE,
    "theory_monte_carlo": continuum.MONTE_CARLO,
    "theory_quadratures": continuum.QUADRATURES,
    "theory_invariance": continuum.INVARIANCE,
}


def write_theory_page(
    output: str | Path, *, folder: str | Path, settings: dict[str, Any], root: str | Path, **made: Any
) -> None:
    """Draw the figures of the tables in `folder`, to the same folder, and write the page."""
    folder = Path(folder)
    tables = {name: read_table(folder / f"{name}.csv", ()) for name in TABLES}
    facts = {
        key: ", ".join(map(str, value)) if isinstance(value, list) else value
        for key, value in settings.items()
    }
    sources = Sources({}, facts=facts, **tables)
    finest = tables["monte_carlo"][lambda one: one["points"] == one["points"].max()]
    render(
        "theory.html.j2",
        output,
        root=root,
        breadcrumbs=[("Theory", "")],
        figures=[
            exhibit.shown(sources, folder / f"{name}.svg", Path(output).parent)
            for name, exhibit in EXHIBITS.items()
        ],
        cases=len(tables["quasi_optimality"]),
        tables={
            "distances": attention.distance_rows(tables["projection"]),
            "spaces": attention.space_rows(tables["quasi_optimality"]),
            "invariance": continuum.invariance_rows(tables["invariance"], tables["continuum_orders"]),
        },
        deviations=finest["deviation"] / finest["predicted"],
        rounding=tables["averages"]["rounding"].max(),
        device=tables["cost"]["device"].iloc[0],
        repetitions=int(tables["cost"]["repetitions"].iloc[0]),
        **made,
    )
