"""Table 8 of Cao 2021: the Galerkin transformer by layer norm, initialisation and dropout."""

from pathlib import Path

from resolvent.figures.common.table import Cell
from resolvent.figures.papers.cao2021.reported import TABLE_8
from resolvent.figures.papers.cao2021.side_by_side import Leading, write_side_by_side

NORMS = {"regular": "regular norm", "projection": "K, V norm"}
SETTINGS: Leading = {
    "layer norm": lambda recorded: Cell(NORMS.get(recorded.get("layer_norm"), ""), prose=True),
    "η": lambda recorded: _number(recorded, "projection_gain"),
    "δ": lambda recorded: _number(recorded, "projection_diagonal"),
    "ζ": lambda recorded: _number(recorded, TABLE_8.setting("zeta", recorded)),
}


def write_ablation(comparisons: list[str], runs: list[list[str]], outputs: list[str | Path]) -> None:
    """Write a row for each choice; at each resolution both recipes with their epochs, and the paper's."""
    write_side_by_side(comparisons, runs, outputs, TABLE_8, leading=SETTINGS, epochs=True)


def _number(recorded: dict, name: str) -> Cell:
    value = float(recorded.get(name, 0.0))
    return Cell(f"{value:g}", value=value)
