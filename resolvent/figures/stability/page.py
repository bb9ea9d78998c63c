"""The study of stability: which runs collapsed, a figure a panel, and the page with every count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.stats import binomtest

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.exhibit import Exhibit, Sources
from resolvent.figures.common.numbers import DASH, duration, milli
from resolvent.figures.common.page import render
from resolvent.figures.common.results import read_table
from resolvent.figures.common.style import GRID, MUTED, grid_lines, new_figure, title

# Error of the last epoch above which a run counts as collapsed. Any number in the gap between the two kinds
# of runs gives the same counts: `gap` returns its ends, and the page states them.
COLLAPSED_ERROR = 0.1
COLUMNS = ["model", "peak", "seed", "status", "seconds", "device", "epoch", "validation_relative_l2"]
COLOURS = ("#0072b2", "#d55e00", "#b0418a", "#a87000", "#00805e", "#4b4fb5")
SPREAD = 0.72  # share of a rate's place that its models take
TOP = 10.0  # where runs are drawn whose last error is larger or no number


def read_study(tables: Iterable[Path], panels: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """Return a row a run: panel, words, order, model, peak, seed, status, last error, collapsed.

    `tables` are what the jobs have written, one for each model; a model of `panels` without one has no rows,
    so that a study can be looked at before it has ended. `order` numbers the words, for their colour.
    Raises a ResultError when there is not one run.
    """
    found = [read_table(table, COLUMNS) for table in tables]
    if not found:
        raise ResultError("no run of the study of stability has ended yet")
    epochs = pd.concat(found, ignore_index=True)
    runs = epochs.sort_values("epoch").groupby(["model", "peak", "seed"], sort=False).tail(1)
    named = [(panel, words, model) for panel, of in panels.items() for words, model in of.items()]
    places = pd.DataFrame(named, columns=["panel", "words", "model"])
    places["order"] = pd.factorize(places["words"])[0]
    study = places.merge(runs, on="model").rename(columns={"validation_relative_l2": "error"})
    study["error"] = study["error"].astype(float)
    study["collapsed"] = (study["status"] == "diverged") | ~(study["error"] <= COLLAPSED_ERROR)
    return study


def distinct(study: pd.DataFrame) -> pd.DataFrame:
    """Return every run once, though its model may be in several panels."""
    return study.drop_duplicates(["model", "peak", "seed"])


def gap(study: pd.DataFrame) -> tuple[float, float]:
    """Return the largest error of a run that did not collapse and the smallest of one that did; NaN if none.

    Runs that diverged are left out: they ended with predictions ten times too large.
    """
    ended = study[study["status"] != "diverged"]
    trained, collapsed = (ended.loc[ended["collapsed"] == kind, "error"] for kind in (False, True))
    return float(trained.max()), float(collapsed.min())


def interval(collapsed: int, runs: int) -> tuple[float, float]:
    """Return the exact binomial interval (Clopper and Pearson 1934) of the probability to collapse."""
    found = binomtest(collapsed, runs).proportion_ci(0.95, method="exact")
    return float(found.low), float(found.high)


def counts(study: pd.DataFrame) -> pd.DataFrame:
    """Return, by panel, words and peak, how many runs there are and collapsed, with intervals and errors.

    `median`, `least` and `largest` are of the last errors of the runs that did not collapse, else NaN.
    """
    rows = []
    for place, group in study.groupby(["panel", "words", "peak"], sort=False):
        runs, collapsed = len(group), int(group["collapsed"].sum())
        errors = group.loc[~group["collapsed"], "error"].agg(["median", "min", "max"])
        rows.append((*place, runs, collapsed, *interval(collapsed, runs), *errors))
    of_errors = ["median", "least", "largest"]
    return pd.DataFrame(
        rows, columns=["panel", "words", "peak", "runs", "collapsed", "low", "high", *of_errors]
    )


def draw_panel(study: pd.DataFrame, panel: str):
    """Draw fractions collapsed and, below, the last errors of all runs, by peak of the learning rate.

    `study` is what `read_study` returns, of which the rows of `panel` are drawn; a collapsed run is a cross.
    """
    peaks = sorted(study["peak"].unique())
    here = study[study["panel"] == panel]
    figure, axes = new_figure(2, 1, size=(5.6, 5.9), sharex=True, height_ratios=(1, 1.55))
    upper, lower = axes[:, 0]
    models = here["words"].nunique()
    for place, (words, runs) in enumerate(here.groupby("words", sort=False)):
        colour = COLOURS[runs["order"].iloc[0] % len(COLOURS)]
        shift = SPREAD * ((place + 0.5) / models - 0.5)
        found = counts(runs)
        x = [peaks.index(peak) + shift for peak in found["peak"]]
        for one, low, high in zip(x, found["low"], found["high"], strict=True):
            upper.plot([one, one], [low, high], color=colour, lw=2.2, alpha=0.35, solid_capstyle="butt")
        dots = {"ls": "", "marker": "o", "ms": 5.5, "clip_on": False, "zorder": 3}
        upper.plot(x, found["collapsed"] / found["runs"], color=colour, label=words, **dots)
        seeds = sorted(runs["seed"].unique())
        room = 0.7 * SPREAD / models
        across = {
            seed: shift + room * ((number + 0.5) / len(seeds) - 0.5) for number, seed in enumerate(seeds)
        }
        for collapsed, group in runs.groupby("collapsed"):
            x = [peaks.index(one.peak) + across[one.seed] for one in group.itertuples()]
            y = group["error"].where(group["error"] < TOP, TOP)
            cross, dot = {"marker": "x", "ms": 4.5, "mew": 1.1}, {"marker": "o", "ms": 3.2, "mew": 0}
            lower.plot(x, y, ls="", color=colour, alpha=0.9, **(cross if collapsed else dot))
    for one in (upper, lower):
        for edge in range(1, len(peaks)):
            one.axvline(edge - 0.5, color=GRID, lw=0.8, zorder=0)
        grid_lines(one)
    upper.set(ylim=(-0.04, 1.04), ylabel="fraction collapsed")
    upper.set_yticks([0, 0.5, 1], ["0", "½", "1"])
    title(upper, panel)
    lower.axhline(COLLAPSED_ERROR, color=MUTED, lw=0.9, ls=(0, (3, 2)), zorder=0)
    lower.set(yscale="log", ylim=(study["error"].min() / 1.4, 1.5 * TOP), xlim=(-0.5, len(peaks) - 0.5))
    lower.set(xlabel="peak of the learning rate", ylabel="relative L² error, last epoch")
    lower.set_xticks(range(len(peaks)), [f"{peak:g}" for peak in peaks])
    keys = upper.get_legend_handles_labels()
    figure.legend(*keys, loc="outside lower center", ncols=2, frameon=False, fontsize=8.5)
    return figure


def write_stability_page(
    output: str | Path, *, tables: Iterable[str | Path], facts: dict, figures: list[str | Path], **made: Any
) -> None:
    """Draw the figures and write the page, all at once.

    tables   what was measured, a file a model, of which those that are there are read.
    figures  an SVG file for each panel, in their order.
    made     the page's `root`, `command` and `provenance`.
    """
    study, drawn = read_study(map(Path, tables), facts["panels"]), []
    for path, panel in zip(figures, facts["panels"], strict=True):
        exhibit = Exhibit(panel, "", draw_panel)
        drawn.append(exhibit.shown(Sources({}, study=study, panel=panel), path, Path(output).parent))
    render(
        "stability.html.j2",
        output,
        breadcrumbs=[("Which trainings collapse", "")],
        figures=drawn,
        heads=[f"{peak:g}" for peak in sorted(study["peak"].unique())],
        collapsed=fraction_rows(study),
        errors=error_rows(study),
        statement=gap_in_words(study),
        threshold=f"{COLLAPSED_ERROR:g}",
        facts=facts,
        runs=len(distinct(study)),
        duration=duration(distinct(study)["seconds"].sum()),
        devices=sorted(study["device"].unique()),
        **made,
    )


def fraction_rows(study: pd.DataFrame) -> list[tuple[str, list[str]]]:
    """Return (panel and words, a cell a peak): collapsed of all, with the interval of the probability."""
    return _rows(study, lambda one: f"{one.collapsed} of {one.runs} [{one.low:.2f}, {one.high:.2f}]")


def error_rows(study: pd.DataFrame) -> list[tuple[str, list[str]]]:
    """Return (panel and words, a cell a peak): median, least and largest last error of what trained, in
    10⁻³."""

    def cell(one) -> str:
        known = f"{milli(one.median)} [{milli(one.least)}, {milli(one.largest)}]"
        return known if one.collapsed < one.runs else DASH

    return _rows(study, cell)


def _rows(study: pd.DataFrame, cell: Callable[[Any], str]) -> list[tuple[str, list[str]]]:
    peaks = sorted(study["peak"].unique())
    rows = []
    for (panel, words), group in counts(study).groupby(["panel", "words"], sort=False):
        found = {one.peak: cell(one) for one in group.itertuples()}
        rows.append((f"{panel}: {words}", [found.get(peak, DASH) for peak in peaks]))
    return rows


def gap_in_words(study: pd.DataFrame) -> str:
    """Return the sentence that says how far apart the two kinds of runs are."""
    below, above = gap(study)
    diverged = int((distinct(study)["status"] == "diverged").sum())
    words = f"the largest error of those that trained is {below:.2g}"
    if above == above:
        words += f", the smallest of those that collapsed is {above:.2g}"
    return f"{words}; {diverged} diverged and were stopped"
