"""config.yaml, and what Snakemake makes of it with overlays."""

import copy
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = yaml.safe_load((ROOT / "config.yaml").read_text())


def merged(base: dict, overlay: dict) -> dict:
    """As Snakemake merges configuration files: dictionaries key by key, all else replaced."""
    base = copy.deepcopy(base)
    for key, value in overlay.items():
        base[key] = merged(base[key], value) if isinstance(value, dict) and key in base else value
    return base
