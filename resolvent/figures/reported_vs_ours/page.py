"""The documentation page "reported and ours", from the result files of a paper's runs."""

from __future__ import annotations

import itertools
from pathlib import Path

from resolvent.common.files import write_text
from resolvent.figures.common.bootstrap import mean_interval
from resolvent.figures.common.numbers import DASH
from resolvent.figures.common.results import Run, error_matrix, read_runs
from resolvent.figures.papers.calvello2024.reported import SOURCE as CALVELLO
from resolvent.figures.papers.cao2021.reported import SOURCE as CAO
from resolvent.figures.published.beside import record, reported_beside, tables_of
from resolvent.figures.published.tables import PaperTable
from resolvent.figures.reported_vs_ours.kept_rows import with_kept_rows
from resolvent.figures.reported_vs_ours.markdown import (
    TRAINING_COLUMNS,
    not_comparable,
    table_lines,
    training_cells,
)
from resolvent.figures.reported_vs_ours.medians import (
    INTRODUCTION,
    data_in_words,
    median_section,
    reports_medians,
)

HEADER = """\
# Reported and ours

Written by `make docs` from the result files of the runs; do not edit. There is a page on [why they
differ](why-they-differ.md). A row is one training. Intervals are of 95 % ([what they
mean](statistics.md)) and over its test samples: they do not know how another seed would end. The epoch is
the one that the validation samples chose. There is a ratio only where every setting is that which made
the reported number, the public code's (recipe `code`) where it differs from the text (`paper`); below a
table stands what differs. Sections and rows of which no runs are at hand stay as they were; those from
before intervals were studentised have percentile intervals. Tables of Cao 2021 without the column
"recipe" were measured before this comparison was strict; their former ratios do not hold and are left
out: FNO, for one, had batches of 8 where the code has 20, a loss averaged over the batch where it is
summed, 1,024 samples where there are 1,000, and a clipped gradient, and the rows as coded had only a part
of the code's settings."""
MEANS = """\
"Ours" is the mean relative L² error of the test samples, what is reported the best epoch on them. "Paper's
protocol" is our best epoch on the test samples, where runs have recorded it; it is then the one whose ratio
to the reported number is given."""
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


def write_reported_vs_ours(
    commands: dict[str, list[Path]], output: Path, more: dict[str, dict[str, str]] | None = None
) -> None:
    """Write the page: a section for each table or dataset of the papers.

    `commands` are the folders of runs by the command that makes them, `more` other sections by paper and
    title. Sections and rows that `output` has and that are without a run among them stay.
    """
    runs = {command: read_runs(folders) for command, folders in commands.items()}
    command_of = {run.directory: command for command, made in runs.items() for run in made}
    tables: dict[str, tuple[PaperTable, list[Run]]] = {}
    data: dict[str, list[Run]] = {}
    for run in itertools.chain(*runs.values()):
        if reports_medians(run.record):
            data.setdefault(data_in_words(run), []).append(run)
        else:
            for table in _tables_with(run):
                tables.setdefault(table.name, (table, []))[1].append(run)
    means = {name: _mean_section(*made) + _made_by(made[1], command_of) for name, made in tables.items()}
    medians = {name: median_section(made) + _made_by(made, command_of) for name, made in data.items()}

    means |= (more or {}).get(CAO.name, {})
    medians |= (more or {}).get(CALVELLO.name, {})

    page = output.read_text(encoding="utf-8") if output.exists() else ""
    parts = [HEADER]
    for source, introduction, made in ((CAO, MEANS, means), (CALVELLO, INTRODUCTION, medians)):
        before = _sections_of(page, source.name)
        made = {title: with_kept_rows(text, before.get(title, "")) for title, text in made.items()}
        if sections := before | made:
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
    machines = sorted({f"{run.cost.device}, {run.cost.threads} thread(s) a run" for run in runs})
    commands = dict.fromkeys(command_of[run.directory] for run in runs)
    lines = [f"\n\nMachine: {'; '.join(machines)}, shared with other work while it ran. Made by\n"]
    return "\n".join([*lines, *(f"    {command}" for command in commands)])


def _mean_section(table: PaperTable, runs: list[Run]) -> str:
    lines = table_lines(COLUMNS, [_row(run, table) for run in _side_by_side(table, runs)])
    return "\n".join([*lines, "", _sizes(runs), *not_comparable(runs, table)])


def _side_by_side(table: PaperTable, runs: list[Run]) -> list[Run]:
    """Return the runs with those of one row of the paper together, as printed before as coded."""
    keys = [table.key(record(run.record)) for run in runs]
    first = {key: place for place, key in reversed(list(enumerate(keys)))}
    order = sorted(
        range(len(runs)), key=lambda place: (first[keys[place]], runs[place].record.recipe != "paper")
    )
    return [runs[place] for place in order]


def _sizes(runs: list[Run]) -> str:
    """List samples, epochs and batches, once where all runs have the same."""
    names = ("train_samples", "validation_samples", "test_samples", "epochs", "batch_size")
    words = []
    for name in names:
        values = dict.fromkeys(run.record.training[name] for run in runs)
        words.append(f"{name.replace('_', ' ')} {' or '.join(map(str, values))}")
    return f"Sizes: {', '.join(words)}."


def _row(run: Run, table: PaperTable) -> tuple[str, ...]:
    cost, unit = run.cost, table.unit
    beside = reported_beside(run.record, cost, table)
    reported = f"{beside.digits}{_power(unit)}" if beside.digits else "no such row"
    if beside.best_epoch:
        reported += f" (epoch {beside.best_epoch})"
    tested, mean = cost.best_test_relative_l2, None
    if run.diverged:
        ours = f"diverged (epoch {cost.diverged_epoch})"
    else:
        interval = mean_interval(error_matrix([run.errors], run.resolution, run.noise).to_numpy())
        mean = interval.value
        ours = f"{_in_unit(mean, unit)} [{interval.low / unit:.3f}, {interval.high / unit:.3f}]"
    protocol = f"{_in_unit(tested, unit)} (epoch {cost.best_test_epoch})" if tested else DASH
    compared = tested or mean
    ratio = f"{compared / beside.value:.2f}" if beside.value and compared else DASH
    return (
        run.label,
        run.record.recipe or DASH,
        str(run.resolution),
        str(run.seed),
        reported,
        ours,
        protocol,
        ratio,
        *training_cells(cost),
    )


def _in_unit(value: float, unit: float) -> str:
    """Write an error in the unit of the table: 1.203e-3."""
    return f"{value / unit:.3f}{_power(unit)}"


def _power(unit: float) -> str:
    return f"{unit:.0e}".lstrip("1").replace("e-0", "e-")
