"""Reported results of papers: tables of numbers, and their settings."""

import csv
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from resolvent.figures.published.recipe import Condition

RESULTS = ("reported", "best_epoch", "worst", "parameters")  # other columns identify a row


@dataclass(frozen=True)
class PaperTable:
    """A table of results: `file` in the paper's folder, `unit` of its numbers, and its settings.

    where    conditions on a run in addition to the example's.
    recipes  conditions for fields with different values in text and public code.
    counted  name in cost.json of the number of parameters, if it differs from the paper's other tables.
    columns  columns of the file that are not a recorded setting: the corresponding setting, by recipe.
    """

    name: str
    file: Path
    unit: float
    where: tuple[Condition, ...] = ()
    recipes: dict[str, tuple[Condition, ...]] = field(default_factory=dict)
    counted: str = ""
    columns: dict[str, dict[str, str]] = field(default_factory=dict)

    def row(self, recorded: dict) -> dict[str, str] | None:
        """Return the row of a run (`recorded`), or None if the paper has no such row."""
        return _by_key(self.file)[1].get(self.key(recorded))

    def key(self, recorded: dict) -> tuple[str, ...]:
        """Return the key of a run's row, in the order of the file's columns."""
        return tuple(_text(recorded.get(self.setting(name, recorded))) for name in _by_key(self.file)[0])

    @property
    def row_names(self) -> set[tuple[str, ...]]:
        """Return the keys of all rows of the file, without resolution and noise."""
        names, rows = _by_key(self.file)
        kept = [name not in ("resolution", "noise") for name in names]
        return {tuple(part if keep else "" for part, keep in zip(key, kept, strict=True)) for key in rows}

    def setting(self, column: str, recorded: dict) -> str:
        return self.columns.get(column, {}).get(recorded.get("recipe") or "code", column)


@dataclass(frozen=True)
class Source:
    """A paper.

    name        short name; `citation` is complete.
    metric      metric of its errors, a column of errors.csv.
    statistic   reported statistic of the errors of the test samples.
    protocol    how its protocol differs from ours, in sentences.
    counted     name in cost.json of the number of parameters, counted as in the paper.
    parameters  function from a run's record and a table to the lowest and highest number of parameters that
                round to the reported number, or None if the paper reports none.
    """

    name: str
    citation: str
    metric: str
    statistic: Literal["mean", "median"]
    protocol: str
    counted: str
    parameters: Callable[[dict, PaperTable | None], tuple[int, int] | None]


@dataclass(frozen=True)
class Example:
    """The setting of one of a paper's examples.

    title     title of its data, for headings.
    section   section of the paper that describes it.
    marks     recorded values of its runs; several accepted values are a tuple.
    tables    tables of errors with its runs.
    setting   conditions on a run, by field (`resolvent.figures.published.recipe`).
    recipes   conditions where text (`paper`) and public code (`code`) differ; the numbers come from the code.
    operator  fields that define the learned operator; if one differs, a run has no reported number.
    """

    title: str
    section: str
    marks: dict
    tables: tuple[PaperTable, ...]
    source: Source
    setting: tuple[Condition, ...]
    recipes: dict[str, tuple[Condition, ...]] = field(default_factory=dict)
    operator: tuple[str, ...] = ()


@cache
def reported_rows(file: Path) -> list[dict[str, str]]:
    """Read a file in a paper's folder; lines with # are comments."""
    with file.open(encoding="utf-8") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def rounded_to(digits: str, size: float) -> tuple[int, int]:
    """Return the lowest and highest integer that round to `digits`, such as "550" or "2.37", times `size`."""
    last = size / 10 ** len(digits.partition(".")[2])
    return round(float(digits) * size - last / 2), round(float(digits) * size + last / 2)


@cache
def _by_key(file: Path) -> tuple[list[str], dict[tuple[str, ...], dict[str, str]]]:
    """Return the columns that identify a row's run, and the rows by the values of these columns."""
    rows = reported_rows(file)
    columns = [column for column in rows[0] if column not in RESULTS]
    return columns, {tuple(_text(row[column]) for column in columns): row for row in rows}


def _text(value: object) -> str:
    """Return a value as a key; 0.01, "1e-2" and "0.01" give the same key."""
    try:
        return f"{float(value):g}"  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "" if value is None else str(value)
