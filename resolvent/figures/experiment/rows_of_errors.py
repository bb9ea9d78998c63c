"""Errors in rows, one panel per training resolution: means with intervals, and errors of all samples.

The axis covers the models' errors; baselines outside it are an arrow and a number.
"""

import textwrap
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from resolvent.figures.common import charts, results, style
from resolvent.figures.common.charts import Looks
from resolvent.figures.common.comparison import by_condition, mean_error
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.numbers import scientific
from resolvent.figures.experiment.comparison import grouped

HALF_HEIGHT = 0.33  # of a row of samples
LINE_WIDTH = 25  # characters per line of a name


class Row(NamedTuple):
    """A row of a model (with `key`) or a baseline: errors by sample, or a mean with its interval."""

    label: str
    key: str | None
    errors: pd.Series
    interval: tuple[float, float] = (np.nan, np.nan)

    def colour(self, looks: Looks) -> str:
        return style.BASELINE if self.key is None else looks[self.key].colour

    def beyond(self, low: float, high: float) -> bool:
        return bool(self.errors.max() < low or self.errors.min() > high)


Panels = dict[tuple, list[Row]]  # by resolution of training and test


def _panels(rows: list[tuple[tuple, Row]]) -> Panels:
    """Group rows by their grids: models, then baselines, each ordered by error."""
    panels: Panels = {place: [] for place in sorted({place for place, row in rows if row.key is not None})}
    for place, row in rows:
        if place in panels and row.errors.notna().any():
            panels[place].append(row)
    for rows_of_panel in panels.values():
        rows_of_panel.sort(key=lambda row: (row.key is None, row.errors.median()))
    return panels


def _reach(panels: Panels) -> list[float]:
    return [error for rows in panels.values() for row in rows if row.key is not None for error in row.errors]


def draw_intervals(comparison: pd.DataFrame, looks: Looks):
    """Draw one row per model with its interval, lowest error first, and baselines below."""
    rows = []
    for tested in by_condition(results.on_home_grid(comparison)):
        facts, error = tested.facts, tested.error()
        key = facts["key"] if facts["kind"] == "model" else None
        row = Row(facts["label"], key, pd.Series([error.value]), (error.low, error.high))
        rows.append(((facts["trained_resolution"], facts["test_resolution"]), row))

    def draw_row(panel, index: int, row: Row, first: Row) -> None:
        marks = looks[row.key].marks() if row.key else {"marker": "|", "color": style.BASELINE}
        low, high = row.interval
        panel.hlines(index, low, high, color=row.colour(looks), lw=1.6)
        panel.plot(row.errors, [index], ls="", ms=6 if row.key else 9, **marks)

    return _draw(_panels(rows), looks, draw_row, mean_error(comparison), charts.MARGIN, 0.27)


def draw_distributions(runs: list[results.Run], baselines: list[results.Baseline], looks: Looks):
    """Draw one row per model: quartiles, and a dot for the mean error over seeds of each sample.

    A sample has the same height in every row: ordered by the best model's error, lowest at the bottom.
    """

    def draw_row(panel, index: int, row: Row, first: Row) -> None:
        difficulty, colour = first.errors.rank(method="first"), row.colour(looks)
        height = HALF_HEIGHT * (1 - 2 * (difficulty - 1) / max(1, len(difficulty) - 1))
        panel.plot(row.errors, index + height, "o", color=colour, ms=2.6, mew=0, alpha=0.45)
        low, middle, high = np.percentile(row.errors, [25, 50, 75])
        panel.plot([low, high], [index, index], color=colour, lw=5, alpha=0.45, solid_capstyle="butt")
        panel.plot([middle, middle], [index - HALF_HEIGHT, index + HALF_HEIGHT], color=style.INK, lw=1.4)

    label = "relative L² error of a test sample"
    return _draw(_samples(runs, baselines), looks, draw_row, label, 3, 0.42, "median ")


