"""Sections of the page "reported and ours" on papers that report medians over the test samples."""

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
from page_parts import folded, paragraph, table

from resolvent.common.counts import counted
from resolvent.figures.common.intervals import UNKNOWN, median_interval, paired_ratio
from resolvent.figures.common.numbers import DASH, duration
from resolvent.figures.common.results import Run, error_matrix
from resolvent.figures.published.reported_numbers import reported_number

HEADS = ("model", "trained on", "seed", "reported", "ours: median", "ours / reported", "worst (reported)")
OF_TRAININGS = ("model", "seed", "samples", "best epoch", "training", "per step")
RUN = ["paper", "title", "model", "resolution", "seed"]  # columns that identify a run
KEY = [*RUN, "tested"]
TEXTS = ("paper", "title", "model", "resolution", "tested", "reported", "reason", "machine", "command")
NO_ROW = "no such row"


def median_rows(runs: Sequence[Run], paper_name: str, title: str, command: str) -> list[dict]:
    """Return the committed values of runs in one section: a row for each run and each tested resolution.

    `median`, `low`, `high` and `worst` are errors of standardised fields, NaN if the training diverged, in
    epoch `diverged`. `reason` is why the reported number cannot be compared. If runs with and without
    quadrature weights were trained, the first run without weights has the ratio of its errors to those of the
    first run with weights, with its interval (`without_to_with`).
    """
    finished = [run for run in runs if not run.diverged]
    without = [run for run in finished if run.record.settings.get("quadrature") == "none"]
    weighted = [run for run in finished if run not in without]
    rows = []
    for run in runs:
        cost, paper = run.cost, reported_number(run.record, run.cost)
        of_trajectories = isinstance(run.resolution, str)
        for resolution in dict.fromkeys(run.errors["resolution"]) if of_trajectories else [run.resolution]:
            middle, worst, ratio = UNKNOWN, math.nan, UNKNOWN
            if not run.diverged:
                errors = _errors(run, resolution)
                middle, worst = median_interval(errors), float(errors.max())
                if weighted and without and run is without[0]:
                    ratio = paired_ratio(errors, _errors(weighted[0], resolution))
            rows.append({
                "paper": paper_name,
                "title": title,
                "model": run.label,
                "resolution": str(run.resolution),
                "seed": run.seed,
                "tested": str(resolution),
                "reported": paper.digits,
                "comparable": paper.value is not None,
                "reason": paper.reason if paper.digits and paper.value is None else "",
                "reported_worst": paper.worst or math.nan,
                "median": middle.value,
                "low": middle.low,
                "high": middle.high,
                "worst": worst,
                "without_to_with": ratio.value,
                "without_to_with_low": ratio.low,
                "without_to_with_high": ratio.high,
                "diverged": cost.diverged_epoch or 0,
                "best_epoch": cost.best_epoch,
                "epochs": cost.epochs,
                "train_samples": run.record.training["train_samples"],
                "test_samples": run.record.training["test_samples"],
                "train_seconds": cost.train_seconds,
                "seconds_per_step": cost.seconds_per_step,
                "machine": f"{cost.device}, {counted(cost.threads, 'thread')} a run",
                "command": command,
            })  # fmt: skip
    return rows


def _errors(run: Run, resolution: int | str) -> np.ndarray:
    return error_matrix([run.errors], resolution, run.noise, "standardised_relative_l2").to_numpy()


def median_section(rows: Sequence[Any]) -> str:
    """Return the section on one dataset from its rows of the committed table."""
    # As text, because the seeds of the oldest runs are unknown, and NaN is not equal to itself.
    groups = groupby(rows, key=lambda row: [str(getattr(row, name)) for name in RUN])
    runs = [list(of_run) for _, of_run in groups]
    cells, trainings, reasons = [], [], []
    for of_run in runs:
        (trained,) = (row for row in of_run if row.tested == row.resolution)
        ours, ratio, worst = f"diverged (epoch {trained.diverged})", DASH, DASH
        if math.isfinite(trained.median):
            ours = f"{trained.median:.2e} [{trained.low:.2e}, {trained.high:.2e}]"
            worst = f"{trained.worst:.2e}"
            if math.isfinite(trained.reported_worst):
                worst += f" ({trained.reported_worst:.2e})"
            if trained.comparable:
                ratio = f"{trained.median / float(trained.reported):.2f}"
        seed = "" if math.isnan(trained.seed) else f"{trained.seed:.0f}"
        reported = trained.reported or NO_ROW
        cells.append((trained.model, trained.resolution, seed or DASH, reported, ours, ratio, worst))
        trainings.append((
            trained.model, seed or DASH, f"{trained.train_samples:,} / {trained.test_samples:,}",
            f"{trained.best_epoch} of {trained.epochs}", duration(trained.train_seconds),
            f"{trained.seconds_per_step * 1e3:.0f} ms",
        ))  # fmt: skip
        if trained.reason:
            reasons.append(f"{trained.model}: {trained.reason}.")
    parts = [table(HEADS, cells), *map(paragraph, dict.fromkeys(reasons))]
    if len(runs[0]) > 1:
        parts.append(_by_times(runs))
    return "\n\n".join([*parts, folded("Trainings", table(OF_TRAININGS, trainings)), made_by(rows)])


def _by_times(runs: Sequence[Sequence[Any]]) -> str:
    """Return the table of medians by the set of times in the test, one column per run."""
    finished = [of_run for of_run in runs if math.isfinite(of_run[0].median)]
    heads = [
        of_run[0].model + (f", seed {of_run[0].seed:.0f}" if of_run[0].seed == of_run[0].seed else "")
        for of_run in finished
    ]
    compared = [
        of_run for of_run in finished if any(map(math.isfinite, (row.without_to_with for row in of_run)))
    ]
    lines = []
    for number, row in enumerate(runs[0]):
        line = [row.tested]
        line += [f"{of_run[number].median:.2e}{'*' * (row.tested == row.resolution)}" for of_run in finished]
        for of_run in compared[:1]:
            one = of_run[number]
            line.append(f"{one.without_to_with:.3f}")
            if math.isfinite(one.without_to_with_low):
                line[-1] += f" [{one.without_to_with_low:.3f}, {one.without_to_with_high:.3f}]"
        lines.append(line)
    return table(["tested at", *heads, *["without / with weights"] * bool(compared)], lines)


def made_by(rows: Sequence[Any]) -> str:
    """Return the machines and the commands that made the runs of some rows."""
    machines, commands = {row.machine for row in rows}, dict.fromkeys(row.command for row in rows)
    words = f"Machine: {'; '.join(sorted(machines))}, shared with other jobs. Made with\n"
    return "\n".join([words, *(f"    {command}" for command in commands)])
