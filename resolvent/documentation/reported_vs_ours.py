"""Write the page "reported and ours" from the result files of the papers' runs.

Training at a paper's size takes hours, and its folder is not committed. Values that the page needs for the
comparison of mean errors are kept in a small committed table.
"""

import math
from collections import Counter
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd

from resolvent.common.counts import counted
from resolvent.common.files import write_text
from resolvent.documentation.pages import paragraph, table
from resolvent.figures.common.intervals import (
    SEEDS_TO_RANK,
    Scatter,
    median_interval,
    paired_ratio,
    ratio_to_reported,
    scatter,
)
from resolvent.figures.common.numbers import DASH, duration
from resolvent.figures.common.results import Run, error_matrix, read_runs
from resolvent.figures.published.beside import EXAMPLES, example_of, record, reported_beside
from resolvent.figures.published.tables import PaperTable, reported_rows

HEADER = """\
# Reported and ours

This page compares the numbers that the two papers report with our trainings. `make docs` writes it; do not
edit. [Why they differ](why-they-differ.md) has the known causes of differences. A row is one training, at the
epoch with the lowest validation error. A ratio is shown only if every recorded setting is the one that gave
the reported number. If text (recipe `paper`) and public code (`code`) differ, this is the setting of the
code, and for Burgers' equation the data of [the public file](equations/burgers.md#the-default-operator).
Settings that differ are listed below each table."""
REPORTED_SAMPLES = 100  # test samples behind every reported mean (Cao 2021, section 5)
INTRODUCTIONS = {  # by the statistic that a paper reports
    "mean": f"""\
"Ours" is the mean relative L² error over the test samples, with its 95 % interval. "Paper's protocol" is the
lowest error of all epochs on the first {REPORTED_SAMPLES} test samples, as the paper chose its numbers.
"Ours / reported" is the ratio of our mean to the reported number. Its interval includes the uncertainty of
our test samples, of the {REPORTED_SAMPLES} behind the reported number and, with several seeds, the spread
between seeds ([definition and coverage](statistics.md#reported-numbers)). A row *agrees* if the interval
contains 1, and *differs* otherwise. A row of one seed compares two trained networks.""",
    "median": """\
The tables have median and worst errors over the test samples, of fields standardised by one mean and one
standard deviation of the training samples. The paper does not define its errors; its public code computes
them from standardised fields, in one dimension with separate statistics for each split. Trajectories are also
tested at other times than in training (training times are marked *). If models with and without quadrature
weights were trained, there is the ratio of the errors without weights to those with weights (in older
sections their difference): above one (above zero), weights help.""",
}
TRAINED = ("best epoch", "training", "per step")
MEANS = ("model", "recipe", "n", "seed", "reported", "ours", "paper's protocol", "ours / reported", *TRAINED)
MEDIANS = (
    "model", "trained on", "seed", "reported", "ours: median", "ours / reported", "worst (reported)",
    "samples", *TRAINED,
)  # fmt: skip
VERDICTS = ("agrees", "differs: lower", "differs: higher")
SETTING = ["model", "recipe", "resolution", "noise"]  # the same for all seeds of a row
SIZES = ("train_samples", "validation_samples", "test_samples", "epochs", "batch_size")
TEXTS = ("table", "model", "recipe", "reported", "reported_epoch", "reason", "machine", "command")
NO_ROW = "no such row"


