"""Histograms of a dataset's values, and power spectra of its functions."""

import numpy as np

from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.style import MUTED, grid_lines, new_figure, title
from resolvent.figures.dataset.preview import DatasetPreview

COLUMNS = 3  # of panels of histograms
DECADES = 16  # below the largest power: rounding of stored values


def draw_histograms(dataset: DatasetPreview):
    variables = dataset.variables
    columns = min(COLUMNS, len(variables))
    rows = -(-len(variables) // columns)
    figure, axes = new_figure(rows, columns, size=(8.6, 0.3 + 2.3 * rows))
    for panel, variable in zip(axes.flat, variables, strict=False):
        edges, counts = variable.histogram["edges"], variable.histogram["counts"]
        share = counts / max(1, counts.sum())
        panel.stairs(share, edges, color=variable.colour, lw=1.2)
        panel.stairs(share, edges, color=variable.colour, alpha=0.18, fill=True)
        if np.count_nonzero(counts) > 2:  # for two values, as in a level set, a linear axis is clearer
            panel.set_yscale("log")
            panel.set_ylim(bottom=share[share > 0].min() / 2)
        grid_lines(panel)
        title(panel, variable.label)
        panel.set_xlabel("value")
        panel.title.set(fontsize=8, color=variable.colour)
    for unused in axes.flat[len(variables) :]:
        unused.set_axis_off()
    axes[0, 0].set_ylabel("share of the values")
    return figure


def draw_spectra(dataset: DatasetPreview):
    """Draw the median power over samples, with the band of 5 % to 95 % quantiles, for every variable."""
    variables = [variable for variable in dataset.functions if variable.spectrum]
    figure, ((panel,),) = new_figure(1, 1, size=(8.6, 3.4))
    if not variables:
        message = "stored at points that are not equally spaced: no spectrum"
        panel.text(0.5, 0.5, message, transform=panel.transAxes, ha="center", va="center", color=MUTED)
        panel.set_axis_off()
        return figure
    for variable in variables:
        # Wavenumber zero cannot be on a logarithmic axis.
        names = ("wavenumber", "low", "median", "high")
        wavenumber, low, median, high = (variable.spectrum[name][1:] for name in names)
        panel.fill_between(wavenumber, low, high, color=variable.colour, alpha=0.18, lw=0)
        dashes = "--" if variable.role == "target" else "-"
        panel.plot(wavenumber, median, dashes, color=variable.colour, lw=1.5, label=variable.label)
    highest = max(variable.spectrum["high"][1:].max() for variable in variables)
    lows = np.concatenate([variable.spectrum["low"] for variable in variables])
    panel.set(xscale="log", yscale="log", ylabel="power", xlabel=str(variables[0].spectrum["axis"]))
    panel.set_ylim(max(lows[lows > 0].min(), highest / 10**DECADES) / 2, highest * 4)
    grid_lines(panel, "both")
    panel.legend(frameon=False, fontsize=9)
    return figure


HISTOGRAMS = Exhibit("Values", "Histograms of the values at all points of {measured}.", draw_histograms)
SPECTRA = Exhibit(
    "Spectra",
    "Power by wavenumber of {measured}{band}. Inputs are solid lines, targets dashed. On a "
    "spatial grid it is the contribution of each wavenumber to the mean square.",
    draw_spectra,
)
