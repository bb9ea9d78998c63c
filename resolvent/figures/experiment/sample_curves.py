"""Four test samples (as in Figure 9 of Cao 2021): input, target, prediction and where it is wrong."""

from pathlib import Path

import numpy as np

from resolvent.figures.common.labels import shortened
from resolvent.figures.common.results import read_runs
from resolvent.figures.common.style import (
    BASELINE,
    INK,
    MUTED,
    appearances,
    grid_lines,
    new_figure,
    save,
    title,
)


def draw_sample_curves(
    run: str | Path, output: str | Path, quantities: tuple[str, str] = ("input", "target")
) -> list[Path]:
    """Draw the stored samples of a run at its training resolution, each over a strip of its pointwise error.

    All strips share one scale, so that a quiet strip is a good prediction. `quantities` are what the input
    and the target are called.
    """
    (run,) = read_runs([run])
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
        title(panel, _heading(sample, relative.get(sample, np.nan)))
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
    return save(figure, output)


def _heading(sample: int, relative: float) -> str:
    return f"test sample {sample}: " + (
        f"relative L² error {relative:.2e}" if np.isfinite(relative) else "diverged"
    )
