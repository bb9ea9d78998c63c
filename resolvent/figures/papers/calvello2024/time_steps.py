"""Error against the time step of the test: Figure 7 of Calvello et al. 2024 (arXiv:2406.06486, 6.1)."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from resolvent.figures.common.labels import label_right
from resolvent.figures.common.results import Run
from resolvent.figures.common.style import (
    GRID,
    MUTED,
    appearances,
    error_limits,
    grid_lines,
    name_diverged,
    new_figure,
    say_no_errors,
    title,
)
from resolvent.figures.papers.calvello2024.chosen import Compared, compared

STATISTICS = {"mean": (0, (1, 1.5)), "median": "-"}


def draw_time_steps(comparisons: list[pd.DataFrame], experiments: list[list[Run]]):
    """Draw a panel for each experiment: a line a model through equal steps, marks for other times beside.

    Solid: median over samples and seeds, dotted: mean. The large marker and the vertical line are at the step
    of training.
    """
    loaded = [compared(comparisons, experiments, statistic) for statistic in STATISTICS]
    panels = [dict(zip(STATISTICS, both, strict=True)) for both in zip(*loaded, strict=True)]
    looks = appearances(run for one in loaded[0] for run in one.runs)
    figure, axes = new_figure(len(panels), 1, size=(8.6, 0.5 + 2.9 * len(panels)))
    for of_statistic, panel in zip(panels, axes[:, 0], strict=True):
        _draw(panel, of_statistic, looks)
    axes[-1, 0].set_xlabel("time step of the test observations")
    return figure


def steps_of(run: Run) -> dict[str, float]:
    """Return the equal time steps of the dataset's observations, by name, from short to long."""
    observations = run.record.dataset_settings["observations"]
    steps = {name: o["step"] for name, o in observations.items() if o.get("kind", "uniform") == "uniform"}
    return dict(sorted(steps.items(), key=lambda pair: pair[1]))


def places_of(run: Run, tested: Iterable[str]) -> tuple[dict[str, float], dict[str, float]]:
    """Place the times tested on a logarithmic axis: equal steps, and the others right of the longest."""
    tested = set(tested)
    equal = {name: step for name, step in steps_of(run).items() if name in tested}
    others = [name for name in run.record.dataset_settings["observations"] if name in tested - set(equal)]
    longest = max(equal.values(), default=1.0)
    return equal, {name: longest * 1.4 ** (index + 1) for index, name in enumerate(others)}


def _draw(panel, of_statistic: dict[str, Compared], looks) -> None:
    one = of_statistic["median"]
    equal, others = places_of(one.runs[0], one.rows["test_resolution"])
    places = equal | others
    panel.set_xscale("log")
    panel.set_xticks(list(places.values()), [f"{s:g}" for s in equal.values()] + [_words(o) for o in others])
    panel.minorticks_off()
    panel.set_xlim(min(places.values()) / 1.15, max(places.values()) * 1.2)
    if one.trained in places:
        panel.axvline(places[one.trained], color=MUTED, lw=0.6, ls=":")
    if others and equal:
        panel.axvspan(max(equal.values()) * 1.18, panel.get_xlim()[1], color=GRID, alpha=0.5, lw=0)
    values = pd.concat([found.rows["value"] for found in of_statistic.values()])
    error_limits(panel, values, margin=1.6)
    title(panel, one.heading)
    panel.set_ylabel("relative L² error")
    grid_lines(panel)
    labels = []
    for key in dict.fromkeys(one.rows["key"]):
        for statistic, found in of_statistic.items():
            rows = found.rows[found.rows["key"] == key]
            labels += _draw_model(panel, rows, statistic, equal, others, one.trained, looks[key])
    label_right(panel, labels)
    if labels:
        name_diverged(panel, one.lost)
    else:
        say_no_errors(panel)


def _draw_model(
    panel, rows: pd.DataFrame, statistic: str, equal: dict, others: dict, trained, look
) -> list[tuple[float, str, str]]:
    errors = rows.set_index("test_resolution")["value"]
    errors = errors[np.isfinite(errors)]
    line = [(place, errors[name]) for name, place in equal.items() if name in errors]
    beside = [(place, errors[name]) for name, place in others.items() if name in errors]
    if line:
        dashes = STATISTICS[statistic]
        panel.plot(*zip(*line, strict=True), color=look.colour, ls=dashes, lw=1.5, marker=".", ms=5)
    if beside:
        face = look.colour if statistic == "median" else "white"
        marks = look.marks() | {"markerfacecolor": face}
        panel.plot(*zip(*beside, strict=True), ls="", ms=6, **marks)
    if statistic != "median" or not line + beside:
        return []
    if trained in equal and trained in errors:
        panel.plot(equal[trained], errors[trained], ls="", ms=7, **look.marks())
    last = (beside or line)[-1][1]
    return [(float(last), str(rows["label"].iloc[0]), look.colour)]


def _words(name: str) -> str:
    return name.replace("_", " ")
