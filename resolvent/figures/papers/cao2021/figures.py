"""Figures of Cao 2021 (arXiv:2105.14995): training by seed (8), noise (11 and 12), latent functions (13).

Figure 8 shows the spread between runs that differ only in their seed, and whether some diverge, but not why.
A seed determines initial weights, sample order and dropout masks, as in the paper's Figure 8b; with the
training setting `loader_seed` all seeds have the same order, as in 8a. The band is not an interval: a range
over seeds grows with their number. As in the paper, the left panel has the loss (H1 seminorm weighted by
gamma), averaged over an epoch in which the weights change and dropout is on; the right panel has the
relative L2 error of the test samples after the epoch, without dropout. Test errors select nothing here.

In Figures 11 and 12 (section C.4) each experiment trains at one noise level, in units of the pointwise
standard deviation of the training pressures, and is evaluated at several. Pictures show one run of each
(`choose_shown`), one test sample and the first realisation of the noise; curves have all test samples and
realisations. `resolvent/evaluation/latent_basis.py` defines the functions and the roughness of Figure 13.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from resolvent.common.counts import counted
from resolvent.figures.common import style
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.fields import draw_colour_bar, draw_field, scale_of, symmetric_scale_of
from resolvent.figures.common.labels import label_right
from resolvent.figures.common.numbers import scientific
from resolvent.figures.common.results import Run, Shown
from resolvent.figures.experiment.comparison import grouped, status_of

AS_PRINTED = {
    "train_loss": "Training samples: loss, H¹ part weighted by γ",
    "test_relative_l2": "Test samples: relative L² error",
}
WITHOUT_TEST = {
    "train_relative_l2": "Training samples: relative L² error",
    "validation_relative_l2": "Validation samples: relative L² error",
}
ROWS = {"input": "pressure", "target": "coefficient", "prediction": "recovered"}


# Training by seed.


def draw_convergence(experiments: list[list[Run]]):
    """Draw a row of two panels per model and training resolution of each experiment.

    Thin lines are seeds, the bold line is their median and the band their range. Diverged seeds are excluded
    from both: their lines end in a cross, and the text has their number.
    """
    from matplotlib.ticker import MaxNLocator

    groups = [group for experiment in experiments for group in grouped(experiment)]
    looks = style.appearances(run for experiment in experiments for run in experiment)
    size = (8.6, 0.4 + 3.7 * len(groups))
    figure, axes = style.new_figure(len(groups), 2, size=size, sharex="row", sharey="row")
    for group, pair in zip(groups, axes, strict=True):
        recorded = all(run.record.training.get("record_test_error") for run in group)
        panels = AS_PRINTED if recorded else WITHOUT_TEST
        for (column, heading), panel in zip(panels.items(), pair, strict=True):
            _draw_seeds(panel, group, column, looks[group[0].model].colour)
            panel.xaxis.set_major_locator(MaxNLocator(6, integer=True))
            panel.set_xlabel("epoch")
            style.grid_lines(panel)
            style.title(panel, heading)
        errors = [curve for column in panels for run in group for curve in run.by_epoch(column)]
        style.error_limits(pair[0], errors, margin=1.2)
        first, last = panels
        pair[0].set_ylabel("loss, relative error" if recorded else "relative L² error")
        style.title(pair[0], f"{group[0].label}, n = {group[0].resolution}, {varied(group)}\n{panels[first]}")
        # Below the right panel: final errors of the seeds, and the number of diverged seeds.
        ends = [run.by_epoch(last).iloc[-1] for run in group if not run.diverged]
        said = []
        if ends:
            among = f", from {scientific(min(ends))} to {scientific(max(ends))}" if len(ends) > 1 else ""
            said.append(f"last epoch: median {scientific(np.median(ends))}{among}")
        if len(ends) < len(group):
            said.append(f"× {status_of(group)}")
        place = {"transform": pair[1].transAxes, "ha": "right", "va": "top", "fontsize": 8}
        pair[1].text(1, -0.19, "\n".join(said), color=style.MUTED, **place)
    return figure


def varied(group: list[Run]) -> str:
    """Describe the random quantities of a group's seeds: "10 seeds of initial weights and sample order"."""
    one_order = group[0].record.training.get("loader_seed") is not None
    order = "initial weights, one sample order" if one_order else "initial weights and sample order"
    return f"{counted(len(group), 'seed')} of {order}"


