"""What a study is to have: `study.json`, written before anything is computed.

The front page compares it with what is there, so that it can say what is missing. Paths are relative to the
folder of the study, where the file lies.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from resolvent.common.errors import FileError
from resolvent.common.files import read_json, write_json

STUDY_FILE = "study.json"


@dataclass(frozen=True)
class PlannedRow:
    """A model at one training resolution and level of noise; `runs` are the folders of its runs, by seed."""

    model: str
    label: str
    recipe: str | None
    resolution: int | str
    noise: float
    runs: dict[str, str]


@dataclass(frozen=True)
class PlannedExperiment:
    """An experiment.

    `finest` is its finest training resolution; `papers` are those of which it shows tables or figures.
    """

    title: str
    dataset: str
    page: str
    finest: int | str
    papers: list[str]
    rows: list[PlannedRow]


@dataclass(frozen=True)
class PlannedDataset:
    """A dataset: the files of it, and its page. `store` may be a file that leads to an object store."""

    page: str
    card: str
    preview: str
    store: str


@dataclass(frozen=True)
class PlannedPaper:
    """A paper: its name, its page (empty if nothing of it is made), and its items with their titles."""

    name: str
    page: str
    items: dict[str, str]
    made: list[str]


@dataclass(frozen=True, kw_only=True)
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
    """Write study.json: the fields of `Study` but the last two, and these."""
    write_json(Path(path), {**planned, "command": command, "provenance": provenance})


def bring_up_to_date(path: str | Path, planned: dict, *, command: str, provenance: dict[str, str]) -> None:
    """Write study.json, unless it is there with this plan.

    Snakemake compares a rule's output with the plan only if it noted how the rule made it: not where a run
    that asked for single pages has written the file for them.
    """
    path = Path(path)
    if path.is_file():
        found = read_json(path, "the plan of the study")
        if {key: found.get(key) for key in planned} == json.loads(json.dumps(planned)):
            return
    write_study(path, planned, command=command, provenance=provenance)


def read_study(folder: str | Path) -> Study:
    """Read the study.json of the study in `folder`.

    Raises
    ------
    FileError
        When it is missing or damaged, or of another version.
    """
    path = Path(folder) / STUDY_FILE
    try:
        content = read_json(path, "the plan of the study")
    except FileNotFoundError:
        raise FileError(f"{path} is missing: make it with `snakemake {path}`") from None
    try:
        experiments = {
            name: PlannedExperiment(**{**one, "rows": [PlannedRow(**row) for row in one["rows"]]})
            for name, one in content.pop("experiments").items()
        }
        datasets = {name: PlannedDataset(**one) for name, one in content.pop("datasets").items()}
        papers = {name: PlannedPaper(**one) for name, one in content.pop("papers").items()}
        return Study(experiments=experiments, datasets=datasets, papers=papers, **content)
    except (AttributeError, KeyError, TypeError) as error:
        raise FileError(f"{path} is not of this version ({error}): delete it and run snakemake") from None
