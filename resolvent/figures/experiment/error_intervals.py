"""The mean error of every model and baseline with its 95 % interval: who is best, and by how much."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from resolvent.figures.common.charts import (
    LOGARITHMIC,
    MARGIN,
    Looks,
    add_arrow,
    around,
    colour_of,
    four,
    marker_of,
    places_of,
    stacked,
    words_of,
    wrapped,
)
from resolvent.figures.common.comparison import Tested, by_condition, mean_error
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.numbers import scientific
from resolvent.figures.common.results import on_training_grid, resolution_in_words
from resolvent.figures.common.style import (
    BASELINE,
    error_limits,
    grid_lines,
    new_figure,
    say_no_errors,
    title,
)
from resolvent.figures.common.thinned import rounded

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def draw(comparison: pd.DataFrame, looks: Looks):
    """Draw a panel for each training resolution, a row a model, the lowest error first; baselines below.

    The axis is that of the models: arrows and numbers stand for baselines beyond it.
    """
    panels = rows_of_means(comparison)
    models = [one.error().value for rows in panels.values() for one in rows if one.facts["kind"] == "model"]
    counts = [max(1, len(rows)) for rows in panels.values()]
    figure, axes = new_figure(
        len(panels), 1, size=(8.6, 0.8 + sum(0.5 + 0.27 * count for count in counts)), sharex=True,
        height_ratios=counts,
    )  # fmt: skip
    for (place, rows), panel in zip(panels.items(), axes[:, 0], strict=True):
        limits = error_limits(panel, models, margin=MARGIN, axis="x")
        grid_lines(panel, "x")
        panel.spines["left"].set_visible(False)
        panel.set_ylim(len(rows) - 0.4, -0.6)
        panel.set_yticks(range(len(rows)), [one.facts["label"] for one in rows])
        panel.tick_params(axis="y", length=0)
        title(panel, f"trained and tested on {resolution_in_words(place)}")
        if not rows:
            say_no_errors(panel)
        for index, (tick, one) in enumerate(zip(panel.get_yticklabels(), rows, strict=True)):
            error, model = one.error(), one.facts["kind"] == "model"
            colour = looks[one.facts["key"]].colour if model else BASELINE
            marks = looks[one.facts["key"]].marks() if model else {"marker": "|", "color": BASELINE}
            tick.set_color(colour)
            if not limits[0] < error.value < limits[1]:
                below, value = error.value < limits[0], scientific(error.value)
                panel.text(
                    limits[not below], index, f"← {value}" if below else f"{value} →",
                    color=colour, va="center", ha="left" if below else "right",
                )  # fmt: skip
                continue
            panel.hlines(index, error.low, error.high, color=colour, lw=1.6)
            panel.plot([error.value], [index], ls="", ms=6 if model else 9, **marks)
    axes[-1, 0].set_xlabel(mean_error(comparison))
    return figure


def rows_of_means(comparison: pd.DataFrame) -> dict[int | str, list[Tested]]:
    """Return what has an error at each training resolution: models, the lowest first, then baselines."""
    found = by_condition(on_training_grid(comparison))
    places = sorted({one.facts["trained_resolution"] for one in found if one.facts["kind"] == "model"})
    return {
        place: sorted(
            (one for one in found if one.facts["trained_resolution"] == place and one.error().known),
            key=lambda one: (one.facts["kind"] == "baseline", one.error().value),
        )
        for place in places
    }


def chart(comparison: pd.DataFrame, looks: Looks) -> Figure:
    """Chart the mean error of every model and baseline on its training grid, with its 95 % interval."""
    panels = {place: rows for place, rows in rows_of_means(comparison).items() if places_of(rows)}
    places, here = list(panels), list(panels.values())
    low, high = around(one.error().value for rows in here for one in rows if one.facts["kind"] == "model")
    figure = stacked([f"trained and tested on {resolution_in_words(one)}" for one in places], here)
    for number, rows in enumerate(here, 1):
        for one in rows:
            error, facts = one.error(), one.facts
            if not low < error.value < high:
                add_arrow(figure, number, facts["label"], error.value, (low, high))
                continue
            figure.add_scatter(
                x=[four(error.value)], y=[wrapped(facts["label"])], mode="markers", row=number, col=1,
                marker=marker_of(facts, looks) | {"size": 9}, showlegend=False, name=facts["label"],
                error_x={
                    "array": [four(error.high - error.value)],
                    "arrayminus": [four(error.value - error.low)],
                    "width": 0, "thickness": 1.6, "color": colour_of(facts, looks),
                },
                text=[words_of(one)], hovertemplate="%{text}<extra></extra>",
            )  # fmt: skip
    figure.update_xaxes(**LOGARITHMIC, range=rounded(np.log10([low, high])))
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(title=mean_error(comparison), row=max(1, len(places)), col=1)
    return figure


ERROR_INTERVALS = Exhibit(
    "Mean errors and their intervals",
    "{mean_error} on the {test} test samples, on the grid of training, with its 95 % interval; on a "
    "logarithmic axis, the lowest first. Grey: baselines, for which no network is trained; an arrow stands "
    "for one beyond the axis.",
    draw,
    chart,
)
