"""Errors and label-free error estimates, also on shifted distributions."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from resolvent.common.records import ESTIMATE_COLUMNS, UNSHIFTED
from resolvent.figures.common import style
from resolvent.figures.common.charts import Looks
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.intervals import Interval, mean_interval, ratio_of_means
from resolvent.figures.common.numbers import DASH, ratio_in_words, scientific, times
from resolvent.figures.common.results import read_table
from resolvent.figures.common.table import Cell, Table, table_of

WAYS = {  # sources of error estimates: columns of the estimate and of the estimated error
    "a classical solver": ("to_solver", "relative_l2"),
    "an upper bound, energy norm": ("energy_upper", "energy_error"),
}
OF_A_ROW = ["equation", "architecture", "model", "label", "resolution", "shift", "factor"]
NUMBERS = ["error", "estimate", "rank_correlation", "ratio"]


def read_estimates(path: str | Path) -> pd.DataFrame:
    """Read an estimates.csv."""
    return read_table(Path(path), list(ESTIMATE_COLUMNS), may_be_empty=True)


def draw_stress(estimates: pd.DataFrame, looks: Looks):
    """Draw one panel per shift: a line per model, bars for its intervals."""
    shifts = [shift for shift in estimates["shift"].unique() if shift != UNSHIFTED] or [UNSHIFTED]
    finest = estimates[estimates["resolution"] == estimates["resolution"].max()]
    rows, columns = -(-len(shifts) // 2), min(2, len(shifts))
    figure, axes = style.new_figure(rows, columns, size=(8.6, 0.4 + 3.2 * rows), sharey=True)
    named: dict[str, Any] = {}
    for shift, panel in zip(shifts, axes.flat, strict=False):
        shown = finest[finest["shift"].isin([shift, UNSHIFTED])]
        style.title(panel, shift.replace("_", " "))
        for model, tested in shown.groupby("model", sort=False):
            look, points, intervals = looks[model], [], []
            for factor, of_factor in tested.groupby("factor"):
                errors = of_factor.pivot(index="seed", columns="sample", values="relative_l2")
                points.append(factor)
                intervals.append(mean_interval(errors.to_numpy()))
            means = [interval.value for interval in intervals]
            panel.plot(points, means, color=look.colour, ls=look.dashes, lw=1.5)
            ends = zip(*((interval.low, interval.high) for interval in intervals), strict=True)
            panel.vlines(points, *ends, color=look.colour)
            marks = {"ls": "", "ms": 6, "zorder": 4, **look.marks()}
            (named[model],) = panel.plot(points, means, label=tested["label"].iloc[0], **marks)
        panel.set_xscale("log")
        points = sorted(shown["factor"].unique())
        panel.set_xticks(points, [f"{factor:g}" for factor in points])
        panel.minorticks_off()
        style.error_limits(panel, shown["relative_l2"], margin=2)
        style.grid_lines(panel)
        if shown.empty:
            style.say_no_errors(panel)
    for panel in axes[-1]:
        panel.set_xlabel("factor")
    for panel in axes[:, 0]:
        panel.set_ylabel("mean relative L² error")
    for panel in axes.flat[len(shifts) :]:
        panel.set_axis_off()
    style.name_all(figure, named.values(), place="lower")
    return figure


def summaries(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return one row per model, grid, shift, and error estimate in `WAYS`.

    Its numbers are the means of error and estimate over samples and seeds, their Spearman rank correlation
    over samples, averaged over seeds, and the median ratio of estimate to error. Without an estimate, `way`
    is empty and the error is the relative L² error.
    """
    rows = []
    for _, tested in estimates.groupby(["model", "resolution", "shift", "factor"], sort=False):
        of = {name: tested[name].iloc[0] for name in OF_A_ROW}
        ways = {way: columns for way, columns in WAYS.items() if tested[columns[0]].notna().all()}
        for way, (estimate, error) in ways.items():
            ranks = tested.groupby("seed")[[estimate, error]].rank()
            by_seed = ranks.groupby(tested["seed"])
            orders = [of_seed[estimate].corr(of_seed[error]) for _, of_seed in by_seed]
            ratios = tested[estimate] / tested[error]
            numbers = tested[error].mean(), tested[estimate].mean(), np.mean(orders), ratios.median()
            rows.append(of | {"way": way} | dict(zip(NUMBERS, numbers, strict=True)))
        if not ways:
            rows.append(of | {"way": "", "error": tested["relative_l2"].mean()})
    return pd.DataFrame(rows, columns=[*OF_A_ROW, "way", *NUMBERS])


def degradations(estimates: pd.DataFrame, error: str = "relative_l2") -> dict[tuple, Interval]:
    """Return by (model, resolution, shift, factor) the ratio of errors to those without shift.

    It is the ratio of the mean errors of the same networks, over seeds and samples with the same random
    numbers, with its 95 % interval. `error` is the column of the errors.
    """
    ratios = {}
    for of, tested in estimates.groupby(["model", "resolution"], sort=False):
        table: Any = tested.pivot(index=["shift", "factor", "seed"], columns="sample", values=error)
        trained = table.loc[UNSHIFTED, 1.0]
        for shift, factor in tested[["shift", "factor"]].drop_duplicates().itertuples(index=False):
            shifted = table.loc[shift, factor].dropna(axis=1)  # shifts may have fewer samples
            errors, reference = shifted.align(trained, join="inner")
            ratios[*of, shift, factor] = ratio_of_means(errors.to_numpy(), reference.to_numpy())
    return ratios


def distribution_in_words(shift: str, factor: float) -> str:
    return "as trained" if shift == UNSHIFTED else f"{shift.replace('_', ' ')} × {factor:g}"


def estimates_table(estimates: pd.DataFrame, grids: dict[int | str, str]) -> Table:
    """Return the `summaries` as a table; with shifts, also the ratio to the error without shift."""
    known, shifted = summaries(estimates), bool((estimates["shift"] != UNSHIFTED).any())
    estimated = {way: WAYS[way][1] if way else "relative_l2" for way in known["way"]}
    over = {error: degradations(estimates, error) for error in estimated.values() if shifted}
    rows = []
    for row in known.to_dict("records"):
        shift, factor = row["shift"], row["factor"]
        error, estimate, order, ratio = (float(row[name]) for name in NUMBERS)
        cells = {"model": Cell(row["label"])}
        cells["grid"] = Cell(grids[row["resolution"]], prose=True)
        if shifted:
            larger = over[estimated[row["way"]]][row["model"], row["resolution"], shift, factor]
            over_trained = ("1", "") if shift == UNSHIFTED else ratio_in_words(larger)
            cells["distribution"] = Cell(distribution_in_words(shift, factor), prose=True)
            cells["factor of degradation"] = Cell(*over_trained, value=larger.value)
        rows.append(cells | {
            "estimated by": Cell(row["way"] or DASH, prose=True),
            "error": Cell(scientific(error), value=error),
            "estimate": Cell(scientific(estimate), value=estimate),
            "rank correlation": Cell(DASH if np.isnan(order) else f"{order:.2f}", value=order),
            "estimate / error": Cell(DASH if np.isnan(ratio) else times(ratio), value=ratio),
        })  # fmt: skip
    return table_of(rows)


STRESS = Exhibit(
    "Errors on shifted distributions",
    "Mean relative L² error of out-of-distribution samples: one parameter of the distribution or of the "
    "equation is multiplied by a factor, with the same random numbers and the same solver; factor 1 is the "
    "training distribution. Bars: 95 % intervals over samples and seeds.",
    draw_stress,
    only_if="shifts",
)
