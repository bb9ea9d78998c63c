"""The mean error of every model and baseline with its 95 % interval: who is best, and by how much."""

from pathlib import Path

import pandas as pd

from resolvent.figures.common.comparison import Tested, by_condition, mean_error, read_comparison
from resolvent.figures.common.numbers import scientific
from resolvent.figures.common.results import on_training_grid, read_runs, resolution_in_words
from resolvent.figures.common.style import (
    BASELINE,
    appearances,
    error_limits,
    grid_lines,
    new_figure,
    save,
    say_no_errors,
    title,
)

MARGIN = 6  # of the axis beyond the models' errors, as a factor


def draw_error_intervals(comparison: str | Path, runs: list[str | Path], output: str | Path) -> list[Path]:
    """Draw a panel for each training resolution, a row a model, the lowest error first; baselines below.

    The axis is that of the models: arrows and numbers stand for baselines beyond it.
    """
    comparison = read_comparison(comparison)
    panels = rows_of_means(comparison)
    looks = appearances(read_runs(runs))
    models = [one.error().value for rows in panels.values() for one in rows if one.facts["kind"] == "model"]
    counts = [max(1, len(rows)) for rows in panels.values()]
    figure, axes = new_figure(
        len(panels), 1, size=(8.6, 0.8 + sum(0.5 + 0.27 * count for count in counts)), sharex=True,
        height_ratios=counts,
    )  # fmt: skip
    for (place, rows), panel in zip(panels.items(), axes[:, 0], strict=True):
        limits = error_limits(panel, models, margin=MARGIN, axis="x")
        grid_lines(panel, "x")
        panel.spines["left"].set_visible(False)
        panel.set_ylim(len(rows) - 0.4, -0.6)
        panel.set_yticks(range(len(rows)), [one.facts["label"] for one in rows])
        panel.tick_params(axis="y", length=0)
        title(panel, f"trained and tested on {resolution_in_words(place)}")
        if not rows:
            say_no_errors(panel)
        for index, (tick, one) in enumerate(zip(panel.get_yticklabels(), rows, strict=True)):
            error, model = one.error(), one.facts["kind"] == "model"
            colour = looks[one.facts["key"]].colour if model else BASELINE
            marks = looks[one.facts["key"]].marks() if model else {"marker": "|", "color": BASELINE}
            tick.set_color(colour)
            if not limits[0] < error.value < limits[1]:
                below, value = error.value < limits[0], scientific(error.value)
                panel.text(
                    limits[not below], index, f"← {value}" if below else f"{value} →",
                    color=colour, va="center", ha="left" if below else "right",
                )  # fmt: skip
                continue
            panel.hlines(index, error.low, error.high, color=colour, lw=1.6)
            panel.plot([error.value], [index], ls="", ms=6 if model else 9, **marks)
    axes[-1, 0].set_xlabel(mean_error(comparison))
    return save(figure, output)


def rows_of_means(comparison: pd.DataFrame) -> dict[int | str, list[Tested]]:
    """Return what has an error at each training resolution: models, the lowest first, then baselines."""
    found = by_condition(on_training_grid(comparison))
    places = sorted({one.facts["trained_resolution"] for one in found if one.facts["kind"] == "model"})
    return {
        place: sorted(
            (one for one in found if one.facts["trained_resolution"] == place and one.error().known),
            key=lambda one: (one.facts["kind"] == "baseline", one.error().value),
        )
        for place in places
    }
