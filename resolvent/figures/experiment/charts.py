"""The charts of an experiment's page that one can hover over: each shows the data of a drawn figure.

A figure of plotly for each; what stands beside the pointer is written here, with the numbers of the tables.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from plotly.graph_objects import Figure
from plotly.subplots import make_subplots

from resolvent.common.counts import counted
from resolvent.figures.common.comparison import Tested, by_condition, errors_of, leading, mean_error
from resolvent.figures.common.metrics import error_in_words
from resolvent.figures.common.numbers import duration, ends, scientific
from resolvent.figures.common.results import (
    Baseline,
    Run,
    on_training_grid,
    resolution_in_words,
    with_training_noise,
)
from resolvent.figures.common.style import BASELINE, Appearance
from resolvent.figures.common.thinned import CURVE_POINTS, picked, rounded
from resolvent.figures.experiment.comparison import grouped
from resolvent.figures.experiment.error_distributions import rows_of_samples
from resolvent.figures.experiment.error_intervals import MARGIN, rows_of_means

MARKERS = {"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "P": "cross", "X": "x"}
FEW_EPOCHS = 8
LOGARITHMIC = {"type": "log", "exponentformat": "power", "showexponent": "all"}
LINE_WIDTH = 24  # characters of a name before it goes on below
ROW = 34  # pixels
Looks = dict[str, Appearance]


def chart_error_intervals(comparison: pd.DataFrame, looks: Looks) -> Figure:
    """Chart the mean error of every model and baseline on its training grid, with its 95 % interval."""
    panels = {place: rows for place, rows in rows_of_means(comparison).items() if _places(rows)}
    places, here = list(panels), list(panels.values())
    low, high = _around(one.error().value for rows in here for one in rows if one.facts["kind"] == "model")
    figure = _stacked([f"trained and tested on {resolution_in_words(one)}" for one in places], here)
    for number, rows in enumerate(here, 1):
        for one in rows:
            error, facts = one.error(), one.facts
            if not low < error.value < high:
                _add_arrow(figure, number, facts["label"], error.value, (low, high))
                continue
            figure.add_scatter(
                x=[_four(error.value)], y=[_wrapped(facts["label"])], mode="markers", row=number, col=1,
                marker=_marker(facts, looks) | {"size": 9}, showlegend=False, name=facts["label"],
                error_x={
                    "array": [_four(error.high - error.value)],
                    "arrayminus": [_four(error.value - error.low)],
                    "width": 0, "thickness": 1.6, "color": _colour(facts, looks),
                },
                text=[_words_of(one)], hovertemplate="%{text}<extra></extra>",
            )  # fmt: skip
    figure.update_xaxes(**LOGARITHMIC, range=rounded(np.log10([low, high])))
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(title=mean_error(comparison), row=max(1, len(places)), col=1)
    return figure


def chart_resolution_curves(comparison: pd.DataFrame, looks: Looks) -> Figure:
    """Chart the mean error at every test resolution: a panel a training resolution, a line a model."""
    rows = with_training_noise(errors_of(comparison, leading(comparison), "mean"))
    rows = rows[np.isfinite(rows["value"])]
    models = rows[rows["kind"] == "model"]
    baselines = rows[(rows["kind"] == "baseline") & rows["test_resolution"].isin(models["test_resolution"])]
    trained = sorted(models["trained_resolution"].unique())
    figure = panels_of([f"trained on {resolution_in_words(one)}" for one in trained])
    for number, place in enumerate(trained, 1):
        here = pd.concat([models[models["trained_resolution"] == place], baselines])
        for (_, key), group in here.groupby(["kind", "key"], sort=False):
            group = group.sort_values("test_resolution")
            facts = group.iloc[0].to_dict()
            figure.add_scatter(
                x=[str(one) for one in group["test_resolution"]], y=rounded(group["value"].to_list()),
                mode="lines+markers", name=facts["label"], legendgroup=f"{facts['kind']} {key}",
                showlegend=number == 1, marker=_marker(facts, looks), line=line_of(facts, looks),
                text=[
                    f"{row.label}<br>tested at {row.test_resolution}: {scientific(row.value)}"
                    f"<br>95 % interval {ends(row.low, row.high, row.value)}"
                    for row in group.itertuples()
                ],
                hovertemplate="%{text}<extra></extra>", row=number, col=1,
            )  # fmt: skip
    tested = sorted(models["test_resolution"].unique())
    figure.update_xaxes(type="category", categoryorder="array", categoryarray=[str(one) for one in tested])
    low, high = _around(models["value"])
    figure.update_yaxes(title=mean_error(comparison), range=rounded(np.log10([low, high])), **LOGARITHMIC)
    figure.update_xaxes(title="test resolution", row=max(1, len(trained)), col=1)
    return figure


def chart_cost(comparison: pd.DataFrame, looks: Looks) -> Figure:
    """Chart the mean error against the seconds of training; a larger marker has more parameters."""
    found = by_condition(on_training_grid(comparison))
    found = [one for one in found if one.facts["kind"] == "model" and one.error().known]
    places = _places(found)
    most = max((one.facts["parameters"] for one in found), default=1)
    figure = panels_of([f"trained and tested on {resolution_in_words(one)}" for one in places])
    for one in found:
        error, facts = one.error(), one.facts
        size = 7 + 12 * float(np.sqrt(facts["parameters"] / most))
        words = (
            f"{_words_of(one)}<br>{duration(facts['train_seconds'])}, {facts['parameters']:,.0f} parameters"
        )
        figure.add_scatter(
            x=[_four(facts["train_seconds"])], y=[_four(error.value)], mode="markers", name=facts["label"],
            marker=_marker(facts, looks) | {"size": round(size, 1)}, legendgroup=facts["key"],
            showlegend=facts["trained_resolution"] == places[0],
            error_y={
                "array": [_four(error.high - error.value)], "arrayminus": [_four(error.value - error.low)],
                "width": 0, "color": _colour(facts, looks),
            },
            text=[words], hovertemplate="%{text}<extra></extra>",
            row=1 + places.index(facts["trained_resolution"]), col=1,
        )  # fmt: skip
    figure.update_xaxes(type="log", ticksuffix=" s")
    figure.update_yaxes(title=mean_error(comparison), **LOGARITHMIC)
    figure.update_xaxes(title="training time", row=max(1, len(places)), col=1)
    return figure


def chart_error_distributions(runs: list[Run], baselines: list[Baseline], looks: Looks) -> Figure:
    """Chart the error of every test sample, the mean over seeds: a row a model, a dot a sample.

    Of more samples than a curve has points, so many are drawn, picked evenly by their error.
    """
    places = sorted({run.resolution for run in runs})
    here = [rows_of_samples(runs, baselines, looks, place) for place in places]
    figure = _stacked([f"trained and tested on {resolution_in_words(one)}" for one in places], here)
    found = [errors for rows in here for _, colour, errors in rows if colour != BASELINE]
    low, high = _around(pd.concat(found) if found else [])
    for number, rows in enumerate(here, 1):
        for label, colour, errors in rows:
            if errors.max() < low or errors.min() > high:
                _add_arrow(figure, number, label, errors.median(), (low, high), "median ")
                continue
            errors = errors.sort_values()
            errors = errors.iloc[picked(len(errors), CURVE_POINTS)]
            figure.add_box(
                x=rounded(errors.to_list()), name=_wrapped(label), orientation="h", boxpoints="all",
                pointpos=0, jitter=0.6, marker={"size": 3.5, "color": colour, "opacity": 0.55},
                showlegend=False, line={"color": colour, "width": 1.2},
                fillcolor="rgba(0,0,0,0)", hoveron="points",
                text=[f"test sample {sample}: {scientific(error)}" for sample, error in errors.items()],
                hovertemplate=f"{label}<br>%{{text}}<extra></extra>", row=number, col=1,
            )  # fmt: skip
    figure.update_xaxes(**LOGARITHMIC, range=rounded(np.log10([low, high])))
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(title="relative L² error", row=len(places), col=1)
    return figure


def chart_training_curves(runs: list[Run], looks: Looks) -> Figure:
    """Chart the error by epoch on validation and, fainter, on training samples: the median over seeds.

    A cross is the last epoch of a seed that diverged.
    """
    places = sorted({run.resolution for run in runs})
    figure = panels_of([f"trained on {resolution_in_words(one)}" for one in places])
    for group in grouped(runs):
        first, row = group[0], 1 + places.index(group[0].resolution)
        facts = {"kind": "model", "key": first.model}
        shared = {"legendgroup": first.model, "row": row, "col": 1, "name": first.label}
        named = row == 1
        for column, words, opacity in (
            ("validation_relative_l2", "validation samples", 1.0),
            ("train_relative_l2", "training samples", 0.4),
        ):
            curve = _median(run.by_epoch(column) for run in group if not run.diverged)
            if curve.empty:
                continue
            line = line_of(facts, looks) | {"width": 2 if opacity == 1 else 1}
            figure.add_scatter(
                x=curve.index.to_list(), y=rounded(curve.to_list()), line=line, opacity=opacity,
                mode="lines" if len(curve) > 1 else "markers", showlegend=named,
                hovertemplate=f"{first.label}, {words}<br>epoch %{{x}}: %{{y:.3e}}<extra></extra>",
                **shared,
            )  # fmt: skip
            named = False
        for run in group:
            curve = run.by_epoch("validation_relative_l2")
            if run.diverged and not curve.empty:
                figure.add_scatter(
                    x=[int(curve.index[-1])], y=[_four(curve.iloc[-1])], mode="markers",
                    marker={"symbol": "x", "size": 10, "color": looks[run.model].colour}, showlegend=named,
                    hovertemplate=f"{run.label}, seed {run.seed}: diverged in epoch {run.cost.diverged_epoch}"
                    "<extra></extra>",
                    **shared,
                )  # fmt: skip
                named = False
    figure.update_yaxes(title="relative L² error", **LOGARITHMIC)
    figure.update_xaxes(dtick=epoch_tick(runs))
    figure.update_xaxes(title="epoch", row=len(places), col=1)
    return figure


def epoch_tick(runs: list[Run]) -> int | None:
    """Return the step of an axis of so few epochs that it would have fractions of them; None of more."""
    return 1 if max(run.record.training["epochs"] for run in runs) <= FEW_EPOCHS else None


def _around(errors: Iterable[float]) -> tuple[float, float]:
    """Return the ends of an axis for the models' errors: baselines may be many decades away."""
    errors = [one for one in errors if np.isfinite(one) and one > 0] or [1.0]
    return min(errors) / MARGIN, max(errors) * MARGIN


