"""Figures of Calvello et al. 2024 (arXiv:2406.06486, sections 6.1 and 6.2), and additional figures.

Section 6.2.3 attributes the difference between attention and the FNO to the modes truncated in the FNO, "an
over-smoothing effect", and mentions jumps between patches; neither is shown in the paper. *Spectra* are the
power of target, prediction and error by shell of wavenumbers (`resolvent/datasets/spectra.py`): an
over-smoothing model has less power at large wavenumbers than the target, and an error as large as the target.
*Jumps* are the ratio of the mean absolute difference of neighbouring points across an edge between patches to
the mean inside patches. The ratio is about 1 for a function unrelated to the patches; if its waves are
aligned with the patches, the target's ratio also differs from 1. *Paired grids*: two curves of errors do not
show whether a sample is hard on both grids, so ratios are computed by sample for one trained model, and then
averaged (`resolvent/figures/common/intervals.py`). *Rollouts* apply the trained step of the Kolmogorov flow
repeatedly (`resolvent/evaluation/rollout.py`).
"""

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
from resolvent.figures.common.intervals import Interval, geometric_mean
from resolvent.figures.common.labels import label_right
from resolvent.figures.common.numbers import scientific
from resolvent.figures.common.results import (
    Run,
    Shown,
    error_matrix,
    on_training_grid,
    read_arrays,
    resolution_in_words,
)
from resolvent.figures.experiment.comparison import grouped
from resolvent.figures.experiment.samples import draw_sample_trajectories
from resolvent.figures.papers.calvello2024.chosen import (
    Experiments,
    Groups,
    Panel,
    errors_in_words,
    extended_pair,
    families,
    finished_of,
    first_of_each_architecture,
    first_with,
    panels_of,
    title_of,
    widest,
)
from resolvent.figures.papers.calvello2024.reported import FIGURE_6, FIGURE_9, TABLE_3

STATISTICS = {"mean": (0, (1, 1.5)), "median": "-"}
ROUNDING = 1e-12  # fraction of the target's power: smaller values are rounding in single precision
WIDEST = 100.0  # largest ratio of powers, and its inverse, in a panel
FIELDS = {"error": ("o", True), "prediction": ("o", False), "target": ("|", True)}  # marker, whether filled
LONG = 8  # largest over smallest ratio on a linear axis
NO_OTHER_GRID = "no finished model was tested on another grid"


def _stack(panels: list[Panel], draw: Callable, height: float, xlabel: str):
    """Draw the panels in a column; `height` is the total height in inches."""
    looks = style.appearances(run for groups, _ in panels for group in groups for run in group)
    figure, axes = style.new_figure(len(panels), 1, size=(8.6, height))
    for (groups, rows), panel in zip(panels, axes[:, 0], strict=True):
        draw(panel, groups, rows, looks)
    axes[-1, 0].set_xlabel(xlabel)
    return figure


def _finish(panel, groups: Groups, labels: list[tuple[float, str, str]], nothing: str = "") -> None:
    """Label a panel, its lines, and models with only diverged seeds; `nothing` labels an empty panel."""
    style.grid_lines(panel)
    style.title(panel, heading(groups[0][0]))
    label_right(panel, labels)
    if labels:
        style.name_diverged(panel, lost_labels(groups))
    elif nothing:
        panel.text(0.5, 0.7, nothing, transform=panel.transAxes, ha="center", color=style.MUTED)
    else:
        style.say_no_errors(panel)


def heading(run: Run) -> str:
    """Return experiment and training resolution of a run as the title of a panel."""
    experiment = run.record.experiment.replace("_", " ").capitalize()
    return f"{experiment}, trained on {resolution_in_words(run.resolution)}"


def lost_labels(groups: Groups) -> list[str]:
    return [group[0].label for group in groups if all(run.diverged for run in group)]


# The median test sample and the worst.


def draw_on_training_grid(shown: Shown):
    """Draw Figure 6: trajectories at the times of training."""
    run = shown.run
    return draw_sample_trajectories(run, note="\n".join(errors_in_words(run, run.resolution, FIGURE_6)))


