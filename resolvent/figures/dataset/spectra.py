"""Power by wavenumber or frequency: how smooth are the inputs and the targets of a dataset?"""

import math

import numpy as np

from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.style import MUTED, grid_lines, new_figure
from resolvent.figures.dataset.gallery import LEGEND
from resolvent.figures.dataset.preview import DatasetPreview, PreviewVariable

MOST_WAVENUMBERS = 400  # considered in the chart
DECADES = 16  # below the largest power: the rounding of what is stored


def draw(dataset: DatasetPreview):
    """Draw the median power over samples and the band of 5 % to 95 % quantiles, of every variable."""
    variables = [variable for variable in dataset.functions if variable.spectrum]
    figure, ((panel,),) = new_figure(1, 1, size=(8.6, 3.4))
    if not variables:
        words = "stored at times that are not equally spaced: no spectrum"
        panel.text(0.5, 0.5, words, transform=panel.transAxes, ha="center", va="center", color=MUTED)
        panel.set_axis_off()
        return figure
    highest = max(variable.spectrum["high"][1:].max() for variable in variables)
    lowest = min(_positive(variable.spectrum["low"]).min() for variable in variables)
    for variable in variables:
        _draw_power(panel, variable)
    panel.set(xscale="log", yscale="log", ylabel="power")
    panel.set_xlabel(str(variables[0].spectrum["axis"]))
    panel.set_ylim(max(lowest, highest / 10**DECADES) / 2, highest * 4)
    grid_lines(panel, "both")
    panel.legend(frameon=False, fontsize=9)
    return figure


def _draw_power(panel, variable: PreviewVariable) -> None:
    """Draw all but the constant, which has no place on a logarithmic axis."""
    spectrum = {word: values[1:] for word, values in variable.spectrum.items() if word != "axis"}
    at = spectrum["wavenumber"]
    panel.fill_between(at, spectrum["low"], spectrum["high"], color=variable.colour, alpha=0.18, lw=0)
    panel.plot(at, spectrum["median"], color=variable.colour, lw=1.5, label=variable.label)


def _positive(values: np.ndarray) -> np.ndarray:
    return values[values > 0]


def chart(dataset: DatasetPreview):
    """Draw the same as a chart; None where there is no spectrum."""
    variables = [variable for variable in dataset.functions if variable.spectrum]
    if not variables:
        return None
    from plotly.graph_objects import Figure

    figure = Figure()
    highest = max(variable.spectrum["high"][1:].max() for variable in variables)
    lowest = min(_positive(variable.spectrum["low"]).min() for variable in variables)
    for variable in variables:
        shown = _thinned(len(variable.spectrum["wavenumber"]))
        at, low, median, high = (
            variable.spectrum[word][shown] for word in ("wavenumber", "low", "median", "high")
        )
        floor = max(lowest, highest / 10**DECADES)  # a power of zero has no place on this axis
        at, low, median, high = (values[high > floor] for values in (at, low, median, high))
        low, median, high = (np.maximum(values, floor) for values in (low, median, high))
        figure.add_scatter(
            x=[*at, *at[::-1]], y=[*high, *low[::-1]], fill="toself", fillcolor=variable.colour, opacity=0.18,
            line={"width": 0}, hoverinfo="skip", showlegend=False, legendgroup=variable.name,
        )  # fmt: skip
        figure.add_scatter(
            x=at, y=median, mode="lines", name=variable.label, line={"color": variable.colour},
            legendgroup=variable.name, customdata=list(zip(low, high, strict=True)),
            hovertemplate="%{x:.4g}: %{y:.2e}<br>5 % to 95 %: %{customdata[0]:.2e} to %{customdata[1]:.2e}",
        )  # fmt: skip
    figure.update_xaxes(type="log", title=str(variables[0].spectrum["axis"]))
    bounds = [math.log10(max(lowest, highest / 10**DECADES) / 2), math.log10(highest * 4)]
    figure.update_yaxes(type="log", title="power", exponentformat="power", range=bounds)
    figure.update_layout(legend=LEGEND, margin={"t": 80}, height=440)
    return figure


def _thinned(count: int) -> np.ndarray:
    """Return the wavenumbers shown, without zero: all of the first, ever fewer of the later."""
    return np.unique(np.geomspace(1, count - 1, MOST_WAVENUMBERS).round().astype(int))


SPECTRA = Exhibit(
    "Spectra",
    "Power by wavenumber: the median over samples, and the band from the 5 % to the 95 % quantile. On a "
    "grid in space it is what the waves of a wavenumber add to the mean square.",
    draw,
    chart,
)
