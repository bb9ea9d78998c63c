"""The error of every test sample: is a model a little worse everywhere, or bad at a few samples?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from resolvent.figures.common.charts import LOGARITHMIC, Looks, add_arrow, around, stacked, wrapped
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.numbers import scientific
from resolvent.figures.common.results import Baseline, Run, error_matrix, resolution_in_words
from resolvent.figures.common.style import (
    BASELINE,
    INK,
    error_limits,
    grid_lines,
    new_figure,
    say_no_errors,
    title,
)
from resolvent.figures.common.thinned import CURVE_POINTS, picked, rounded
from resolvent.figures.experiment.comparison import grouped

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

HALF_HEIGHT = 0.33


def draw(runs: list[Run], baselines: list[Baseline], looks: Looks):
    """Draw a panel for each training resolution, a row for each model: a dot a sample, over its quartiles.

    The samples are the same in every row, and a sample keeps its height within the row: the easiest for the
    best model at the bottom, the hardest at the top. A dot is the mean over seeds.
    """
    resolutions = sorted({run.resolution for run in runs})
    panels = {one: rows_of_samples(runs, baselines, looks, one) for one in resolutions}
    models = np.concatenate(
        [errors for rows in panels.values() for _, colour, errors in rows if colour != BASELINE] or [[]]
    )
    counts = [max(1, len(rows)) for rows in panels.values()]
    figure, axes = new_figure(
        len(resolutions), 1, size=(8.6, 0.8 + sum(0.5 + 0.42 * count for count in counts)), sharex=True,
        height_ratios=counts,
    )  # fmt: skip
    for resolution, panel in zip(resolutions, axes[:, 0], strict=True):
        limits = error_limits(panel, models, margin=3, axis="x")
        _draw_rows(panel, panels[resolution], limits)
        title(panel, f"trained and tested on {resolution_in_words(resolution)}")
    axes[-1, 0].set_xlabel("relative L² error of a test sample")
    return figure


def rows_of_samples(runs, baselines, looks, resolution) -> list[tuple[str, str, pd.Series]]:
    """Return (label, colour, errors by sample) of each row, models first, each part best first."""
    models, others = [], []
    for group in grouped(runs):
        if group[0].resolution == resolution:
            errors = error_matrix([run.errors for run in group], resolution, group[0].noise).mean()
            models.append((group[0].label, looks[group[0].model].colour, errors))
    for one in baselines:
        if one.resolution == resolution:
            others.append((one.label, BASELINE, error_matrix([one.errors], resolution, one.noise).mean()))
    return [
        row
        for part in (models, others)
        for row in sorted((row for row in part if not row[2].empty), key=lambda row: row[2].median())
    ]


def _draw_rows(panel, rows: list[tuple[str, str, pd.Series]], limits: tuple[float, float]) -> None:
    grid_lines(panel, "x")
    panel.spines["left"].set_visible(False)
    panel.set_ylim(len(rows) - 0.4, -0.6)
    panel.set_yticks(range(len(rows)), [label for label, _, _ in rows])
    panel.tick_params(axis="y", length=0)
    if not rows:
        say_no_errors(panel)
        return
    difficulty = rows[0][2].rank(method="first")
    height = HALF_HEIGHT * (1 - 2 * (difficulty - 1) / max(1, len(difficulty) - 1))
    for index, (tick, (_, colour, errors)) in enumerate(zip(panel.get_yticklabels(), rows, strict=True)):
        tick.set_color(colour)
        tick.set_fontsize(9)
        if errors.max() < limits[0] or errors.min() > limits[1]:
            _name_outside(panel, index, errors.median(), limits)
            continue
        panel.plot(errors, index + height, "o", color=colour, ms=2.6, mew=0, alpha=0.45)
        low, middle, high = np.percentile(errors, [25, 50, 75])
        panel.plot([low, high], [index, index], color=colour, lw=5, alpha=0.45, solid_capstyle="butt")
        panel.plot([middle, middle], [index - HALF_HEIGHT, index + HALF_HEIGHT], color=INK, lw=1.4)


def _name_outside(panel, index: int, median: float, limits: tuple[float, float]) -> None:
    """Draw an arrow to where a row would be, with its median."""
    if median < limits[0]:
        panel.text(limits[0] * 1.05, index, f"← median {median:.1e}", color=BASELINE, va="center", fontsize=8)
    else:
        words = f"median {median:.1e} →"
        panel.text(limits[1] / 1.05, index, words, color=BASELINE, va="center", ha="right", fontsize=8)


def chart(runs: list[Run], baselines: list[Baseline], looks: Looks) -> Figure:
    """Chart the error of every test sample, the mean over seeds: a row a model, a dot a sample.

    Of more samples than a curve has points, so many are drawn, picked evenly by their error.
    """
    places = sorted({run.resolution for run in runs})
    here = [rows_of_samples(runs, baselines, looks, place) for place in places]
    figure = stacked([f"trained and tested on {resolution_in_words(one)}" for one in places], here)
    found = [errors for rows in here for _, colour, errors in rows if colour != BASELINE]
    low, high = around(pd.concat(found) if found else [])
    for number, rows in enumerate(here, 1):
        for label, colour, errors in rows:
            if errors.max() < low or errors.min() > high:
                add_arrow(figure, number, label, errors.median(), (low, high), "median ")
                continue
            errors = errors.sort_values()
            errors = errors.iloc[picked(len(errors), CURVE_POINTS)]
            figure.add_box(
                x=rounded(errors.to_list()), name=wrapped(label), orientation="h", boxpoints="all",
                pointpos=0, jitter=0.6, marker={"size": 3.5, "color": colour, "opacity": 0.55},
                showlegend=False, line={"color": colour, "width": 1.2},
                fillcolor="rgba(0,0,0,0)", hoveron="points",
                text=[f"test sample {sample}: {scientific(error)}" for sample, error in errors.items()],
                hovertemplate=f"{label}<br>%{{text}}<extra></extra>", row=number, col=1,
            )  # fmt: skip
    figure.update_xaxes(**LOGARITHMIC, range=rounded(np.log10([low, high])))
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(title="relative L² error", row=len(places), col=1)
    return figure


ERROR_DISTRIBUTIONS = Exhibit(
    "Every test sample",
    "Relative L² error of each of the {test} test samples; a dot is a sample, the mean over seeds. Drawn: a"
    " bar at the median and one over the quartiles, and a sample has the same height in every row, the "
    "hardest at the top.",
    draw,
    chart,
)
