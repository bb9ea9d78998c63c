"""The defaults, and what Snakemake makes of them with overlays."""

from copy import deepcopy
from pathlib import Path

from resolvent.planning.configuration import read

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = read.read_configuration([])


def merged(base: dict, changes: dict) -> dict:
    """Return `base` with `changes`, as a copy that a test may change."""
    return deepcopy(read.merged(base, changes))


def change_of(path: str, value: object) -> object:
    """Return the mappings that lead to `value`; keys of digits are numbers, as YAML reads them."""
    for key in reversed(path.split(".") if path else []):
        value = {int(key) if key.isdigit() else key: value}
    return value
