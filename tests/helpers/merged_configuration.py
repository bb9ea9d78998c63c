"""The defaults with overlays: as Snakemake merges them, loaded, planned, or refused."""

from copy import deepcopy
from pathlib import Path

import pytest

from resolvent.planning.configuration import read
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.plan import Plan

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = read.read_configuration([])


def merged(base: dict, changes: dict) -> dict:
    """Return `base` with `changes`, as a copy that a test may change."""
    return deepcopy(read.merged(base, changes))


def content(*changes: dict | str) -> dict:
    """Return the defaults with `changes`; the last wins, and "cao2021" stands for config/cao2021.yaml."""
    result = DEFAULT
    for change in changes:
        overlay = read.read_file(ROOT / f"config/{change}.yaml") if isinstance(change, str) else change
        result = merged(result, overlay)
    return result


def loaded(*changes: dict | str):
    """Return the configuration of the defaults with `changes` (`content`)."""
    return load_configuration(content(*changes))


def planned(*changes: dict | str) -> Plan:
    """Return the plan of the defaults with `changes` (`content`)."""
    return Plan(loaded(*changes))


def problems(*changes: dict | str) -> list[str]:
    """Return the lines with which the defaults with `changes` (`content`) are refused."""
    with pytest.raises(ConfigurationError) as error:
        planned(*changes)
    return str(error.value).splitlines()


def change_of(path: str, value: object) -> object:
    """Return the mappings that lead to `value`; keys of digits are numbers, as YAML reads them."""
    for key in reversed(path.split(".") if path else []):
        value = {int(key) if key.isdigit() else key: value}
    return value
