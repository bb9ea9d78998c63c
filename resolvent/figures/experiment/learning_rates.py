"""Stability of training: final errors and the share of collapsed runs by learning rate, from a sweep."""

from itertools import cycle

import numpy as np
import pandas as pd

from resolvent.common.counts import settings_in_words
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.intervals import share_interval
from resolvent.figures.common.results import Run, resolution_in_words
from resolvent.figures.common.style import COLOURS, MUTED, SPARE, grid_lines, new_figure, title

COLLAPSED = 10.0  # times the smallest final error of all runs
TOP = 10.0  # position of larger final errors, and of runs without one
WIDTH = 0.72  # share of a learning rate's room that its models use


def final_errors(runs: list[Run]) -> pd.DataFrame:
    """Return model, rate, seed, error and whether it collapsed, for each run of a swept learning rate.

    Uses the finest training resolution. The error is that of the validation samples in the last epoch. A run
    collapsed if it diverged, or if its error is above `COLLAPSED` times the smallest of all these runs.
    """
    rows = []
    for run in runs:
        rate = run.record.training["learning_rate"]
        ending = f", {settings_in_words([('learning_rate', rate)])}"
        if ending in run.label:  # other models of the experiment have one learning rate
            error = np.nan if run.diverged else float(run.history["validation_relative_l2"].iloc[-1])
            rows.append((run.label.replace(ending, ""), rate, run.seed, run.resolution, error))
    table = pd.DataFrame(rows, columns=["model", "rate", "seed", "resolution", "error"])
    table = table[table["resolution"] == table["resolution"].max()]
    return table.assign(collapsed=~(table["error"] <= COLLAPSED * table["error"].min()))


def draw_learning_rates(runs: list[Run]):
    """Draw the share of collapsed runs with its interval and, below, the final error of each run."""
    table = final_errors(runs)
    rates, models = sorted(table["rate"].unique()), list(table["model"].unique())
    figure, axes = new_figure(2, 1, size=(8.6, 5.9), sharex=True, height_ratios=(1, 1.55))
    upper, lower = axes[:, 0]
    for number, (model, colour) in enumerate(zip(models, cycle(COLOURS + SPARE), strict=False)):
        shift = WIDTH * ((number + 0.5) / len(models) - 0.5)
        upper.plot([], [], "o", color=colour, label=model)
        for place, rate in enumerate(rates):
            group = table[(table["model"] == model) & (table["rate"] == rate)]
            if group.empty:
                continue
            count, x = int(group["collapsed"].sum()), place + shift
            interval = share_interval(count, len(group))
            upper.plot([x, x], [interval.low, interval.high], color=colour, lw=2.2, alpha=0.35)
            upper.plot(x, interval.value, "o", color=colour, ms=5.5, clip_on=False)
            across = x + 0.7 * WIDTH / len(models) * (np.arange(0.5, len(group)) / len(group) - 0.5)
            error = group["error"].clip(upper=TOP).fillna(TOP)
            for collapsed, marks in ((True, {"marker": "x"}), (False, {"marker": "o", "mew": 0})):
                chosen = (group["collapsed"] == collapsed).to_numpy()
                lower.plot(across[chosen], error[chosen], ls="", color=colour, ms=4, **marks)
    upper.set(ylim=(-0.04, 1.04), ylabel="share of collapsed runs")
    title(upper, f"trained on {resolution_in_words(table['resolution'].iloc[0])}")
    lower.axhline(COLLAPSED * table["error"].min(), color=MUTED, lw=0.9, ls=(0, (3, 2)))
    lower.set(yscale="log", xlabel="learning rate", ylabel="relative L² error, last epoch")
    lower.set_xticks(range(len(rates)), [f"{rate:g}" for rate in rates])
    for panel in (upper, lower):
        grid_lines(panel)
    figure.legend(*upper.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return figure


LEARNING_RATES = Exhibit(
    "Stability of training by learning rate",
    "Top: share of the seeds whose training diverged or collapsed, with the exact binomial 95 % interval of "
    "the probability. Bottom: relative L² error of the validation samples in the last epoch, a mark for each "
    "seed; crosses are collapsed runs, at the top edge diverged ones. Collapsed: diverged, or an error above "
    "the dashed line, ten times the smallest of all these runs.",
    draw_learning_rates,
    only_if="rates",
)
