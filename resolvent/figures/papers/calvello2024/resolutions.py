"""Errors at other times and grids than in training (Calvello et al. 2024, arXiv:2406.06486, 6.1 and 6.2).

Figure 7: other time steps. Figures 14, 15, 17 and 19: other grids. And, beside the paper, the same test
samples on two grids: two curves of errors hide whether a sample is hard on both, so there the ratio is taken
sample by sample, of one trained model, and only then averaged (`resolvent/figures/common/intervals.py`).
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.intervals import Interval, geometric_mean
from resolvent.figures.common.labels import label_right
from resolvent.figures.common.results import Run, error_matrix
from resolvent.figures.common.style import (
    GRID,
    INK,
    MUTED,
    appearances,
    error_limits,
    grid_lines,
    name_diverged,
    new_figure,
    resolution_axis,
    title,
)
from resolvent.figures.experiment.comparison import grouped
from resolvent.figures.papers.calvello2024.chosen import (
    Compared,
    Experiments,
    compared,
    first_of_each_architecture,
    heading,
    lost_labels,
    name_lines,
    widest_groups,
)

STATISTICS = {"mean": (0, (1, 1.5)), "median": "-"}


def draw_time_steps(comparisons: list[pd.DataFrame], experiments: Experiments):
    """Draw a panel for each experiment: a line a model through equal steps, marks for other times beside."""
    loaded = [compared(comparisons, experiments, statistic) for statistic in STATISTICS]
    panels = [dict(zip(STATISTICS, both, strict=True)) for both in zip(*loaded, strict=True)]
    looks = appearances(run for one in loaded[0] for run in one.runs)
    figure, axes = new_figure(len(panels), 1, size=(8.6, 0.5 + 2.9 * len(panels)))
    for of_statistic, panel in zip(panels, axes[:, 0], strict=True):
        _draw_steps(panel, of_statistic, looks)
    axes[-1, 0].set_xlabel("time step of the test observations")
    return figure


def places_of(run: Run, tested: Iterable[str]) -> tuple[dict[str, float], dict[str, float]]:
    """Place the times tested on a logarithmic axis: equal steps, and others right of the longest."""
    observations = {
        name: one for name, one in run.record.dataset_settings["observations"].items() if name in set(tested)
    }
    steps = {name: o["step"] for name, o in observations.items() if o.get("kind", "uniform") == "uniform"}
    equal = dict(sorted(steps.items(), key=lambda pair: pair[1]))
    longest, others = max(equal.values(), default=1.0), [name for name in observations if name not in equal]
    return equal, {name: longest * 1.4 ** (index + 1) for index, name in enumerate(others)}


def _draw_steps(panel, of_statistic: dict[str, Compared], looks) -> None:
    one = of_statistic["median"]
    equal, others = places_of(one.runs[0], one.rows["test_resolution"])
    places = equal | others
    panel.set_xscale("log")
    names = [f"{step:g}" for step in equal.values()] + [name.replace("_", " ") for name in others]
    panel.set_xticks(list(places.values()), names)
    panel.minorticks_off()
    panel.set_xlim(min(places.values()) / 1.15, max(places.values()) * 1.2)
    if one.trained in places:
        panel.axvline(places[one.trained], color=MUTED, lw=0.6, ls=":")
    if others and equal:
        panel.axvspan(max(equal.values()) * 1.18, panel.get_xlim()[1], color=GRID, alpha=0.5, lw=0)
    values = pd.concat([found.rows["value"] for found in of_statistic.values()])
    error_limits(panel, values, margin=1.6)
    title(panel, heading(one.runs[0]))
    panel.set_ylabel("relative L² error")
    grid_lines(panel)
    labels = []
    for key in dict.fromkeys(one.rows["key"]):
        look = looks[key]
        for statistic, found in of_statistic.items():
            rows = found.rows[found.rows["key"] == key]
            errors = rows.set_index("test_resolution")["value"]
            errors = errors[np.isfinite(errors)]
            line, beside = (
                [(place, errors[name]) for name, place in of_kind.items() if name in errors]
                for of_kind in (equal, others)
            )
            if line:
                style = {"color": look.colour, "ls": STATISTICS[statistic], "lw": 1.5, "marker": ".", "ms": 5}
                panel.plot(*zip(*line, strict=True), **style)
            if beside:
                face = look.colour if statistic == "median" else "white"
                marks = look.marks() | {"markerfacecolor": face}
                panel.plot(*zip(*beside, strict=True), ls="", ms=6, **marks)
            if statistic == "median" and line + beside:
                if one.trained in equal and one.trained in errors:
                    panel.plot(equal[one.trained], errors[one.trained], ls="", ms=7, **look.marks())
                last = (beside or line)[-1][1]
                labels.append((float(last), str(rows["label"].iloc[0]), look.colour))
    name_lines(panel, labels, grouped(one.runs))


def draw_other_grids(comparisons: list[pd.DataFrame], experiments: Experiments):
    """Draw a panel for each experiment, a line for an architecture's first model; of one grid a point."""
    found = compared(comparisons, experiments)
    return _draw_grids([one.only(first_of_each_architecture(one.runs)) for one in found])


def draw_extended(comparisons: list[pd.DataFrame], experiments: Experiments):
    """Draw Fourier attention with and without periodically extended patches."""
    return _draw_grids([one.only(extended_pair(one.runs)) for one in compared(comparisons, experiments)])


