"""The papers whose tables and figures experiments show, by their key in a configuration."""

from figures.cao2021.items import CAO2021
from figures.items import Paper

PAPERS: dict[str, Paper] = {"cao2021": CAO2021}