def _add_arrow(
    figure: Figure, row: int, label: str, value: float, reach: tuple[float, float], words: str = ""
) -> None:
    """Add an arrow and a number, at the end of the axis, for a row that lies beyond it."""
    below, number = value < reach[0], f"{words}{scientific(value)}"
    figure.add_scatter(
        x=[_four(reach[0] if below else reach[1])], y=[_wrapped(label)], mode="text", row=row, col=1,
        text=[f"← {number}" if below else f"{number} →"], showlegend=False, hoverinfo="skip",
        textposition="middle right" if below else "middle left", textfont={"color": BASELINE},
    )  # fmt: skip


def _median(curves: Iterable[pd.Series]) -> pd.Series:
    curves = list(curves)
    if not curves:
        return pd.Series(dtype=float)
    curve = pd.concat(curves, axis=1).median(axis=1)
    return curve.iloc[picked(len(curve), CURVE_POINTS)]


def _places(found: list[Tested]) -> list[int | str]:
    """Return where models were trained, in order."""
    return sorted({one.facts["trained_resolution"] for one in found if one.facts["kind"] == "model"})


def panels_of(titles: list[str], *, one_axis: bool = False) -> Figure:
    """Return a figure with a panel below the other for each title, and one legend below."""
    figure = _subplots(titles, [1] * len(titles), one_axis)
    figure.update_layout(
        height=90 + 330 * len(titles), legend={"orientation": "h", "y": 0, "yref": "container"}
    )
    return figure