def _draw_uneven(quadrature: str, other: str, experiments: Experiments):
    """Draw Figures 8 and 9 on the same axes, at the uneven times of eq. 41."""
    run, beside = (first_with(experiments, quadrature=one) for one in (quadrature, other))
    tested, observations = set(run.errors["resolution"]), run.record.dataset_settings["observations"]
    # The times of eq. 41: equal steps, twice as long in the second half.
    uneven = [name for name, one in observations.items() if one.get("kind") == "two_rates" and name in tested]
    if not uneven:
        words = "was not tested at times of kind two_rates: add them to the dataset's observations"
        raise ResultError(f"{run.directory} {words}")
    words = f"{run.label}, trained at {run.resolution}, tested at {uneven[0]}"
    note = "\n".join([words, *errors_in_words(run, uneven[0], FIGURE_9)])
    return draw_sample_trajectories(run, where=uneven[0], beside=[beside], note=note)


draw_uneven_weighted = partial(_draw_uneven, "trapezoid", "none")
draw_uneven_unweighted = partial(_draw_uneven, "none", "trapezoid")


def draw_answers(shown: Shown):
    """Draw Figures 12 and 13: input, truth and prediction on one scale, and the absolute error."""
    u, truth, prediction = _extremes(shown.run)
    columns = {"input": u, "truth": truth, "prediction": prediction, "|error|": np.abs(prediction - truth)}
    return _draw_extremes(shown.run, columns, scale_of)


def draw_increments(shown: Shown):
    """Draw Figure 16: input, differences of truth and prediction from the input, and the absolute error."""
    return _draw_increments(shown.run)


def draw_smoothed_increments(experiments: Experiments):
    """Draw Figure 18: as Figure 16, for the model with the last layer (I - εΔ)^(-α)."""
    return _draw_increments(first_with(experiments, smoother="inverse_laplacian"))


def _draw_increments(run: Run):
    u, truth, prediction = _extremes(run)
    columns = {
        "input": u,
        "|truth - input|": np.abs(truth - u),
        "|prediction - input|": np.abs(prediction - u),
        "|error|": np.abs(prediction - truth),
    }
    return _draw_extremes(run, columns, symmetric_scale_of)


def _extremes(run: Run) -> list[np.ndarray]:
    """Return input, target and prediction of the median and the worst sample, each (2, y, x)."""
    return [run.shown(f"extreme_{name}") for name in ("input", "target", "prediction")]


def _draw_extremes(run: Run, columns: dict[str, np.ndarray], of_input: Callable):
    """Draw two rows of four columns; the samples share only the logarithmic scale of errors."""
    figure, axes = style.new_figure(2, 4, size=(8.6, 5.0))
    of_error = log_scale_of(columns["|error|"])
    samples, errors = run.predictions_at()["extreme_sample"].values, run.shown_errors()
    for row, (panels, name) in enumerate(zip(axes, ("median", "worst"), strict=True)):
        fields = [column[row] for column in columns.values()]
        scales = [of_input(fields[0]), scale_of(fields[1]), scale_of(fields[1]), of_error]
        for panel, field, scale, words in zip(panels, fields, scales, columns, strict=True):
            image = draw_field(panel, field, scale)
            style.title(panel, words)
            if panel is not panels[1]:  # truth and prediction share a colour bar
                draw_colour_bar(figure, image, [panel], fraction=0.05, location="bottom")
            if not np.isfinite(field).any():
                place = {"ha": "center", "va": "center", "color": style.MUTED, "transform": panel.transAxes}
                panel.text(0.5, 0.5, "diverged", **place)
        relative = errors.get(int(samples[row]), np.nan)
        words = f"relative L² {scientific(relative)}" if np.isfinite(relative) else "diverged"
        panels[0].set_ylabel(f"{name}: sample {int(samples[row])}\n{words}")
    if lines := errors_in_words(run, run.resolution, TABLE_3):
        figure.supxlabel("\n".join(lines), fontsize=8.5, color=style.MUTED)
    return figure


# Errors at other times and on other grids than in training, with the noise of training.


def draw_time_steps(comparisons: list[pd.DataFrame], experiments: Experiments):
    """Draw Figure 7, one panel per experiment: a line per model over equal steps, points for other times."""
    panels = panels_of(experiments, comparisons=comparisons)
    return _stack(panels, _draw_steps, 0.5 + 2.9 * len(panels), "time step of the test observations")


def places_of(run: Run, tested: set[str]) -> tuple[dict[str, float], dict[str, float]]:
    """Return positions of the test times on a logarithmic axis: equal steps, then others to the right."""
    observations = {
        name: one for name, one in run.record.dataset_settings["observations"].items() if name in tested
    }
    steps = {name: o["step"] for name, o in observations.items() if o.get("kind", "uniform") == "uniform"}
    equal = dict(sorted(steps.items(), key=lambda pair: pair[1]))
    longest, others = max(equal.values(), default=1.0), [name for name in observations if name not in equal]
    return equal, {name: longest * 1.4 ** (index + 1) for index, name in enumerate(others)}


