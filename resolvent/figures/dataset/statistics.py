"""How often each value occurs in a dataset, and the power of its functions by wavenumber or frequency."""

from itertools import pairwise

import numpy as np

from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.style import MUTED, grid_lines, new_figure, title
from resolvent.figures.dataset.gallery import LEGEND
from resolvent.figures.dataset.preview import DatasetPreview, PreviewVariable

COLUMNS = 3  # of panels of histograms
MOST_WAVENUMBERS = 400  # considered in the chart
DECADES = 16  # below the largest power: the rounding of what is stored


def shares_of(variable: PreviewVariable) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return the edges of the bins, the share of the values in each, and whether these have a log axis.

    Two values, as of a level set, have not: a linear axis shows more.
    """
    counts = variable.histogram["counts"]
    return variable.histogram["edges"], counts / max(1, counts.sum()), bool(np.count_nonzero(counts) > 2)


def draw_histograms(dataset: DatasetPreview):
    """Draw a panel for each variable: the share of the values in each bin."""
    variables = dataset.variables
    columns = min(COLUMNS, len(variables))
    rows = -(-len(variables) // columns)
    figure, axes = new_figure(rows, columns, size=(8.6, 0.3 + 2.3 * rows))
    for panel, variable in zip(axes.flat, variables, strict=False):
        edges, share, logarithmic = shares_of(variable)
        panel.stairs(share, edges, color=variable.colour, lw=1.2)
        panel.stairs(share, edges, color=variable.colour, alpha=0.18, fill=True)
        if logarithmic:
            panel.set_yscale("log")
            panel.set_ylim(bottom=share[share > 0].min() / 2)
        grid_lines(panel)
        title(panel, variable.label)
        panel.title.set(fontsize=8, color=variable.colour)
    for unused in axes.flat[len(variables) :]:
        unused.set_axis_off()
    axes[0, 0].set_ylabel("share of the values")
    return figure


def chart_histograms(dataset: DatasetPreview):
    """Draw the same as a chart: bars that say their bin and their share."""
    from plotly.subplots import make_subplots

    variables = dataset.variables
    titles = [variable.label for variable in variables]
    figure = make_subplots(len(variables), 1, subplot_titles=titles, vertical_spacing=0.28 / len(variables))
    for row, variable in enumerate(variables, start=1):
        edges, share, logarithmic = shares_of(variable)
        figure.add_bar(
            x=(edges[:-1] + edges[1:]) / 2, y=share, width=np.diff(edges), row=row, col=1,
            customdata=[f"{low:.3g} to {high:.3g}" for low, high in pairwise(edges)],
            marker={"color": variable.colour, "line": {"width": 0}}, showlegend=False,
            hovertemplate="%{customdata}: %{y:.3%}<extra></extra>",
        )  # fmt: skip
        kind = "log" if logarithmic else "linear"
        figure.update_yaxes(type=kind, exponentformat="power", row=row, col=1)
    figure.update_yaxes(title="share", row=1, col=1)
    figure.update_annotations(font={"size": 12})
    figure.update_layout(height=60 + 230 * len(variables), bargap=0)
    return figure


def spectra_of(dataset: DatasetPreview) -> tuple[list[PreviewVariable], float, float]:
    """Return the variables that have a spectrum, the highest power of all, and what lies above all rounding.

    The constant does not count: it has no place on a logarithmic axis.
    """
    variables = [variable for variable in dataset.functions if variable.spectrum]
    if not variables:
        return [], 1.0, 1.0
    highest = max(variable.spectrum["high"][1:].max() for variable in variables)
    lows = np.concatenate([variable.spectrum["low"] for variable in variables])
    return variables, highest, max(lows[lows > 0].min(), highest / 10**DECADES)


def draw_spectra(dataset: DatasetPreview):
    """Draw the median power over samples and the band of 5 % to 95 % quantiles, of every variable."""
    variables, highest, floor = spectra_of(dataset)
    figure, ((panel,),) = new_figure(1, 1, size=(8.6, 3.4))
    if not variables:
        words = "stored at times that are not equally spaced: no spectrum"
        panel.text(0.5, 0.5, words, transform=panel.transAxes, ha="center", va="center", color=MUTED)
        panel.set_axis_off()
        return figure
    for variable in variables:
        at, low, median, high = (
            variable.spectrum[word][1:] for word in ("wavenumber", "low", "median", "high")
        )
        panel.fill_between(at, low, high, color=variable.colour, alpha=0.18, lw=0)
        panel.plot(at, median, color=variable.colour, lw=1.5, label=variable.label)
    panel.set(xscale="log", yscale="log", ylabel="power", xlabel=str(variables[0].spectrum["axis"]))
    panel.set_ylim(floor / 2, highest * 4)
    grid_lines(panel, "both")
    panel.legend(frameon=False, fontsize=9)
    return figure


def chart_spectra(dataset: DatasetPreview):
    """Draw the same as a chart; None where there is no spectrum."""
    variables, highest, floor = spectra_of(dataset)
    if not variables:
        return None
    from plotly.graph_objects import Figure

    figure = Figure()
    for variable in variables:
        # All of the first wavenumbers but zero, ever fewer of the later; no power that is zero.
        shown = np.geomspace(1, len(variable.spectrum["wavenumber"]) - 1, MOST_WAVENUMBERS)
        shown = np.unique(shown.round().astype(int))
        shown = shown[variable.spectrum["high"][shown] > floor]
        at = variable.spectrum["wavenumber"][shown]
        low, median, high = (
            np.maximum(variable.spectrum[word][shown], floor) for word in ("low", "median", "high")
        )
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
    bounds = np.log10([floor / 2, highest * 4]).tolist()
    figure.update_yaxes(type="log", title="power", exponentformat="power", range=bounds)
    figure.update_layout(legend=LEGEND, margin={"t": 80}, height=440)
    return figure


HISTOGRAMS = Exhibit(
    "Values",
    "How often each value occurs, over up to 64 samples and all points.",
    draw_histograms,
    chart_histograms,
)
SPECTRA = Exhibit(
    "Spectra",
    "Power by wavenumber: the median over samples, and the band from the 5 % to the 95 % quantile. On a "
    "grid in space it is what the waves of a wavenumber add to the mean square.",
    draw_spectra,
    chart_spectra,
)
