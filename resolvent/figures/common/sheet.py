"""A small table of text, written as CSV, as LaTeX (booktabs) and as an HTML fragment."""

from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import pandas as pd

from resolvent.figures.common.table import latex_text, write_as


@dataclass(frozen=True)
class Entry:
    """A cell: its text, a note below it, a hint on hovering, whether a run was lost; or words, as prose."""

    text: str
    note: str = ""
    hint: str = ""
    lost: bool = False
    prose: bool = False


@dataclass(frozen=True)
class Sheet:
    """`groups` are headings over as many columns as they say; the first column names the rows.

    `baselines` are rows below a rule. A column with any prose is set as such.
    """

    groups: list[tuple[str, int]]
    columns: list[str]
    rows: list[list[Entry]]
    baselines: list[list[Entry]] = field(default_factory=list)

    @property
    def prose(self) -> list[bool]:
        """Of each column but the first, whether it is prose."""
        return [any(row[number].prose for row in self.rows) for number in range(1, len(self.columns))]


def write_sheet(sheet: Sheet, outputs: list[str | Path]) -> None:
    """Write the sheet in the format of each output's suffix."""
    write_as(sheet, outputs, {".csv": as_csv, ".tex": as_latex, ".html": as_html})


def as_csv(sheet: Sheet) -> str:
    """A column for the texts, and one for the notes where there are any; headings joined by a colon."""
    above = [group for group, width in sheet.groups for _ in range(width)]
    table = {}
    for number, (group, column) in enumerate(zip(above, sheet.columns, strict=True)):
        name = ": ".join(filter(None, (group, column)))
        cells = [row[number] for row in (*sheet.rows, *sheet.baselines)]
        table[name] = [cell.text for cell in cells]
        if any(cell.note for cell in cells):
            table[f"{name} (note)"] = [cell.note for cell in cells]
    return pd.DataFrame(table).to_csv(index=False, lineterminator="\n")


def as_latex(sheet: Sheet) -> str:
    """A booktabs tabular."""
    top, rules, start = [], [], 1
    for group, width in sheet.groups:
        top.append(rf"\multicolumn{{{width}}}{{c}}{{{latex_text(group)}}}")
        if group:
            rules.append(rf"\cmidrule(lr){{{start}-{start + width - 1}}}")
        start += width
    lines = [
        r"% Needs \usepackage{booktabs}.",
        rf"\begin{{tabular}}{{l{''.join('l' if one else 'r' for one in sheet.prose)}}}",
        r"\toprule",
        " & ".join(top) + r" \\",
        "".join(rules),
        " & ".join(map(latex_text, sheet.columns)) + r" \\",
        r"\midrule",
        *(" & ".join(map(_latex_entry, row)) + r" \\" for row in sheet.rows),
        *([r"\midrule"] if sheet.baselines else []),
        *(" & ".join(map(_latex_entry, row)) + r" \\" for row in sheet.baselines),
    ]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def as_html(sheet: Sheet) -> str:
    """A sortable table."""
    top = "".join(
        f'<th colspan="{width}" class="group">{escape(group)}</th>' for group, width in sheet.groups
    )
    first, *others = map(escape, sheet.columns)
    columns = f"<th>{first}</th>" + "".join(
        f"<th>{column}</th>" if prose else f'<th class="number">{column}</th>'
        for column, prose in zip(others, sheet.prose, strict=True)
    )
    bodies = _html_body(sheet.rows, "model")
    if sheet.baselines:
        bodies += _html_body(sheet.baselines, "baseline")
    return (
        f'<table class="sortable headline">\n<thead>\n<tr>{top}</tr>\n<tr class="columns">{columns}</tr>\n'
        f"</thead>\n{bodies}</table>\n"
    )


def _html_body(rows: list[list[Entry]], kind: str) -> str:
    lines = "\n".join(f"<tr>{''.join(map(_html_entry, row, range(len(row))))}</tr>" for row in rows)
    return f'<tbody class="{kind}">\n{lines}\n</tbody>\n'


def _latex_entry(entry: Entry) -> str:
    text = latex_text(entry.text)
    if entry.lost:
        text = rf"\textit{{{text}}}"
    return f"{text} {{\\scriptsize [{latex_text(entry.note)}]}}" if entry.note else text


def _html_entry(entry: Entry, number: int) -> str:
    text = escape(entry.text)
    if number == 0:
        return f'<th scope="row">{text}</th>'
    kind = "prose" if entry.prose else "number lost" if entry.lost else "number"
    hint = f' title="{escape(entry.hint)}"' if entry.hint else ""
    note = f'<span class="interval">{escape(entry.note)}</span>' if entry.note else ""
    return f'<td class="{kind}"{hint}>{text}{note}</td>'