def _draw_steps(panel, groups: Groups, rows: pd.DataFrame, looks) -> None:
    trained = groups[0][0].resolution
    equal, others = places_of(groups[0][0], set(rows["test_resolution"]))
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
            line, beside = (
                [(place, errors[name]) for name, place in of_kind.items() if name in errors]
                for of_kind in (equal, others)
            )
            if line:
                panel.plot(*zip(*line, strict=True), color=look.colour, ls=dashes, lw=1.5, marker=".", ms=5)
            if beside:
                face = look.colour if statistic == "median" else "white"
                marks = look.marks() | {"markerfacecolor": face}
                panel.plot(*zip(*beside, strict=True), ls="", ms=6, **marks)
            if statistic == "median" and line + beside:
                if trained in equal and trained in errors:
                    panel.plot(equal[trained], errors[trained], ls="", ms=7, **look.marks())
                last = (beside or line)[-1][1]
                labels.append((float(last), str(of_model["label"].iloc[0]), look.colour))
    _finish(panel, groups, labels)


def _draw_grids(models: Callable, comparisons: list[pd.DataFrame], experiments: Experiments):
    panels = panels_of(experiments, models, comparisons)
    return _stack(panels, _draw_grid, 0.4 + 3.4 * len(panels), "test resolution (points a side)")


draw_other_grids = partial(_draw_grids, first_of_each_architecture)  # Figures 14, 15 and 17
draw_extended = partial(_draw_grids, extended_pair)  # Figure 19


def _draw_grid(panel, groups: Groups, rows: pd.DataFrame, looks) -> None:
    rows, trained = rows[rows["statistic"] == "median"], groups[0][0].resolution
    places = style.resolution_axis(panel, rows["test_resolution"].unique())
    panel.minorticks_off()
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


def draw_paired_grids(experiments: Experiments):
    """Draw one panel per experiment: the ratio to the error on the training grid, with its interval."""
    panels: list[Panel] = [
        ([group for group in groups if _away(group)] or groups, None)
        for groups, _ in panels_of(experiments, widest)
    ]
    return _stack(panels, _draw_ratios, 0.4 + 3.8 * len(panels), "test resolution (points a side)")


def paired_ratios(group: list[Run]) -> dict[int, Interval]:
    """Return ratios of the error at other resolutions to the training grid's, for seeds finite at both."""
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
    return sorted({int(one) for one in group[0].errors["resolution"].unique()} - {group[0].resolution})


def _draw_ratios(panel, groups: Groups, _, looks) -> None:
    found = {group[0].model: paired_ratios(group) for group in groups}
    grids = sorted({away for ratios in found.values() for away in ratios})
    labels, width = [], 0.6 / len(groups)
    for number, group in enumerate(groups):
        ratios, look = found[group[0].model], looks[group[0].model]
        if not ratios:
            continue
        x = [grids.index(away) + (number - (len(groups) - 1) / 2) * width for away in ratios]
        value, low, high = (
            [getattr(one, end) for one in ratios.values()] for end in ("value", "low", "high")
        )
        panel.vlines(x, low, high, color=look.colour, lw=1.6)
        panel.plot(x, value, ls="", ms=6, **look.marks())
        labels.append((value[-1], group[0].label, look.colour))
    panel.axhline(1, color=style.INK, lw=0.8)
    panel.set_xticks(range(len(grids)), [str(away) for away in grids])
    panel.set_xlim(-0.5, max(len(grids), 1) - 0.5)
    panel.set_yscale("log")
    panel.set_ylabel("error there over error on the training grid")
    _finish(panel, groups, labels, NO_OTHER_GRID)


# Errors against costs.


