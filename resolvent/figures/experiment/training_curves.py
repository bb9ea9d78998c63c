"""Training and validation error by epoch (as in Figure 8 of Cao 2021): a line a model, a band its seeds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from resolvent.figures.common.charts import LOGARITHMIC, Looks, epoch_tick, four, line_of, panels_of
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.labels import label_right
from resolvent.figures.common.results import Run, resolution_in_words
from resolvent.figures.common.style import MUTED, grid_lines, new_figure, title
from resolvent.figures.common.thinned import CURVE_POINTS, picked, rounded
from resolvent.figures.experiment.comparison import grouped, status_of

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

PANELS = {"train_relative_l2": "training samples", "validation_relative_l2": "validation samples"}


def draw(runs: list[Run], looks: Looks):
    """Draw a row of panels for each training resolution: the error on training and on validation samples.

    A line is the median over seeds and the band their range. The line of a diverged seed ends with a cross.
    """
    resolutions = sorted({run.resolution for run in runs})
    figure, axes = new_figure(
        len(resolutions), 2, size=(8.6, 0.5 + 3.0 * len(resolutions)), sharex="row", sharey="row"
    )
    for resolution, pair in zip(resolutions, axes, strict=True):
        here = [group for group in grouped(runs) if group[0].resolution == resolution]
        for (column, words), panel in zip(PANELS.items(), pair, strict=True):
            panel.set_yscale("log")
            title(panel, f"{resolution_in_words(resolution)}: {words}")
            panel.set_xlabel("epoch")
            panel.xaxis.get_major_locator().set_params(integer=True)
            grid_lines(panel)
            for group in here:
                _draw_group(panel, group, column, looks[group[0].model])
        pair[0].set_ylabel("relative L² error")
        _name(pair[1], here, looks)
        _name_diverged(pair[1], here)
    return figure


def _draw_group(panel, group: list[Run], column: str, look) -> None:
    finished = [run.by_epoch(column) for run in group if not run.diverged]
    if finished:
        seeds = pd.concat(finished, axis=1)
        mark = "o" if len(seeds) == 1 else ""  # a single epoch is no line
        panel.plot(
            seeds.index,
            seeds.median(axis=1),
            color=look.colour,
            linestyle=look.dashes,
            lw=1.4,
            marker=mark,
            ms=4,
        )
        if seeds.shape[1] > 1:
            panel.fill_between(
                seeds.index, seeds.min(axis=1), seeds.max(axis=1), color=look.colour, alpha=0.15, lw=0
            )
    for run in group:
        curve = run.by_epoch(column)
        if run.diverged and not curve.empty:
            panel.plot(curve.index, curve, color=look.colour, linestyle=look.dashes, lw=0.9)
            panel.plot(curve.index[-1:], curve.iloc[-1:], "x", color=look.colour, ms=7, mew=1.6)


def _name(panel, groups: list[list[Run]], looks: dict) -> None:
    labels = []
    for group in groups:
        ends = [run.by_epoch("validation_relative_l2") for run in group if not run.diverged]
        ends = [curve.iloc[-1] for curve in ends if not curve.empty]
        if ends:
            labels.append((float(np.median(ends)), group[0].label, looks[group[0].model].colour))
    label_right(panel, labels)


def _name_diverged(panel, groups: list[list[Run]]) -> None:
    lost = [f"{group[0].label}: {status_of(group)}" for group in groups if any(run.diverged for run in group)]
    if lost:
        panel.text(
            0.98, 0.98, "\n".join(f"× {words}" for words in lost), transform=panel.transAxes, ha="right",
            va="top", color=MUTED, fontsize=7.5, bbox={"color": "white", "alpha": 0.8, "pad": 1},
        )  # fmt: skip


def chart(runs: list[Run], looks: Looks) -> Figure:
    """Chart the error by epoch on validation and, fainter, on training samples: the median over seeds.

    A cross is the last epoch of a seed that diverged.
    """
    places = sorted({run.resolution for run in runs})
    figure = panels_of([f"trained on {resolution_in_words(one)}" for one in places])
    for group in grouped(runs):
        first, row = group[0], 1 + places.index(group[0].resolution)
        facts = {"kind": "model", "key": first.model}
        shared = {"legendgroup": first.model, "row": row, "col": 1, "name": first.label}
        named = row == 1
        for column, words, opacity in (
            ("validation_relative_l2", "validation samples", 1.0),
            ("train_relative_l2", "training samples", 0.4),
        ):
            curve = _median(run.by_epoch(column) for run in group if not run.diverged)
            if curve.empty:
                continue
            line = line_of(facts, looks) | {"width": 2 if opacity == 1 else 1}
            figure.add_scatter(
                x=curve.index.to_list(), y=rounded(curve.to_list()), line=line, opacity=opacity,
                mode="lines" if len(curve) > 1 else "markers", showlegend=named,
                hovertemplate=f"{first.label}, {words}<br>epoch %{{x}}: %{{y:.3e}}<extra></extra>",
                **shared,
            )  # fmt: skip
            named = False
        for run in group:
            curve = run.by_epoch("validation_relative_l2")
            if run.diverged and not curve.empty:
                figure.add_scatter(
                    x=[int(curve.index[-1])], y=[four(curve.iloc[-1])], mode="markers",
                    marker={"symbol": "x", "size": 10, "color": looks[run.model].colour}, showlegend=named,
                    hovertemplate=f"{run.label}, seed {run.seed}: diverged in epoch {run.cost.diverged_epoch}"
                    "<extra></extra>",
                    **shared,
                )  # fmt: skip
                named = False
    figure.update_yaxes(title="relative L² error", **LOGARITHMIC)
    figure.update_xaxes(dtick=epoch_tick(runs))
    figure.update_xaxes(title="epoch", row=len(places), col=1)
    return figure


def _median(curves: Iterable[pd.Series]) -> pd.Series:
    curves = list(curves)
    if not curves:
        return pd.Series(dtype=float)
    curve = pd.concat(curves, axis=1).median(axis=1)
    return curve.iloc[picked(len(curve), CURVE_POINTS)]


TRAINING_CURVES = Exhibit(
    "Training",
    "Mean relative L² error by epoch, the median over {seeds}, on the training batches, where dropout is "
    "active, and on the {validation} validation samples, which choose the checkpoint. {train} training "
    "samples, {epochs} epochs, batches of {batch_size}. A cross is the end of a seed that diverged.",
    draw,
    chart,
)
