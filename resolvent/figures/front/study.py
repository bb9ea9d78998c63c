"""The plan of a study: `study.json`, written before any computation.

The front page compares it with existing results to show missing results. Paths are relative to the study's
folder, which contains the file.
"""

import json
from dataclasses import field
from pathlib import Path

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from resolvent.common.files import read_json, write_json
from resolvent.common.records import Resolution, read_record
from resolvent.figures.common.commands import making

STUDY_FILE = "study.json"
# An unknown key belongs to another version.
EXACT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


@dataclass(frozen=True, config=EXACT)
class PlannedRow:
    """A model at one training resolution and noise level."""

    model: str
    label: str
    recipe: str | None
    resolution: Resolution
    noise: float
    runs: dict[str, str]  # folders by seed


@dataclass(frozen=True, config=EXACT)
class PlannedExperiment:
    """An experiment."""

    title: str
    dataset: str
    page: str
    finest: Resolution
    papers: list[str]  # with tables or figures from it
    rows: list[PlannedRow]

    def __post_init__(self) -> None:
        if any(type(row.resolution) is not type(self.finest) for row in self.rows):
            raise ValueError("the 'resolution' of 'rows' is not of the kind of 'finest', a number or a name")


@dataclass(frozen=True, config=EXACT)
class PlannedDataset:
    """A dataset: its page and its files."""

    page: str
    card: str
    preview: str
    store: str  # or a file with the address of an object store


@dataclass(frozen=True, config=EXACT)
class PlannedPaper:
    """A paper and its items."""

    name: str
    page: str  # empty without a page
    items: dict[str, str]  # titles by name
    made: list[str]


@dataclass(frozen=True, kw_only=True, config=EXACT)
class Study:
    """The plan of a study."""

    name: str
    about: str = ""
    experiments: dict[str, PlannedExperiment] = field(default_factory=dict)
    datasets: dict[str, PlannedDataset] = field(default_factory=dict)
    papers: dict[str, PlannedPaper] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)  # titles of other pages, by file
    command: str = ""
    provenance: dict[str, str] = field(default_factory=dict)


def write_study(path: str | Path, planned: dict, *, command: str, provenance: dict[str, str]) -> None:
    """Write study.json from `planned` and the other fields of `Study`, unless it already has this plan."""
    # Snakemake detects changes of the plan only in files recorded as outputs of the rule, and study.json may
    # have been written for single pages.
    path = Path(path)
    existing = read_json(path, "the plan of the study") if path.is_file() else {}
    if {key: existing.get(key) for key in planned} != json.loads(json.dumps(planned)):
        write_json(path, {**planned, "command": making(command), "provenance": provenance})


def read_study(folder: str | Path) -> Study:
    """Read study.json. Raises `FileError` if it is missing, damaged or of another version."""
    return read_record(Path(folder) / STUDY_FILE, Study)
