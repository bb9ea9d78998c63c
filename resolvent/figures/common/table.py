"""Tables of text, written as CSV, LaTeX (booktabs) and HTML."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import compress, groupby
from pathlib import Path
from typing import Any

import pandas as pd

from resolvent.common.digests import write_digest
from resolvent.common.files import write_text
from resolvent.figures.common.numbers import DASH, absent, plain


@dataclass(frozen=True)
class Cell:
    """Content of a cell."""

    text: str
    note: str = ""  # small text below, such as an interval or an epoch
    warning: str = ""  # a note on a fault that is not in the text
    value: float | None = None  # sort key, instead of the text; NaN and None come last
    bold: bool = False  # among the best in its column
    lost: bool = False  # replaces a number
    prose: bool = False  # text, not a number
    framed: bool = False
    link: str = ""  # address, in HTML, of the text in the first column


EMPTY = Cell(DASH)
ALONE = """<meta charset="utf-8">
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 1rem; color: #1f2328; background: #ffffff; }
table { border-collapse: collapse; margin-bottom: 2.5rem; }
caption { text-align: left; font-weight: 600; padding: .5rem 0; }
th, td { padding: .35rem .6rem; text-align: left; vertical-align: top; white-space: nowrap; }
thead th.group { text-align: center; }
thead tr:last-child th, tbody.model { border-bottom: 2px solid #1f2328; }
tbody tr { border-bottom: 1px solid #dde1e6; }
th > button { all: unset; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.interval, .warning { display: block; font-size: .85em; color: #57606a; }
.best { font-weight: 700; }
</style>
"""
FIRST_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?")
SPECIAL = {character: f"\\{character}" for character in "&%#_${}"} | {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "—": "---",
    "–": "--",
    "…": r"\ldots{}",
    "[": "{[}",  # after the end of a row, [ or * would begin an option
    "*": "{*}",
    **{sign: f"${sign}$" for sign in "<>|"},  # other signs in LaTeX's default fonts
}
GREEK = """\
α alpha β beta γ gamma δ delta ε varepsilon ϵ epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu
ξ xi π pi ρ rho σ sigma τ tau υ upsilon φ varphi χ chi ψ psi ω omega
Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Φ Phi Ψ Psi Ω Omega"""
SIGNS = """\
× times √ surd ≤ leq ≥ geq ≈ approx ± pm · cdot → to ∞ infty ∂ partial ∇ nabla ‖ | ∫ int ⟨ langle ⟩ rangle"""
WORDS = f"{GREEK} {SIGNS}".split()
MATHEMATICS = {sign: rf"$\{name}$" for sign, name in zip(WORDS[::2], WORDS[1::2], strict=True)}
MATHEMATICS |= {"−": "$-$", "ℓ": r"$\ell$"}
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵀ", "0123456789-T")
SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


@dataclass(frozen=True)
class Column:
    """A column's head and group."""

    head: str
    group: str = ""
    note: str = "note"  # name of the column of notes in a CSV file
    latex: bool = True  # whether the column is in LaTeX: a printed page is narrow

    @property
    def name(self) -> str:
        return ": ".join(filter(None, (self.group, self.head)))


@dataclass(frozen=True)
class Table:
    """Rows of cells; the first column names the rows."""

    columns: list[Column]
    rows: list[list[Cell]]
    baselines: list[list[Cell]] = field(default_factory=list)  # below a rule
    title: str = ""
    note: str = ""  # a line below the table

    def is_prose(self, number: int) -> bool:
        return number == 0 or any(row[number].prose for row in self.rows)

    def select(self, keep: Callable[[Column], bool]) -> "Table":
        """Return the table with the columns that `keep` accepts."""
        mask = [keep(column) for column in self.columns]
        rows, baselines = ([[*compress(row, mask)] for row in of] for of in (self.rows, self.baselines))
        return replace(self, columns=[*compress(self.columns, mask)], rows=rows, baselines=baselines)

    @property
    def groups(self) -> list[tuple[str, int]]:
        names = (column.group for column in self.columns)
        return [(name, len(list(same))) for name, same in groupby(names)]


def columns(*groups: tuple[str, Iterable[str]]) -> list[Column]:
    return [Column(head, group) for group, heads in groups for head in heads]


def table_of(rows: Sequence[Mapping[Any, Cell]]) -> Table:
    """Return the table whose columns are the keys of its rows: a head, or a group and a head."""
    heads = [(key, "") if isinstance(key, str) else key[::-1] for key in (rows[0] if rows else ())]
    return Table([Column(head, group) for head, group in heads], [list(row.values()) for row in rows])


def write_table(tables: Table | list[Table], outputs: Iterable[str | Path], *, style: str = "") -> None:
    """Write tables in the format of each output's suffix: .csv, .tex or .html.

    A LaTeX file has one table. In a CSV file, tables are side by side and must have the same rows. HTML is a
    fragment of a page; a file on its own needs a `style`.
    """
    tables = [tables] if isinstance(tables, Table) else tables
    for output in map(Path, outputs):
        if output.suffix == ".csv":
            write_text(output, as_csv(*tables))
        elif output.suffix == ".tex":
            (table,) = tables
            write_text(output, as_latex(table))
        else:
            write_text(output, style + "".join(map(as_html, tables)))
            write_digest(output)  # a fragment of a page


def as_csv(first: Table, *others: Table) -> str:
    """Return the texts and any notes of tables with the same rows as CSV."""
    texts = {"kind": ["model"] * len(first.rows) + ["baseline"] * len(first.baselines)}
    for table in (first, *others):
        for number, column in enumerate(table.columns):
            if number == 0 and table is not first:
                continue
            cells = [row[number] for row in (*table.rows, *table.baselines)]
            name = ": ".join(filter(None, (table.title if table is not first else "", column.name)))
            texts[name] = [plain(cell.text) for cell in cells]
            notes = [plain("; ".join(filter(None, (cell.note, cell.warning)))) for cell in cells]
            if any(notes):
                texts[f"{name} ({column.note})"] = notes
    if not first.baselines:
        del texts["kind"]
    return pd.DataFrame(texts).to_csv(index=False, lineterminator="\n")


def as_latex(table: Table) -> str:
    """Return a booktabs tabular, with notes in brackets after the text."""
    table = table.select(lambda column: column.latex)
    top, rules, start = [], "", 1
    for group, width in table.groups:
        top.append(rf"\multicolumn{{{width}}}{{c}}{{{latex_text(group)}}}")
        rules += rf"\cmidrule(lr){{{start}-{start + width - 1}}}" if group else ""
        start += width
    alignment = "".join("l" if table.is_prose(number) else "r" for number in range(len(table.columns)))
    lines = [
        *([f"% {latex_text(table.title)}"] if table.title else []),
        r"% Needs \usepackage{booktabs}.",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        " & ".join(top) + r" \\",
        rules,
        " & ".join(latex_text(column.head) for column in table.columns) + r" \\",
        r"\midrule",
        *(" & ".join(map(_latex_cell, row)) + r" \\" for row in table.rows),
        *([r"\midrule"] if table.baselines else []),
        *(" & ".join(map(_latex_cell, row)) + r" \\" for row in table.baselines),
    ]
    note = [rf"\par {{\scriptsize {latex_text(table.note)}}}"] if table.note else []
    return "\n".join([*filter(None, lines), r"\bottomrule", r"\end{tabular}", *note, ""])


def latex_text(text: str) -> str:
    """Return `text` for LaTeX, in ASCII except for accented letters."""
    signs: dict[str, str | int | None] = {**SPECIAL, **MATHEMATICS}
    text = text.translate(str.maketrans(signs))
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵀ]+", lambda raised: f"$^{{{raised[0].translate(SUPERSCRIPTS)}}}$", text)
    return re.sub("[₀-₉]+", lambda lowered: f"$_{{{lowered[0].translate(SUBSCRIPTS)}}}$", text)


def as_html(table: Table) -> str:
    """Return a table with sort buttons in its heads; models and baselines are sorted separately."""
    title = f"<caption>{escape(table.title)}</caption>\n" if table.title else ""
    top, heads, bodies = "", "", ""
    for group, width in table.groups:
        named = f'<th colspan="{width}" class="group no-sort">{escape(group)}</th>'
        top += named if group else f'<td colspan="{width}"></td>'
    top = f"<tr>{top}</tr>\n" if any(column.group for column in table.columns) else ""
    for number, column in enumerate(table.columns):
        kind = "" if table.is_prose(number) else ' class="number"'
        heads += f'<th{kind}><button type="button">{escape(column.head)}</button></th>'
    for kind, rows in (("model", table.rows), ("baseline", table.baselines)):
        lines = "\n".join(f"<tr>{''.join(map(_html_cell, row, range(len(row))))}</tr>" for row in rows)
        if rows or kind == "model":
            bodies += f'<tbody class="{kind}">\n{lines}\n</tbody>\n'
    note = f'<p class="below">{escape(table.note)}</p>\n' if table.note else ""
    head = f"<thead>\n{top}<tr>{heads}</tr>\n</thead>"
    return f'<table class="sortable asc n-last">\n{title}{head}\n{bodies}</table>\n{note}'


def _html_cell(cell: Cell, number: int) -> str:
    text = escape(cell.text)
    if number == 0:
        linked = f'<a href="{escape(cell.link)}">{text}</a>' if cell.link else text
        return f'<th scope="row">{linked}</th>'
    marks = " lost" * cell.lost + " best" * cell.bold + " framed" * cell.framed
    kind = "prose" if cell.prose else f"number{marks}"
    number_in_text = FIRST_NUMBER.match(cell.text.replace(",", ""))
    sorted_by = number_in_text.group() if number_in_text else ""
    if cell.value is not None:
        sorted_by = "" if absent(cell.value) else f"{cell.value:.10g}"
    value = "" if cell.prose else f' data-sort="{sorted_by}"'
    for name, small in (("interval", cell.note), ("warning", cell.warning)):
        text += f'<span class="{name}">{escape(small)}</span>' if small else ""
    return f'<td class="{kind}"{value}>{text}</td>'


def _latex_cell(cell: Cell) -> str:
    text = latex_text(cell.text)
    if cell.bold or cell.lost:
        text = rf"\{'textbf' if cell.bold else 'textit'}{{{text}}}"
    notes = "; ".join(filter(None, (cell.note, cell.warning)))
    return f"{text} {{\\scriptsize [{latex_text(notes)}]}}" if notes else text
