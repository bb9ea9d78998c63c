"""Training and validation error by epoch (as in Figure 8 of Cao 2021): a line a model, a band its seeds."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from resolvent.figures.common.labels import label_right
from resolvent.figures.common.results import Run, read_runs, resolution_in_words
from resolvent.figures.common.style import MUTED, appearances, grid_lines, new_figure, save, title
from resolvent.figures.experiment.comparison import grouped, status_of

PANELS = {"train_relative_l2": "training samples", "validation_relative_l2": "validation samples"}


def draw_training_curves(runs: Iterable[str | Path], output: str | Path) -> list[Path]:
    """Draw a row of panels for each training resolution: the error on training and on validation samples.

    A line is the median over seeds and the band their range. The line of a diverged seed ends with a cross.
    """
    runs = read_runs(runs)
    looks = appearances(runs)
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
    return save(figure, output)


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