def _draw_seeds(panel, group: list[Run], column: str, colour: str) -> None:
    finished = [run.by_epoch(column) for run in group if not run.diverged]
    for curve in finished:
        panel.plot(curve.index, curve, color=colour, lw=0.6, alpha=0.45)
    if finished:
        seeds = pd.concat(finished, axis=1)
        panel.fill_between(seeds.index, seeds.min(axis=1), seeds.max(axis=1), color=colour, alpha=0.15, lw=0)
        panel.plot(seeds.index, seeds.median(axis=1), color=colour, lw=2)
    for run in group:
        curve = run.by_epoch(column)
        if run.diverged and not curve.empty:
            panel.plot(curve.index, curve, color=style.MUTED, lw=0.8)
            panel.plot(curve.index[-1:], curve.iloc[-1:], "x", color=style.MUTED, ms=7, mew=1.8)


# Noise.


@dataclass(frozen=True)
class NoisyRun:
    """The shown run of an experiment with noise, and the index of the shown test sample.

    `note` names the run's model if the configured run diverged and another is shown.
    """

    run: Run
    sample: int
    note: str

    @property
    def noise(self) -> float:
        return self.run.noise

    @property
    def errors(self) -> pd.DataFrame:
        """Return the errors on the home grid: one row per noise level, realisation and sample."""
        return self.run.errors[self.run.errors["resolution"] == self.run.home]

    @property
    def levels(self) -> list[float]:
        return sorted(self.errors["noise"].unique())

    def field(self, name: str, level: float) -> np.ndarray:
        """Return "input", "target" or "prediction" of the shown sample, (y, x)."""
        return self.run.shown(name, level)[self.run.shown_samples.index(self.sample)]

    def error_words(self, level: float) -> str:
        error = float(self.run.shown_errors(level)[self.sample])
        return f"error {error:.3g}" if np.isfinite(error) else "diverged"


def draw_noise_levels(each_shown: list[Shown]):
    """Draw Figure 11: one column per noise level, the same in training and evaluation."""
    noisy = noisy_runs(each_shown)
    figure, axes = style.new_figure(len(ROWS), len(noisy), size=(0.9 + 2.5 * len(noisy), 7.4))
    for (name, row_label), panels in zip(ROWS.items(), axes, strict=True):
        fields = [noisy_run.field(name, noisy_run.noise) for noisy_run in noisy]
        scale = scale_of(*(fields if name == "input" else [noisy[0].field("target", 0)]))
        for panel, field in zip(panels, fields, strict=True):
            image = draw_field(panel, field, scale)
        panels[0].set_ylabel(row_label)
        draw_colour_bar(figure, image, list(panels), fraction=0.03)
    for noisy_run, top, bottom in zip(noisy, axes[0], axes[-1], strict=True):
        style.title(top, f"noise {percent(noisy_run.noise)}{noisy_run.note}")
        style.title(bottom, noisy_run.error_words(noisy_run.noise))
    return figure


def draw_noise_transfer(each_shown: list[Shown]):
    """Draw Figure 12: models trained at one noise level (rows) and evaluated at several (columns).

    The training level is framed. Below, the mean error against the noise in evaluation, with one line per
    training level; bands are quartiles over samples and realisations, and rings mark the training level.
    """
    from matplotlib import colormaps

    noisy = noisy_runs(each_shown)
    levels = sorted({level for noisy_run in noisy for level in noisy_run.levels})
    figure, (pictures, ((target, curves),)) = style.new_stack(
        {"nrows": len(noisy), "ncols": len(levels), "height": 1.6 * len(noisy) + 0.5},
        {"nrows": 1, "ncols": 2, "height": 3, "width_ratios": (1, 2.6)},
        size=(max(8.6, 0.6 + 1.5 * len(levels)), 1.6 * len(noisy) + 3.5),
    )
    # Brighter colours mean more noise.
    shades = colormaps["viridis"](np.linspace(0.05, 0.72, len(noisy)))
    colours = dict(zip([noisy_run.noise for noisy_run in noisy], shades, strict=True))
    scale = scale_of(noisy[0].field("target", 0))
    for noisy_run, row in zip(noisy, pictures, strict=True):
        for level, panel in zip(levels, row, strict=True):
            panel.set_box_aspect(1)
            if level not in noisy_run.levels:  # empty if not evaluated at this level
                panel.set_axis_off()
                continue
            draw_field(panel, noisy_run.field("prediction", level), scale)
            panel.set_title(noisy_run.error_words(level), loc="left", fontsize=8.5)
            if level == noisy_run.noise:
                panel.spines[:].set(visible=True, color=colours[level], linewidth=2.5)
        row[0].text(
            -0.08, 0.5, f"trained at {percent(noisy_run.noise)}{noisy_run.note}", rotation=90,
            transform=row[0].transAxes, ha="right", va="center", color=colours[noisy_run.noise],
            fontweight="bold",
        )  # fmt: skip
    for level, panel in zip(levels, pictures[0], strict=True):
        words = f"evaluated at {percent(level)}"
        panel.text(0, 1.2, words, transform=panel.transAxes, color=style.INK, fontsize=8.5, fontweight="bold")
    image = draw_field(target, noisy[0].field("target", 0), scale)
    draw_colour_bar(figure, image, [target], fraction=0.04)
    style.title(target, "Target")
    _draw_curves(curves, noisy, levels, colours)
    style.title(curves, "All test samples")
    return figure


