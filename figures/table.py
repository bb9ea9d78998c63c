"""The headline table, laid out like Table 2a of Cao 2021: models by resolution, trained and tested there.

With noise, trained and tested with the same.

One list of rows is written three times: as CSV, as LaTeX (booktabs) and as an HTML fragment. Errors are
printed in units of 1e-3, as in the paper.
"""

import math
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pandas as pd

from figures.errors import ResultError
from figures.results import at_home

UNIT = 1e-3
DASH = "—"


@dataclass(frozen=True)
class Cell:
    """One row at one resolution."""

    error: str  # "1.203", or "diverged (epoch 12)", or a dash
    interval: str  # "1.150 to 1.262", or empty
    bold: bool  # the best model, or not resolved from it
    note: str  # seeds that diverged beside others that did not
    value: float | None
    reported: str
    reported_note: str
    seconds: float | None


@dataclass(frozen=True)
class Row:
    """A model or yardstick across resolutions."""

    kind: str
    key: str
    label: str
    parameters: int
    cells: dict[int, Cell]


def headline(comparison: pd.DataFrame) -> tuple[list[int], list[Row]]:
    """The resolutions and rows, models first, in the order of the comparison."""
    home = at_home(comparison)
    resolutions = sorted({int(one) for one in home[home["kind"] == "model"]["trained_resolution"]})
    rows = []
    for (kind, key), group in home.groupby(["kind", "key"], sort=False):
        cells = {int(record["trained_resolution"]): _cell(record) for record in group.to_dict("records")}
        first = group.iloc[0]
        rows.append(Row(kind, key, first["label"], int(first["parameters"]), cells))
    return resolutions, sorted(rows, key=lambda row: row.kind)  # "model" before "yardstick"; stable


def write_table(comparison: str | Path, outputs: list[str | Path]) -> None:
    """Write the headline table of a comparison CSV in the format of each output's suffix."""
    resolutions, rows = headline(pd.read_csv(comparison))
    writers = {".csv": as_csv, ".tex": as_latex, ".html": as_html}
    for output in map(Path, outputs):
        if output.suffix not in writers:
            raise ResultError(f"{output} must end in {', '.join(writers)}")
        output.write_text(writers[output.suffix](resolutions, rows))


def as_csv(resolutions: list[int], rows: list[Row]) -> str:
    """The table as read by a person: numbers as printed."""
    columns = ["kind", "label", "parameters"]
    for n in resolutions:
        columns += [f"n{n}", f"n{n}_interval", f"n{n}_reported", f"n{n}_train_seconds"]
    records = []
    for row in rows:
        record = [row.kind, row.label, row.parameters]
        for n in resolutions:
            cell = row.cells.get(n)
            record += (
                [cell.error, cell.interval, cell.reported, _seconds(cell.seconds)] if cell else [DASH] * 4
            )
        records.append(record)
    return pd.DataFrame(records, columns=columns).to_csv(index=False, lineterminator="\n")


def as_latex(resolutions: list[int], rows: list[Row]) -> str:
    """A booktabs tabular: error with its interval, and the paper's number, for each resolution."""
    lines = [
        r"% Mean relative $L^2$ error in units of $10^{-3}$, 95\,\% bootstrap interval in brackets.",
        r"% Needs \usepackage{booktabs}.",
        r"\begin{tabular}{l" + "rr" * len(resolutions) + "}",
        r"\toprule",
        "".join(rf" & \multicolumn{{2}}{{c}}{{$n = {n}$}}" for n in resolutions) + r" \\",
        "".join(rf"\cmidrule(lr){{{2 + 2 * i}-{3 + 2 * i}}}" for i in range(len(resolutions))),
        "model" + " & ours & Cao 2021" * len(resolutions) + r" \\",
        r"\midrule",
    ]
    for previous, row in zip([None, *rows], rows, strict=False):
        if previous is not None and previous.kind != row.kind:
            lines.append(r"\midrule")
        cells = [_latex_text(row.label)]
        for n in resolutions:
            cells += _latex_cell(row.cells.get(n))
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def as_html(resolutions: list[int], rows: list[Row]) -> str:
    """A sortable table: numbers carry their value in `data-value`, refusals their reason in `title`."""
    top = "".join(f'<th colspan="3" class="group">n = {n}</th>' for n in resolutions)
    columns = "".join(
        '<th class="number">error ×10⁻³</th><th class="number">Cao 2021</th><th class="number">training</th>'
        for _ in resolutions
    )
    bodies = []
    for kind in dict.fromkeys(row.kind for row in rows):
        body = "\n".join(_html_row(resolutions, row) for row in rows if row.kind == kind)
        bodies.append(f'<tbody class="{kind}">\n{body}\n</tbody>')
    return (
        '<table class="sortable headline">\n<thead>\n'
        f'<tr><th colspan="2"></th>{top}</tr>\n'
        f'<tr class="columns"><th>model</th><th class="number">parameters</th>{columns}</tr>\n</thead>\n'
        + "\n".join(bodies)
        + "\n</table>\n"
    )