def extended_pair(runs: list[Run]) -> tuple[str, str]:
    """Return two models that differ in `periodic_extension` alone, without smoother if there are several.

    Raises a ResultError when there are none.
    """
    by_rest: dict[tuple, dict[bool, str]] = {}
    for run in runs:
        settings = dict(run.record.settings)
        extended = settings.pop("periodic_extension", None)
        if extended is not None and run.record.architecture == "fano":
            rest = tuple(sorted((name, str(value)) for name, value in settings.items()))
            by_rest.setdefault(rest, {}).setdefault(extended, run.model)
    pairs = [(rest, found) for rest, found in by_rest.items() if len(found) == 2]
    if not pairs:
        raise ResultError(
            f"{runs[0].directory.parent}: no two models of fano differ in periodic_extension alone"
        )
    _, found = min(pairs, key=lambda pair: ("smoother", "none") not in pair[0])
    return found[False], found[True]


def _draw_grids(experiments: list[Compared]):
    looks = appearances(run for one in experiments for run in one.runs)
    figure, axes = new_figure(len(experiments), 1, size=(8.6, 0.4 + 3.4 * len(experiments)))
    for one, panel in zip(experiments, axes[:, 0], strict=True):
        places = resolution_axis(panel, one.rows["test_resolution"].unique())
        panel.minorticks_off()
        panel.axvline(places[one.trained], color=MUTED, lw=0.6, ls=":")
        error_limits(panel, one.rows["value"], margin=1.4)
        panel.set_ylabel("median relative L² error")
        grid_lines(panel)
        title(panel, heading(one.runs[0]))
        labels = []
        for key in dict.fromkeys(one.rows["key"]):
            rows = one.rows[(one.rows["key"] == key) & np.isfinite(one.rows["value"])]
            rows, look = rows.sort_values("test_resolution"), looks[key]
            if rows.empty:
                continue
            panel.plot(rows["test_resolution"], rows["value"], color=look.colour, lw=1.5, marker=".", ms=5)
            own = rows[rows["test_resolution"] == one.trained]
            panel.plot(own["test_resolution"], own["value"], ls="", ms=7, zorder=4, **look.marks())
            labels.append((float(rows["value"].iloc[-1]), str(rows["label"].iloc[0]), look.colour))
        name_lines(panel, labels, grouped(one.runs))
    axes[-1, 0].set_xlabel("test resolution (points a side)")
    return figure


def draw_paired_grids(experiments: Experiments):
    """Draw a panel for each experiment: the error over that on the training grid, with its interval."""
    by_experiment = [
        [group for group in groups if _away(group)] or groups for groups in widest_groups(experiments)
    ]
    looks = appearances(run for groups in by_experiment for group in groups for run in group)
    figure, axes = new_figure(len(by_experiment), 1, size=(8.6, 0.4 + 3.8 * len(by_experiment)))
    for groups, panel in zip(by_experiment, axes[:, 0], strict=True):
        _draw_ratios(panel, groups, looks)
    axes[-1, 0].set_xlabel("test resolution (points a side)")
    return figure


def paired_ratios(group: list[Run]) -> dict[int, Interval]:
    """Return the error at every other resolution over that on the training grid, of seeds finite at both."""
    own = group[0].resolution
    found = {}
    for away in _away(group):
        rows = []
        for run in group:
            there, here = (error_matrix([run.errors], where, run.noise) for where in (away, own))
            if there.empty or here.empty:
                continue
            ratio = there.iloc[0] / here.iloc[0]
            if ratio.isna().any():
                raise ResultError(
                    f"{run.directory} was tested on other samples at {away} than at {own}: evaluate it again"
                )
            rows.append(ratio.to_numpy())
        if rows:
            found[away] = geometric_mean(np.stack(rows))
    return found


def _away(group: list[Run]) -> list[int]:
    """Return the resolutions tested beside that of training."""
    return sorted({int(one) for one in group[0].errors["resolution"].unique()} - {group[0].resolution})


def _draw_ratios(panel, groups: list[list[Run]], looks) -> None:
    found = {group[0].model: paired_ratios(group) for group in groups}
    grids = sorted({away for ratios in found.values() for away in ratios})
    labels, width = [], 0.6 / len(groups)
    for number, group in enumerate(groups):
        ratios, look = found[group[0].model], looks[group[0].model]
        if not ratios:
            continue
        x = [grids.index(away) + (number - (len(groups) - 1) / 2) * width for away in ratios]
        value = [one.value for one in ratios.values()]
        low, high = ([getattr(one, end) for one in ratios.values()] for end in ("low", "high"))
        panel.vlines(x, low, high, color=look.colour, lw=1.6)
        panel.plot(x, value, ls="", ms=6, **look.marks())
        labels.append((value[-1], group[0].label, look.colour))
    panel.axhline(1, color=INK, lw=0.8)
    panel.set_xticks(range(len(grids)), [str(away) for away in grids])
    panel.set_xlim(-0.5, max(len(grids), 1) - 0.5)
    panel.set_yscale("log")
    panel.set_ylabel("error there over error on the training grid")
    grid_lines(panel)
    title(panel, heading(groups[0][0]))
    label_right(panel, labels)
    if labels:
        name_diverged(panel, lost_labels(groups))
    else:
        words = "no finished model was tested on another grid"
        panel.text(0.5, 0.7, words, transform=panel.transAxes, ha="center", color=MUTED)
