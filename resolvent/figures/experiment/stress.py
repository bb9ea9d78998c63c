"""Errors on shifted distributions, and what symmetries say of them without a label."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from resolvent.common.records import STRESS_COLUMNS, UNSHIFTED
from resolvent.figures.common import style
from resolvent.figures.common.charts import Looks
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.intervals import Interval, mean_interval
from resolvent.figures.common.numbers import DASH, scientific, times
from resolvent.figures.common.results import read_table, resolution_in_words
from resolvent.figures.common.table import Cell, Column, Table


def read_stress(path: str | Path) -> pd.DataFrame:
    """Read a stress.csv."""
    return read_table(Path(path), list(STRESS_COLUMNS), may_be_empty=True)


def _interval(rows: pd.DataFrame, column: str) -> Interval:
    return mean_interval(rows.pivot(index="seed", columns="sample", values=column).to_numpy())


def draw_stress(stress: pd.DataFrame, looks: Looks):
    """Draw a panel for each shift: a line a model, bars its intervals, faint dashes the estimates."""
    shifts = [one for one in stress["shift"].unique() if one != UNSHIFTED] or [UNSHIFTED]
    finest = stress[stress["resolution"] == stress["resolution"].max()]
    figure, axes = style.new_figure(
        -(-len(shifts) // 2), min(2, len(shifts)), size=(8.6, 0.4 + 3.2 * -(-len(shifts) // 2)), sharey=True
    )
    named = {}
    for shift, panel in zip(shifts, axes.flat, strict=False):
        here = finest[finest["shift"].isin([shift, UNSHIFTED])]
        style.title(panel, shift.replace("_", " "))
        for model, rows in here.groupby("model", sort=False):
            look, points = looks[model], sorted(rows["factor"].unique())
            found = [_interval(rows[rows["factor"] == factor], "relative_l2") for factor in points]
            panel.plot(points, [one.value for one in found], color=look.colour, ls=look.dashes, lw=1.5)
            panel.vlines(points, [one.low for one in found], [one.high for one in found], color=look.colour)
            marks = {"ls": "", "ms": 6, "zorder": 4, **look.marks()}
            (named[rows["label"].iloc[0]],) = panel.plot(points, [one.value for one in found], **marks)
            guesses = rows.groupby("factor")["scatter"].mean()
            panel.plot(guesses.index, guesses, color=look.colour, ls=(0, (1, 2)), lw=1)
        panel.set_xscale("log")
        points = sorted(here["factor"].unique())
        panel.set_xticks(points, [f"{one:g}" for one in points])
        panel.minorticks_off()
        style.error_limits(panel, pd.concat([here["relative_l2"], here["scatter"].dropna()]), margin=2)
        style.grid_lines(panel)
        if here.empty:
            style.say_no_errors(panel)
    for panel in axes[-1]:
        panel.set_xlabel("factor")
    for panel in axes[:, 0]:
        panel.set_ylabel("mean relative L² error")
    for panel in axes.flat[len(shifts) :]:
        panel.set_axis_off()
    style.name_all(figure, named, place="lower")
    return figure


def without_labels(stress: pd.DataFrame) -> Table:
    """Return a row for each model, grid and shift: the error, over that as trained, and the estimate."""
    rows = []
    for _, model in stress.groupby(["model", "resolution"], sort=False):
        label, place = model["label"].iloc[0], resolution_in_words(model["resolution"].iloc[0])
        unshifted = _interval(model[model["shift"] == UNSHIFTED], "relative_l2").value
        for _, here in model.groupby(["shift", "factor"], sort=False):
            shift, factor = here["shift"].iloc[0], here["factor"].iloc[0]
            error = _interval(here, "relative_l2")
            known, guess = here["scatter"].notna().all(), float(here["scatter"].mean())
            order = here["scatter"].corr(here["relative_l2"], method="spearman") if known else np.nan
            words = "as trained" if shift == UNSHIFTED else f"{shift.replace('_', ' ')} × {factor:g}"
            rows.append([
                Cell(label), Cell(place, prose=True), Cell(words, prose=True),
                Cell(scientific(error.value), value=error.value),
                Cell(times(error.value / unshifted), value=error.value / unshifted),
                Cell(scientific(guess) if known else DASH, value=guess),
                Cell(f"{order:.2f}" if known else DASH, value=float(order)),
            ])  # fmt: skip
    heads = ["model", "grid", "distribution", "error", "times as trained", "scatter", "rank correlation"]
    return Table(list(map(Column, heads)), rows)


STRESS = Exhibit(
    "Errors on distributions that nothing was trained on",
    "Mean relative L² error of samples that are drawn with the same random numbers from a distribution, or "
    "solved for an equation, that differs in one factor; 1 is as in training. Labels are solved as those of "
    "training. Bars: intervals of 95 % over samples and seeds. Dots: the scatter of predictions under the "
    "symmetries of the equation, which takes no label.",
    draw_stress,
)
