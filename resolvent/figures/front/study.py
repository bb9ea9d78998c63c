"""What a study is to have: `study.json`, written before anything is computed.

The front page compares it with what is there, so that it can say what is missing. Paths are relative to the
folder of the study, where the file lies.
"""

from __future__ import annotations

import json
from dataclasses import field
from pathlib import Path

from pydantic import ConfigDict, ValidationError
from pydantic.dataclasses import dataclass

from resolvent.common.errors import FileError
from resolvent.common.files import read_json, write_json

STUDY_FILE = "study.json"
EXACT = ConfigDict(extra="forbid")  # another key is of another version


@dataclass(frozen=True, config=EXACT)
class PlannedRow:
    """A model at one training resolution and level of noise; `runs` are the folders of its runs, by seed."""

    model: str
    label: str
    recipe: str | None
    resolution: int | str
    noise: float
    runs: dict[str, str]


@dataclass(frozen=True, config=EXACT)
class PlannedExperiment:
    """An experiment; `papers` are those of which it shows tables or figures."""

    title: str
    dataset: str
    page: str
    finest: int | str
    papers: list[str]
    rows: list[PlannedRow]


@dataclass(frozen=True, config=EXACT)
class PlannedDataset:
    """A dataset: the files of it, and its page. `store` may be a file that leads to an object store."""

    page: str
    card: str
    preview: str
    store: str


@dataclass(frozen=True, config=EXACT)
class PlannedPaper:
    """A paper: its name, its page (empty if nothing of it is made), and its items with their titles."""

    name: str
    page: str
    items: dict[str, str]
    made: list[str]


@dataclass(frozen=True, kw_only=True, config=EXACT)
class Study:
    """All that is planned. `pages` are title and path of the other pages, such as that of the theory."""

    name: str
    experiments: dict[str, PlannedExperiment] = field(default_factory=dict)
    datasets: dict[str, PlannedDataset] = field(default_factory=dict)
    papers: dict[str, PlannedPaper] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    command: str = ""
    provenance: dict[str, str] = field(default_factory=dict)


def write_study(path: str | Path, planned: dict, *, command: str, provenance: dict[str, str]) -> None:
    """Write study.json, `planned` and these fields of `Study`, unless it is there with this plan."""
    # Snakemake compares a rule's output with the plan only if it noted how the rule made it: not where a run
    # that asked for single pages has written the file for them.
    path = Path(path)
    found = read_json(path, "the plan of the study") if path.is_file() else {}
    if {key: found.get(key) for key in planned} != json.loads(json.dumps(planned)):
        write_json(path, {**planned, "command": command, "provenance": provenance})


def read_study(folder: str | Path) -> Study:
    """Read the plan of the study in `folder`; `FileError` if it is missing, damaged or of another version."""
    path = Path(folder) / STUDY_FILE
    try:
        return Study(**read_json(path, "the plan of the study"))
    except FileNotFoundError:
        raise FileError(f"{path} is missing: make it with `snakemake {path}`") from None
    except ValidationError as error:
        first = error.errors()[0]
        words = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise FileError(f"{path} is not of this version ({words}): delete it and run snakemake") from None
