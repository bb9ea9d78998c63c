"""Mean test error of each model against the seconds that its training took."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from resolvent.figures.common.charts import (
    LOGARITHMIC,
    Looks,
    colour_of,
    four,
    marker_of,
    panels_of,
    places_of,
    words_of,
)
from resolvent.figures.common.comparison import by_condition, errors_of, leading, mean_error
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.labels import label_points, label_right
from resolvent.figures.common.numbers import duration
from resolvent.figures.common.results import on_training_grid, resolution_in_words
from resolvent.figures.common.style import (
    BASELINE,
    error_limits,
    grid_lines,
    name_outside,
    new_figure,
    say_no_errors,
    title,
)

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

TICKS = [0.1, 0.3, 1, 3, 10, 30, 60, 180, 600, 1800, 3600, 10800, 36000, 108000, 360000]  # seconds


def draw(comparison: pd.DataFrame, looks: Looks):
    """Draw a panel for each training resolution; the area of a marker grows with the number of parameters.

    Baselines train nothing: they are dashed lines. Seconds compare only runs on one machine and device.
    """
    own = on_training_grid(errors_of(comparison, leading(comparison), "mean"))
    resolutions = sorted(own[own["kind"] == "model"]["trained_resolution"].unique())
    figure, axes = new_figure(
        len(resolutions), 1, size=(8.6, 0.4 + 3.4 * len(resolutions)), sharex=True, sharey=True
    )
    own = own[np.isfinite(own["value"])]
    models = own[own["kind"] == "model"]
    for resolution, panel in zip(resolutions, axes[:, 0], strict=True):
        panel.set_xscale("log")
        _time_axis(panel, models["train_seconds"])
        limits = error_limits(panel, models["value"], margin=4)
        title(panel, f"trained and tested on {resolution_in_words(resolution)}")
        panel.set_ylabel(mean_error(comparison))
        grid_lines(panel, "both")
        for row in models[models["trained_resolution"] == resolution].to_dict("records"):
            _draw_model(panel, row, looks[row["key"]], models["parameters"].max())
        baselines = own[(own["kind"] == "baseline") & (own["trained_resolution"] == resolution)]
        inside = baselines[baselines["value"].between(*limits)]
        for mean in inside["value"]:
            panel.axhline(mean, color=BASELINE, ls=(0, (5, 3)), lw=1.1, zorder=1)
        label_right(panel, [(row["value"], row["label"], BASELINE) for row in inside.to_dict("records")])
        outside = baselines.drop(inside.index).to_dict("records")
        name_outside(panel, [(row["label"], row["value"]) for row in outside])
    axes[-1, 0].set_xlabel("training time")
    for resolution, panel in zip(resolutions, axes[:, 0], strict=True):  # once no panel moves any more
        here = models[models["trained_resolution"] == resolution].to_dict("records")
        points = [
            (row["train_seconds"], row["value"], row["label"], looks[row["key"]].colour) for row in here
        ]
        label_points(panel, points, away=9)
        if not points:
            say_no_errors(panel)
    return figure


def _draw_model(panel, row: dict, look, most_parameters: float) -> None:
    seconds, mean = row["train_seconds"], row["value"]
    panel.vlines(seconds, row["low"], row["high"], color=look.colour, lw=1.2, zorder=2)
    size = 3 + 7 * np.sqrt(row["parameters"] / most_parameters)
    panel.plot([seconds], [mean], ls="", ms=size, mew=1.2, alpha=0.9, zorder=3, **look.marks())


def _time_axis(panel, seconds: pd.Series) -> None:
    seconds = seconds[seconds > 0]
    low, high = (seconds.min() / 2, seconds.max() * 3) if not seconds.empty else (1, 100)
    panel.set_xlim(low, high)
    ticks = [tick for tick in TICKS if low <= tick <= high]
    panel.set_xticks(ticks, [duration(tick).replace(".0", "") for tick in ticks])
    panel.minorticks_off()


def chart(comparison: pd.DataFrame, looks: Looks) -> Figure:
    """Chart the mean error against the seconds of training; a larger marker has more parameters."""
    found = by_condition(on_training_grid(comparison))
    found = [one for one in found if one.facts["kind"] == "model" and one.error().known]
    places = places_of(found)
    most = max((one.facts["parameters"] for one in found), default=1)
    figure = panels_of([f"trained and tested on {resolution_in_words(one)}" for one in places])
    for one in found:
        error, facts = one.error(), one.facts
        size = 7 + 12 * float(np.sqrt(facts["parameters"] / most))
        words = (
            f"{words_of(one)}<br>{duration(facts['train_seconds'])}, {facts['parameters']:,.0f} parameters"
        )
        figure.add_scatter(
            x=[four(facts["train_seconds"])], y=[four(error.value)], mode="markers", name=facts["label"],
            marker=marker_of(facts, looks) | {"size": round(size, 1)}, legendgroup=facts["key"],
            showlegend=facts["trained_resolution"] == places[0],
            error_y={
                "array": [four(error.high - error.value)], "arrayminus": [four(error.value - error.low)],
                "width": 0, "color": colour_of(facts, looks),
            },
            text=[words], hovertemplate="%{text}<extra></extra>",
            row=1 + places.index(facts["trained_resolution"]), col=1,
        )  # fmt: skip
    figure.update_xaxes(type="log", ticksuffix=" s")
    figure.update_yaxes(title=mean_error(comparison), **LOGARITHMIC)
    figure.update_xaxes(title="training time", row=max(1, len(places)), col=1)
    return figure


COST_SCATTER = Exhibit(
    "Error against training cost",
    "{mean_error} against the measured seconds of training, on the machine named at the head. The larger a "
    "marker, the more parameters the model has.",
    draw,
    chart,
)
