"""The defaults, and what Snakemake makes of them with overlays."""

from pathlib import Path

from resolvent.planning.configuration.read import merged, read_configuration

__all__ = ["DEFAULT", "ROOT", "merged"]

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = read_configuration([])
