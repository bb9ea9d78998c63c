"""Four test samples on the square (as in Figure 10 of Cao 2021): input, target, prediction and error."""

from pathlib import Path

import numpy as np

from resolvent.figures.common.fields import draw_colour_bar, draw_field, scale_of, symmetric_scale_of
from resolvent.figures.common.results import read_runs
from resolvent.figures.common.style import new_figure, save, title

ROWS = ("input", "target", "prediction", "error")


def draw_sample_fields(run: str | Path, output: str | Path) -> list[Path]:
    """Draw the stored samples of one run as it was trained: a column a sample, one colour scale a row.

    Input and target may be on different grids; the error is on the target's. Target and prediction share
    their scale; errors have a symmetric one of their own.
    """
    (run,) = read_runs([run])
    samples = run.shown_samples
    fields = {row: run.shown(row) for row in ROWS[:3]}
    fields["error"] = fields["prediction"] - fields["target"]
    relative = run.shown_errors()
    figure, axes = new_figure(len(ROWS), len(samples), size=(8.6, 8.4))
    for row, panels in zip(ROWS, axes, strict=True):
        if row == "error":
            scale = symmetric_scale_of(fields["error"])
        else:
            scale = scale_of(fields["input" if row == "input" else "target"])
        for panel, field in zip(panels, fields[row], strict=True):
            image = draw_field(panel, field, scale)
        panels[0].set_ylabel(row)
        draw_colour_bar(figure, image, panels)
    for panel, sample in zip(axes[0], samples, strict=True):
        title(panel, _heading(sample, relative.get(sample, np.nan)))
        panel.title.set_fontsize(8)
    return save(figure, output)


def _heading(sample: int, relative: float) -> str:
    """Return a heading of two lines: a panel is narrow."""
    return f"test sample {sample}\n" + (f"error {relative:.2e}" if np.isfinite(relative) else "diverged")
