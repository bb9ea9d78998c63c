"""The page of the training stability study: collapsed runs, one figure per panel, and all counts."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.stats import binomtest

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.exhibit import Exhibit, Sources
from resolvent.figures.common.numbers import DASH, UNIT, duration, in_units
from resolvent.figures.common.page import render
from resolvent.figures.common.results import read_table
from resolvent.figures.common.style import GRID, MUTED, grid_lines, new_figure, title

# A run with a larger error in the last epoch counts as collapsed. Any number in the gap between the two kinds
# of runs gives the same counts; the page states the ends of the gap.
COLLAPSED_ERROR = 0.1
COLUMNS = ["model", "peak", "seed", "status", "seconds", "device", "epoch", "validation_relative_l2"]
COLOURS = ("#0072b2", "#d55e00", "#b0418a", "#a87000", "#00805e", "#4b4fb5")
SPREAD = 0.72  # fraction of a rate's width used by its models
TOP = 10.0  # position of runs with a larger last error or none


def read_study(tables: Iterable[Path], panels: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """Return one row per run: panel, words, order, model, peak, seed, status, last error, collapsed.

    `tables` are the results of the jobs, one per model; models without a table have no rows. `order` is the
    index of the words, for the colour. Raises `ResultError` if there is no run.
    """
    found = [read_table(table, COLUMNS) for table in tables]
    if not found:
        raise ResultError("no run of the stability study has finished yet")
    epochs = pd.concat(found, ignore_index=True)
    runs = epochs.sort_values("epoch").groupby(["model", "peak", "seed"], sort=False).tail(1)
    named = [(panel, words, model) for panel, of in panels.items() for words, model in of.items()]
    places = pd.DataFrame(named, columns=["panel", "words", "model"])
    places["order"] = pd.factorize(places["words"])[0]
    study = places.merge(runs, on="model").rename(columns={"validation_relative_l2": "error"})
    study["error"] = study["error"].astype(float)
    study["collapsed"] = (study["status"] == "diverged") | ~(study["error"] <= COLLAPSED_ERROR)
    return study


def counts(study: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers of runs and of collapsed runs by panel, words and peak, with intervals and errors.

    `low` and `high` are the exact binomial interval of the probability of collapse (Clopper and Pearson
    1934); `median`, `least` and `largest` are last errors of the runs that did not collapse, NaN without any.
    """
    rows = []
    for place, group in study.groupby(["panel", "words", "peak"], sort=False):
        runs, collapsed = len(group), int(group["collapsed"].sum())
        found = binomtest(collapsed, runs).proportion_ci(0.95, method="exact")
        errors = group.loc[~group["collapsed"], "error"].agg(["median", "min", "max"])
        rows.append((*place, runs, collapsed, float(found.low), float(found.high), *errors))
    names = ["panel", "words", "peak", "runs", "collapsed", "low", "high", "median", "least", "largest"]
    return pd.DataFrame(rows, columns=names)


def draw_panel(study: pd.DataFrame, panel: str):
    """Draw fractions of collapsed runs and, below, the last errors of all runs, by peak learning rate."""
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
        seeds, room = sorted(runs["seed"].unique()), 0.7 * SPREAD / models
        across = {seed: shift + room * ((at + 0.5) / len(seeds) - 0.5) for at, seed in enumerate(seeds)}
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
    lowest = study["error"].where(study["error"] < TOP, TOP).min()
    lower.set(yscale="log", ylim=(lowest / 1.4, 1.5 * TOP), xlim=(-0.5, len(peaks) - 0.5))
    lower.set(xlabel="peak of the learning rate", ylabel="relative L² error, last epoch")
    lower.set_xticks(range(len(peaks)), [f"{peak:g}" for peak in peaks])
    keys = upper.get_legend_handles_labels()
    figure.legend(*keys, loc="outside lower center", ncols=2, frameon=False, fontsize=8.5)
    return figure


def write_stability_page(
    output: str | Path, *, tables: Iterable[str | Path], facts: dict, figures: list[str | Path], **made: Any
) -> None:
    """Draw the figures and write the page atomically.

    tables   files of measurements, one per model; missing files are ignored.
    figures  SVG files, one per panel, in the same order.
    made     the page's `root`, `command` and `provenance`.
    """
    study, drawn = read_study(map(Path, tables), facts["panels"]), []
    for path, panel in zip(figures, facts["panels"], strict=True):
        exhibit = Exhibit(panel, "", draw_panel)
        drawn.append(exhibit.shown(Sources({}, study=study, panel=panel), path, Path(output).parent))
    runs = study.drop_duplicates(["model", "peak", "seed"])  # a model may be in several panels
    heads, collapsed, errors = tables_of(study)
    render(
        "stability.html.j2",
        output,
        breadcrumbs=[("Which trainings collapse", "")],
        figures=drawn,
        heads=heads,
        collapsed=collapsed,
        errors=errors,
        statement=gap_in_words(runs),
        threshold=f"{COLLAPSED_ERROR:g}",
        facts=facts,
        runs=len(runs),
        duration=duration(runs["seconds"].sum()),
        devices=sorted(study["device"].unique()),
        **made,
    )


def tables_of(study: pd.DataFrame) -> tuple[list[str], list[tuple], list[tuple]]:
    """Return the peaks, and two tables with a row per model and a cell per peak: collapsed runs, errors.

    Errors are median, minimum and maximum of the runs that did not collapse, in units of 10⁻³.
    """
    peaks = sorted(study["peak"].unique())
    collapsed, errors = [], []
    for (panel, words), group in counts(study).groupby(["panel", "words"], sort=False):
        shares, known = dict.fromkeys(peaks, DASH), dict.fromkeys(peaks, DASH)
        one: Any
        for one in group.itertuples():
            shares[one.peak] = f"{one.collapsed} of {one.runs} [{one.low:.2f}, {one.high:.2f}]"
            if one.collapsed < one.runs:
                middle, *ends = (in_units(error, UNIT) for error in (one.median, one.least, one.largest))
                known[one.peak] = f"{middle} [{', '.join(ends)}]"
        collapsed.append((f"{panel}: {words}", list(shares.values())))
        errors.append((f"{panel}: {words}", list(known.values())))
    return [f"{peak:g}" for peak in peaks], collapsed, errors


def gap_in_words(runs: pd.DataFrame) -> str:
    """Return words on the gap between errors of trained and of collapsed runs, without diverged runs."""
    ended = runs[runs["status"] != "diverged"]
    trained, collapsed = (ended.loc[ended["collapsed"] == kind, "error"] for kind in (False, True))
    ends = {"largest final error without": trained.max(), "smallest with": collapsed.min()}
    words = " and ".join(f"the {kind} collapse is {error:.2g}" for kind, error in ends.items() if error > 0)
    every = ". Any threshold between these errors gives the same counts" if " and " in words else ""
    return f"{words or 'no run has a final error'}; {len(runs) - len(ended)} diverged and were stopped{every}"
