"""Errors and label-free error estimates, also on shifted distributions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from resolvent.common.records import ESTIMATE_COLUMNS, UNSHIFTED
from resolvent.figures.common import style
from resolvent.figures.common.charts import Looks
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.intervals import Interval, mean_interval
from resolvent.figures.common.numbers import DASH, scientific, times
from resolvent.figures.common.results import read_table, resolution_in_words
from resolvent.figures.common.table import Cell, Column, Table

WAYS = {  # to know errors: the column of what is known, and of the error that it is of
    "symmetries": ("scatter", "relative_l2"),
    "a classical solver": ("to_solver", "relative_l2"),
    "an upper bound, energy norm": ("energy_upper", "energy_error"),
}
OF_A_ROW = ("equation", "architecture", "model", "label", "resolution", "shift", "factor")
NUMBERS = ("error", "estimate", "rank_correlation", "ratio")
HEADS = ("error", "estimate", "rank correlation", "estimate / error")  # of these


def read_estimates(path: str | Path) -> pd.DataFrame:
    """Read an estimates.csv."""
    return read_table(Path(path), list(ESTIMATE_COLUMNS), may_be_empty=True)


def _interval(rows: pd.DataFrame, column: str) -> Interval:
    return mean_interval(rows.pivot(index="seed", columns="sample", values=column).to_numpy())


def draw_stress(estimates: pd.DataFrame, looks: Looks):
    """Draw one panel per shift: a line per model, bars for its intervals, faint dashes for the estimates."""
    shifts = [one for one in estimates["shift"].unique() if one != UNSHIFTED] or [UNSHIFTED]
    finest = estimates[estimates["resolution"] == estimates["resolution"].max()]
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


def summaries(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return one row per model, grid, shift, and error estimate in `WAYS`.

    error             mean of the errors, over samples and seeds.
    estimate          mean of the estimates; the upper bound for bounds.
    rank_correlation  Spearman's correlation of the two over samples, averaged over seeds.
    ratio             median of estimate over error.
    Without an estimate, `way` is empty and the error is the relative L² error.
    """
    rows = []
    for _, here in estimates.groupby(["model", "resolution", "shift", "factor"], sort=False):
        of = {name: here[name].iloc[0] for name in OF_A_ROW}
        ways = {way: one for way, one in WAYS.items() if here[one[0]].notna().all()}
        for way, (estimate, error) in ways.items():
            ranks = here.groupby("seed")[[estimate, error]].rank()
            orders = [one[estimate].corr(one[error]) for _, one in ranks.groupby(here["seed"])]
            ratios = here[estimate] / here[error]
            found = here[error].mean(), here[estimate].mean(), np.mean(orders), ratios.median()
            rows.append(of | {"way": way} | dict(zip(NUMBERS, found, strict=True)))
        if not ways:
            rows.append(of | {"way": "", "error": here["relative_l2"].mean()})
    return pd.DataFrame(rows, columns=[*OF_A_ROW, "way", *NUMBERS])


def estimates_table(estimates: pd.DataFrame) -> Table:
    """Return the `summaries` as a table; with shifts, also the ratio to the error without shift."""
    known, shifted = summaries(estimates), bool((estimates["shift"] != UNSHIFTED).any())
    trained = known[known["shift"] == UNSHIFTED].set_index(["model", "resolution", "way"])["error"]
    rows = []
    for row in known.to_dict("records"):
        shift, factor = row["shift"], row["factor"]
        words = "as trained" if shift == UNSHIFTED else f"{shift.replace('_', ' ')} × {factor:g}"
        over = row["error"] / trained.get((row["model"], row["resolution"], row["way"]), np.nan)
        error, estimate, order, ratio = (float(row[name]) for name in NUMBERS)
        rows.append([
            Cell(row["label"]), Cell(resolution_in_words(row["resolution"]), prose=True),
            *[Cell(words, prose=True), Cell(times(over), value=over)] * shifted,
            Cell(row["way"] or DASH, prose=True),
            Cell(scientific(error), value=error), Cell(scientific(estimate), value=estimate),
            Cell(DASH if np.isnan(order) else f"{order:.2f}", value=order),
            Cell(DASH if np.isnan(ratio) else times(ratio), value=ratio),
        ])  # fmt: skip
    heads = ["model", "grid", *["distribution", "times as trained"] * shifted, "known by", *HEADS]
    return Table(list(map(Column, heads)), rows)


STRESS = Exhibit(
    "Errors on distributions that nothing was trained on",
    "Mean relative L² error of samples that are drawn with the same random numbers from a distribution, or "
    "solved for an equation, that differs in one factor; 1 is as in training. Labels are solved as those of "
    "training. Bars: intervals of 95 % over samples and seeds. Dots: the scatter of predictions under the "
    "symmetries of the equation, which takes no label.",
    draw_stress,
)