def noisy_runs(each_shown: list[Shown]) -> list[NoisyRun]:
    """Return the shown run of each experiment, ordered by noise level in training.

    Raises `ResultError` if two runs have the same noise, a run was not evaluated at its own level, or the
    runs have no stored test sample in common.
    """
    stored = [choice.run.shown_samples for choice in each_shown]
    common = [sample for sample in stored[0] if all(sample in samples for samples in stored)]
    if not common:
        raise ResultError("the experiments have no stored test sample in common: evaluate them again")
    shown = sorted(each_shown, key=lambda choice: choice.run.noise)
    notes = [f"\n{choice.run.label}" if choice.replaces else "" for choice in shown]
    noisy = [NoisyRun(choice.run, int(common[0]), note) for choice, note in zip(shown, notes, strict=True)]
    for before, after in pairwise(noisy):
        if before.noise == after.noise:
            both = f"{before.run.directory} and {after.run.directory}"
            raise ResultError(f"{both} were both trained at noise {before.noise:g}: list only one of them")
    for noisy_run in noisy:
        if noisy_run.noise not in noisy_run.levels:
            words = f"was trained at noise {noisy_run.noise:g}, but not evaluated at it"
            raise ResultError(f"{noisy_run.run.directory} {words}: add {noisy_run.noise:g} to test_noise")
    return noisy


def percent(level: float) -> str:
    """Format 0.015 as "1.5 %"."""
    return f"{100 * level:g} %"


def _draw_curves(panel, noisy: list[NoisyRun], levels: list[float], colours: dict) -> None:
    drawn, labels = [], []
    for noisy_run in noisy:
        finite = np.isfinite(noisy_run.errors["relative_l2"])
        errors = noisy_run.errors[finite].groupby("noise")["relative_l2"]
        mean = errors.mean()
        if mean.empty:
            continue
        colour = colours[noisy_run.noise]
        low, high = errors.quantile(0.25), errors.quantile(0.75)
        panel.fill_between(mean.index, low, high, color=colour, alpha=0.15, lw=0)
        panel.plot(mean.index, mean, color=colour, marker="o", ms=3.5, lw=1.5)
        panel.plot([noisy_run.noise], [mean[noisy_run.noise]], "o", ms=9, mfc="none", mec=colour, mew=1.3)
        drawn += [*mean, *low, *high]
        labels.append((float(mean.iloc[-1]), f"trained at {percent(noisy_run.noise)}", colour))
    positive = [level for level in levels if level > 0]
    if positive:  # zero is left of the first positive level
        panel.set_xscale("symlog", linthresh=positive[0], linscale=0.4)
    panel.set_xticks(levels, [percent(level) for level in levels])
    style.error_limits(panel, drawn, margin=1.3)
    panel.set(xlabel="noise in evaluation", ylabel="mean relative L² error")
    panel.minorticks_off()
    style.grid_lines(panel)
    label_right(panel, labels)
    if not drawn:
        style.say_no_errors(panel)


# Latent functions.


