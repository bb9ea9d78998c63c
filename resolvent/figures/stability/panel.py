"""One panel of the study of stability: how often each model collapses, and the error of every run."""

from __future__ import annotations

import pandas as pd

from resolvent.figures.common.style import GRID, MUTED, grid_lines, new_figure, title
from resolvent.figures.stability.runs import COLLAPSED_ERROR, counts

COLOURS = ("#0072b2", "#d55e00", "#b0418a", "#a87000", "#00805e", "#4b4fb5")
SPREAD = 0.72  # share of a rate's place that its models take
TOP = 10.0  # where runs are drawn whose last error is larger or no number


def draw_panel(study: pd.DataFrame, panel: str):
    """Draw fractions collapsed and, below, the last errors of all runs, by peak of the learning rate.

    `study` is what `read_study` returns, of which the rows of `panel` are drawn.
    """
    peaks = sorted(study["peak"].unique())
    here = study[study["panel"] == panel]
    names = here.drop_duplicates("words").set_index("words")["order"]
    figure, axes = new_figure(2, 1, size=(5.6, 5.9), sharex=True, height_ratios=(1, 1.55))
    upper, lower = axes[:, 0]
    for place, (words, order) in enumerate(names.items()):
        shift = SPREAD * ((place + 0.5) / len(names) - 0.5)
        colour = COLOURS[order % len(COLOURS)]
        _draw_fractions(upper, counts(here[here["words"] == words]), peaks, shift, colour, words)
        _draw_errors(lower, here[here["words"] == words], peaks, shift, colour, SPREAD / len(names))
    for one in (upper, lower):
        for edge in range(1, len(peaks)):
            one.axvline(edge - 0.5, color=GRID, lw=0.8, zorder=0)
        grid_lines(one)
    upper.set(ylim=(-0.04, 1.04), ylabel="fraction collapsed")
    upper.set_yticks([0, 0.5, 1], ["0", "½", "1"])
    title(upper, panel)
    lower.axhline(COLLAPSED_ERROR, color=MUTED, lw=0.9, ls=(0, (3, 2)), zorder=0)
    lower.set(yscale="log", ylim=(_lowest(study) / 1.4, 1.5 * TOP), xlim=(-0.5, len(peaks) - 0.5))
    lower.set(xlabel="peak of the learning rate", ylabel="relative L² error, last epoch")
    lower.set_xticks(range(len(peaks)), [f"{peak:g}" for peak in peaks])
    figure.legend(
        *upper.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False, fontsize=8.5
    )
    return figure


def _draw_fractions(
    axes, found: pd.DataFrame, peaks: list[float], shift: float, colour: str, words: str
) -> None:
    places = [peaks.index(peak) + shift for peak in found["peak"]]
    fractions = found["collapsed"] / found["runs"]
    for place, low, high in zip(places, found["low"], found["high"], strict=True):
        axes.plot([place, place], [low, high], color=colour, lw=2.2, alpha=0.35, solid_capstyle="butt")
    axes.plot(
        places, fractions, ls="", marker="o", ms=5.5, color=colour, label=words, clip_on=False, zorder=3
    )


def _draw_errors(
    axes, runs: pd.DataFrame, peaks: list[float], shift: float, colour: str, room: float
) -> None:
    """Draw every run at its seed's place, collapsed ones as crosses."""
    seeds = sorted(runs["seed"].unique())
    across = {seed: 0.7 * room * ((place + 0.5) / len(seeds) - 0.5) for place, seed in enumerate(seeds)}
    for collapsed, group in runs.groupby("collapsed"):
        x = [peaks.index(one.peak) + shift + across[one.seed] for one in group.itertuples()]
        y = group["error"].where(group["error"] < TOP, TOP)
        marks = {"marker": "x", "ms": 4.5, "mew": 1.1} if collapsed else {"marker": "o", "ms": 3.2, "mew": 0}
        axes.plot(x, y, ls="", color=colour, alpha=0.9, **marks)


def _lowest(study: pd.DataFrame) -> float:
    return float(study["error"].min())