def write_reported_vs_ours(
    commands: dict[str, list[Path]],
    output: Path,
    measured: Path,
    more: dict[str, dict[str, str]] | None = None,
) -> None:
    """Write the page with one section per table or dataset of the papers.

    `commands` has run folders by the command that makes the runs, `more` has other sections by paper and
    title. Rows of means come from the table `measured`, after adding the rows of the given runs. Sections of
    `output` without new runs are kept.
    """
    found: list[dict] = []
    data: dict[str, dict[str, list[tuple[Run, str]]]] = {}  # runs compared by medians, by paper and dataset
    for command, folders in commands.items():
        for run in read_runs(folders):
            example, recorded = example_of(run.record), record(run.record)
            if example is not None and example.source.statistic == "median":
                title, settings = example.title, run.record.dataset_settings
                title += f", {settings['targets']} from x" if settings["equation"] == "lorenz63" else ""
                data.setdefault(example.source.name, {}).setdefault(title, []).append((run, command))
            elif example is not None:  # in tables where it is comparable, or has a row, or the first
                having = [one for one in example.tables if one.row(recorded) is not None]
                rows = [measured_row(run, one, command) for one in having or example.tables[:1]]
                found += [row for row in rows if not row["reason"]] or rows
    tables: dict[str, list] = {}
    for row in kept_rows(measured, found).itertuples():
        tables.setdefault(str(row.table), []).append(row)

    page, parts = output.read_text(encoding="utf-8") if output.exists() else "", [HEADER]
    sources = {example.source.name: example.source for example in EXAMPLES}
    for name, source in sorted(sources.items(), key=lambda one: one[1].statistic):
        of_paper = {one.name for example in EXAMPLES if example.source is source for one in example.tables}
        block = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        kept = (section.partition("\n") for section in block.split("\n### ")[1:])
        sections = {title: text.strip() for title, _, text in kept}
        if source.statistic == "mean":
            sections |= {title: _mean_section(rows) for title, rows in tables.items() if title in of_paper}
        sections |= {title: _median_section(made) for title, made in data.get(name, {}).items()}
        if sections := sections | (more or {}).get(name, {}):
            parts.append(f'## {name}\n\n{INTRODUCTIONS[source.statistic]}\n"Reported" is {source.citation}.')
            parts += [f"### {title}\n\n{sections[title]}" for title in sorted(sections)]
    write_text(output, "\n\n".join(parts) + "\n")


def measured_row(run: Run, table: PaperTable, command: str) -> dict:
    """Return the committed values of a run and of the paper's number for the same setting.

    `place` is the row in the paper's table; `reported` is the number as printed, or "" if there is none;
    `reason` is why the two cannot be compared, or "" if they can. `mean` is the mean relative L2 error of the
    test samples at the epoch selected by validation, NaN if training diverged (in epoch `diverged`), followed
    by its `Scatter`. `protocol` is the lowest mean error of any epoch on the first test samples, as many as
    there are validation samples.
    """
    cost, rows = run.cost, reported_rows(table.file)
    beside, row = reported_beside(run.record, cost, table), table.row(record(run.record))
    mean, spread = math.nan, Scatter(*4 * [math.nan])
    errors = error_matrix([run.errors], run.resolution, run.noise).to_numpy().ravel()
    if not run.diverged and errors.size:
        mean, spread = float(errors.mean()), scatter(errors, REPORTED_SAMPLES)
    return {
        "table": table.name,
        "place": rows.index(row) if row else len(rows),
        "unit": table.unit,
        "model": run.label,
        "recipe": run.record.recipe or "",
        "resolution": run.resolution,
        "noise": run.noise,
        "seed": run.seed,
        "reported": beside.digits,
        "reported_epoch": beside.best_epoch,
        "reason": "" if beside.value is not None else beside.reason,
        "mean": mean,
        **asdict(spread),
        "diverged": cost.diverged_epoch or 0,
        "protocol": cost.best_test_relative_l2 or math.nan,
        "protocol_epoch": cost.best_test_epoch or 0,
        "best_epoch": cost.best_epoch,
        "epochs": run.record.training["epochs"],
        **{name: run.record.training[name] for name in SIZES if name != "epochs"},
        "train_seconds": cost.train_seconds,
        "seconds_per_step": cost.seconds_per_step,
        "machine": f"{cost.device}, {counted(cost.threads, 'thread')} a run",
        "command": command,
    }


