"""The headline table, laid out like Table 2a of Cao 2021: models by resolution, trained and tested there.

Beside the mean error stand, where there are such, the paper's statistic or protocol, and its number.

Where runs trained on inputs of several levels of noise, a column is a resolution and a level, as in Table 3.
One list of rows is written three times: as CSV, as LaTeX (booktabs) and as an HTML fragment. Errors are
printed in units of 1e-3, as in the paper's Table 2a, unless told otherwise.
"""

import math
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pandas as pd

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.results import on_training_grid, resolution_in_words, without_answer

UNIT = 1e-3
DASH = "—"
MATHEMATICS = {  # in LaTeX
    DASH: "---",
    "η": r"$\eta$",
    "δ": r"$\delta$",
    "ζ": r"$\zeta$",
    "ε": r"$\varepsilon$",
    "×": r"$\times$",
    "10⁻²": "$10^{-2}$",
    "10⁻³": "$10^{-3}$",
    "10⁹": "$10^{9}$",
    "²": "$^2$",
    "ᵀ": r"$^{\mathsf T}$",
    "√": r"$\surd$",
}
BEST_TEST = "best epoch on the test samples"  # the protocol of Cao 2021, beside ours
MEDIAN = "median, standardised fields"  # what Calvello et al. 2024 report


@dataclass(frozen=True, order=True)
class Column:
    """Where rows were trained and tested: points, and level of the noise on the inputs."""

    resolution: int | str
    noise: float = 0.0


@dataclass(frozen=True)
class Cell:
    """One row in one column."""

    error: str  # "1.203", or "diverged (epoch 12)", or "no answer", or a dash
    interval: str  # "1.150 to 1.262", or empty
    bold: bool  # the best model, or not resolved from it
    note: str  # seeds that diverged beside others that did not, or why there is no answer
    value: float | None
    best_test: str  # of Cao 2021's protocol: "1.104", or a dash
    best_test_epoch: str
    median: str  # of standardised fields, or a dash; and its interval
    median_interval: str
    reported: str
    reported_note: str
    seconds: float | None


@dataclass(frozen=True)
class Row:
    """A model or baseline across columns."""

    kind: str
    key: str
    label: str
    parameters: int
    cells: dict[Column, Cell]


@dataclass(frozen=True)
class Table:
    """Columns, and rows with the models first; `headings` replace "n = 141" at a resolution.

    paper  name of that with numbers for these rows.
    """

    columns: list[Column]
    rows: list[Row]
    unit: float
    headings: dict[int | str, str]
    paper: str

    @property
    def has_best_test(self) -> bool:
        """Whether any run recorded its test error by epoch."""
        return any(cell.best_test != DASH for row in self.rows for cell in row.cells.values())

    @property
    def has_median(self) -> bool:
        """Whether any errors of standardised fields were measured, and the rows are models'."""
        models = [row for row in self.rows if row.kind == "model"]
        return any(cell.median != DASH for row in models for cell in row.cells.values())

    def heading(self, column: Column) -> str:
        """ "n = 141", and the noise if there is any."""
        points = self.headings.get(column.resolution, resolution_in_words(column.resolution))
        noisy = any(one.noise for one in self.columns)
        return f"{points}, ε = {column.noise:g}" if noisy else points

    def name(self, column: Column) -> str:
        """The heading for a CSV file: "n141", or "n141_noise0.01" where columns differ in the noise."""
        differ = len({one.noise for one in self.columns}) > 1
        prefix = "" if isinstance(column.resolution, str) else "n"
        return f"{prefix}{column.resolution}" + (f"_noise{column.noise:g}" if differ else "")


def headline(
    comparison: pd.DataFrame, unit: float = UNIT, headings: dict[int | str, str] | None = None
) -> Table:
    """The rows trained and tested alike, in the order of the comparison."""
    home = on_training_grid(comparison)
    rows = []
    for (kind, key), group in home.groupby(["kind", "key"], sort=False):
        cells = {_column(record): _cell(record, unit) for record in group.to_dict("records")}
        first = group.iloc[0]
        rows.append(Row(kind, key, first["label"], int(first["parameters"]), cells))
    columns = sorted({_column(record) for record in home[home["kind"] == "model"].to_dict("records")})
    rows.sort(key=lambda row: row.kind != "model")  # models first; stable
    papers = [*home["paper"].dropna().unique(), "the paper"]
    return Table(columns, rows, unit, headings or {}, papers[0])


def write_table(comparison: str | Path, outputs: list[str | Path]) -> None:
    """Write the headline table of a comparison CSV in the format of each output's suffix."""
    write_headline(headline(pd.read_csv(comparison)), outputs)


