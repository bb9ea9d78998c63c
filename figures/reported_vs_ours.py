"""The documentation page "reported, ours, why they differ", from the result files of a paper's runs."""

from __future__ import annotations

from pathlib import Path

from figures.bootstrap import mean_interval
from figures.cao2021.printed import SOURCE
from figures.printed import PaperTable
from figures.reported import record, reported_beside, tables_of
from figures.reported_markdown import TRAINING_COLUMNS, not_comparable, table_lines, training_cells
from figures.reported_medians import median_parts, prints_medians
from figures.results import Run, error_matrix, read_runs
from figures.table import DASH

HEADER = """\
# Reported and ours

Written by `make docs` from the result files of the runs; do not edit. Intervals are of 95 %, by bootstrap
over the test samples (one seed: they do not know how a second seed would end); the epoch is the one that the
validation samples chose. There is no ratio where the setting is not the paper's; below a table stands what
differs."""
CAO = f"""\
# {SOURCE.name}

"Reported" is {SOURCE.citation}, the best epoch on the test samples. "Ours" is the mean relative L² error of
the test samples. "Paper's protocol" is our best epoch on the test samples, where runs have recorded it; it is
then the one whose ratio to the reported number is told."""
COLUMNS = (
    "model",
    "n",
    "reported",
    "ours",
    "paper's protocol",
    "ours / reported",
    *TRAINING_COLUMNS,
)


def write_reported_vs_ours(commands: dict[str, list[Path]], why: Path, output: Path) -> None:
    """Write the page: the tables of each paper, then `why` (Markdown, by hand).

    `commands` are the folders of runs by the command that makes them.
    """
    loaded = {command: read_runs(folders) for command, folders in commands.items()}
    runs = [run for made in loaded.values() for run in made]
    of_medians = [run for run in runs if prints_medians(run.facts)]
    of_means = [run for run in runs if not prints_medians(run.facts)]
    tables = {table.name: table for run in of_means for table in tables_of(run.facts)}
    parts = [CAO] if of_means else []
    parts += [_section(table, [run for run in of_means if _belongs(run, table)]) for table in tables.values()]
    parts += median_parts(of_medians)
    machines = sorted({f"{run.cost['device']}, {run.cost['threads']} thread(s) a run" for run in runs})
    made = f"Machine: {'; '.join(machines)}, shared with other work while it ran. Made by\n\n" + "\n".join(
        f"    {command}" for command in commands
    )
    text = "\n\n".join([HEADER, *filter(None, parts), made, why.read_text(encoding="utf-8")])
    output.write_text(text, encoding="utf-8")


def _belongs(run: Run, table: PaperTable) -> bool:
    """Whether the table has a row for the run, or, if none has, is the first of its equation."""
    tables = tables_of(run.facts)
    having = [one.name for one in tables if one.row(record(run.facts)) is not None]
    return table.name in (having or [tables[0].name])


def _section(table: PaperTable, runs: list[Run]) -> str:
    if not runs:
        return ""
    lines = table_lines(COLUMNS, [_row(run, table) for run in runs])
    return "\n".join([f"## {table.name}", "", *lines, "", _sizes(runs), *not_comparable(runs, table)])


def _sizes(runs: list[Run]) -> str:
    """Samples, epochs and batches, once where all runs have the same."""
    names = ("train_samples", "validation_samples", "test_samples", "epochs", "batch_size")
    words = []
    for name in names:
        values = dict.fromkeys(run.facts["training"][name] for run in runs)
        words.append(f"{name.replace('_', ' ')} {' or '.join(map(str, values))}")
    return f"Sizes: {', '.join(words)}."


def _row(run: Run, table: PaperTable) -> tuple[str, ...]:
    cost, unit = run.cost, table.unit
    beside = reported_beside(run.facts, cost, table)
    reported = f"{beside.printed}{_power(unit)}" if beside.printed else "no such row"
    if beside.best_epoch:
        reported += f" (epoch {beside.best_epoch})"
    tested, mean = cost.get("best_test_relative_l2"), None
    if run.diverged:
        ours = f"diverged (epoch {cost['diverged_epoch']})"
    else:
        interval = mean_interval(error_matrix([run.errors], run.resolution, run.noise).to_numpy())
        mean = interval.mean
        ours = f"{_printed(mean, unit)} [{interval.low / unit:.3f}, {interval.high / unit:.3f}]"
    protocol = f"{_printed(tested, unit)} (epoch {cost['best_test_epoch']})" if tested else DASH
    compared = tested or mean
    ratio = f"{compared / beside.value:.2f}" if beside.value and compared else DASH
    return (
        run.label,
        str(run.resolution),
        reported,
        ours,
        protocol,
        ratio,
        *training_cells(cost),
    )


def _printed(value: float, unit: float) -> str:
    """In the unit of the table: 1.203e-3."""
    return f"{value / unit:.3f}{_power(unit)}"


def _power(unit: float) -> str:
    return f"{unit:.0e}".lstrip("1").replace("e-0", "e-")