def kept_rows(file: Path, new: list[dict]) -> pd.DataFrame:
    """Replace rows of `file` by new rows with the same key, and return all rows in the papers' order."""
    rows = pd.DataFrame(new)
    if file.exists():
        texts = dict.fromkeys(TEXTS, str)
        kept = pd.read_csv(file, dtype=texts, keep_default_na=False, na_values=["nan"])
        rows = pd.concat([kept, rows]) if new else kept
    if rows.empty:
        return rows
    # A new row that cannot be compared, such as of a shorter training, does not replace one that can.
    settled = rows.assign(settled=(rows["reported"] != "") & (rows["reason"] == ""))
    settled = settled.sort_values("settled", kind="stable")
    rows = settled.drop_duplicates(["table", *SETTING, "seed"], keep="last").drop(columns="settled")
    rows = rows.sort_values(["table", "place", *SETTING, "seed"])
    write_text(file, rows.to_csv(index=False, float_format="%.9g", na_rep="nan", lineterminator="\n"))
    return rows


def _mean_section(rows: list) -> str:
    """Return the table of a paper's means: one line per training, and one line for three or more seeds.

    A setting with three or more seeds counts as one comparison; two seeds are too few to estimate a spread.
    """
    cells, verdicts, reasons = [], [], []
    for _, group in groupby(rows, key=lambda row: [getattr(row, name) for name in SETTING]):
        trained = list(group)
        compared = [row for row in trained if row.reported and not row.reason and math.isfinite(row.mean)]
        first, of = trained[0], len(trained)
        name = f"{first.model}, noise {first.noise:g}" if first.noise else first.model
        setting = (name, first.recipe or DASH, str(first.resolution))
        power = f"{first.unit:.0e}".lstrip("1").replace("e-0", "e-")
        for row in trained:
            without = NO_ROW if row.reason.endswith(NO_ROW) else DASH
            reported = f"{row.reported}{power}" if row.reported else without
            if row.reason and without == DASH:
                reasons.append((row.model, row.reason))
            if row.reported_epoch:
                reported += f" (epoch {row.reported_epoch})"
            ours = f"diverged (epoch {row.diverged})" if row.diverged else "not finite"
            if np.isfinite(row.mean):
                low, mean, high = row.mean / row.unit * np.exp([-row.below, 0, row.above])
                ours = f"{mean:.3f}{power} [{low:.3f}, {high:.3f}]"
            protocol = DASH
            if row.protocol_epoch and row.protocol < 1:
                protocol = f"{row.protocol / row.unit:.3f}{power} (epoch {row.protocol_epoch})"
            cells.append((
                *setting, str(row.seed), reported, ours, protocol,
                _judged([row])[0] if row in compared else DASH, *_training(row, row.epochs),
            ))  # fmt: skip
        if len(compared) < SEEDS_TO_RANK:
            verdicts += [_judged([row])[1] for row in compared]
            continue
        judged, found = _judged(compared)
        verdicts.append(found)
        seeds = f"all {of}" if len(compared) == of else f"{len(compared)} of {of}"
        mean = float(np.mean([row.mean for row in compared])) / first.unit
        numbers = (f"{compared[0].reported}{power}", f"{mean:.3f}{power}", DASH, judged, DASH, DASH, DASH)
        cells.append((*setting, seeds, *numbers))
    counts = Counter(verdicts)
    agree, lower, higher = (counts[words] for words in VERDICTS)
    said = f"{agree} agree{'s' * (agree == 1)}; ours is lower in {lower}, higher in {higher}"
    lead = f"{counted(len(verdicts), 'comparison')}: {said}." if verdicts else "No row has a ratio."
    values = {name: dict.fromkeys(str(getattr(row, name)) for row in rows) for name in SIZES}
    sizes = (f"{name.replace('_', ' ')} {' or '.join(values[name])}" for name in SIZES)
    made = _made_by({row.machine for row in rows}, [row.command for row in rows])
    why = map(paragraph, _not_comparable(reasons))
    return "\n\n".join([lead, table(MEANS, cells), f"Sizes: {', '.join(sizes)}.", *why, made])