def draw_latent_basis(latent_basis: dict[str, np.ndarray]):
    """Draw two functions of each layer and of the differential operator, and the roughness of all columns.

    All functions have norm 1, and each has its own colour scale about zero. In the lower panel, dots are
    columns, the line is their median and the band their quartiles.
    """
    latent = latent_basis
    width, rows = len(latent["layers"]) + 1, latent["basis"].shape[1]
    figure, (pictures, ((left, right),)) = style.new_stack(
        {"nrows": rows, "ncols": width, "height": 5.8},
        {"nrows": 1, "ncols": 2, "height": 3, "width_ratios": (1, 2.2)},
        size=(2.9 * width, 9.2),
    )
    for column, layer in enumerate(latent["layers"]):
        found_here = zip(latent["share"][column], latent["basis_roughness"][column], strict=True)
        words = [f"{100 * share:.1f} % of the variance, roughness {rough:.3g}" for share, rough in found_here]
        functions = turned(latent["basis"][column], latent["basis"][0])
        _draw_column(pictures[:, column], f"Encoder layer {layer}", functions, words)
    exact = zip(latent["eigenvalues"], latent["eigenfunction_roughness"], strict=True)
    words = [f"λ = {value:.4g}, roughness {rough:.3g}" for value, rough in exact]
    _draw_column(pictures[:, -1], "Eigenfunctions of -∇·(a∇)", latent["eigenfunctions"], words)
    image = draw_field(left, latent["coefficient"], scale_of(latent["coefficient"]))
    draw_colour_bar(figure, image, [left], fraction=0.04)
    style.title(left, f"a, test sample {int(latent['sample'])}")
    _draw_roughness(right, latent)
    return figure


def turned(functions: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return functions (count, n, n) with signs such that they correlate positively with `others`."""
    products = (functions * others).sum(axis=(1, 2), keepdims=True)
    return np.where(products < 0, -functions, functions)


def smoothing(latent: dict[str, np.ndarray]) -> str:
    """Return a text on the median roughness of the columns of the first and last shown layers."""
    medians = {layer: _quartiles(latent["roughness"])[1, layer - 1] for layer in latent["layers"]}
    if not all(np.isfinite(list(medians.values()))):
        return "Roughness: the run diverged"
    words = [f"{median:.3g} in layer {layer}" for layer, median in medians.items()]
    return f"Median roughness: {', '.join(words)}"


def _draw_column(panels, heading: str, functions: np.ndarray, captions: list[str]) -> None:
    for panel, function, about in zip(panels, functions, captions, strict=True):
        draw_field(panel, function, symmetric_scale_of(function))
        panel.set_title(about if np.isfinite(function).all() else "diverged", loc="left", fontsize=8)
    panels[0].text(0, 1.1, heading, transform=panels[0].transAxes, color=style.INK, fontweight="bold")


def _draw_roughness(panel, latent: dict[str, np.ndarray]) -> None:
    labels = []
    for name, label, colour, shift in (
        ("initial_roughness", "initial weights", style.MUTED, -0.06),
        ("roughness", "trained", style.ATTENTIONS["galerkin"][0], 0.06),
    ):
        columns = latent[name]
        numbers = np.arange(1, len(columns) + 1)
        low, median, high = _quartiles(columns)
        panel.plot(numbers + shift, columns, ".", color=colour, ms=3, alpha=0.3, mew=0)
        panel.fill_between(numbers, low, high, color=colour, alpha=0.15, lw=0)
        panel.plot(numbers, median, color=colour, lw=1.8, marker="o", ms=4)
        if np.isfinite(median[-1]):
            labels.append((median[-1], label, colour))
    for number, rough in enumerate(latent["eigenfunction_roughness"], start=1):
        panel.axhline(rough, color=style.INK, lw=0.8, ls=(0, (4, 3)))
        labels.append((rough, f"eigenfunction {number}", style.INK))
    drawn = [latent["roughness"], latent["initial_roughness"], latent["eigenfunction_roughness"]]
    style.error_limits(panel, np.concatenate([values.ravel() for values in drawn]), margin=1.15)
    panel.yaxis.set_major_formatter("{x:g}")
    panel.set(xlabel="encoder layer", ylabel="roughness of the columns")
    panel.set_xticks(numbers)
    panel.set_xlim(0.6, len(numbers) + 0.4)
    style.grid_lines(panel)
    style.title(panel, smoothing(latent))
    label_right(panel, labels)


def _quartiles(columns: np.ndarray) -> np.ndarray:
    """Return quartiles (3, layers) of (layers, width); constant columns have no roughness."""
    return pd.DataFrame(columns.T).quantile([0.25, 0.5, 0.75]).to_numpy()
