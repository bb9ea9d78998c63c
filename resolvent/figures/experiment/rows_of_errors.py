"""Errors in rows, a panel for each training resolution: means with intervals, and the error of every sample.

The axis is that of the models: an arrow and a number stand for a baseline beyond it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from resolvent.figures.common import charts, style
from resolvent.figures.common.charts import Looks, four, wrapped
from resolvent.figures.common.comparison import by_condition, mean_error
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.numbers import scientific
from resolvent.figures.common.results import (
    Baseline,
    Run,
    error_matrix,
    on_training_grid,
    resolution_in_words,
)
from resolvent.figures.common.thinned import CURVE_POINTS, picked, rounded
from resolvent.figures.experiment.comparison import grouped

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

HALF_HEIGHT = 0.33  # of a row of samples


class Row(NamedTuple):
    """A row of a panel: errors by sample or, where `tested` is there, one mean with its interval."""

    label: str
    colour: str
    errors: pd.Series
    tested: Any = None

    @property
    def of_model(self) -> bool:
        return self.colour != style.BASELINE

    def beyond(self, low: float, high: float) -> bool:
        return bool(self.errors.max() < low or self.errors.min() > high)


Panels = dict[int | str, list[Row]]


def draw_intervals(comparison: pd.DataFrame, looks: Looks):
    """Draw a row for each model, the lowest error first, with its interval; baselines below."""

    def draw_row(panel, index: int, row: Row, first: Row) -> None:
        error, facts = row.tested.error(), row.tested.facts
        marks = looks[facts["key"]].marks() if row.of_model else {"marker": "|", "color": style.BASELINE}
        panel.hlines(index, error.low, error.high, color=row.colour, lw=1.6)
        panel.plot([error.value], [index], ls="", ms=6 if row.of_model else 9, **marks)

    return _draw(_means(comparison, looks), draw_row, mean_error(comparison), charts.MARGIN, 0.27)


def draw_distributions(runs: list[Run], baselines: list[Baseline], looks: Looks):
    """Draw a row for each model: a dot a sample, the mean over seeds, over its quartiles.

    The samples are the same in every row, and a sample keeps its height within the row: the easiest for the
    best model at the bottom, the hardest at the top.
    """

    def draw_row(panel, index: int, row: Row, first: Row) -> None:
        difficulty = first.errors.rank(method="first")
        height = HALF_HEIGHT * (1 - 2 * (difficulty - 1) / max(1, len(difficulty) - 1))
        panel.plot(row.errors, index + height, "o", color=row.colour, ms=2.6, mew=0, alpha=0.45)
        low, middle, high = np.percentile(row.errors, [25, 50, 75])
        panel.plot([low, high], [index, index], color=row.colour, lw=5, alpha=0.45, solid_capstyle="butt")
        panel.plot([middle, middle], [index - HALF_HEIGHT, index + HALF_HEIGHT], color=style.INK, lw=1.4)

    words = "relative L² error of a test sample"
    return _draw(_samples(runs, baselines, looks), draw_row, words, 3, 0.42, "median ")


def chart_intervals(comparison: pd.DataFrame, looks: Looks) -> Figure:
    """Chart the mean error of every model and baseline on its training grid, with its 95 % interval."""

    def trace(row: Row) -> dict:
        error, facts = row.tested.error(), row.tested.facts
        above, below = [four(error.high - error.value)], [four(error.value - error.low)]
        return {
            "type": "scatter", "x": [four(error.value)], "y": [wrapped(row.label)], "mode": "markers",
            "marker": charts.marker_of(facts, looks) | {"size": 9}, "name": row.label,
            "error_x": {
                "array": above, "arrayminus": below, "width": 0, "thickness": 1.6, "color": row.colour
            },
            "text": [charts.words_of(row.tested)], "hovertemplate": "%{text}<extra></extra>",
        }  # fmt: skip

    return _chart(_means(comparison, looks), trace, mean_error(comparison))


def chart_distributions(runs: list[Run], baselines: list[Baseline], looks: Looks) -> Figure:
    """Chart the error of every test sample, the mean over seeds: a row a model, a dot a sample.

    Of more samples than a curve has points, so many are drawn, picked evenly by their error.
    """

    def trace(row: Row) -> dict:
        errors = row.errors.sort_values()
        errors = errors.iloc[picked(len(errors), CURVE_POINTS)]
        return {
            "type": "box", "x": rounded(errors.to_list()), "name": wrapped(row.label), "orientation": "h",
            "boxpoints": "all", "pointpos": 0, "jitter": 0.6, "hoveron": "points",
            "marker": {"size": 3.5, "color": row.colour, "opacity": 0.55},
            "line": {"color": row.colour, "width": 1.2}, "fillcolor": "rgba(0,0,0,0)",
            "text": [f"test sample {sample}: {scientific(error)}" for sample, error in errors.items()],
            "hovertemplate": f"{row.label}<br>%{{text}}<extra></extra>",
        }  # fmt: skip

    return _chart(_samples(runs, baselines, looks), trace, "relative L² error", "median ")


def _means(comparison: pd.DataFrame, looks: Looks) -> Panels:
    """Return what has an error at each training resolution."""
    found = by_condition(on_training_grid(comparison))
    panels: Panels = {place: [] for place in charts.places_of(found)}
    for one in found:
        if one.facts["trained_resolution"] in panels:
            row = Row(
                one.facts["label"], charts.colour_of(one.facts, looks), pd.Series([one.error().value]), one
            )
            panels[one.facts["trained_resolution"]].append(row)
    return _ordered(panels)


def _samples(runs: list[Run], baselines: list[Baseline], looks: Looks) -> Panels:
    """Return the errors by sample of what is at each training resolution."""
    panels: Panels = {place: [] for place in sorted({run.resolution for run in runs})}
    drawn: list[tuple[Sequence[Run | Baseline], str]] = []
    drawn += [(group, looks[group[0].model].colour) for group in grouped(runs)]
    drawn += [([one], style.BASELINE) for one in baselines]
    for group, colour in drawn:
        first = group[0]
        errors = error_matrix([one.errors for one in group], first.resolution, first.noise).mean()
        if first.resolution in panels:
            panels[first.resolution].append(Row(first.label, colour, errors))
    return _ordered(panels)


def _ordered(panels: Panels) -> Panels:
    """Put models first, each part with its lowest error first, and leave out what has none."""
    return {
        place: sorted(
            (row for row in rows if row.errors.notna().any()),
            key=lambda row: (not row.of_model, row.errors.median()),
        )
        for place, rows in panels.items()
    }


def _of_models(panels: Panels) -> list[float]:
    return [error for rows in panels.values() for row in rows if row.of_model for error in row.errors]


def _draw(panels: Panels, draw_row: Callable, words: str, margin: float, height: float, number: str = ""):
    """Draw a panel for each training resolution, and in it with `draw_row` every row.

    margin  of the axis beyond the errors of the models, as a factor.
    height  of a row, in inches.
    number  what the number beside an arrow is.
    """
    counts = [max(1, len(rows)) for rows in panels.values()]
    figure, axes = style.new_figure(
        len(panels), 1, size=(8.6, 0.8 + sum(0.5 + height * count for count in counts)), sharex=True,
        height_ratios=counts,
    )  # fmt: skip
    for (place, rows), panel in zip(panels.items(), axes[:, 0], strict=True):
        limits = style.error_limits(panel, _of_models(panels), margin=margin, axis="x")
        style.grid_lines(panel, "x")
        style.title(panel, f"trained and tested on {resolution_in_words(place)}")
        panel.spines["left"].set_visible(False)
        panel.set_ylim(len(rows) - 0.4, -0.6)
        panel.set_yticks(range(len(rows)), [row.label for row in rows])
        panel.tick_params(axis="y", length=0)
        if not rows:
            style.say_no_errors(panel)
        for index, (tick, row) in enumerate(zip(panel.get_yticklabels(), rows, strict=True)):
            tick.set_color(row.colour)
            if row.beyond(*limits):
                value = float(row.errors.median())
                above, text = bool(value > limits[0]), f"{number}{scientific(value)}"
                panel.text(
                    limits[above], index, f"{text} →" if above else f"← {text}", color=row.colour,
                    va="center", ha="right" if above else "left",
                )  # fmt: skip
            else:
                draw_row(panel, index, row, rows[0])
    axes[-1, 0].set_xlabel(words)
    return figure


def _chart(panels: Panels, trace: Callable[[Row], dict], words: str, number: str = "") -> Figure:
    """Chart the same: `trace` returns what plotly draws of a row."""
    reach = charts.around(_of_models(panels))
    titles = [f"trained and tested on {resolution_in_words(place)}" for place in panels]
    figure = charts.panels_of(titles, list(panels.values()))
    for panel, rows in enumerate(panels.values(), 1):
        for row in rows:
            if row.beyond(*reach):
                charts.add_arrow(figure, panel, row.label, row.errors.median(), reach, number)
            else:
                figure.add_trace(trace(row) | {"showlegend": False}, row=panel, col=1)
    figure.update_xaxes(**charts.LOGARITHMIC, range=rounded(np.log10(reach)))
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(title=words, row=max(1, len(panels)), col=1)
    return figure


ERROR_INTERVALS = Exhibit(
    "Mean errors and their intervals",
    "{mean_error} on the {test} test samples, on the grid of training, with its 95 % interval; on a "
    "logarithmic axis, the lowest first. Grey: baselines, for which no network is trained; an arrow stands "
    "for one beyond the axis.",
    draw_intervals,
    chart_intervals,
)
ERROR_DISTRIBUTIONS = Exhibit(
    "Every test sample",
    "Relative L² error of each of the {test} test samples; a dot is a sample, the mean over seeds. Drawn: a"
    " bar at the median and one over the quartiles, and a sample has the same height in every row, the "
    "hardest at the top.",
    draw_distributions,
    chart_distributions,
)
