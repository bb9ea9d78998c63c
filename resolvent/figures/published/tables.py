"""What papers report: tables of numbers, and the settings in which these were measured."""

import csv
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from resolvent.figures.published.recipe import Condition

RESULTS = ("reported", "best_epoch", "worst", "parameters")  # columns that are results; the others name a row


@dataclass(frozen=True)
class PaperTable:
    """A table of results: `file` in the paper's folder, `unit` of the numbers there, more of its setting.

    where    what a run must have recorded beside what its example says.
    recipes  the same, where the text and the public code differ.
    counted  name in a cost.json of the number of parameters, where it is not the paper's usual one.
    columns  of the file that are no recorded setting: which setting they are, by the recipe of the run.
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
        """Return what names the row of a run, by the columns of the file."""
        return tuple(_text(recorded.get(self.setting(name, recorded))) for name in _by_key(self.file)[0])

    @property
    def row_names(self) -> set[tuple[str, ...]]:
        """Return what names the rows of the file, at whatever resolution and noise."""
        names, rows = _by_key(self.file)
        kept = [name not in ("resolution", "noise") for name in names]
        return {tuple(part if keep else "" for part, keep in zip(key, kept, strict=True)) for key in rows}

    def setting(self, column: str, recorded: dict) -> str:
        return self.columns.get(column, {}).get(recorded.get("recipe") or "code", column)


@dataclass(frozen=True)
class Source:
    """A paper.

    name        for short; `citation` adds where it is.
    metric      in which it reports errors, a column of errors.csv.
    statistic   that it reports of the errors of the test samples.
    protocol    what else a reader must know to compare its numbers with ours.
    counted     name in a cost.json of the number of parameters, counted as there.
    parameters  from what a run has recorded, and a table, to the lowest and highest number of parameters
                that round to the reported one; None where the paper reports none.
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

    title     of its data, for headings.
    section   where the paper describes it.
    marks     what a run of it has recorded; several accepted values are a tuple.
    tables    of errors that have runs of it.
    setting   what a run must have recorded, field by field (`resolvent.figures.published.recipe`).
    recipes   the same, where text (`paper`) and public code (`code`) differ: the code made the numbers.
    operator  fields that say which map is learnt: a run that differs in one has no reported number at all.
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
    """Read a file of a paper's folder; lines with # are comments."""
    with file.open(encoding="utf-8") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def rounded_to(digits: str, size: float) -> tuple[int, int]:
    """Return the lowest and highest integer that round to "550" or "2.37" times `size`, to the last digit."""
    last = size / 10 ** len(digits.partition(".")[2])
    return round(float(digits) * size - last / 2), round(float(digits) * size + last / 2)


@cache
def _by_key(file: Path) -> tuple[list[str], dict[tuple[str, ...], dict[str, str]]]:
    """Return the columns that say of which run a row is, and the rows by their values."""
    rows = reported_rows(file)
    columns = [column for column in rows[0] if column not in RESULTS]
    return columns, {tuple(_text(row[column]) for column in columns): row for row in rows}


def _text(value: object) -> str:
    """Return a value as a key: 0.01, "1e-2" and "0.01" are one."""
    try:
        return f"{float(value):g}"  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "" if value is None else str(value)
