"""Figures 10 and 11 of Calvello et al. 2024: error against parameters, and against operations."""

import numpy as np
import pandas as pd

from resolvent.figures.common.comparison import errors_of
from resolvent.figures.common.labels import label_right
from resolvent.figures.common.results import Run, on_training_grid, resolution_in_words
from resolvent.figures.common.style import (
    MUTED,
    Appearance,
    appearances,
    error_limits,
    grid_lines,
    new_figure,
    say_no_errors,
    title,
)
from resolvent.figures.papers.calvello2024.chosen import families
from resolvent.figures.published.beside import example_of


def draw_against_parameters(comparisons: list[pd.DataFrame], experiments: list[list[Run]]):
    """Draw Figure 10: a panel for each experiment; a complex parameter counts once, as in the paper."""
    return _draw(comparisons, experiments, "parameters_complex_once", "parameters, a complex one as one")


def draw_against_operations(comparisons: list[pd.DataFrame], experiments: list[list[Run]]):
    """Draw Figure 11: a panel for each experiment; operations as `resolvent.training.operations` counts."""
    return _draw(comparisons, experiments, "forward_flop", "counted operations of a forward pass")


def _draw(comparisons: list[pd.DataFrame], experiments: list[list[Run]], cost: str, words: str):
    """Draw a line for each architecture through its widths; one of a single width only if all are such."""
    shown = [_of_several_widths(families(one)) for one in experiments]
    looks = _looks(experiments, shown)
    figure, axes = new_figure(len(shown), 1, size=(8.6, 0.4 + 3.2 * len(shown)), sharex=True)
    labels = []
    for panel, comparison, one, lines in zip(axes[:, 0], comparisons, experiments, shown, strict=True):
        table = errors_of(comparison, "standardised_relative_l2", "median")
        table = on_training_grid(table)
        finest = max(run.resolution for run in one)
        table = table[(table["trained_resolution"] == finest) & np.isfinite(table["value"])]
        table = table[np.isfinite(table[cost])].set_index("key")
        title(panel, f"{example_of(one[0].record).title}, {resolution_in_words(finest)}")
        panel.set(xscale="log", ylabel="median relative L² error")
        grid_lines(panel, "both")
        widths = {run.model: run.record.settings.get("width") for run in one}
        labels.append([_draw_line(panel, table, line, looks[line[-1]], cost, widths) for line in lines])
        drawn = table.index.isin([key for line in lines for key in line])
        error_limits(panel, table.loc[drawn, "value"], margin=1.6)
    axes[-1, 0].set_xlabel(words)
    for panel, of_panel in zip(axes[:, 0], labels, strict=True):
        named = [label for label in of_panel if label is not None]
        label_right(panel, named)
        if not named:
            say_no_errors(panel)
    return figure


def _of_several_widths(lines: list[list[str]]) -> list[list[str]]:
    return [line for line in lines if len(line) > 1] or lines


def _looks(loaded: list[list[Run]], shown: list[list[list[str]]]) -> dict[str, Appearance]:
    """Return the look of the widest model of each line, the same in every panel."""
    widest = {line[-1] for lines in shown for line in lines}
    return appearances(run for runs in loaded for run in runs if run.model in widest)


def _draw_line(
    panel, table: pd.DataFrame, line: list[str], look: Appearance, cost: str, widths: dict[str, int]
) -> tuple[float, str, str] | None:
    """Draw the line with its intervals, a width at each point; return the label of its widest model."""
    rows = table.loc[[key for key in line if key in table.index]]
    if rows.empty:
        return None
    x, median = rows[cost], rows["value"]
    panel.plot(x, median, color=look.colour, lw=1.4, zorder=3)
    panel.vlines(x, rows["low"], rows["high"], color=look.colour, lw=1.1, zorder=2)
    panel.plot(x, median, ls="", ms=6, zorder=4, **look.marks())
    for key, place, error in zip(rows.index, x, median, strict=True):
        panel.annotate(
            f"{widths[key]}", (place, error), xytext=(4, 4), textcoords="offset points", color=MUTED,
            fontsize=7.5,
        )  # fmt: skip
    return (float(median.iloc[-1]), str(rows["label"].iloc[-1]), look.colour)