def _draw_costs(cost: str, words: str, comparisons: list[pd.DataFrame], experiments: Experiments):
    """Draw Figures 10 and 11, one panel per experiment: a line per architecture through its widths.

    Architectures with a single width are drawn only if all have one width. A complex parameter counts once,
    as in the paper.
    """
    shown = [
        [line for line in lines if len(line) > 1] or lines for lines in (families(one) for one in experiments)
    ]
    # A line has the appearance of its widest model, the same in all panels.
    ends = {line[-1] for lines in shown for line in lines}
    looks = style.appearances(run for runs in experiments for run in runs if run.model in ends)
    figure, axes = style.new_figure(len(shown), 1, size=(8.6, 0.4 + 3.2 * len(shown)), sharex=True)
    labels: list[list[tuple]] = []
    for panel, comparison, one, lines in zip(axes[:, 0], comparisons, experiments, shown, strict=True):
        table = on_training_grid(errors_of(comparison, "standardised_relative_l2", "median"))
        finest = max(run.resolution for run in one)
        known = np.isfinite(table["value"]) & np.isfinite(table[cost])
        table = table[(table["trained_resolution"] == finest) & known].set_index("key")
        style.title(panel, f"{title_of(one[0])}, {resolution_in_words(finest)}")
        panel.set(xscale="log", ylabel="median relative L² error")
        style.grid_lines(panel, "both")
        widths = {run.model: run.record.settings.get("width") for run in one}
        labels.append([])
        for line in lines:
            rows = table.loc[[key for key in line if key in table.index]]
            if rows.empty:
                continue
            look, x, median = looks[line[-1]], rows[cost], rows["value"]
            panel.plot(x, median, color=look.colour, lw=1.4, zorder=3)
            panel.vlines(x, rows["low"], rows["high"], color=look.colour, lw=1.1, zorder=2)
            panel.plot(x, median, ls="", ms=6, zorder=4, **look.marks())
            beside = {"xytext": (4, 4), "textcoords": "offset points", "color": style.MUTED, "fontsize": 7.5}
            for key, place, error in zip(rows.index, x, median, strict=True):
                panel.annotate(f"{widths[key]}", (place, error), **beside)
            labels[-1].append((float(median.iloc[-1]), str(rows["label"].iloc[-1]), look.colour))
        drawn = table.index.isin([key for line in lines for key in line])
        style.error_limits(panel, table.loc[drawn, "value"], margin=1.6)
    axes[-1, 0].set_xlabel(words)
    for panel, named in zip(axes[:, 0], labels, strict=True):
        label_right(panel, named)
        if not named:
            style.say_no_errors(panel)
    return figure


draw_against_parameters = partial(_draw_costs, "parameters_complex_once", "parameters, a complex one as one")
draw_against_operations = partial(_draw_costs, "forward_flop", "counted operations of a forward pass")


# Additional figures: spectra, jumps between patches, rollouts.


def draw_spectra(experiments: Experiments):
    """Draw two panels per experiment: power of target and errors, and ratio of predictions to the target."""
    panels = panels_of(experiments, widest)
    looks = style.appearances(run for groups, _ in panels for group in groups for run in group)
    figure, axes = style.new_figure(len(panels), 2, size=(8.6, 0.4 + 3.2 * len(panels)))
    named: dict[str, object] = {}
    for (groups, _), (left, right) in zip(panels, axes, strict=True):
        _draw_spectra(left, right, groups, looks)
        handles, words = left.get_legend_handles_labels()
        named |= dict(zip(words, handles, strict=True))
    for panel in axes[-1]:
        panel.set_xlabel("wavenumber (cycles along a side)")
    style.name_all(figure, named, place="upper")
    return figure


def spectra(group: list[Run]) -> dict[str, np.ndarray]:
    """Return wavenumber, target, prediction and error by shell, averaged over finished seeds.

    Excludes the mean of the fields, shells beyond the Nyquist wavenumber, which the grid resolves only
    partly, and shells where the target is only rounding.
    """
    finished = [run.predictions_at() for run in finished_of(group)]
    found = {
        name: np.mean([one[f"{name}_power"].values for one in finished], axis=0)
        for name in ("target", "prediction", "error")
    }
    k = finished[0]["wavenumber"].values
    kept = (k > 0) & (k <= k.max() / np.sqrt(2)) & (found["target"] > ROUNDING * found["target"].sum())
    return {name: values[kept] for name, values in {"wavenumber": k, **found}.items()}


