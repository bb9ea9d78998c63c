"""Costs of training and inference: errors against training time, and against time per function."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from resolvent.common.records import INFERENCE_COLUMNS
from resolvent.figures.common import style
from resolvent.figures.common.charts import Looks
from resolvent.figures.common.comparison import errors_of, leading, mean_error
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.labels import label_points, label_right
from resolvent.figures.common.numbers import scientific, short_duration
from resolvent.figures.common.results import on_home_grid, read_table, trained_and_tested
from resolvent.figures.common.style import BASELINE
from resolvent.figures.common.table import Cell, Table, table_of
from resolvent.figures.experiment.error_table import NO_NUMBER

MODES = {"one_seconds": "one function alone", "many_seconds": "one function of a batch"}
TICKS = [digit * 10.0**power for power in range(-7, 1) for digit in (1, 3)]  # seconds
TICKS += [10, 30, 60, 180, 600, 1800, 3600, 10800, 36000, 108000, 360000]


def draw_training(comparison: pd.DataFrame, looks: Looks):
    """Draw one panel per training resolution; the marker's area grows with the number of parameters.

    Baselines are not trained: they are dashed lines. Seconds are comparable only on one machine and device.
    """
    own = on_home_grid(errors_of(comparison, leading(comparison), "mean"))
    homes = dict(zip(own["trained_resolution"], own["test_resolution"], strict=True))
    resolutions = sorted(homes)
    own = own[np.isfinite(own["value"])]
    models = own[own["kind"] == "model"]
    size = (8.6, 0.4 + 3.4 * len(resolutions))
    figure, axes = style.new_figure(len(resolutions), 1, size=size, sharex=True, sharey=True)
    points: list[list[tuple[float, float, str, str]]] = []
    for resolution, panel in zip(resolutions, axes[:, 0], strict=True):
        time_axis(panel, models["train_seconds"], 1 / 2, 3, most=8)
        limits = style.error_limits(panel, models["value"], margin=4)
        style.title(panel, trained_and_tested(resolution, homes[resolution]))
        panel.set_ylabel(mean_error(comparison))
        on_grid = own[own["trained_resolution"] == resolution]
        baselines = on_grid[on_grid["kind"] == "baseline"]
        within = baselines[baselines["value"].between(*limits)].assign(colour=BASELINE)
        for value in within["value"]:
            panel.axhline(value, color=BASELINE, ls=(0, (5, 3)), lw=1.1, zorder=1)
        label_right(panel, list(within[["value", "label", "colour"]].itertuples(index=False, name=None)))
        style.name_outside(panel, list(zip(baselines["label"], baselines["value"], strict=True)))
        points.append([])
        for row in on_grid[on_grid["kind"] == "model"].to_dict("records"):
            look, seconds, mean = looks[row["key"]], row["train_seconds"], row["value"]
            panel.vlines(seconds, row["low"], row["high"], color=look.colour, lw=1.2, zorder=2)
            size = 3 + 7 * np.sqrt(row["parameters"] / models["parameters"].max())
            panel.plot([seconds], [mean], ls="", ms=size, mew=1.2, alpha=0.9, zorder=3, **look.marks())
            points[-1].append((seconds, mean, row["label"], look.colour))
    axes[-1, 0].set_xlabel("training time")
    for panel, labelled in zip(axes[:, 0], points, strict=True):  # after the layout is final
        label_points(panel, labelled, away=9)
        if not labelled:
            style.say_no_errors(panel)
    return figure


def read_inference(path: str | Path) -> pd.DataFrame:
    """Read an inference.csv."""
    return read_table(Path(path), list(INFERENCE_COLUMNS), may_be_empty=True)


def draw_inference(inference: pd.DataFrame, looks: Looks, grids: dict[int | str, str]):
    """Draw a row of two panels per training resolution: single functions and batches.

    Models are markers; the equation's solvers, from fast to accurate, are connected by a dashed line.
    """
    resolutions = sorted(inference["resolution"].unique()) or [None]
    size = (8.6, 0.2 + 3.6 * len(resolutions))
    figure, axes = style.new_figure(len(resolutions), 2, size=size, sharey=True)
    named: dict[str, Any] = {}
    solved = []
    for resolution, panels in zip(resolutions, axes, strict=True):
        on_grid = inference[inference["resolution"] == resolution]
        where = f", {grids[resolution]}" if len(resolutions) > 1 else ""
        panels[0].set_ylabel("mean relative L² error")
        for panel, (column, mode) in zip(panels, MODES.items(), strict=True):
            style.error_limits(panel, on_grid["error"], margin=4)
            time_axis(panel, on_grid[column], 1 / 3, 4, most=5)
            style.title(panel, mode + where)
            solvers = on_grid[on_grid["kind"] == "solver"].assign(colour=BASELINE)
            solved.append([*solvers[[column, "error", "label", "colour"]].itertuples(index=False, name=None)])
            solvers = solvers.sort_values("error")
            panel.plot(solvers[column], solvers["error"], color=BASELINE, ls="", marker="o", ms=4, zorder=2)
            fastest = solvers[solvers[column] < solvers[column].cummin().shift(fill_value=np.inf)]
            panel.plot(fastest[column], fastest["error"], color=BASELINE, ls=(0, (5, 3)), lw=1.1, zorder=1)
            for row in on_grid[on_grid["kind"] == "model"].to_dict("records"):
                marks = {"ls": "", "ms": 8, "mew": 1.2, "zorder": 3, **looks[row["key"]].marks()}
                (named[row["key"]],) = panel.plot([row[column]], [row["error"]], label=row["label"], **marks)
            if on_grid.empty:
                style.say_no_errors(panel)
    for panel in axes[-1]:
        panel.set_xlabel("time per function")
    style.name_all(figure, named.values(), place="lower")
    for panel, labels in zip(axes.flat, solved, strict=True):  # after the layout is final
        label_points(panel, labels, away=8, size=7.5)
    return figure


def time_axis(panel, seconds: pd.Series, below: float, above: float, *, most: int) -> None:
    """Set a logarithmic axis from `below` to `above` times the seconds, with at most `most` ticks."""
    seconds = seconds[seconds > 0]
    low, high = (0.1, 100.0) if seconds.empty else (seconds.min() * below, seconds.max() * above)
    ticks = [tick for tick in TICKS if low <= tick <= high]
    ticks = ticks[:: max(1, math.ceil(len(ticks) / most))]
    panel.set_xscale("log")
    panel.set_xlim(low, high)
    panel.set_xticks(ticks, [short_duration(tick).replace(".0", "") for tick in ticks])
    panel.minorticks_off()
    style.grid_lines(panel, "both")


def inference_table(inference: pd.DataFrame, grids: dict[int | str, str]) -> Table:
    """Return one row per model, most accurate first, with the fastest equally accurate solver."""
    rows = []
    for timed in inference.query("kind == 'model'").sort_values("error").to_dict("records"):
        solver, speed, pays = Cell("none", prose=True), NO_NUMBER, NO_NUMBER
        if isinstance(timed["solver"], str):
            times, queries = timed["solver_many_seconds"] / timed["many_seconds"], timed["queries"]
            ratio = max(times, 1 / times)
            digits = f"{ratio:.2g}" if ratio < 99.5 else f"{round(ratio, -1):,.0f}"
            words = f"{queries:,.0f} functions" if math.isfinite(queries) else "never"
            several = timed["timed_on"] if timed["timed_on"] != timed["device"] else ""
            solver = Cell(f"{timed['solver']}: {short_duration(timed['solver_many_seconds'])}", prose=True)
            speed = Cell(f"{digits} times {'faster' if times >= 1 else 'slower'}", value=times)
            pays = Cell(words, warning=several, value=min(queries, 1e300))
        rows.append({
            "model": Cell(timed["label"]),
            "grid": Cell(grids[timed["resolution"]], prose=True),
            "error": Cell(scientific(timed["error"]), value=timed["error"]),
            "alone": Cell(short_duration(timed["one_seconds"]), value=timed["one_seconds"]),
            "in a batch": Cell(short_duration(timed["many_seconds"]), value=timed["many_seconds"]),
            "equally accurate solver, in a batch": solver,
            "the model is": speed,
            "break-even": pays,
        })  # fmt: skip
    return table_of(rows)


COST_SCATTER = Exhibit(
    "Error against training cost",
    "{mean_error} against the measured training time; the size of a marker grows with the number of "
    "parameters. Times on different devices are not comparable.",
    draw_training,
)
INFERENCE = Exhibit(
    "Cost of a query, and break-even",
    "Mean relative L² error on the first test samples, on {home}, against the time per function, for one "
    "function alone and for all of them in a batch. Errors are those of one run of each model; in the other "
    "tables they are means over all test samples and seeds. Grey: classical solvers of the equation at "
    "several costs, with the same inputs; a dashed line connects the solvers that no faster solver beats. "
    "All were timed in one job on the same number of CPU cores, models on the device of their run.",
    draw_inference,
)
