"""Error on grids that a model was not trained on: Figures 14, 15, 17 and 19 of Calvello et al. 2024.

(arXiv:2406.06486, section 6.2.) Medians over test samples and seeds, the same functions on every grid.
"""

import numpy as np
import pandas as pd

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.labels import label_right
from resolvent.figures.common.results import Run
from resolvent.figures.common.style import (
    MUTED,
    appearances,
    error_limits,
    grid_lines,
    name_diverged,
    new_figure,
    resolution_axis,
    say_no_errors,
    title,
)
from resolvent.figures.papers.calvello2024.chosen import Compared, compared, first_of_each_architecture


def draw_other_grids(comparisons: list[pd.DataFrame], experiments: list[list[Run]]):
    """Draw Figures 14, 15, 17: a panel for each experiment, a line for the first model of an architecture.

    A model for one grid only is a single point.
    """
    found = compared(comparisons, experiments)
    return _draw_panels([one.only(first_of_each_architecture(one.runs)) for one in found])


def draw_extended(comparisons: list[pd.DataFrame], experiments: list[list[Run]]):
    """Draw Figure 19: Fourier attention with and without periodically extended patches."""
    return _draw_panels([one.only(extended_pair(one.runs)) for one in compared(comparisons, experiments)])


def extended_pair(runs: list[Run]) -> tuple[str, str]:
    """Return two models that differ in `periodic_extension` alone, without smoother if there are several.

    Raises
    ------
    ResultError
        When there are none.
    """
    by_rest: dict[tuple, dict[bool, str]] = {}
    for run in runs:
        settings = dict(run.record.settings)
        extended = settings.pop("periodic_extension", None)
        if extended is not None and run.record.architecture == "fano":
            rest = tuple(sorted((name, str(value)) for name, value in settings.items()))
            by_rest.setdefault(rest, {}).setdefault(extended, run.model)
    pairs = [(rest, found) for rest, found in by_rest.items() if len(found) == 2]
    if not pairs:
        raise ResultError(
            f"{runs[0].directory.parent}: no two models of fano differ in periodic_extension alone"
        )
    _, found = min(pairs, key=lambda pair: ("smoother", "none") not in pair[0])
    return found[False], found[True]


def _draw_panels(experiments: list[Compared]):
    looks = appearances(run for one in experiments for run in one.runs)
    figure, axes = new_figure(len(experiments), 1, size=(8.6, 0.4 + 3.4 * len(experiments)))
    for one, panel in zip(experiments, axes[:, 0], strict=True):
        _draw(panel, one, looks)
    axes[-1, 0].set_xlabel("test resolution (points a side)")
    return figure


def _draw(panel, one: Compared, looks) -> None:
    places = resolution_axis(panel, one.rows["test_resolution"].unique())
    panel.minorticks_off()
    panel.axvline(places[one.trained], color=MUTED, lw=0.6, ls=":")
    error_limits(panel, one.rows["value"], margin=1.4)
    panel.set_ylabel("median relative L² error")
    grid_lines(panel)
    title(panel, one.heading)
    labels = []
    for key, rows in one.rows.groupby("key", sort=False):
        rows, look = rows[np.isfinite(rows["value"])].sort_values("test_resolution"), looks[key]
        if rows.empty:
            continue
        panel.plot(rows["test_resolution"], rows["value"], color=look.colour, lw=1.5, marker=".", ms=5)
        own = rows[rows["test_resolution"] == one.trained]
        panel.plot(own["test_resolution"], own["value"], ls="", ms=7, zorder=4, **look.marks())
        labels.append((float(rows["value"].iloc[-1]), str(rows["label"].iloc[0]), look.colour))
    label_right(panel, labels)
    if labels:
        name_diverged(panel, one.lost)
    else:
        say_no_errors(panel)
