"""Test samples beside their predictions: curves of functions of one variable, images of functions of two.

As in Figures 9 and 10 of Cao 2021, and of trajectories as in Figure 6 of Calvello et al. 2024.
"""

import numpy as np
import pandas as pd

from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.fields import draw_colour_bar, draw_field, scale_of, symmetric_scale_of
from resolvent.figures.common.labels import shortened
from resolvent.figures.common.results import Run, Shown
from resolvent.figures.common.style import BASELINE, INK, MUTED, appearances, grid_lines, new_figure, title
from resolvent.figures.experiment.sample_trajectories import draw_sample_trajectories


def draw(shown: Shown, quantities: tuple[str, str]):
    """Draw the stored samples of the one run that is shown, as it was trained.

    quantities  what the input and the target are called.
    """
    run = shown.run
    if isinstance(run.resolution, str):
        return draw_sample_trajectories(run)
    fields = "y" in run.predictions_at().coords
    return (draw_sample_fields if fields else draw_sample_curves)(run, quantities)


def draw_sample_curves(run: Run, quantities: tuple[str, str]):
    """Draw the stored samples of a run at its training resolution, each over a strip of its pointwise error.

    All strips share one scale, so that a quiet strip is a good prediction. `quantities` are what the input
    and the target are called.
    """
    look = appearances([run])[run.model]
    x, samples = run.predictions_at()["x"].values, run.shown_samples
    inputs, targets, predictions = (run.shown(name) for name in ("input", "target", "prediction"))
    errors = predictions - targets
    bound = 1.1 * np.abs(errors[np.isfinite(errors)]).max(initial=0) or 1.0
    columns = min(2, len(samples))
    rows = -(-len(samples) // columns)
    figure, axes = new_figure(
        2 * rows, columns, size=(8.6, 0.5 + 2.9 * rows), sharex=True, height_ratios=[3.2, 1] * rows
    )
    relative = run.shown_errors()
    for index, sample in enumerate(samples):
        row, column = divmod(index, columns)
        panel, strip = axes[2 * row, column], axes[2 * row + 1, column]
        dashed = {"color": look.colour, "lw": 1.4, "ls": (0, (2.5, 2))}
        for values, words, style in (
            (inputs, quantities[0], {"color": BASELINE, "lw": 0.9}),
            (targets, quantities[1], {"color": INK, "lw": 1.8}),
            (predictions, "prediction", dashed),
        ):
            for number, function in enumerate(np.atleast_2d(values[index])):  # one, or several
                panel.plot(x, function, label=words if number == 0 else None, **style)
        title(panel, _heading(sample, relative, ": relative L² error "))
        panel.tick_params(labelbottom=False)
        grid_lines(panel)
        strip.axhline(0, color=MUTED, lw=0.6)
        for error in np.atleast_2d(errors[index]):
            strip.fill_between(x, error, color=look.colour, alpha=0.35, lw=0)
            strip.plot(x, error, color=look.colour, lw=0.7)
        strip.set_ylim(-bound, bound)
        strip.ticklabel_format(axis="y", style="sci", scilimits=(-2, 2), useMathText=True)
        if column == 0:
            panel.set_ylabel(shortened(quantities[1]))
            strip.set_ylabel("error")
        if row == rows - 1:
            strip.set_xlabel("x")
        else:
            strip.tick_params(labelbottom=False)
    for unused in (
        axes.flat[2 * len(samples) :] if columns == 1 else axes[-2:, -1] if len(samples) % 2 else []
    ):
        unused.set_axis_off()
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(),
        loc="outside upper center",
        ncols=3,
        frameon=False,
        fontsize=9,
    )
    return figure


def draw_sample_fields(run: Run, quantities: tuple[str, str]):
    """Draw the stored samples of one run as it was trained: a column a sample, one colour scale a row.

    Input and target may be on different grids, and several functions, which have a row each; an input that is
    constant in every sample has none. The error is on the target's grid. A target and its prediction share
    their scale; errors have a symmetric one of their own. `quantities` are what the input and the target are
    called.
    """
    samples, rows = run.shown_samples, _rows(run, quantities)
    relative = run.shown_errors()
    figure, axes = new_figure(len(rows), len(samples), size=(8.6, 2.1 * len(rows)))
    for (words, fields, scale), panels in zip(rows, axes, strict=True):
        for panel, field in zip(panels, fields, strict=True):
            image = draw_field(panel, field, scale)
        panels[0].set_ylabel(shortened(words))
        draw_colour_bar(figure, image, panels)
    for panel, sample in zip(axes[0], samples, strict=True):
        title(panel, _heading(sample, relative, "\nerror "))
        panel.title.set_fontsize(8)
    return figure


def _rows(run: Run, quantities: tuple[str, str]) -> list[tuple]:
    """Return name, fields (samples, y, x) and scale of each row."""
    given, wanted, predicted = (_channels(run.shown(name)) for name in ("input", "target", "prediction"))
    varying = [one for one in given if not np.all(one == one[:, :1, :1])] or given
    rows = [
        (_numbered(quantities[0], place, varying), one, scale_of(one)) for place, one in enumerate(varying)
    ]
    for place, (target, prediction) in enumerate(zip(wanted, predicted, strict=True)):
        scale, error = scale_of(target), prediction - target
        rows += [
            (_numbered(quantities[1], place, wanted), target, scale),
            (_numbered("prediction", place, wanted), prediction, scale),
            (_numbered("error", place, wanted), error, symmetric_scale_of(error)),
        ]
    return rows


def _channels(values: np.ndarray) -> list[np.ndarray]:
    """Return the functions of samples, (samples, [channels,] y, x), one by one."""
    return [values] if values.ndim == 3 else list(np.moveaxis(values, 1, 0))


def _numbered(name: str, place: int, of: list) -> str:
    return name if len(of) == 1 else f"{name} ({place + 1})"


def _heading(sample: int, errors: pd.Series, words: str) -> str:
    error = errors.get(sample, np.nan)
    if not np.isfinite(error):
        words = words.partition("error ")[0].replace("relative L² ", "") + "diverged"
        return f"test sample {sample}{words}"
    return f"test sample {sample}{words}{error:.2e}"


SAMPLES = Exhibit(
    "Test samples",
    "{shown}: {input}, {target}, prediction, and the pointwise error. {chosen}",
    draw,
)
