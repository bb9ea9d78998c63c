"""The documentation page "reported and ours", from the result files of a paper's runs."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import numpy as np

from resolvent.common.counts import counted
from resolvent.common.files import write_text
from resolvent.figures.common.intervals import SEEDS_TO_RANK, Interval, ratio_to_reported
from resolvent.figures.common.numbers import DASH
from resolvent.figures.common.results import Run, read_runs
from resolvent.figures.papers.calvello2024.reported import SOURCE as CALVELLO
from resolvent.figures.papers.cao2021.reported import SOURCE as CAO
from resolvent.figures.published.beside import record, tables_of
from resolvent.figures.published.tables import PaperTable
from resolvent.figures.reported_vs_ours.markdown import (
    TRAINING_COLUMNS,
    not_comparable,
    paragraph,
    table_lines,
    training_cells,
)
from resolvent.figures.reported_vs_ours.medians import (
    INTRODUCTION,
    data_in_words,
    median_section,
    reports_medians,
)
from resolvent.figures.reported_vs_ours.rows import REPORTED_SAMPLES, SETTING, Row, kept_rows, measured_row

HEADER = """\
# Reported and ours

Written by `make docs` from the result files of the runs; do not edit. [Why they differ](why-they-differ.md)
says what is known of the differences. A row is one training. The epoch is the one that the validation samples
chose. A reported number has a ratio only where every recorded setting is the one that made it: the public
code's (recipe `code`) where code and text (`paper`) differ, and the data's where the text prints another
operator ([Burgers](equations/burgers.md)). Below a table stands what differs."""
MEANS = f"""\
"Ours" is the mean relative L² error over the test samples, with its interval of 95 %. "Paper's protocol" is
the lowest error of all epochs on the first {REPORTED_SAMPLES} test samples, as the paper chose its numbers.
"Ours / reported" divides our mean by the reported number. Its interval includes the uncertainty of both: of
our test samples, and of the {REPORTED_SAMPLES} behind the reported number, which are assumed to scatter as
ours do; with several seeds also the spread between seeds
([definition and coverage](statistics.md#reported-numbers)). A row *agrees* when the interval contains 1, and
*differs* otherwise. A row of one seed compares two trained networks."""
COLUMNS = (
    "model",
    "recipe",
    "n",
    "seed",
    "reported",
    "ours",
    "paper's protocol",
    "ours / reported",
    *TRAINING_COLUMNS,
)

VERDICTS = ("agrees", "differs: lower", "differs: higher")


def write_reported_vs_ours(
    commands: dict[str, list[Path]],
    output: Path,
    measured: Path,
    more: dict[str, dict[str, str]] | None = None,
) -> None:
    """Write the page: a section for each table or dataset of the papers.

    `commands` are the folders of runs by the command that makes them, `more` other sections by paper and
    title. Rows of means come from the table `measured`, into which those of the runs at hand are put. Other
    sections of `output` stay until runs of theirs are at hand.
    """
    runs = {command: read_runs(folders) for command, folders in commands.items()}
    command_of = {run.directory: command for command, made in runs.items() for run in made}
    found: list[Row] = []
    data: dict[str, list[Run]] = {}
    for run in itertools.chain(*runs.values()):
        if reports_medians(run.record):
            data.setdefault(data_in_words(run), []).append(run)
        else:
            found += [measured_row(run, table, command_of[run.directory]) for table in _tables_with(run)]
    tables: dict[str, list[Row]] = {}
    for row in kept_rows(measured, found):
        tables.setdefault(row.table, []).append(row)
    means = {name: _mean_section(rows) for name, rows in tables.items()} | (more or {}).get(CAO.name, {})
    medians = {name: median_section(made) + _made_by(made, command_of) for name, made in data.items()}
    medians |= (more or {}).get(CALVELLO.name, {})

    page = output.read_text(encoding="utf-8") if output.exists() else ""
    parts = [HEADER]
    for source, introduction, made in ((CAO, MEANS, means), (CALVELLO, INTRODUCTION, medians)):
        if sections := _sections_of(page, source.name) | made:
            parts.append(f'## {source.name}\n\n{introduction}\n"Reported" is {source.citation}.')
            parts += [f"### {title}\n\n{sections[title]}" for title in sorted(sections)]
    write_text(output, "\n\n".join(parts) + "\n")


def _sections_of(page: str, paper: str) -> dict[str, str]:
    """Return the sections of a paper on the page, by title."""
    block = page.partition(f"\n## {paper}\n")[2].partition("\n## ")[0]
    sections = (section.partition("\n") for section in block.split("\n### ")[1:])
    return {title: text.strip() for title, _, text in sections}


def _tables_with(run: Run) -> list[PaperTable]:
    """Return the tables with a row for the run; if none has, the first of its equation."""
    tables = tables_of(run.record)
    return [one for one in tables if one.row(record(run.record)) is not None] or list(tables[:1])


def _made_by(runs: list[Run], command_of: dict[Path, str]) -> str:
    machines = {f"{run.cost.device}, {run.cost.threads} thread(s) a run" for run in runs}
    return _machines_and_commands(machines, [command_of[run.directory] for run in runs])


def _machines_and_commands(machines: set[str], commands: list[str]) -> str:
    lines = [f"\n\nMachine: {'; '.join(sorted(machines))}, shared with other work while it ran. Made by\n"]
    return "\n".join([*lines, *(f"    {command}" for command in dict.fromkeys(commands))])


def _mean_section(rows: list[Row]) -> str:
    """Return the table of a paper's means: a line for each training, and one over three seeds or more.

    A setting counts as one comparison from three seeds on, since two say too little of their spread.
    """
    cells, verdicts = [], []
    for _, group in itertools.groupby(rows, key=lambda row: [getattr(row, name) for name in SETTING]):
        trained = list(group)
        cells += [_cells(row) for row in trained]
        compared = [row for row in trained if row.compared]
        if len(compared) < SEEDS_TO_RANK:
            verdicts += [verdict(_ratio([row])) for row in compared]
        else:
            verdicts.append(verdict(_ratio(compared)))
            cells.append(_of_seeds(compared, len(trained)))
    counts = Counter(verdicts)
    agree, lower, higher = (counts[words] for words in VERDICTS)
    lead = "No row has a ratio."
    if verdicts:
        said = f"{agree} agree{'s' * (agree == 1)}; ours is lower in {lower}, higher in {higher}"
        lead = f"{counted(len(verdicts), 'comparison')}: {said}."
    names = ("train_samples", "validation_samples", "test_samples", "epochs", "batch_size")
    values = {name: dict.fromkeys(str(getattr(row, name)) for row in rows) for name in names}
    sizes = (f"{name.replace('_', ' ')} {' or '.join(values[name])}" for name in names)
    reasons = ((row.model, row.reason) for row in rows if row.reason and not row.has_no_reported_row)
    why = map(paragraph, not_comparable(reasons))
    table = "\n".join(table_lines(COLUMNS, cells))
    made = _machines_and_commands({row.machine for row in rows}, [row.command for row in rows]).strip()
    return "\n\n".join([lead, table, f"Sizes: {', '.join(sizes)}.", *why, made])


def verdict(ratio: Interval) -> str:
    """Say whether a ratio to a reported number can be 1."""
    if ratio.low <= 1 <= ratio.high:
        return VERDICTS[0]
    return VERDICTS[1 + (ratio.low > 1)]


def _ratio(rows: list[Row]) -> Interval:
    """Return the ratio of the mean over the seeds of one setting to the reported number."""
    means = np.array([row.mean for row in rows])
    return ratio_to_reported(means, [row.scatter for row in rows], float(rows[0].reported) * rows[0].unit)


def _cells(row: Row) -> tuple[str, ...]:
    absent = "no such row" if row.has_no_reported_row else DASH
    reported = f"{row.reported}{_power(row.unit)}" if row.reported else absent
    if row.reported_epoch:
        reported += f" (epoch {row.reported_epoch})"
    ours, ratio = f"diverged (epoch {row.diverged})" if row.diverged else "not finite", DASH
    if np.isfinite(row.mean):
        low, high = row.mean * np.exp(-row.below), row.mean * np.exp(row.above)
        ours = f"{_in_unit(row.mean, row.unit)} [{low / row.unit:.3f}, {high / row.unit:.3f}]"
    if row.compared:
        ratio = _judged(_ratio([row]))
    tested = row.protocol_epoch > 0
    return (
        _named(row),
        row.recipe or DASH,
        str(row.resolution),
        str(row.seed),
        reported,
        ours,
        f"{_in_unit(row.protocol, row.unit)} (epoch {row.protocol_epoch})" if tested else DASH,
        ratio,
        *training_cells(row),
    )


def _named(row: Row) -> str:
    return f"{row.model}, noise {row.noise:g}" if row.noise else row.model


def _of_seeds(rows: list[Row], trained: int) -> tuple[str, ...]:
    """Return the line over the seeds that finished, of so many `trained`."""
    first, mean, ratio = rows[0], float(np.mean([row.mean for row in rows])), _ratio(rows)
    seeds = f"all {trained}" if len(rows) == trained else f"{len(rows)} of {trained}"
    setting = (_named(first), first.recipe or DASH, str(first.resolution), seeds)
    numbers = (f"{first.reported}{_power(first.unit)}", _in_unit(mean, first.unit), DASH)
    return (*setting, *numbers, _judged(ratio), DASH, DASH, DASH)


def _judged(ratio: Interval) -> str:
    return f"{ratio.value:.2f} [{ratio.low:.2f}, {ratio.high:.2f}] {verdict(ratio)}"


def _in_unit(value: float, unit: float) -> str:
    """Write an error in the unit of the table: 1.203e-3."""
    return f"{value / unit:.3f}{_power(unit)}"


def _power(unit: float) -> str:
    return f"{unit:.0e}".lstrip("1").replace("e-0", "e-")
