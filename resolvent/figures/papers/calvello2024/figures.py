"""Figures of Calvello et al. 2024 (arXiv:2406.06486, sections 6.1 and 6.2)."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from resolvent.figures.common import style
from resolvent.figures.common.comparison import errors_of
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.fields import (
    draw_colour_bar,
    draw_field,
    log_scale_of,
    scale_of,
    symmetric_scale_of,
)
from resolvent.figures.common.labels import label_right
from resolvent.figures.common.numbers import scientific
from resolvent.figures.common.results import Run, Shown, on_home_grid, resolution_in_words
from resolvent.figures.experiment.samples import draw_sample_trajectories
from resolvent.figures.papers.calvello2024 import chosen
from resolvent.figures.papers.calvello2024.chosen import Experiments, Groups, Panel
from resolvent.figures.papers.calvello2024.reported import FIGURE_6, FIGURE_9, TABLE_3

STATISTICS = {"mean": (0, (1, 1.5)), "median": "-"}


def _stack(panels: list[Panel], draw: Callable, height: float, xlabel: str):
    """Draw the panels in a column; `height` is the total height in inches."""
    looks = style.appearances(run for groups, _ in panels for group in groups for run in group)
    figure, axes = style.new_figure(len(panels), 1, size=(8.6, height))
    for (groups, rows), panel in zip(panels, axes[:, 0], strict=True):
        draw(panel, groups, rows, looks)
    axes[-1, 0].set_xlabel(xlabel)
    return figure


def _finish(panel, groups: Groups, labels: list[tuple[float, str, str]]) -> None:
    """Label a panel, its lines, and models with only diverged seeds."""
    style.grid_lines(panel)
    experiment = groups[0][0].record.experiment.replace("_", " ").capitalize()
    style.title(panel, f"{experiment}, trained on {resolution_in_words(groups[0][0].resolution)}")
    label_right(panel, labels)
    if labels:
        lost = [group[0].label for group in groups if all(run.diverged for run in group)]
        style.name_diverged(panel, lost)
    else:
        style.say_no_errors(panel)


# Test samples with the median and the largest error.


def draw_on_training_grid(shown: Shown):
    """Draw Figure 6: trajectories at the times of the home grid."""
    run = shown.run
    lines = chosen.errors_in_words(run, run.home, FIGURE_6)
    return draw_sample_trajectories(run, note="\n".join(lines))


def _draw_uneven(quadrature: str, other: str, experiments: Experiments):
    """Draw Figures 8 and 9 on the same axes, at the uneven times of eq. 41."""
    run, compared = (chosen.first_with(experiments, quadrature=one) for one in (quadrature, other))
    tested, observations = set(run.errors["resolution"]), run.record.dataset_settings.get("observations", {})
    # The times of eq. 41: equal steps, twice as long in the second half.
    uneven = [name for name in observations if observations[name].get("kind") == "two_rates"]
    uneven = [name for name in uneven if name in tested]
    if not uneven:
        first_line = "was not tested at times of kind two_rates: add them to the dataset's observations"
        raise ResultError(f"{run.directory} {first_line}")
    first_line = f"{run.label}, trained at {run.resolution}, tested at {uneven[0]}"
    note = "\n".join([first_line, *chosen.errors_in_words(run, uneven[0], FIGURE_9)])
    return draw_sample_trajectories(run, where=uneven[0], same_axes=[compared], note=note)


draw_uneven_weighted = partial(_draw_uneven, "trapezoid", "none")
draw_uneven_unweighted = partial(_draw_uneven, "none", "trapezoid")


def draw_answers(shown: Shown):
    """Draw Figures 12 and 13: input, truth and prediction on one scale, and the absolute error."""
    return _draw_extremes(shown.run)


def draw_increments(shown: Shown):
    """Draw Figure 16: input, differences of truth and prediction from the input, and the absolute error."""
    return _draw_extremes(shown.run, increments=True)


def draw_smoothed_increments(experiments: Experiments):
    """Draw Figure 18: Figure 16 for the model whose last layer is (I - εΔ)^(-α)."""
    return _draw_extremes(chosen.first_with(experiments, smoother="inverse_laplacian"), increments=True)


def _draw_extremes(run: Run, increments: bool = False):
    """Draw the median and the worst sample in two rows, which share only the logarithmic scale of errors."""
    u, truth, prediction = (run.shown(f"extreme_{name}") for name in ("input", "target", "prediction"))
    columns = {"input": u, "truth": truth, "prediction": prediction, "|error|": np.abs(prediction - truth)}
    if increments:
        changes = {"|truth - input|": np.abs(truth - u), "|prediction - input|": np.abs(prediction - u)}
        columns = {"input": u, **changes, "|error|": columns["|error|"]}
    of_input = symmetric_scale_of if increments else scale_of
    figure, axes = style.new_figure(2, 4, size=(8.6, 5.0))
    of_error = log_scale_of(columns["|error|"])
    samples, errors = run.predictions_at()["extreme_sample"].values, run.shown_errors()
    for row, (panels, name) in enumerate(zip(axes, ("median", "worst"), strict=True)):
        fields = [column[row] for column in columns.values()]
        scales = [of_input(fields[0]), scale_of(fields[1]), scale_of(fields[1]), of_error]
        for panel, field, scale, head in zip(panels, fields, scales, columns, strict=True):
            image = draw_field(panel, field, scale)
            style.title(panel, head)
            if panel is not panels[1]:  # truth and prediction share a colour bar
                draw_colour_bar(figure, image, [panel], fraction=0.05, location="bottom")
            if not np.isfinite(field).any():
                place = {"ha": "center", "va": "center", "color": style.MUTED, "transform": panel.transAxes}
                panel.text(0.5, 0.5, "diverged", **place)
        relative = errors.get(int(samples[row]), np.nan)
        words = f"relative L² {scientific(relative)}" if np.isfinite(relative) else "diverged"
        panels[0].set_ylabel(f"{name}: sample {int(samples[row])}\n{words}")
    if lines := chosen.errors_in_words(run, run.home, TABLE_3):
        figure.supxlabel("\n".join(lines), fontsize=8.5, color=style.MUTED)
    return figure


# Errors at times and on grids that differ from training, with the training noise.


def draw_time_steps(comparisons: list[pd.DataFrame], experiments: Experiments):
    """Draw Figure 7, one panel per experiment: a line per model over equal steps, points for other times."""
    panels = chosen.panels_of(experiments, comparisons=comparisons)
    return _stack(panels, _draw_steps, 0.5 + 2.9 * len(panels), "time step of the test observations")


def _draw_steps(panel, groups: Groups, rows: pd.DataFrame, looks) -> None:
    """Draw lines for equal time steps and, to the right of the longest, points for other sets of times."""
    first, tested = groups[0][0], set(rows["test_resolution"])
    trained, stored = first.resolution, first.record.dataset_settings.get("observations")
    if stored is None:
        words = "has functions of space, not trajectories: remove this figure from `shows`"
        raise ResultError(f"{first.directory} {words}")
    of_step = {
        name: times["step"]
        for name, times in stored.items()
        if name in tested and times.get("kind", "uniform") == "uniform"
    }
    equal = dict(sorted(of_step.items(), key=lambda pair: pair[1]))
    longest = max(equal.values(), default=1.0)
    unequal = [name for name in stored if name in tested and name not in equal]
    others = {name: longest * 1.4**number for number, name in enumerate(unequal, start=1)}
    places = equal | others
    panel.set_xscale("log")
    names = [f"{step:g}" for step in equal.values()] + [name.replace("_", " ") for name in others]
    panel.set_xticks(list(places.values()), names)
    panel.minorticks_off()
    panel.set_xlim(min(places.values()) / 1.15, max(places.values()) * 1.2)
    if trained in places:
        panel.axvline(places[trained], color=style.MUTED, lw=0.6, ls=":")
    if others and equal:
        panel.axvspan(max(equal.values()) * 1.18, panel.get_xlim()[1], color=style.GRID, alpha=0.5, lw=0)
    style.error_limits(panel, rows.loc[rows["statistic"].isin(STATISTICS), "value"], margin=1.6)
    panel.set_ylabel("relative L² error")
    labels = []
    for key in dict.fromkeys(rows["key"]):
        look = looks[key]
        for statistic, dashes in STATISTICS.items():
            of_model = rows[(rows["key"] == key) & (rows["statistic"] == statistic)]
            errors = of_model.set_index("test_resolution")["value"]
            errors = errors[np.isfinite(errors)]
            line, points = (
                [(place, errors[name]) for name, place in of_kind.items() if name in errors]
                for of_kind in (equal, others)
            )
            if line:
                panel.plot(*zip(*line, strict=True), color=look.colour, ls=dashes, lw=1.5, marker=".", ms=5)
            if points:
                marks = look.marks() | {"markerfacecolor": look.colour if statistic == "median" else "white"}
                panel.plot(*zip(*points, strict=True), ls="", ms=6, **marks)
            if statistic == "median" and line + points:
                if trained in equal and trained in errors:
                    panel.plot(equal[trained], errors[trained], ls="", ms=7, **look.marks())
                last = (points or line)[-1][1]
                labels.append((float(last), str(of_model["label"].iloc[0]), look.colour))
    _finish(panel, groups, labels)


def _draw_grids(models: Callable, comparisons: list[pd.DataFrame], experiments: Experiments):
    panels = chosen.panels_of(experiments, models, comparisons)
    return _stack(panels, _draw_grid, 0.4 + 3.4 * len(panels), "test resolution (points per side)")


draw_other_grids = partial(_draw_grids, chosen.first_of_each_architecture)  # Figures 14, 15 and 17
draw_extended = partial(_draw_grids, chosen.extended_pair)  # Figure 19


def _draw_grid(panel, groups: Groups, rows: pd.DataFrame, looks) -> None:
    rows, trained = rows[rows["statistic"] == "median"], groups[0][0].resolution
    places = style.resolution_axis(panel, rows["test_resolution"].unique())
    panel.minorticks_off()
    if trained in places:
        panel.axvline(places[trained], color=style.MUTED, lw=0.6, ls=":")
    style.error_limits(panel, rows["value"], margin=1.4)
    panel.set_ylabel("median relative L² error")
    labels = []
    for key, of_model in rows[np.isfinite(rows["value"])].groupby("key", sort=False):
        of_model, look = of_model.sort_values("test_resolution"), looks[key]
        x, error = of_model["test_resolution"], of_model["value"]
        panel.plot(x, error, color=look.colour, lw=1.5, marker=".", ms=5)
        panel.plot(x[x == trained], error[x == trained], ls="", ms=7, zorder=4, **look.marks())
        labels.append((float(error.iloc[-1]), str(of_model["label"].iloc[0]), look.colour))
    _finish(panel, groups, labels)


# Errors against costs.


def _draw_costs(cost: str, xlabel: str, comparisons: list[pd.DataFrame], experiments: Experiments):
    """Draw Figures 10 and 11, one panel per experiment: a line per architecture through its widths.

    Architectures with a single width are drawn only if all have one width. A complex parameter counts once,
    as in the paper.
    """
    every = [chosen.families(runs) for runs in experiments]
    shown = [[line for line in lines if len(line) > 1] or lines for lines in every]
    # A line has the appearance of its widest model, the same in all panels.
    ends = {line[-1] for lines in shown for line in lines}
    looks = style.appearances(run for runs in experiments for run in runs if run.model in ends)
    figure, axes = style.new_figure(len(shown), 1, size=(8.6, 0.4 + 3.2 * len(shown)), sharex=True)
    labels: list[list[tuple]] = []
    for panel, comparison, runs, lines in zip(axes[:, 0], comparisons, experiments, shown, strict=True):
        table = on_home_grid(errors_of(comparison, "standardised_relative_l2", "median"))
        finest = max(run.resolution for run in runs)
        is_known = np.isfinite(table["value"]) & np.isfinite(table[cost])
        table = table[(table["trained_resolution"] == finest) & is_known].set_index("key")
        where = next(run.where for run in runs if run.resolution == finest)
        style.title(panel, f"{chosen.title_of(runs[0])}, {where}")
        panel.set(xscale="log", ylabel="median relative L² error")
        style.grid_lines(panel, "both")
        widths = {run.model: run.record.settings.get("width") for run in runs}
        labels.append([])
        for line in lines:
            rows = table.loc[[key for key in line if key in table.index]]
            if rows.empty:
                continue
            look, x, median = looks[line[-1]], rows[cost], rows["value"]
            panel.plot(x, median, color=look.colour, lw=1.4, zorder=3)
            panel.vlines(x, rows["low"], rows["high"], color=look.colour, lw=1.1, zorder=2)
            panel.plot(x, median, ls="", ms=6, zorder=4, **look.marks())
            offset = {"xytext": (4, 4), "textcoords": "offset points", "color": style.MUTED, "fontsize": 7.5}
            for key, place, error in zip(rows.index, x, median, strict=True):
                panel.annotate(f"{widths[key]}", (place, error), **offset)
            labels[-1].append((float(median.iloc[-1]), str(rows["label"].iloc[-1]), look.colour))
        drawn = table.index.isin([key for line in lines for key in line])
        style.error_limits(panel, table.loc[drawn, "value"], margin=1.6)
    axes[-1, 0].set_xlabel(xlabel)
    for panel, named in zip(axes[:, 0], labels, strict=True):  # once the layout of all panels is known
        label_right(panel, named)
        if not named:
            style.say_no_errors(panel)
    return figure


draw_against_parameters = partial(_draw_costs, "parameters_complex_once", "parameters (complex ones once)")
draw_against_operations = partial(_draw_costs, "forward_flop", "counted operations of a forward pass")
