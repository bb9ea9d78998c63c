"""The papers whose tables and figures experiments show, by their key in a configuration."""

from resolvent.figures.papers.calvello2024.items import CALVELLO2024
from resolvent.figures.papers.cao2021.items import CAO2021
from resolvent.figures.papers.items import Paper

PAPERS: dict[str, Paper] = {"cao2021": CAO2021, "calvello2024": CALVELLO2024}
