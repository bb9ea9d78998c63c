"""Table 8 of Cao 2021: the Galerkin transformer by layer norm, initialisation and dropout."""

import pandas as pd

from resolvent.figures.common.results import Run
from resolvent.figures.common.table import Cell, Table
from resolvent.figures.papers.cao2021.reported import TABLE_8
from resolvent.figures.papers.cao2021.side_by_side import Leading, side_by_side

NORMS = {"regular": "regular norm", "projection": "K, V norm"}
SETTINGS: Leading = {
    "layer norm": lambda recorded: Cell(NORMS.get(recorded.get("layer_norm"), ""), prose=True),
    "η": lambda recorded: _number(recorded, "projection_gain"),
    "δ": lambda recorded: _number(recorded, "projection_diagonal"),
    "ζ": lambda recorded: _number(recorded, TABLE_8.setting("zeta", recorded)),
}


def draw_ablation(comparisons: list[pd.DataFrame], experiments: list[list[Run]]) -> Table:
    """Return a row for each choice; at each resolution both recipes with their epochs, and the paper's."""
    return side_by_side(comparisons, experiments, TABLE_8, leading=SETTINGS, epochs=True)


def _number(recorded: dict, name: str) -> Cell:
    value = float(recorded.get(name, 0.0))
    return Cell(f"{value:g}", value=value)