def _stacked(titles: list[str], rows: list[list]) -> Figure:
    """Return a figure of rows with names, a panel a title."""
    counts = [max(1, len(one)) for one in rows]
    figure = _subplots(titles, counts, True)
    figure.update_layout(height=100 + ROW * sum(counts) + 60 * len(titles))
    return figure


def _subplots(titles: list[str], heights: list[int], one_axis: bool) -> Figure:
    count = max(1, len(titles))
    spacing = 0.3 / count if count > 1 else 0.0
    figure = make_subplots(
        count, 1, shared_xaxes="all" if one_axis else False, row_heights=heights or [1],
        vertical_spacing=spacing, subplot_titles=titles or None,
    )  # fmt: skip
    figure.update_annotations(font_size=13)
    figure.update_layout(margin={"t": 40, "l": 10, "r": 16, "b": 50})
    figure.update_xaxes(showticklabels=True)
    return figure


def _words_of(one: Tested) -> str:
    """Return what stands beside the pointer: name, error, interval, seeds."""
    error, facts = one.error(), one.facts
    lines = [f"<b>{facts['label']}</b>", f"mean {error_in_words(one.leads)} {scientific(error.value)}"]
    if np.isfinite(error.low):
        lines.append(f"95 % interval {ends(error.low, error.high, error.value)}")
    if facts["kind"] == "model":
        lines.append(f"{counted(facts['seeds'], 'seed')}, {counted(facts['samples'], 'test sample')}")
    if facts["diverged_seeds"]:
        lines.append(facts["status"])
    return "<br>".join(lines)


def _colour(facts: dict, looks: Looks) -> str:
    return looks[facts["key"]].colour if facts["kind"] == "model" else BASELINE


def _marker(facts: dict, looks: Looks) -> dict:
    """Return the marker of the drawn figures; a baseline is a grey bar."""
    if facts["kind"] == "baseline":
        return {"symbol": "line-ns-open", "color": BASELINE, "line": {"width": 2}}
    look = looks[facts["key"]]
    symbol = MARKERS.get(look.marker, "circle") + ("" if look.filled else "-open")
    return {"symbol": symbol, "color": look.colour, "size": 7}


def line_of(facts: dict, looks: Looks) -> dict:
    """Return the line of a model, dashed with the regular layer norm, or of a baseline, dotted."""
    if facts["kind"] == "baseline":
        return {"color": BASELINE, "dash": "dot", "width": 1.3}
    look = looks[facts["key"]]
    return {"color": look.colour, "dash": "solid" if look.dashes == "-" else "dash", "width": 1.8}


def _four(value: float) -> float | None:
    return rounded(float(value))


def _wrapped(label: str) -> str:
    """Return a name on several lines, none much longer than `LINE_WIDTH`."""
    lines = [""]
    for word in label.split():
        if lines[-1] and len(lines[-1]) + len(word) > LINE_WIDTH:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "<br>".join(lines)