def milli(value: float) -> str:
    """An error in units of 1e-3, as printed in the paper: 1.203, 14.60, 911.4; below 0.001: 4.2e-04."""
    scaled = value / UNIT
    if scaled < 1e-3:
        return f"{scaled:.1e}"
    return f"{scaled:.3f}" if scaled < 10 else f"{scaled:.2f}" if scaled < 100 else f"{scaled:.1f}"


def duration(seconds: float | None) -> str:
    """Seconds as a person says them: 8.4 s, 3.2 min, 1.5 h."""
    if _absent(seconds):
        return DASH
    for size, name in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {name}"
    return f"{seconds:.1f} s"


def _cell(record: dict) -> Cell:
    value, reported = record["mean"], record["reported"]
    lost = int(record["diverged_seeds"])
    told = {} if not _absent(value) else {"error": str(record["status"]) if lost else DASH, "interval": ""}
    if not told:
        told = {"error": milli(value), "interval": f"{milli(record['low'])} to {milli(record['high'])}"}
    return Cell(
        **told,
        bold=record["standing"] in ("best", "tied"),
        note=str(record["status"]) if lost and not _absent(value) else "",
        value=None if _absent(value) else float(value),
        reported=DASH if _absent(reported) else f"{reported / UNIT:.3f}",
        reported_note=str(record["reported_note"]),
        seconds=record["train_seconds"],
    )


def _html_row(resolutions: list[int], row: Row) -> str:
    parameters = f"{row.parameters:,}" if row.parameters else DASH
    cells = [
        f'<th scope="row">{escape(row.label)}</th>'
        f'<td class="number" {_data(row.parameters)}>{parameters}</td>'
    ]
    for n in resolutions:
        cell = row.cells.get(n)
        if cell is None:
            cells.append(f'<td class="number">{DASH}</td>' * 3)
            continue
        kind = "number lost" if cell.value is None else "number best" if cell.bold else "number"
        small = "".join(
            f'<span class="{name}">{escape(text)}</span>'
            for name, text in (("interval", cell.interval), ("warning", cell.note))
            if text
        )
        cells.append(
            f'<td class="{kind}" {_data(cell.value)}>{escape(cell.error)}{small}</td>'
            f'<td class="number" title="{escape(cell.reported_note)}">{cell.reported}</td>'
            f'<td class="number" {_data(cell.seconds)}>{duration(cell.seconds)}</td>'
        )
    return f"<tr>{''.join(cells)}</tr>"


def _latex_cell(cell: Cell | None) -> list[str]:
    if cell is None:
        return ["---", "---"]
    if cell.value is None:
        return [rf"\textit{{{_latex_text(cell.error)}}}", cell.reported.replace(DASH, "---")]
    error = rf"\textbf{{{cell.error}}}" if cell.bold else cell.error
    mark = r"$^{\dagger}$" if cell.note else ""
    interval = cell.interval.replace(" to ", ", ")
    return [rf"{error}{mark} {{\scriptsize [{interval}]}}", cell.reported.replace(DASH, "---")]


def _latex_text(text: str) -> str:
    for character in "&%#_":
        text = text.replace(character, "\\" + character)
    return text


def _data(value: float | None) -> str:
    return 'data-value=""' if _absent(value) or not value else f'data-value="{value:.10g}"'


def _seconds(value: float | None) -> str:
    return DASH if _absent(value) else f"{value:.3g}"


def _absent(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
