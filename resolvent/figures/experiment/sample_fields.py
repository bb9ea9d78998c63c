"""Four test samples on the square (as in Figure 10 of Cao 2021): input, target, prediction and error."""

from pathlib import Path

import numpy as np

from resolvent.figures.common.fields import draw_colour_bar, draw_field, scale_of, symmetric_scale_of
from resolvent.figures.common.labels import shortened
from resolvent.figures.common.results import Run, read_runs
from resolvent.figures.common.style import new_figure, save, title


def draw_sample_fields(
    run: str | Path, output: str | Path, quantities: tuple[str, str] = ("input", "target")
) -> list[Path]:
    """Draw the stored samples of one run as it was trained: a column a sample, one colour scale a row.

    Input and target may be on different grids, and several functions, which have a row each; an input that is
    constant in every sample has none. The error is on the target's grid. A target and its prediction share
    their scale; errors have a symmetric one of their own. `quantities` are what the input and the target are
    called.
    """
    (run,) = read_runs([run])
    samples, rows = run.shown_samples, _rows(run, quantities)
    relative = run.shown_errors()
    figure, axes = new_figure(len(rows), len(samples), size=(8.6, 2.1 * len(rows)))
    for (words, fields, scale), panels in zip(rows, axes, strict=True):
        for panel, field in zip(panels, fields, strict=True):
            image = draw_field(panel, field, scale)
        panels[0].set_ylabel(shortened(words))
        draw_colour_bar(figure, image, panels)
    for panel, sample in zip(axes[0], samples, strict=True):
        title(panel, _heading(sample, relative.get(sample, np.nan)))
        panel.title.set_fontsize(8)
    return save(figure, output)


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


def _heading(sample: int, relative: float) -> str:
    """Return a heading of two lines: a panel is narrow."""
    return f"test sample {sample}\n" + (f"error {relative:.2e}" if np.isfinite(relative) else "diverged")