def _judged(rows: list) -> tuple[str, str]:
    """Return the ratio of the mean over a setting's seeds to the reported number, and a verdict."""
    scatters = [Scatter(row.below, row.above, row.few_below, row.few_above) for row in rows]
    means = np.array([row.mean for row in rows])
    ratio = ratio_to_reported(means, scatters, float(rows[0].reported) * rows[0].unit)
    verdict = VERDICTS[0] if ratio.low <= 1 <= ratio.high else VERDICTS[1 + (ratio.low > 1)]
    return f"{ratio.value:.2f} [{ratio.low:.2f}, {ratio.high:.2f}] {verdict}", verdict


def _training(cost, epochs: int) -> tuple[str, str, str]:
    """Return the costs of training, in the columns `TRAINED`."""
    per_step = f"{cost.seconds_per_step * 1e3:.0f} ms"
    return f"{cost.best_epoch} of {epochs}", duration(cost.train_seconds), per_step


def _not_comparable(reasons: list[tuple[str, str]]) -> list[str]:
    """Return one sentence per reason that reported numbers cannot be compared, from (label, reason)."""
    labels: dict[str, dict[str, None]] = {}
    for label, reason in reasons:
        labels.setdefault(reason, {})[label] = None
    return [f"{', '.join(of)}: {reason}." for reason, of in labels.items()]


def _made_by(machines: set[str], commands: list[str]) -> str:
    lines = [f"Machine: {'; '.join(sorted(machines))}, shared with other work while it ran. Made by\n"]
    return "\n".join([*lines, *(f"    {command}" for command in dict.fromkeys(commands))])


def _median_section(made: list[tuple[Run, str]]) -> str:
    """Return the section on one dataset of a paper that reports medians, from (run, command) pairs.

    For trajectories it includes medians at other times, with and without quadrature weights.
    """
    runs = [run for run, _ in made]
    cells, reasons = [], []

    def errors_of(run: Run, resolution: int | str) -> np.ndarray:
        return error_matrix([run.errors], resolution, run.noise, "standardised_relative_l2").to_numpy()

    for run in runs:
        cost, beside = run.cost, reported_beside(run.record, run.cost)
        if beside.digits and beside.value is None:
            reasons.append((run.label, beside.reason))
        ours, ratio, worst = f"diverged (epoch {cost.diverged_epoch})", DASH, DASH
        if not run.diverged:
            errors = errors_of(run, run.resolution)
            middle = median_interval(errors)
            ours = f"{middle.value:.2e} [{middle.low:.2e}, {middle.high:.2e}]"
            ratio = f"{middle.value / beside.value:.2f}" if beside.value else DASH
            worst = f"{errors.max():.2e}" + (f" ({beside.worst:.2e})" if beside.worst else "")
        samples = f"{run.record.training['train_samples']:,} / {run.record.training['test_samples']:,}"
        trained_on = (run.label, str(run.resolution), str(run.seed))
        numbers = (beside.digits or NO_ROW, ours, ratio, worst, samples)
        cells.append((*trained_on, *numbers, *_training(cost, cost.epochs)))
    parts = [table(MEDIANS, cells), *_not_comparable(reasons)]
    if isinstance(runs[0].resolution, str):
        finished = [run for run in runs if not run.diverged]
        times = list(dict.fromkeys(runs[0].errors["resolution"]))
        rows = []
        for run in finished:
            medians = [
                f"{np.median(errors_of(run, one)):.2e}{'*' * (one == run.resolution)}" for one in times
            ]
            rows.append((run.label, str(run.seed), *medians))
        without = [run for run in finished if run.record.settings.get("quadrature") == "none"]
        weighted = [run for run in finished if run not in without]
        if weighted and without:
            ratios = [paired_ratio(errors_of(without[0], one), errors_of(weighted[0], one)) for one in times]
            words = (f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]" for one in ratios)
            rows.append(("without weights over with", DASH, *words))
        parts.append(table(("model", "seed", *times), rows))
    machines = {f"{run.cost.device}, {run.cost.threads} thread(s) a run" for run in runs}
    return "\n\n".join([*parts, _made_by(machines, [command for _, command in made])])