def write_headline(table: Table, outputs: list[str | Path]) -> None:
    """Write such a table in the format of each output's suffix."""
    write_as(table, outputs, {".csv": as_csv, ".tex": as_latex, ".html": as_html})


def write_as(table: object, outputs: list[str | Path], writers: dict) -> None:
    """Write `table` by the writer of each output's suffix."""
    for output in map(Path, outputs):
        if output.suffix not in writers:
            raise ResultError(f"{output} must end in {', '.join(writers)}")
        output.write_text(writers[output.suffix](table), encoding="utf-8")


def as_csv(table: Table) -> str:
    """The table as read by a person: numbers as printed."""
    parts = ["", "_interval", *(["_best_test", "_best_test_epoch"] if table.has_best_test else [])]
    parts += ["_median", "_median_interval"] if table.has_median else []
    parts += ["_reported", "_train_seconds"]
    header = ["kind", "label", "parameters"]
    header += [f"{table.name(column)}{part}" for column in table.columns for part in parts]
    records = []
    for row in table.rows:
        record = [row.kind, row.label, row.parameters]
        for column in table.columns:
            cell = row.cells.get(column)
            if cell is None:
                record += [DASH] * len(parts)
                continue
            beside = [cell.best_test, cell.best_test_epoch] if table.has_best_test else []
            beside += [cell.median, cell.median_interval] if table.has_median else []
            record += [cell.error, cell.interval, *beside, cell.reported, _seconds(cell.seconds)]
        records.append(record)
    return pd.DataFrame(records, columns=header).to_csv(index=False, lineterminator="\n")


def as_latex(table: Table) -> str:
    """A booktabs tabular: error with its interval, and the paper's number, for each column."""
    heads = ["ours", *(["best test epoch"] if table.has_best_test else [])]
    heads += [*(["median"] if table.has_median else []), table.paper]
    wide, columns = len(heads), table.columns
    exponent = round(math.log10(table.unit))
    lines = [
        rf"% Mean relative $L^2$ error in units of $10^{{{exponent}}}$; in brackets: 95\,\% bootstrap.",
        r"% Needs \usepackage{booktabs}.",
        r"\begin{tabular}{l" + "r" * wide * len(columns) + "}",
        r"\toprule",
        "".join(rf" & \multicolumn{{{wide}}}{{c}}{{{_latex_heading(table, column)}}}" for column in columns)
        + r" \\",
        "".join(rf"\cmidrule(lr){{{2 + wide * i}-{1 + wide * (i + 1)}}}" for i in range(len(columns))),
        " & ".join(["model", *heads * len(columns)]) + r" \\",
        r"\midrule",
    ]
    for previous, row in zip([None, *table.rows], table.rows, strict=False):
        if previous is not None and previous.kind != row.kind:
            lines.append(r"\midrule")
        cells = [latex_text(row.label)]
        for column in columns:
            cells += _latex_cell(row.cells.get(column), table)
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def as_html(table: Table) -> str:
    """A sortable table: numbers carry their value in `data-value`, refusals their reason in `title`."""
    heads = [f"error ×{power(table.unit)}", *([BEST_TEST] if table.has_best_test else [])]
    heads += [MEDIAN] if table.has_median else []
    heads += [table.paper, "training"]
    top = "".join(
        f'<th colspan="{len(heads)}" class="group">{table.heading(column)}</th>' for column in table.columns
    )
    columns = "".join(f'<th class="number">{head}</th>' for head in heads) * len(table.columns)
    bodies = []
    for kind in dict.fromkeys(row.kind for row in table.rows):
        body = "\n".join(_html_row(table, row) for row in table.rows if row.kind == kind)
        bodies.append(f'<tbody class="{kind}">\n{body}\n</tbody>')
    return (
        '<table class="sortable headline">\n<thead>\n'
        f'<tr><th colspan="2"></th>{top}</tr>\n'
        f'<tr class="columns"><th>model</th><th class="number">parameters</th>{columns}</tr>\n</thead>\n'
        + "\n".join(bodies)
        + "\n</table>\n"
    )


def in_units(value: float, unit: float) -> str:
    """An error in a unit, as printed in the paper: 1.203, 14.60, 911.4; below 0.001: 4.2e-04."""
    scaled = value / unit
    if scaled < 1e-3:
        return f"{scaled:.1e}"
    return f"{scaled:.3f}" if scaled < 10 else f"{scaled:.2f}" if scaled < 100 else f"{scaled:.1f}"


def milli(value: float) -> str:
    """An error in units of 1e-3."""
    return in_units(value, UNIT)


