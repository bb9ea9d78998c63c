"""The error of every test sample: is a model a little worse everywhere, or bad at a few samples?"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from resolvent.figures.common.results import error_matrix, read_baselines, read_runs, resolution_in_words
from resolvent.figures.common.style import (
    BASELINE,
    INK,
    appearances,
    error_limits,
    grid_lines,
    new_figure,
    save,
    say_no_errors,
    title,
)
from resolvent.figures.experiment.comparison import grouped

HALF_HEIGHT = 0.33


def draw_error_distributions(
    runs: Iterable[str | Path], baselines: Iterable[str | Path], output: str | Path
) -> list[Path]:
    """Draw a panel for each training resolution, a row for each model: a dot a sample, over its quartiles.

    The samples are the same in every row, and a sample keeps its height within the row: the easiest for the
    best model at the bottom, the hardest at the top. A dot is the mean over seeds.
    """
    runs, baselines = read_runs(runs), read_baselines(baselines)
    looks = appearances(runs)
    resolutions = sorted({run.resolution for run in runs})
    panels = {one: rows_of_samples(runs, baselines, looks, one) for one in resolutions}
    models = np.concatenate(
        [errors for rows in panels.values() for _, colour, errors in rows if colour != BASELINE] or [[]]
    )
    counts = [max(1, len(rows)) for rows in panels.values()]
    figure, axes = new_figure(
        len(resolutions), 1, size=(8.6, 0.8 + sum(0.5 + 0.42 * count for count in counts)), sharex=True,
        height_ratios=counts,
    )  # fmt: skip
    for resolution, panel in zip(resolutions, axes[:, 0], strict=True):
        limits = error_limits(panel, models, margin=3, axis="x")
        _draw(panel, panels[resolution], limits)
        title(panel, f"trained and tested on {resolution_in_words(resolution)}")
    axes[-1, 0].set_xlabel("relative L² error of a test sample")
    return save(figure, output)


def rows_of_samples(runs, baselines, looks, resolution) -> list[tuple[str, str, pd.Series]]:
    """Return (label, colour, errors by sample) of each row, models first, each part best first."""
    models, others = [], []
    for group in grouped(runs):
        if group[0].resolution == resolution:
            errors = error_matrix([run.errors for run in group], resolution, group[0].noise).mean()
            models.append((group[0].label, looks[group[0].model].colour, errors))
    for one in baselines:
        if one.resolution == resolution:
            others.append((one.label, BASELINE, error_matrix([one.errors], resolution, one.noise).mean()))
    return [
        row
        for part in (models, others)
        for row in sorted((row for row in part if not row[2].empty), key=lambda row: row[2].median())
    ]


def _draw(panel, rows: list[tuple[str, str, pd.Series]], limits: tuple[float, float]) -> None:
    grid_lines(panel, "x")
    panel.spines["left"].set_visible(False)
    panel.set_ylim(len(rows) - 0.4, -0.6)
    panel.set_yticks(range(len(rows)), [label for label, _, _ in rows])
    panel.tick_params(axis="y", length=0)
    if not rows:
        say_no_errors(panel)
        return
    difficulty = rows[0][2].rank(method="first")
    height = HALF_HEIGHT * (1 - 2 * (difficulty - 1) / max(1, len(difficulty) - 1))
    for index, (tick, (_, colour, errors)) in enumerate(zip(panel.get_yticklabels(), rows, strict=True)):
        tick.set_color(colour)
        tick.set_fontsize(9)
        if errors.max() < limits[0] or errors.min() > limits[1]:
            _name_outside(panel, index, errors.median(), limits)
            continue
        panel.plot(errors, index + height, "o", color=colour, ms=2.6, mew=0, alpha=0.45)
        low, middle, high = np.percentile(errors, [25, 50, 75])
        panel.plot([low, high], [index, index], color=colour, lw=5, alpha=0.45, solid_capstyle="butt")
        panel.plot([middle, middle], [index - HALF_HEIGHT, index + HALF_HEIGHT], color=INK, lw=1.4)


def _name_outside(panel, index: int, median: float, limits: tuple[float, float]) -> None:
    """Draw an arrow to where a row would be, with its median."""
    if median < limits[0]:
        panel.text(limits[0] * 1.05, index, f"← median {median:.1e}", color=BASELINE, va="center", fontsize=8)
    else:
        words = f"median {median:.1e} →"
        panel.text(limits[1] / 1.05, index, words, color=BASELINE, va="center", ha="right", fontsize=8)
