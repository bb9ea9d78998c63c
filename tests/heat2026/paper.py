"""The table of Heat (2026)."""

from resolvent.figures.common.numbers import DASH
from resolvent.figures.common.table import Cell, Table, columns
from resolvent.figures.papers.heat2026.reported import TABLE_1
from resolvent.figures.papers.items import Item, Paper
from resolvent.figures.published.reported_numbers import reported_number


def draw_errors(experiments) -> Table:
    """Return a row for each run: its mean error, and the paper's where the setting is the paper's."""
    rows = []
    for run in (run for runs in experiments for run in runs):
        error = run.errors.loc[run.errors["resolution"] == run.resolution, "relative_l2"].mean()
        paper = reported_number(run.record, run.cost, TABLE_1)
        rows.append([Cell(run.label), Cell(f"{error:.3g}"), Cell(paper.digits if paper.value else DASH)])
    return Table(columns(("", ["model", "ours", "Heat 2026"])), rows)


PAPER = Paper(
    name="Heat 2026",
    reference="A. Author, <em>Heat</em> (2026)",
    protocol="The paper reports means over the test samples.",
    items={
        "table1": Item(
            "Table 1. Errors",
            "Mean relative L² errors, ours and reported.",
            "resolvent.figures.papers.heat2026.paper:draw_errors",
            kind="table",
            table=TABLE_1,
        )
    },
)