def power(unit: float) -> str:
    """1e-3 as 10⁻³."""
    return f"10{str(round(math.log10(unit))).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def duration(seconds: float | None) -> str:
    """Seconds as a person says them: 8.4 s, 3.2 min, 1.5 h."""
    if _absent(seconds):
        return DASH
    for size, name in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {name}"
    return f"{seconds:.1f} s"


def _column(record: dict) -> Column:
    return Column(record["trained_resolution"], float(record["trained_noise"]))


def _cell(record: dict, unit: float) -> Cell:
    value, reported, tested = record["mean"], record["reported"], record.get("best_test_mean")
    median = record.get("standardised_median")
    lost = int(record["diverged_seeds"])
    no_answer, reason = without_answer(str(record["status"]))
    told = {"error": str(record["status"]) if lost else no_answer or DASH, "interval": ""}
    if not _absent(value):
        interval = " to ".join(in_units(record[end], unit) for end in ("low", "high"))
        told = {"error": in_units(value, unit), "interval": interval}
    return Cell(
        **told,
        bold=record["standing"] in ("best", "tied"),
        note=str(record["status"]) if lost and not _absent(value) else reason,
        value=None if _absent(value) else float(value),
        best_test=DASH if _absent(tested) else in_units(tested, unit),
        best_test_epoch="" if _absent(tested) else f"{record['best_test_epoch']:g}",
        median=DASH if _absent(median) else in_units(median, unit),
        median_interval=""
        if _absent(median)
        else " to ".join(in_units(record[f"standardised_{end}"], unit) for end in ("low", "high")),
        reported=DASH if _absent(reported) else in_units(reported, unit),
        reported_note=str(record["reported_note"]),
        seconds=record["train_seconds"],
    )


def _html_row(table: Table, row: Row) -> str:
    parameters = f"{row.parameters:,}" if row.parameters else DASH
    cells = [
        f'<th scope="row">{escape(row.label)}</th>'
        f'<td class="number" {_data(row.parameters)}>{parameters}</td>'
    ]
    for column in table.columns:
        cell = row.cells.get(column)
        if cell is None:
            cells.append(f'<td class="number">{DASH}</td>' * (3 + table.has_best_test + table.has_median))
            continue
        kind = "number lost" if cell.value is None else "number best" if cell.bold else "number"
        small = "".join(
            f'<span class="{name}">{escape(text)}</span>'
            for name, text in (("interval", cell.interval), ("warning", cell.note))
            if text
        )
        cells.append(f'<td class="{kind}" {_data(cell.value)}>{escape(cell.error)}{small}</td>')
        if table.has_best_test:
            epoch = f'<span class="interval">epoch {cell.best_test_epoch}</span>' * bool(cell.best_test_epoch)
            cells.append(f'<td class="number">{cell.best_test}{epoch}</td>')
        if table.has_median:
            interval = f'<span class="interval">{cell.median_interval}</span>' * bool(cell.median_interval)
            cells.append(f'<td class="number">{cell.median}{interval}</td>')
        cells.append(
            f'<td class="number" title="{escape(cell.reported_note)}">{cell.reported}</td>'
            f'<td class="number" {_data(cell.seconds)}>{duration(cell.seconds)}</td>'
        )
    return f"<tr>{''.join(cells)}</tr>"


def _latex_heading(table: Table, column: Column) -> str:
    return latex_text(table.heading(column)).replace("n = ", "$n$ = ")


def _latex_cell(cell: Cell | None, table: Table) -> list[str]:
    if cell is None:
        return ["---"] * (2 + table.has_best_test + table.has_median)
    beside = [cell.best_test] * table.has_best_test + [cell.median] * table.has_median + [cell.reported]
    beside = [text.replace(DASH, "---") for text in beside]
    if cell.value is None:
        return [rf"\textit{{{latex_text(cell.error)}}}", *beside]
    error = rf"\textbf{{{cell.error}}}" if cell.bold else cell.error
    mark = r"$^{\dagger}$" if cell.note else ""
    interval = cell.interval.replace(" to ", ", ")
    return [rf"{error}{mark} {{\scriptsize [{interval}]}}", *beside]


def latex_text(text: str) -> str:
    """`text` for LaTeX: its special characters escaped, its mathematics set as such."""
    for character in "&%#_":
        text = text.replace(character, "\\" + character)
    for character, mathematics in MATHEMATICS.items():
        text = text.replace(character, mathematics)
    return text


def _data(value: float | None) -> str:
    return 'data-value=""' if _absent(value) or not value else f'data-value="{value:.10g}"'


def _seconds(value: float | None) -> str:
    return DASH if _absent(value) else f"{value:.3g}"


def _absent(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