def chart_distributions(runs: list[results.Run], baselines: list[results.Baseline], looks: Looks):
    """Chart the mean error over seeds of every test sample: one row per model, one dot per sample.

    At most as many samples as a curve has points are drawn, evenly selected by error. Errors outside the axis
    are an arrow and a number at its end.
    """
    panels = _samples(runs, baselines)
    reach = charts.around(_reach(panels))
    titles = [results.trained_and_tested(*place) for place in panels]
    figure = charts.panels_of(titles, list(panels.values()))
    for panel, rows in enumerate(panels.values(), 1):
        named: set[str] = set()
        for row in rows:
            lines = textwrap.wrap(row.label, LINE_WIDTH, break_long_words=False, break_on_hyphens=False)
            name = "<br>".join(lines)
            while name in named:  # a row of its own for a model with the label of another
                name += "\u200b"
            named.add(name)
            if row.beyond(*reach):
                value = row.errors.median()
                below, number = value < reach[0], f"median {scientific(value)}"
                figure.add_scatter(
                    x=charts.rounded([reach[0] if below else reach[1]]), y=[name], mode="text", row=panel,
                    col=1, text=[f"← {number}" if below else f"{number} →"], showlegend=False,
                    hoverinfo="skip", textposition="middle right" if below else "middle left",
                    textfont={"color": style.BASELINE},
                )  # fmt: skip
                continue
            errors, colour = row.errors.sort_values(), row.colour(looks)
            errors = errors.iloc[charts.picked(len(errors))]
            figure.add_box(
                x=charts.rounded(errors.to_list()), name=name, orientation="h", boxpoints="all",
                pointpos=0, jitter=0.6, hoveron="points", showlegend=False, row=panel, col=1,
                marker={"size": 3.5, "color": colour, "opacity": 0.55},
                line={"color": colour, "width": 1.2}, fillcolor="rgba(0,0,0,0)",
                text=[f"test sample {sample}: {scientific(error)}" for sample, error in errors.items()],
                hovertemplate=f"{row.label}<br>%{{text}}<extra></extra>",
            )  # fmt: skip
    figure.update_xaxes(**charts.LOGARITHMIC, range=charts.rounded(np.log10(reach)))
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_xaxes(title="relative L² error", row=max(1, len(panels)), col=1)
    return figure


def _samples(runs: list[results.Run], baselines: list[results.Baseline]) -> Panels:
    rows = []
    for first, *others in grouped(runs):
        tables = [run.errors for run in (first, *others)]
        errors = results.error_matrix(tables, first.home, first.noise).mean()
        rows.append(((first.resolution, first.home), Row(first.label, first.model, errors)))
    places = {place for place, _ in rows}
    for baseline in baselines:
        errors = results.error_matrix([baseline.errors], baseline.resolution, baseline.noise).mean()
        row = Row(baseline.label, None, errors)
        rows += [(place, row) for place in places if place[1] == baseline.resolution]
    return _panels(rows)


def _draw(
    panels: Panels, looks: Looks, draw_row: Callable, label: str, margin: float, height: float, number=""
):
    """Draw one panel per training resolution, with `draw_row` for every row of this `height` in inches.

    margin  factor between the ends of the axis and the models' errors.
    number  meaning of the number next to an arrow.
    """
    counts = [max(1, len(rows)) for rows in panels.values()]
    figure, axes = style.new_figure(
        len(panels), 1, size=(8.6, 0.8 + sum(0.5 + height * count for count in counts)), sharex=True,
        height_ratios=counts,
    )  # fmt: skip
    for (place, rows), panel in zip(panels.items(), axes[:, 0], strict=True):
        limits = style.error_limits(panel, _reach(panels), margin=margin, axis="x")
        style.grid_lines(panel, "x")
        style.title(panel, results.trained_and_tested(*place))
        panel.spines["left"].set_visible(False)
        panel.set_ylim(len(rows) - 0.4, -0.6)
        panel.set_yticks(range(len(rows)), [row.label for row in rows])
        panel.tick_params(axis="y", length=0)
        if not rows:
            style.say_no_errors(panel)
        for index, (tick, row) in enumerate(zip(panel.get_yticklabels(), rows, strict=True)):
            tick.set_color(row.colour(looks))
            if row.beyond(*limits):
                value = float(row.errors.median())
                above, text = bool(value > limits[0]), f"{number}{scientific(value)}"
                panel.text(
                    limits[above], index, f"{text} →" if above else f"← {text}", color=row.colour(looks),
                    va="center", ha="right" if above else "left",
                )  # fmt: skip
            else:
                draw_row(panel, index, row, rows[0])
    axes[-1, 0].set_xlabel(label)
    return figure


ERROR_INTERVALS = Exhibit(
    "Mean errors with intervals",
    "{mean_error} on the {test} test samples, on {home}, with its 95 % interval. The axis is "
    "logarithmic; the lowest error comes first. Grey: baselines without a network; an arrow marks a baseline "
    "outside the axis.",
    draw_intervals,
)
ERROR_DISTRIBUTIONS = Exhibit(
    "Errors of all test samples",
    "Relative L² error of each of the {test} test samples; each dot is the mean over seeds for one sample. "
    "Boxes of the chart reach from one quartile to the other, with a line at the median; whiskers end at "
    "most 1.5 box lengths away. The static figure has a line at the median and a bar between the quartiles; "
    "a sample has the same height in every row, with the hardest at the top.",
    draw_distributions,
    chart_distributions,
)
