"""The papers whose tables and figures experiments show, by their key in a configuration."""

from figures.calvello2024.items import CALVELLO2024
from figures.cao2021.items import CAO2021
from figures.items import Paper

PAPERS: dict[str, Paper] = {"cao2021": CAO2021, "calvello2024": CALVELLO2024}
