"""Error against test resolution: trained on one grid, tested unchanged on others, on the same samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from resolvent.figures.common.charts import LOGARITHMIC, Looks, around, line_of, marker_of, panels_of
from resolvent.figures.common.comparison import errors_of, leading, mean_error
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.labels import label_right
from resolvent.figures.common.numbers import ends, scientific
from resolvent.figures.common.results import resolution_in_words, with_training_noise
from resolvent.figures.common.style import (
    BASELINE,
    MUTED,
    error_limits,
    grid_lines,
    name_outside,
    new_figure,
    resolution_axis,
    say_no_errors,
    title,
)
from resolvent.figures.common.thinned import rounded

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def draw(comparison: pd.DataFrame, looks: Looks):
    """Draw a panel for each training resolution: a line a model, a band its interval, dashes a baseline.

    A baseline is on the training grid on every grid, so its line is the same in every panel. Noise is that
    of training.
    """
    table = with_training_noise(errors_of(comparison, leading(comparison), "mean"))
    models, baselines = (table[table["kind"] == kind] for kind in ("model", "baseline"))
    trained, tested = sorted(models["trained_resolution"].unique()), models["test_resolution"].unique()
    baselines = baselines[baselines["test_resolution"].isin(tested) & np.isfinite(baselines["value"])]
    figure, axes = new_figure(len(trained), 1, size=(8.6, 0.4 + 3.6 * len(trained)), sharex=True, sharey=True)
    for resolution, panel in zip(trained, axes[:, 0], strict=True):
        places = resolution_axis(panel, tested)
        limits = error_limits(panel, models["value"], margin=4)
        title(panel, f"trained on {resolution_in_words(resolution)}")
        panel.set_ylabel(mean_error(comparison))
        grid_lines(panel)
        panel.axvline(places[resolution], color=MUTED, lw=0.6, ls=":")
        here = models[models["trained_resolution"] == resolution]
        labels = []
        for key, rows in here.groupby("key", sort=False):
            labels += _draw_model(panel, _placed(rows, places), places[resolution], looks[key])
        outside = []
        for _, rows in baselines.groupby("key", sort=False):
            labels += _draw_baseline(panel, _placed(rows, places), limits, outside)
        label_right(panel, labels)
        name_outside(panel, outside)
        if not np.isfinite(here["value"]).any():
            say_no_errors(panel)
    named = any(isinstance(one, str) for one in tested)
    axes[-1, 0].set_xlabel("times of the test observations" if named else "test resolution (points)")
    return figure


def _placed(rows: pd.DataFrame, places: dict) -> pd.DataFrame:
    """Return the rows from left to right, with the place of each on the axis."""
    return rows.assign(place=rows["test_resolution"].map(places)).sort_values("place")


def _draw_model(panel, rows: pd.DataFrame, trained: float, look) -> list[tuple[float, str, str]]:
    rows = rows[np.isfinite(rows["value"])]
    if rows.empty:
        return []
    x, mean = rows["place"], rows["value"]
    panel.plot(x, mean, color=look.colour, linestyle=look.dashes, lw=1.5, zorder=3)
    if len(rows) == 1:
        panel.vlines(x, rows["low"], rows["high"], color=look.colour, lw=1.2)
    panel.fill_between(x, rows["low"], rows["high"], color=look.colour, alpha=0.14, lw=0)
    own = rows[rows["place"] == trained]
    panel.plot(own["place"], own["value"], ls="", ms=6.5, zorder=4, **look.marks())
    return [(float(mean.iloc[-1]), str(rows["label"].iloc[0]), look.colour)]


def _draw_baseline(
    panel, rows: pd.DataFrame, limits: tuple[float, float], outside: list[tuple[str, float]]
) -> list[tuple[float, str, str]]:
    x, mean, label = rows["place"], rows["value"], str(rows["label"].iloc[0])
    if not ((mean > limits[0]) & (mean < limits[1])).any():
        outside.append((label, float(mean.median())))
        return []
    panel.plot(x, mean, color=BASELINE, ls=(0, (5, 3)), lw=1.1)
    if len(rows) == 1:
        panel.plot(x, mean, "_", color=BASELINE, ms=12, mew=1.3)
    end = float(np.clip(mean.iloc[-1], *limits))
    return [(end, label, BASELINE)]


def chart(comparison: pd.DataFrame, looks: Looks) -> Figure:
    """Chart the mean error at every test resolution: a panel a training resolution, a line a model."""
    rows = with_training_noise(errors_of(comparison, leading(comparison), "mean"))
    rows = rows[np.isfinite(rows["value"])]
    models = rows[rows["kind"] == "model"]
    baselines = rows[(rows["kind"] == "baseline") & rows["test_resolution"].isin(models["test_resolution"])]
    trained = sorted(models["trained_resolution"].unique())
    figure = panels_of([f"trained on {resolution_in_words(one)}" for one in trained])
    for number, place in enumerate(trained, 1):
        here = pd.concat([models[models["trained_resolution"] == place], baselines])
        for (_, key), group in here.groupby(["kind", "key"], sort=False):
            group = group.sort_values("test_resolution")
            facts = group.iloc[0].to_dict()
            figure.add_scatter(
                x=[str(one) for one in group["test_resolution"]], y=rounded(group["value"].to_list()),
                mode="lines+markers", name=facts["label"], legendgroup=f"{facts['kind']} {key}",
                showlegend=number == 1, marker=marker_of(facts, looks), line=line_of(facts, looks),
                text=[
                    f"{row.label}<br>tested at {row.test_resolution}: {scientific(row.value)}"
                    f"<br>95 % interval {ends(row.low, row.high, row.value)}"
                    for row in group.itertuples()
                ],
                hovertemplate="%{text}<extra></extra>", row=number, col=1,
            )  # fmt: skip
    tested = sorted(models["test_resolution"].unique())
    figure.update_xaxes(type="category", categoryorder="array", categoryarray=[str(one) for one in tested])
    low, high = around(models["value"])
    figure.update_yaxes(title=mean_error(comparison), range=rounded(np.log10([low, high])), **LOGARITHMIC)
    figure.update_xaxes(title="test resolution", row=max(1, len(trained)), col=1)
    return figure


RESOLUTION_CURVES = Exhibit(
    "Error on grids the model was not trained on",
    "{mean_error} of each trained model at every resolution tested on ({tested}), the same {test} functions"
    " on each grid; drawn bands are 95 % intervals. Grey: baselines; the axis is that of the models, and "
    "baselines beyond it are seen by zooming out. A dashed line in colour is a model with the regular layer"
    " norm.",
    draw,
    chart,
)
