"""What a query costs: error of operators and classical solvers against the time of a function."""

import math
from pathlib import Path

import numpy as np
import pandas as pd

from resolvent.common.records import INFERENCE_COLUMNS
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.labels import label_points
from resolvent.figures.common.numbers import short_duration
from resolvent.figures.common.results import read_table, resolution_in_words
from resolvent.figures.common.style import (
    BASELINE,
    Appearance,
    error_limits,
    grid_lines,
    name_all,
    new_figure,
    say_no_errors,
    title,
)

MODES = {"one_seconds": "one function alone", "many_seconds": "a function in a batch"}
TICKS = [base * 10.0**power for power in range(-7, 5) for base in (1, 3)]  # seconds


def read_inference(path: str | Path) -> pd.DataFrame:
    """Read an inference.csv."""
    return read_table(Path(path), list(INFERENCE_COLUMNS), may_be_empty=True)


def draw(inference: pd.DataFrame, looks: dict[str, Appearance]):
    """Draw a row of two panels for each resolution: functions one at a time, and in batches.

    Models are markers; the solvers of the equation, from fast to accurate, are joined by a dashed line.
    """
    resolutions = sorted(inference["resolution"].unique(), key=str) or [None]
    figure, axes = new_figure(len(resolutions), 2, size=(8.6, 0.2 + 3.6 * len(resolutions)), sharey=True)
    parts = [
        (panel, inference[inference["resolution"] == resolution], resolution, column)
        for resolution, panels in zip(resolutions, axes, strict=True)
        for panel, column in zip(panels, MODES, strict=True)
    ]
    for panel, here, resolution, column in parts:
        panel.set_xscale("log")
        error_limits(panel, here["error"], margin=4)
        _time_axis(panel, here[column])
        grid_lines(panel, "both")
        where = f", {resolution_in_words(resolution)}" if len(resolutions) > 1 else ""
        title(panel, MODES[column] + where)
        _draw_solvers(panel, here, column)
        for row in here[here["kind"] == "model"].to_dict("records"):
            marks = looks[row["key"]].marks()
            panel.plot(
                [row[column]], [row["error"]], ls="", ms=8, mew=1.2, zorder=3, label=row["label"], **marks
            )
    for panel in axes[:, 0]:
        panel.set_ylabel("mean relative L² error")
    for panel in axes[-1]:
        panel.set_xlabel("time of a function")
    named = {
        name: mark
        for panel in axes.flat
        for mark, name in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    name_all(figure, named, place="lower")
    for panel, here, _, column in parts:  # once no panel moves any more
        solvers = here[here["kind"] == "solver"].to_dict("records")
        points = [(row[column], row["error"], row["label"], BASELINE) for row in solvers]
        label_points(panel, points, away=8, size=7.5)
        if here.empty:
            say_no_errors(panel)
    return figure


def _draw_solvers(panel, here: pd.DataFrame, column: str) -> None:
    solvers = here[here["kind"] == "solver"].sort_values("error")
    panel.plot(solvers[column], solvers["error"], color=BASELINE, ls="", marker="o", ms=4, zorder=2)
    fastest = solvers[solvers[column] < solvers[column].cummin().shift(fill_value=np.inf)]
    panel.plot(fastest[column], fastest["error"], color=BASELINE, ls=(0, (5, 3)), lw=1.1, zorder=1)


def _time_axis(panel, seconds: pd.Series) -> None:
    low, high = (seconds.min() / 3, seconds.max() * 4) if not seconds.empty else (1e-3, 1)
    panel.set_xlim(low, high)
    ticks = [tick for tick in TICKS if low <= tick <= high]
    if len(ticks) > 5:
        ticks = [tick for tick in ticks if math.log10(tick).is_integer()]
    panel.set_xticks(ticks, [short_duration(tick) for tick in ticks])
    panel.minorticks_off()


def inference_rows(inference: pd.DataFrame) -> list[dict]:
    """Return what the page's table says of each model, the most accurate first.

    `times` is how many times faster than the solver a batch is, `speed` the same in words; `queries` is None
    where it never pays.
    """
    models = inference.query("kind == 'model'").sort_values("error")
    rows = []
    for row in models.to_dict("records"):
        solved = isinstance(row["solver"], str)
        times = row["solver_many_seconds"] / row["many_seconds"] if solved else None
        rows.append(
            {
                "label": row["label"],
                "where": resolution_in_words(row["resolution"]),
                "error": row["error"],
                "one": row["one_seconds"],
                "many": row["many_seconds"],
                "solver": row["solver"] if solved else None,
                "solver_many": row["solver_many_seconds"],
                "times": times,
                "speed": None if times is None else _speed_in_words(times),
                "queries": int(row["queries"]) if solved and math.isfinite(row["queries"]) else None,
            }
        )
    return rows


def _speed_in_words(times: float) -> str:
    """Return "5.2 times faster", or "330 times slower"."""
    ratio = max(times, 1 / times)
    digits = f"{ratio:.2g}" if ratio < 100 else f"{round(ratio, -1):,.0f}"
    return f"{digits} times {'faster' if times >= 1 else 'slower'}"


INFERENCE = Exhibit(
    "What a query costs, and after how many it pays",
    "Mean relative L² error on the first test samples against the time that a function takes, alone and in "
    "a batch of all of them. Grey: classical solvers of the equation at several costs, given the same "
    "inputs; a dashed line joins those that no faster one surpasses. All were timed in one job on the same "
    "number of processor cores, models on the device that the run was given.",
    draw,
)
