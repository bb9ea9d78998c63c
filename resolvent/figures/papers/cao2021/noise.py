"""Recovering a coefficient from noisy pressures: Figures 11 and 12 of Cao 2021 (arXiv:2105.14995, C.4).

Each experiment trains at one level of noise, in units of the pointwise standard deviation of the training
pressures, and is evaluated at several. Pictures are of one run of each experiment
(`choose_shown`), one test sample and the first realisation of the noise, and the errors above them are of
just these. Curves are of all test samples and realisations.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.fields import draw_colour_bar, draw_field, scale_of
from resolvent.figures.common.labels import label_right
from resolvent.figures.common.results import Run, Shown
from resolvent.figures.common.style import (
    INK,
    error_limits,
    grid_lines,
    new_figure,
    new_stack,
    say_no_errors,
    title,
)

ROWS = {"input": "pressure", "target": "coefficient", "prediction": "recovered"}


@dataclass(frozen=True)
class NoisyRun:
    """The run of an experiment with noise, and the number of the test sample that is shown.

    `note` names the run's model where it is not the configured run, which diverged.
    """

    run: Run
    sample: int
    note: str

    @cached_property
    def errors(self) -> pd.DataFrame:
        """Errors at the training resolution: a row a level, realisation and sample."""
        errors = self.run.errors
        return errors[errors["resolution"] == self.run.resolution]

    @property
    def levels(self) -> list[float]:
        """The levels of noise that it was evaluated at."""
        return sorted(self.errors["noise"].unique())

    def field(self, name: str, level: float) -> np.ndarray:
        """Return "input", "target" or "prediction" of the shown sample, (y, x)."""
        return self.run.shown(name, level)[self.run.shown_samples.index(self.sample)]

    def error_words(self, level: float) -> str:
        """Return the relative L² error of what is shown, in words."""
        error = float(self.run.shown_errors(level)[self.sample])
        return f"error {error:.3g}" if np.isfinite(error) else "diverged"


def draw_noise_levels(each_shown: list[Shown]):
    """Draw Figure 11: a column for each level of noise, in training and evaluation alike."""
    noisy = noisy_runs(each_shown)
    figure, axes = new_figure(len(ROWS), len(noisy), size=(0.9 + 2.5 * len(noisy), 7.4))
    for (name, words), panels in zip(ROWS.items(), axes, strict=True):
        fields = [one.field(name, one.run.noise) for one in noisy]
        scale = scale_of(*(fields if name == "input" else [noisy[0].field("target", 0)]))
        for panel, field in zip(panels, fields, strict=True):
            image = draw_field(panel, field, scale)
        panels[0].set_ylabel(words)
        draw_colour_bar(figure, image, list(panels), fraction=0.03)
    for one, top, bottom in zip(noisy, axes[0], axes[-1], strict=True):
        title(top, f"noise {percent(one.run.noise)}{one.note}")
        title(bottom, one.error_words(one.run.noise))
    return figure


def draw_noise_transfer(each_shown: list[Shown]):
    """Draw Figure 12: models trained at one level of noise (a row) and evaluated at others (columns).

    The level of training is framed. Below, the mean error against the noise in evaluation, a line for each
    level in training; bands are quartiles over samples and realisations, rings mark the level of training.
    """
    from matplotlib import colormaps  # planning imports this module, and waits for no library of drawing

    noisy = noisy_runs(each_shown)
    levels = sorted({level for one in noisy for level in one.levels})
    figure, (pictures, ((target, curves),)) = new_stack(
        {"nrows": len(noisy), "ncols": len(levels), "height": 1.6 * len(noisy) + 0.5},
        {"nrows": 1, "ncols": 2, "height": 3, "width_ratios": (1, 2.6)},
        size=(max(8.6, 0.6 + 1.5 * len(levels)), 1.6 * len(noisy) + 3.5),
    )
    shades = colormaps["viridis"](np.linspace(0.05, 0.72, len(noisy)))  # the more noise, the brighter
    colours = dict(zip([one.run.noise for one in noisy], shades, strict=True))
    scale = scale_of(noisy[0].field("target", 0))
    for one, row in zip(noisy, pictures, strict=True):
        for level, panel in zip(levels, row, strict=True):
            panel.set_box_aspect(1)
            if level not in one.levels:  # an empty place where there was no such evaluation
                panel.set_axis_off()
                continue
            draw_field(panel, one.field("prediction", level), scale)
            panel.set_title(one.error_words(level), loc="left", fontsize=8.5)
            if level == one.run.noise:
                panel.spines[:].set(visible=True, color=colours[level], linewidth=2.5)
        row[0].text(
            -0.08, 0.5, f"trained at {percent(one.run.noise)}{one.note}", transform=row[0].transAxes,
            rotation=90, ha="right", va="center", color=colours[one.run.noise], fontweight="bold",
        )  # fmt: skip
    for level, panel in zip(levels, pictures[0], strict=True):
        words = f"evaluated at {percent(level)}"
        panel.text(0, 1.2, words, transform=panel.transAxes, color=INK, fontsize=8.5, fontweight="bold")
    image = draw_field(target, noisy[0].field("target", 0), scale)
    draw_colour_bar(figure, image, [target], fraction=0.04)
    title(target, "Target")
    _draw_curves(curves, noisy, levels, colours)
    title(curves, "All test samples")
    return figure


def noisy_runs(each_shown: list[Shown]) -> list[NoisyRun]:
    """Return the run shown of each experiment, by level of noise in training.

    Raises a ResultError where two have the same noise, one was not evaluated at its own, or no test sample is
    stored for all.
    """
    stored = [one.run.shown_samples for one in each_shown]
    common = [sample for sample in stored[0] if all(sample in samples for samples in stored)]
    if not common:
        raise ResultError("the experiments have no stored test sample in common: evaluate them again")
    noisy = [
        NoisyRun(one.run, int(common[0]), f"\n{one.run.label}" if one.replaces else "") for one in each_shown
    ]
    noisy.sort(key=lambda one: one.run.noise)
    for one, after in pairwise(noisy):
        if one.run.noise == after.run.noise:
            both = f"{one.run.directory} and {after.run.directory}"
            raise ResultError(f"{both} were both trained at noise {one.run.noise:g}: give one of them")
    for one in noisy:
        if one.run.noise not in one.levels:
            words = f"was trained at noise {one.run.noise:g} and evaluated at others only"
            raise ResultError(f"{one.run.directory} {words}: add {one.run.noise:g} to test_noise")
    return noisy


def percent(level: float) -> str:
    """Write 0.015 as "1.5 %"."""
    return f"{100 * level:g} %"


def _draw_curves(panel, noisy: list[NoisyRun], levels: list[float], colours: dict) -> None:
    drawn, labels = [], []
    for one in noisy:
        errors = one.errors[np.isfinite(one.errors["relative_l2"])].groupby("noise")["relative_l2"]
        mean = errors.mean()
        if mean.empty:
            continue
        colour = colours[one.run.noise]
        low, high = errors.quantile(0.25), errors.quantile(0.75)
        panel.fill_between(mean.index, low, high, color=colour, alpha=0.15, lw=0)
        panel.plot(mean.index, mean, color=colour, marker="o", ms=3.5, lw=1.5)
        panel.plot([one.run.noise], [mean[one.run.noise]], "o", ms=9, mfc="none", mec=colour, mew=1.3)
        drawn += [*mean, *low, *high]
        labels.append((float(mean.iloc[-1]), f"trained at {percent(one.run.noise)}", colour))
    positive = [level for level in levels if level > 0]
    if positive:  # zero has a place of its own, left of the first positive level
        panel.set_xscale("symlog", linthresh=positive[0], linscale=0.4)
    panel.set_xticks(levels, [percent(level) for level in levels])
    error_limits(panel, drawn, margin=1.3)
    panel.set(xlabel="noise in evaluation", ylabel="mean relative L² error")
    panel.minorticks_off()
    grid_lines(panel)
    label_right(panel, labels)
    if not drawn:
        say_no_errors(panel)