def _draw_spectra(left, right, groups: Groups, looks) -> None:
    from matplotlib.ticker import LogLocator

    drawn: list[np.ndarray] = []
    ratios = []
    for group in groups:
        found, look = spectra(group), looks[group[0].model]
        k, target, error = (found[name] for name in ("wavenumber", "target", "error"))
        if not drawn:
            left.plot(k, target, color=style.INK, lw=2, label="target")
            drawn.append(target)
        if not np.isfinite(error).all():
            continue
        ratio, line = found["prediction"] / target, {"color": look.colour, "ls": look.dashes, "lw": 1.3}
        left.plot(k, error, label=group[0].label, **line)
        right.plot(k, ratio, **line)
        drawn.append(error)
        ratios.append(np.clip(ratio, 1 / WIDEST, WIDEST))
        if (end := group[0].record.cut_off) is not None:
            for panel in (left, right):
                panel.axvline(end, color=look.colour, lw=0.9, ls=":")
    right.axhline(1, color=style.INK, lw=1)
    words = "power", "power of prediction / of target"
    for panel, values, label in zip((left, right), (drawn, ratios), words, strict=True):
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.xaxis.set_major_formatter("{x:g}")
        panel.minorticks_off()
        style.error_limits(panel, np.concatenate(values) if values else [0.1, 10], margin=1.5)
        panel.set_ylabel(label)
        style.grid_lines(panel)
    right.set_xlim(left.get_xlim())
    style.title(left, heading(groups[0][0]))
    if ratios:
        style.name_diverged(left, lost_labels(groups))
    else:
        style.say_no_errors(right)


