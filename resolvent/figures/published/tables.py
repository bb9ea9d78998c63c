"""What papers print: tables of numbers, and the settings in which these were measured."""

import csv
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

FOLDER = Path(__file__).parent
RESULTS = ("printed", "best_epoch", "parameters")  # columns that are results; the others say of which run
Condition = tuple[dict, dict]


@dataclass(frozen=True)
class PaperTable:
    """A table of results: `file` in resolvent/figures/published/, `unit` of the numbers there, more of its
    setting.

    where  pairs: a run that has recorded the first must have recorded the second.
    """

    name: str
    file: str
    unit: float
    where: tuple[Condition, ...] = field(default=())

    def row(self, recorded: dict) -> dict[str, str] | None:
        """The row of a run (`recorded`), as printed, or None if the paper has no such row."""
        columns, rows = _by_key(self.file)
        return rows.get(tuple(_text(recorded.get(column)) for column in columns))


@dataclass(frozen=True)
class Source:
    """A paper.

    name        for short; `citation` adds where it is.
    metric      in which it reports errors, a column of errors.csv.
    statistic   that it reports of the errors of the test samples.
    protocol    what else a reader of its numbers beside ours must know.
    counted     name in a cost.json of the number of parameters, counted as there.
    parameters  from what a run has recorded, and a table, to the lowest and highest number of parameters
                that are printed as there; None where the paper prints none.
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

    title    of its data, for headings.
    section  where the paper describes it.
    marks    what a run of it has recorded; several accepted values are a tuple.
    setting  what a run must have recorded to be the paper's, by name; as `marks`.
    where    as of `PaperTable`.
    tables   of errors that have runs of it.
    """

    title: str
    source: Source
    section: str
    marks: dict
    setting: dict
    where: tuple[Condition, ...] = ()
    tables: tuple[PaperTable, ...] = ()


@cache
def printed_rows(file: str) -> list[dict[str, str]]:
    """A file of resolvent/figures/published/: its rows as printed; lines with # are comments."""
    with (FOLDER / file).open(encoding="utf-8") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def rounded_to(digits: str, size: float) -> tuple[int, int]:
    """The integers that are printed as "550" or "2.37" times `size`, to the last digit."""
    last = size / 10 ** len(digits.partition(".")[2])
    return round(float(digits) * size - last / 2), round(float(digits) * size + last / 2)


@cache
def _by_key(file: str) -> tuple[list[str], dict[tuple[str, ...], dict[str, str]]]:
    """The columns that say of which run a row is, and the rows by their values."""
    rows = printed_rows(file)
    columns = [column for column in rows[0] if column not in RESULTS]
    return columns, {tuple(_text(row[column]) for column in columns): row for row in rows}


def _text(value: object) -> str:
    """A value as a key: 0.01, "1e-2" and "0.01" are one."""
    try:
        return f"{float(value):g}"
    except (TypeError, ValueError):
        return "" if value is None else str(value)
