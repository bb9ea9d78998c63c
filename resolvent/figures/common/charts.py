"""Common parts of the interactive charts on pages, drawn by plotly from few points with few digits."""

import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from resolvent.figures.common.style import BASELINE, Appearance, dark_colours

MARKERS = {"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "P": "cross", "X": "x"}
LOGARITHMIC = {"type": "log", "exponentformat": "power", "showexponent": "all"}
ROW = 34  # pixels
CURVE_POINTS = 512  # of a curve in a page
SIDE_POINTS = 64  # along each side of a field in a page
DIGITS = 4
MARGIN = 6  # factor between the ends of an axis and the models' errors
Looks = dict[str, Appearance]


def plotly_chart(figure) -> dict:
    """Return data, layout and dark colours of a plotly figure, in the format of page.js."""
    text = figure.to_json()
    chart = json.loads(text)
    chart["layout"].pop("template", None)  # page.js applies the light or dark theme
    return chart | {"dark": dark_colours(text)}


def around(errors: Iterable[float]) -> tuple[float, float]:
    """Return the ends of an axis for the models' errors, without baselines, which may be decades away."""
    errors = [error for error in errors if np.isfinite(error) and error > 0] or [1.0]
    return min(errors) / MARGIN, max(errors) * MARGIN


def panels_of(titles: list[str], rows: list[list] | None = None):
    """Return a figure with one panel per title, in a column, with one legend or with named `rows`."""
    from plotly.subplots import make_subplots

    counts, count = [max(1, len(row)) for row in rows or titles], max(1, len(titles))
    height = 100 + ROW * sum(counts) + 60 * len(titles) if rows is not None else 90 + 330 * len(titles)
    figure = make_subplots(
        count, 1, shared_xaxes=False if rows is None else "all", row_heights=(rows and counts) or [1] * count,
        vertical_spacing=0.3 / count if count > 1 else 0.0, subplot_titles=titles or None,
    )  # fmt: skip
    figure.update_annotations(font_size=13)
    figure.update_layout(margin={"t": 40, "l": 10, "r": 16, "b": 50}, height=height)
    if rows is None:
        figure.update_layout(legend={"orientation": "h", "y": 0, "yref": "container"})
    figure.update_xaxes(showticklabels=True)
    return figure


def marker_of(facts: dict, looks: Looks) -> dict:
    """Return the same marker as in the static figures; a baseline is a grey bar."""
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


def picked(count: int, most: int = CURVE_POINTS, *, logarithmic: bool = False) -> np.ndarray:
    """Return at most `most` of the indices 0, …, count - 1, evenly spaced on an axis, with both ends."""
    some = min(count, most)
    places = np.geomspace(1, count, some) - 1 if logarithmic else np.linspace(0, count - 1, some)
    return np.unique(places.round().astype(int))


def thinned(values: np.ndarray, dimension: int) -> np.ndarray:
    """Return values of a curve (..., n) or a field (..., n, n) at the points drawn on a page."""
    most = CURVE_POINTS if dimension == 1 else SIDE_POINTS
    for axis in range(-dimension, 0):
        values = np.take(values, picked(values.shape[axis], most), axis=axis)
    return values


def rounded(values: Any, digits: int = DIGITS) -> Any:
    """Return nested lists of numbers with so many digits; None replaces values that are not finite."""
    if isinstance(values, list | tuple) or (isinstance(values, np.ndarray) and values.ndim):
        return [rounded(entry, digits) for entry in values]
    value = float(values)
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def resolved(values: np.ndarray) -> list:
    """Return `rounded` values of a function or an axis, with more digits if it varies little, far from 0."""
    finite = values[np.isfinite(values)].astype(float)
    largest, span = np.abs(finite).max(initial=0.0), np.ptp(finite) if finite.size else 0.0
    return rounded(values, DIGITS + (max(0, int(np.log10(largest / span))) if span > 0 else 0))