def draw_jumps(experiments: Experiments):
    """Draw one panel per experiment, one row per model; large marks are means, small marks are seeds."""
    from matplotlib.ticker import LogLocator

    panels = panels_of(experiments, widest)
    looks = style.appearances(run for groups, _ in panels for group in groups for run in group)
    heights = [1.0 + 0.36 * len(groups) for groups, _ in panels]
    size = (8.6, 0.5 + sum(heights))
    figure, axes = style.new_figure(len(panels), 1, size=size, sharex=True, height_ratios=heights)
    drawn: list[float] = []
    for (groups, _), panel in zip(panels, axes[:, 0], strict=True):
        drawn += _draw_jumps(panel, groups, looks)
    if drawn and max(drawn) > LONG * min(drawn):
        axes[0, 0].set_xscale("log")  # shared by all panels
        axes[0, 0].xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes[0, 0].xaxis.set_major_formatter("{x:g}")
    marks = [_mark(axes[0, 0], name, style.MUTED, 6, [], []) for name in FIELDS]
    figure.legend(marks, list(FIELDS), loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    axes[-1, 0].set_xlabel("mean |jump| across edges of patches, over that inside")
    return figure


def jump_ratio(fields: np.ndarray, patches: int) -> float:
    """Return the ratio of mean |differences| of neighbours across edges of patches and inside patches.

    `fields` is (samples, n, n), with n a multiple of `patches`, the number of patches per axis.
    """
    n = fields.shape[-1]
    across = (np.arange(1, n) % (n // patches)) == 0
    jumps = [np.abs(np.diff(fields, axis=axis)).swapaxes(axis, -1) for axis in (-2, -1)]
    edges, inside = (
        np.concatenate([one[..., where].ravel() for one in jumps]) for where in (across, ~across)
    )
    return float(edges.mean() / inside.mean())


def jumps(run: Run, patches: int) -> dict[str, float]:
    """Return the ratios for error, prediction and target of the run's stored samples."""
    prediction, target = run.shown("prediction"), run.shown("target")
    fields = {"error": prediction - target, "prediction": prediction, "target": target}
    return {name: jump_ratio(field, patches) for name, field in fields.items()}


def patches_of(groups: Groups) -> dict[str, int]:
    """Return the patches per axis by model; default: as in the first model with patches, or 4."""
    own = {group[0].model: group[0].record.settings.get("patches") for group in groups}
    common = next((patches for patches in own.values() if patches), 4)
    return {model: patches or common for model, patches in own.items()}


def _draw_jumps(panel, groups: Groups, looks) -> list[float]:
    patches, drawn, names = patches_of(groups), [], []
    for row, group in enumerate(groups):
        first, colour = group[0], looks[group[0].model].colour
        sides = f"{patches[first.model]} × {patches[first.model]}"
        has_own = first.record.settings.get("patches")
        names.append(f"{first.label}\n" + (f"{sides} patches" if has_own else f"none; at {sides}"))
        found = [jumps(run, patches[first.model]) for run in group if not run.diverged]
        if not found:
            place = {"transform": panel.get_yaxis_transform(), "color": colour, "va": "center"}
            panel.text(0.02, row, "diverged", **place)
            continue
        for name in FIELDS:
            values = [one[name] for one in found]
            drawn += values
            if len(values) > 1:
                _mark(panel, name, colour, 3, values, [row] * len(values))
            _mark(panel, name, colour, 7, [np.mean(values)], [row])
    panel.set_yticks(range(len(groups)), names)
    for label, group in zip(panel.get_yticklabels(), groups, strict=True):
        label.set_color(looks[group[0].model].colour)
    panel.set_ylim(len(groups) - 0.4, -0.6)
    panel.axvline(1, color=style.INK, lw=0.6, zorder=0)
    style.grid_lines(panel, "x")
    style.title(panel, heading(groups[0][0]))
    return drawn


def _mark(panel, name: str, colour: str, size: float, x, y):
    marker, filled = FIELDS[name]
    colour = style.INK if name == "target" else colour
    size = 1.7 * size if marker == "|" else size
    face = colour if filled else "white"
    (mark,) = panel.plot(x, y, ls="", marker=marker, ms=size, color=colour, mfc=face, mew=1.3)
    return mark


def draw_rollouts(rollouts: list[Run]):
    """Draw the mean error by time, one line per model, grey for persistence, and a sample at the last time.

    rollouts  runs, each with `rollout.npz` in its folder.
    A line ends when a prediction is no longer finite. Fields are from the first finished model of each
    architecture, with its first finished seed, on the true field's scale.
    """
    kept = set(widest(rollouts))
    groups = grouped([run for run in rollouts if run.model in kept])
    runs = [run for group in groups for run in group]
    firsts = {group[0].model: finished_of(group)[0] for group in groups}
    shown = [firsts[model] for model in first_of_each_architecture(runs)]
    columns = len(shown) + 2
    figure, (((curves,),), (pictures,)) = style.new_stack(
        {"nrows": 1, "ncols": 1, "height": 3.8},
        {"nrows": 1, "ncols": columns, "height": 1.9},
        size=(8.6, 4.2 + 8.6 / columns * 1.35),
    )
    found = {run.directory: read_arrays(run.directory / "rollout.npz") for run in runs}
    _draw_curves(curves, groups, found, style.appearances(runs))
    first = found[shown[0].directory]
    target, time = first["target"][-1], first["times"][-1]
    fields = [("start", first["initial"]), (f"truth, t = {time:g}", target)]
    for run in shown:
        words = run.label.replace(" neural operator", "\nneural operator").replace(" (", "\n(")
        fields.append((words, found[run.directory]["prediction"][-1]))
    for panel, (words, field) in zip(pictures, fields, strict=True):
        image = draw_field(panel, field, symmetric_scale_of(target))
        panel.set_title(words, loc="left", fontsize=8)
        if not np.isfinite(field).any():
            panel.text(0.5, 0.5, "not finite", ha="center", va="center", color=style.MUTED, fontsize=8)
    pictures[0].set_ylabel(f"sample {int(first['sample'])}", fontsize=8)
    draw_colour_bar(figure, image, list(pictures), fraction=0.012, shrink=0.7)
    return figure


def _draw_curves(panel, groups: Groups, found: dict, looks) -> None:
    one = found[groups[0][0].directory]
    times, persistence = one["times"], one["persistence"].mean(axis=0)
    panel.plot(times, persistence, color=style.BASELINE, ls=(0, (5, 3)), lw=1.3)
    drawn, labels = [persistence], [(float(persistence[-1]), "persistence", style.BASELINE)]
    for group in groups:
        look = looks[group[0].model]
        errors = np.mean([found[run.directory]["error"].mean(axis=0) for run in finished_of(group)], axis=0)
        finite = np.isfinite(errors)
        if not finite.any():
            continue
        panel.plot(times, errors, color=look.colour, ls=look.dashes, lw=1.5, marker=".", ms=5)
        lost = "" if finite.all() else f", lost after t = {times[finite][-1]:g}"
        labels.append((float(errors[finite][-1]), group[0].label + lost, look.colour))
        drawn.append(errors)
    # Unstable models leave the panel at the top, so the others stay legible.
    reach = np.minimum(np.concatenate(drawn), 10 * max(1.0, persistence.max()))
    style.error_limits(panel, reach, margin=1.3)
    panel.set_xticks(times)
    panel.set(xlabel="time since the first vorticity", ylabel="mean relative L² error")
    style.grid_lines(panel)
    style.title(panel, f"{heading(groups[0][0])}: {len(one['error'])} test samples")
    style.name_diverged(panel, lost_labels(groups))
    label_right(panel, labels)
