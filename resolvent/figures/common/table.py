"""Tables of text: rows of cells under heads, written as CSV, as LaTeX (booktabs) and as HTML."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from pathlib import Path

import pandas as pd

from resolvent.common.digests import write_digest
from resolvent.common.files import write_text
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.latex import latex_text
from resolvent.figures.common.numbers import DASH, absent, plain


@dataclass(frozen=True)
class Cell:
    """What stands in a row and column.

    note     small, below the text: an interval, an epoch.
    warning  the same, where something went wrong that the text does not say.
    value    to sort by, in place of the text; NaN or None goes last.
    bold     among the best of its column.
    lost     stands in place of a number.
    prose    is words, not a number.
    """

    text: str
    note: str = ""
    warning: str = ""
    value: float | None = None
    bold: bool = False
    lost: bool = False
    prose: bool = False


EMPTY = Cell(DASH)
NUMBER = ' class="number"'
ALONE = """<meta charset="utf-8">
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 1rem; color: #1f2328; background: #ffffff; }
table { border-collapse: collapse; margin-bottom: 2.5rem; }
caption { text-align: left; font-weight: 600; padding: .5rem 0; }
th, td { padding: .35rem .8rem; text-align: left; vertical-align: top; white-space: nowrap; }
thead th.group { text-align: center; }
thead tr:last-child th, tbody.model { border-bottom: 1.5px solid #1f2328; }
tbody tr { border-bottom: 1px solid #dde1e6; }
th > button { all: unset; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.interval, .warning { display: block; font-size: .85em; color: #57606a; }
.best { font-weight: 700; }
</style>
"""
FIRST_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?")


@dataclass(frozen=True)
class Column:
    """A head, and the group of neighbouring columns that it belongs to.

    note   what the notes of its cells are, for the name of their own column in a CSV file.
    latex  whether LaTeX has the column, too: a printed page is narrow.
    """

    head: str
    group: str = ""
    note: str = "note"
    latex: bool = True

    @property
    def name(self) -> str:
        """The name in a CSV file: group and head."""
        return ": ".join(filter(None, (self.group, self.head)))


@dataclass(frozen=True)
class Table:
    """Rows of cells; the first column names the rows.

    baselines  rows below a rule.
    note       a line below the table.
    """

    columns: list[Column]
    rows: list[list[Cell]]
    baselines: list[list[Cell]] = field(default_factory=list)
    title: str = ""
    note: str = ""

    def is_prose(self, number: int) -> bool:
        """Return whether a column has words in it."""
        return number == 0 or any(row[number].prose for row in self.rows)

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Groups of neighbouring columns, and how many columns each has."""
        return [(group, len(list(here))) for group, here in groupby(self.columns, lambda one: one.group)]


def columns(*groups: tuple[str, Iterable[str]]) -> list[Column]:
    """Return columns from groups with their heads."""
    return [Column(head, group) for group, heads in groups for head in heads]


def write_table(tables: Table | list[Table], outputs: Iterable[str | Path], *, style: str = "") -> None:
    """Write tables in the format of each output's suffix.

    Several tables follow each other. In a CSV file they stand side by side: they must have the same rows.
    HTML is for a page that has a style; to be opened alone it takes a `style`.

    Raises
    ------
    ResultError
        For another suffix than .csv, .tex and .html.
    """
    tables = [tables] if isinstance(tables, Table) else tables
    writers = {
        ".csv": lambda: as_csv(*tables),
        ".tex": lambda: "\n".join(map(as_latex, tables)),
        ".html": lambda: style + "".join(map(as_html, tables)),
    }
    for output in map(Path, outputs):
        if output.suffix not in writers:
            raise ResultError(f"{output} must end in {', '.join(writers)}")
        write_text(output, writers[output.suffix]())
        if output.suffix == ".html":  # a piece of a page
            write_digest(output)


def as_csv(first: Table, *others: Table) -> str:
    """Return the texts, and the notes where there are any, of tables with the same rows."""
    found = {"kind": ["model"] * len(first.rows) + ["baseline"] * len(first.baselines)}
    for table in (first, *others):
        for number, column in enumerate(table.columns):
            if number == 0 and table is not first:
                continue
            cells = [row[number] for row in (*table.rows, *table.baselines)]
            name = ": ".join(filter(None, (table.title if table is not first else "", column.name)))
            found[name] = [plain(cell.text) for cell in cells]
            notes = [plain("; ".join(filter(None, (cell.note, cell.warning)))) for cell in cells]
            if any(notes):
                found[f"{name} ({column.note})"] = notes
    if not first.baselines:
        del found["kind"]
    return pd.DataFrame(found).to_csv(index=False, lineterminator="\n")


def as_latex(table: Table) -> str:
    """Return a booktabs tabular; notes stand in brackets behind the text."""
    kept = [number for number, column in enumerate(table.columns) if column.latex]
    table = Table(
        [table.columns[number] for number in kept],
        [[row[number] for number in kept] for row in table.rows],
        [[row[number] for number in kept] for row in table.baselines],
        table.title,
        table.note,
    )
    top, rules, start = [], [], 1
    for group, width in table.groups:
        top.append(rf"\multicolumn{{{width}}}{{c}}{{{latex_text(group)}}}")
        if group:
            rules.append(rf"\cmidrule(lr){{{start}-{start + width - 1}}}")
        start += width
    alignment = "".join("l" if table.is_prose(number) else "r" for number in range(len(table.columns)))
    lines = [
        *([f"% {latex_text(table.title)}"] if table.title else []),
        r"% Needs \usepackage{booktabs}.",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        " & ".join(top) + r" \\",
        "".join(rules),
        " & ".join(latex_text(column.head) for column in table.columns) + r" \\",
        r"\midrule",
        *(" & ".join(map(_latex_cell, row)) + r" \\" for row in table.rows),
        *([r"\midrule"] if table.baselines else []),
        *(" & ".join(map(_latex_cell, row)) + r" \\" for row in table.baselines),
    ]
    note = [rf"\par {{\scriptsize {latex_text(table.note)}}}"] if table.note else []
    return "\n".join([*filter(None, lines), r"\bottomrule", r"\end{tabular}", *note, ""])


def as_html(table: Table) -> str:
    """Return a table that the buttons in its heads sort, each body by itself."""
    title = f"<caption>{escape(table.title)}</caption>\n" if table.title else ""
    top = "".join(
        f'<th colspan="{width}" class="group no-sort">{escape(group)}</th>'
        if group
        else f'<td colspan="{width}"></td>'
        for group, width in table.groups
    )
    top = f"<tr>{top}</tr>\n" if any(column.group for column in table.columns) else ""
    heads = "".join(
        f"<th{'' if table.is_prose(number) else NUMBER}>"
        f'<button type="button">{escape(column.head)}</button></th>'
        for number, column in enumerate(table.columns)
    )
    bodies = _html_body(table.rows, "model")
    if table.baselines:
        bodies += _html_body(table.baselines, "baseline")
    note = f'<p class="below">{escape(table.note)}</p>\n' if table.note else ""
    return (
        f'<table class="sortable asc n-last">\n{title}<thead>\n{top}<tr>{heads}</tr>\n</thead>\n'
        f"{bodies}</table>\n{note}"
    )


def _html_body(rows: list[list[Cell]], kind: str) -> str:
    lines = "\n".join(f"<tr>{''.join(map(_html_cell, row, range(len(row))))}</tr>" for row in rows)
    return f'<tbody class="{kind}">\n{lines}\n</tbody>\n'


def _html_cell(cell: Cell, number: int) -> str:
    text = escape(cell.text)
    if number == 0:
        return f'<th scope="row">{text}</th>'
    kind = "prose" if cell.prose else "number" + " lost" * cell.lost + " best" * cell.bold
    value = "" if cell.prose else f' data-sort="{_sorted_by(cell)}"'
    small = "".join(
        f'<span class="{name}">{escape(words)}</span>'
        for name, words in (("interval", cell.note), ("warning", cell.warning))
        if words
    )
    return f'<td class="{kind}"{value}>{text}{small}</td>'


def _sorted_by(cell: Cell) -> str:
    """Return the number that a cell is sorted by, its value or the one its text starts with, or nothing."""
    if cell.value is not None:
        return "" if absent(cell.value) else f"{cell.value:.10g}"
    found = FIRST_NUMBER.match(cell.text.replace(",", ""))
    return found.group() if found else ""


def _latex_cell(cell: Cell) -> str:
    text = latex_text(cell.text)
    if cell.bold or cell.lost:
        text = rf"\{'textbf' if cell.bold else 'textit'}{{{text}}}"
    notes = "; ".join(filter(None, (cell.note, cell.warning)))
    return f"{text} {{\\scriptsize [{latex_text(notes)}]}}" if notes else text
