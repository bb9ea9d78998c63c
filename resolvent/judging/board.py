"""The board: evaluations of `resolvent evaluate` beside one another, in a terminal or as a static site.

A folder has an entry: its record, and optionally the errors of every sample and `entry.yaml`, how the model
was made. Entries may come from anyone, so files are read as data, within limits, and not through links.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import chain, count
from pathlib import Path

import jinja2
import numpy as np
import pandas as pd
import rich.table
import yaml
from pydantic import Field, ValidationError
from rich.console import Console

from resolvent.common.errors import FileError
from resolvent.common.files import write_json, write_text
from resolvent.common.records import lines_of, read_record
from resolvent.common.settings import Settings
from resolvent.datasets.storage.layout import group_name
from resolvent.figures.common.intervals import differing_means
from resolvent.figures.common.numbers import ends, scientific, short_duration
from resolvent.figures.common.table import EMPTY, Cell, Column, Table, as_html
from resolvent.judging.answers import BASELINE
from resolvent.judging.exported import RELATIVE
from resolvent.judging.report import (
    ASSETS,
    ERRORS,
    KINDS,
    LEAKED,
    PAGE,
    RECORD,
    SOLVER,
    EvaluatedRow,
    Evaluation,
    page_of,
    rendered,
)
from resolvent.judging.tasks import NamedTask, names, plain_yaml, read_task

MADE = "entry.yaml"
LARGEST = {RECORD: 1_000_000, ERRORS: 10_000_000, MADE: 10_000}  # bytes of the files of an entry
LONGEST = 100  # characters of a name
UNSHOWABLE = (jinja2.TemplateError, AttributeError, LookupError, StopIteration, TypeError, ValueError)
UNKNOWN = NamedTask.model_construct(  # type: ignore[call-arg]
    title="No task of this version of Resolvent: a task of others, or the test samples of a run",
    given="its inputs",
    asked="its targets",
    metric="relative_l2",
)


class Made(Settings):
    """Content of entry.yaml: statements of the authors, which nobody has checked."""

    authors: str = Field(min_length=1, max_length=300)
    code: str = Field(min_length=1, max_length=300, description="address of the code")
    training: str = Field(min_length=1, max_length=2000, description="how it was trained, a paragraph")
    training_samples: int = Field(ge=0)
    parameters: int = Field(ge=0)
    hardware: str = Field(min_length=1, max_length=300, description="and hours")
    licence: str = Field(min_length=1, max_length=100)


@dataclass(frozen=True)
class Entry:
    """An evaluation on the board.

    rows    relative L2 errors by grid, first the grid that orders.
    errors  of every sample on the first grid, (samples,), if there is a file of them.
    """

    folder: Path
    record: Evaluation
    rows: dict[str, EvaluatedRow]
    errors: np.ndarray | None
    made: Made | None

    @property
    def first(self) -> EvaluatedRow:
        return next(iter(self.rows.values()))


@dataclass(frozen=True)
class Test:
    """The entries of a test, the lowest error first, and the first and last place that each may have."""

    name: str
    task: NamedTask
    entries: list[Entry]
    places: list[tuple[int, int]]


def read_board(folders: Sequence[Path]) -> list[Test]:
    """Return the tests of the entries in `folders`, by name.

    Tests have the same name only if they have the same test samples. Raises `FileError` if a folder has no
    evaluation, or one that is damaged or unfit for a page.
    """
    tests: dict[str, list[Entry]] = {}
    for entry in map(read_entry, folders):
        tests.setdefault(entry.record["task"], []).append(entry)
    return [_ordered(name, entries) for name, entries in sorted(tests.items())]


def read_entry(folder: Path) -> Entry:
    """Read the entry in a folder. Raises `FileError` if it has no evaluation, or a damaged one."""
    record_file, errors_file, made_file = (_own_file(folder, name) for name in (RECORD, ERRORS, MADE))
    if record_file is None and (folder / "judged.json").exists():
        raise FileError(f"{folder} has judged.json, the record of version 1.0: evaluate again")
    if record_file is None:
        raise FileError(f"{folder} has no {RECORD}: make it with `resolvent evaluate … --out {folder}`")
    record = read_record(record_file, Evaluation, remedy="evaluate again")
    record["evaluated"] = KINDS[record["kind"]]
    own = [row for row in record["rows"] if row["who"] == record["label"]]
    rows = {row["grid"]: row for row in own if row["metric"] == "relative_l2"}
    if not rows:
        raise FileError(f"{record_file}: 'rows' has no relative_l2 of 'label': evaluate again")
    for name in (record["label"], record["task"], *rows):
        if not (0 < len(name) <= LONGEST and name.isprintable()) or name.startswith((SOLVER, BASELINE)):
            raise FileError(
                f"{record_file}: {name[:LONGEST]!r} is not a name of at most {LONGEST} characters"
            )
    if record["task"] in names():
        first = group_name(read_task(record["task"]).tested[0])
        if first not in rows:
            raise FileError(f"{record_file}: 'rows' has no {first}, the task's first grid: evaluate again")
        rows = {first: rows.pop(first), **rows}
    errors = _errors(errors_file, next(iter(rows.values()))) if errors_file is not None else None
    return Entry(folder, record, rows, errors, _made(made_file) if made_file is not None else None)


def _own_file(folder: Path, name: str) -> Path | None:
    """Return a file of an entry, or None. Raises `FileError` for a large file or a link."""
    path = folder / name
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise FileError(f"{path} is not a file: copy it into the folder")
    if path.exists() and path.stat().st_size > LARGEST[name]:
        raise FileError(f"{path} has more than {LARGEST[name]:,} bytes: leave out what is not needed")
    return path if path.exists() else None


def _errors(path: Path, row: EvaluatedRow) -> np.ndarray:
    """Return the errors (samples,) whose mean is that of a row. Raises `FileError` if there are none."""
    try:
        table = pd.read_csv(path, usecols=["who", "grid", "sample", "relative_l2"])
        own = table[(table["who"] == row["who"]) & (table["grid"] == row["grid"])]
        errors = own.groupby("sample")["relative_l2"].mean().to_numpy(np.float64)
    except (ValueError, TypeError) as error:
        raise FileError(f"{path} is damaged ({' '.join(str(error).split())[:200]}): evaluate again") from None
    if len(errors) != row["samples"] or not np.isclose(errors.mean(), row["mean"], rtol=1e-6, atol=0):
        raise FileError(f"{path.parent / RECORD}: 'rows' has another mean than {path.name}: evaluate again")
    return errors


def _made(path: Path) -> Made:
    """Read entry.yaml. Raises `FileError` if a key is missing, unknown or has another type."""
    content = None
    try:
        content = plain_yaml(path.read_text("utf-8"))
        return Made.model_validate(content)
    except ValidationError as error:
        raise FileError(f"{path}: {lines_of(error, content)[0]}") from None
    except (ValueError, RecursionError, yaml.YAMLError) as error:  # no text, or no YAML
        raise FileError(f"{path} is damaged: {' '.join(str(error).split())[:200]}") from None


def _ordered(name: str, entries: list[Entry]) -> Test:
    """Return a test with its entries ordered by mean error, and the places that each may have.

    Of two entries, one is better if their means differ by more than chance on the same samples, for all pairs
    at once (`differing_means`); without the errors of every sample, if their intervals do not overlap.
    """
    entries = sorted(entries, key=lambda entry: (entry.first["mean"], entry.record["label"]))
    low, high = (np.array([entry.first[end] for entry in entries], float) for end in ("low", "high"))
    better = high[:, None] < low
    stored = [number for number, entry in enumerate(entries) if entry.errors is not None]
    errors = [entry.errors for entry in entries if entry.errors is not None]
    if len(errors) > 1 and len(set(map(len, errors))) == 1:
        better[np.ix_(stored, stored)] = np.triu(differing_means(errors))  # in the order of the means
    above, below = better.sum(axis=0).tolist(), better.sum(axis=1).tolist()
    places = [(1 + before, len(entries) - after) for before, after in zip(above, below, strict=True)]
    return Test(name, read_task(name) if name in names() else UNKNOWN, entries, places)


def table_of(test: Test, slugs: dict[Path, str]) -> Table:
    """Return the table of a test, whose names are links to the pages of `slugs`; in LaTeX it is narrower."""
    grids = list(dict.fromkeys(grid for entry in test.entries for grid in entry.rows))
    errors = [Column(grid, "mean relative L² error", latex=grid == grids[0]) for grid in grids]
    columns = [Column("model"), Column("place"), *errors, Column("on new samples"), Column("evaluated")]
    columns += [Column(head, latex=False) for head in ("time per sample", "training samples", "parameters")]
    rows = []
    for entry, (first, last) in zip(test.entries, test.places, strict=True):
        record, made, fresh = entry.record, entry.made, entry.record.get("fresh")
        cells = [Cell(record["label"], link=f"{slugs[entry.folder]}/{PAGE}" if slugs else "")]
        place = Cell(str(first)) if first == last else Cell(f"{first} to {last}", "undecided")
        cells.append(place)
        for row in (entry.rows.get(grid) for grid in grids):
            interval = ends(row["low"], row["high"], row["mean"]) if row else ""
            cells.append(Cell(scientific(row["mean"]), interval, value=row["mean"]) if row else EMPTY)
        on_new = Cell(scientific(fresh["new"]), fresh["verdict"], value=fresh["new"]) if fresh else EMPTY
        if on_new.note == LEAKED:
            on_new = replace(on_new, note="", warning=LEAKED)
        cells += [on_new, Cell(_evaluated(record), prose=True)]
        seconds = record["seconds_per_sample"].get(entry.first["grid"])
        cells.append(Cell(short_duration(seconds), value=seconds))
        numbers = (made.training_samples, made.parameters) if made else ()
        cells += [Cell(f"{number:,}", value=number) for number in numbers] or [EMPTY, EMPTY]
        rows.append(cells)
    return Table(columns, rows)


def _evaluated(record: Evaluation) -> str:
    """Return what was evaluated, and whether recorded errors were confirmed and all files are identified."""
    words: list[str] = [record["kind"]]
    if recorded := record.get("recorded"):
        confirmed = all(row["confirmed"] is not False for row in recorded)
        words.append(f"recorded errors {'confirmed' if confirmed else 'not confirmed'}")
    return ", ".join(words + ["not identified"] * (record.get("identified") is False))


def print_board(tests: list[Test], console: Console) -> None:
    """Print the board, one table for each test."""
    for test in tests:
        table = table_of(test, {}).select(lambda column: column.latex)
        printed = rich.table.Table(title=f"{test.name}, mean relative L² error", title_justify="left")
        for column in table.columns:
            printed.add_column(column.head, overflow="fold", no_wrap=bool(column.group))
        for row in table.rows:
            printed.add_row(*("\n".join(filter(None, (cell.text, cell.note, cell.warning))) for cell in row))
        console.print(printed)


def write_site(tests: list[Test], out: Path) -> Path:
    """Write the front page of the board and a folder for each entry to `out`; return the front page.

    Raises `FileError` if a record has parts that no page can show.
    """
    slugs = dict[Path, str]()
    for entry in (entry for test in tests for entry in test.entries):
        name = re.sub("[^a-z0-9]+", "-", entry.folder.resolve().name.lower()).strip("-")[:60] or "entry"
        numbered = (f"{name}-{number}" for number in count(2))
        slugs[entry.folder] = next(slug for slug in chain([name], numbered) if slug not in slugs.values())
    for test in tests:
        for entry in test.entries:
            _write_entry(test.task, entry, out / slugs[entry.folder])
    tables = [(test, as_html(table_of(test, slugs))) for test in tests]
    sort = (ASSETS / "sortable.js").read_text("utf-8")
    page = rendered("board.html.j2", tables=tables, sort=sort, version=version("resolvent"))
    write_text(out / PAGE, page)
    return out / PAGE


def _write_entry(task: NamedTask, entry: Entry, folder: Path) -> None:
    """Write page and record of an entry, and its errors without text, which might be formulas."""
    record = dict(entry.record)
    try:
        page = page_of(record, task, template="entry.html.j2", entry=entry)
    except UNSHOWABLE as error:
        fault = " ".join(str(error).split())[:200]
        raise FileError(f"{entry.folder / RECORD} cannot be shown ({fault}): evaluate again") from None
    write_json(folder / RECORD, record)
    if entry.errors is not None:
        errors = pd.DataFrame({"sample": range(len(entry.errors)), "relative_l2": entry.errors})
        write_text(folder / ERRORS, errors.to_csv(index=False))
    write_text(folder / PAGE, page)


def differences(recorded: Entry, again: Entry) -> Iterator[str]:
    """Yield a line for each error of `recorded` that `again`, the same model evaluated anew, does not have.

    Errors are equal if they differ by at most a thousandth plus the accuracy of the labels, for rounding.
    """
    name = recorded.folder / RECORD
    if recorded.record["task"] != again.record["task"]:
        yield f"{name} is of {recorded.record['task']}, {again.folder} of {again.record['task']}"
        return
    for grid, row in recorded.rows.items():
        anew = again.rows[grid]["mean"] if grid in again.rows else np.nan
        if not abs(anew - row["mean"]) <= RELATIVE * row["mean"] + recorded.record["stated_accuracy"]:
            yield f"{name}: error {scientific(row['mean'])} on {grid}; evaluated anew: {scientific(anew)}"
    if "fresh" in again.record and again.record["fresh"]["verdict"] == LEAKED:
        yield f"{again.folder}: {LEAKED}"
