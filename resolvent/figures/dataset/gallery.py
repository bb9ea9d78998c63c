"""A few samples of a dataset as they are stored: images of fields, curves of signals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.style import MUTED, grid_lines, new_figure, title
from resolvent.figures.dataset.preview import DatasetPreview, PreviewVariable

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

MOST_POINTS, MOST_SIDE = 512, 72  # of a curve, and along a side of a field, in the chart
LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom"}
PANEL = 0.94  # of a column of the chart; the rest keeps panels apart


def draw(dataset: DatasetPreview):
    """Draw fields on the plane: a row for each variable, a column for each sample, one colour scale a row.

    Functions of one variable: a panel for each sample with all of them.
    """
    drawn = _fields if len(dataset.functions[0].dims) == 2 else _curves
    return drawn(dataset)


def _fields(dataset: DatasetPreview):
    rows, columns = len(dataset.functions), len(dataset.samples)
    figure, axes = new_figure(rows, columns, size=(8.6, 0.4 + 2.05 * rows))
    for variable, row in zip(dataset.functions, axes, strict=True):
        scale = colours_of(variable.samples)
        for panel, field in zip(row, variable.samples, strict=True):
            image = panel.imshow(field, origin="lower", interpolation="nearest", **scale)
            panel.set(xticks=[], yticks=[])
            panel.spines[:].set_visible(False)
        row[0].set_ylabel(variable.label, color=variable.colour, fontsize=8)
        bar = figure.colorbar(image, ax=row, fraction=0.02, pad=0.01)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=7)
    for panel, sample in zip(axes[0], dataset.samples, strict=True):
        title(panel, sample)
    return figure


def colours_of(values: np.ndarray) -> dict:
    """Return colours: blue to red about zero for quantities of both signs, else dark to light."""
    low, high = float(values.min()), float(values.max())
    if low < 0 < high:
        bound = float(np.quantile(np.abs(values), 0.998))
        return {"cmap": "RdBu_r", "vmin": -bound, "vmax": bound}
    return {"cmap": "viridis", "vmin": low, "vmax": float(np.quantile(values, 0.998)) if low < high else high}


def _curves(dataset: DatasetPreview):
    columns = min(2, len(dataset.samples))
    rows = -(-len(dataset.samples) // columns)
    figure, axes = new_figure(rows, columns, size=(8.6, 0.6 + 2.2 * rows), sharex=True, sharey=True)
    for index, (panel, sample) in enumerate(zip(axes.flat, dataset.samples, strict=False)):
        for variable in dataset.functions:
            _curve(panel, variable, index)
        title(panel, sample)
        grid_lines(panel)
    for unused in axes.flat[len(dataset.samples) :]:
        unused.set_axis_off()
    for panel in axes[-1]:
        panel.set_xlabel(dataset.functions[0].dims[0])
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    return figure


def _curve(panel, variable: PreviewVariable, index: int) -> None:
    (dim,) = variable.dims
    width = 1.0 if variable.role == "input" else 1.6
    positions, values = variable.axes[dim], variable.samples[index]
    panel.plot(positions, values, color=variable.colour, lw=width, label=variable.label)


def chart(dataset: DatasetPreview) -> Figure:
    """Draw one sample at a time, chosen by a slider: fields beside each other, curves over each other.

    Long curves and fine fields are thinned to `MOST_POINTS` and `MOST_SIDE` points along an axis.
    """
    in_plane = len(dataset.functions[0].dims) == 2
    count = len(dataset.functions)
    figure = field_panels(count) if in_plane else _curve_panel(dataset)
    for sample in range(len(dataset.samples)):
        for column, variable in enumerate(dataset.functions):
            if in_plane:
                positions = [variable.axes[dim] for dim in variable.dims]
                scale = colours_of(variable.samples)
                add_field(
                    figure, (column, count), variable.label, *positions, variable.samples[sample], scale,
                    visible=sample == 0,
                )  # fmt: skip
            else:
                _add_curve(figure, variable, sample)
    steps = [
        {
            "label": label,
            "method": "restyle",
            "args": [{"visible": [row // count == sample for row in range(len(figure.data))]}],
        }
        for sample, label in enumerate(dataset.samples)
    ]
    slider = {"steps": steps, "currentvalue": {"prefix": "sample: "}, "pad": {"t": 50}, "bgcolor": MUTED}
    figure.update_layout(sliders=[slider])
    return figure


def field_panels(columns: int) -> Figure:
    """Return a chart with square panels side by side, for `add_field`; their scales of colours lie on top."""
    from plotly.subplots import make_subplots

    figure = make_subplots(1, columns)
    for column in range(columns):
        axis = "" if column == 0 else str(column + 1)
        domain = [column / columns, (column + PANEL) / columns]
        figure.layout[f"xaxis{axis}"].update(domain=domain, constrain="domain", showticklabels=False)
        figure.layout[f"yaxis{axis}"].update(
            scaleanchor=f"x{axis}", constrain="domain", constraintoward="top", showticklabels=False
        )
    margin = {"t": 90, "l": 20, "r": 20, "b": 20}
    figure.update_layout(height=250 + 640 // columns, margin=margin)
    return figure


def add_field(
    figure, place: tuple[int, int], words: str, y, x, values, scale: dict, visible: bool = True
) -> None:
    """Add a field [y, x] to the panels, at `place` (column, of how many), with the `scale` of its colours."""
    column, columns = place
    stride = -(-max(values.shape) // MOST_SIDE)
    bar = {
        "orientation": "h", "x": (column + PANEL / 2) / columns, "y": 1, "yanchor": "bottom", "thickness": 10,
        "len": PANEL / columns, "title": {"text": words, "side": "top"}, "ypad": 6, "nticks": 4,
    }  # fmt: skip
    figure.add_heatmap(
        x=_short(x[::stride]), y=_short(y[::stride]), z=_short(values[::stride, ::stride]),
        row=1, col=column + 1, zmin=scale["vmin"], zmax=scale["vmax"], visible=visible, colorbar=bar,
        colorscale="RdBu_r" if scale["cmap"] == "RdBu_r" else "Viridis",
        hovertemplate="x %{x:.3f}, y %{y:.3f}<br>%{z:.4g}<extra></extra>",
    )  # fmt: skip


def _curve_panel(dataset: DatasetPreview) -> Figure:
    from plotly.graph_objects import Figure

    figure = Figure()
    figure.update_xaxes(title=dataset.functions[0].dims[0])
    figure.update_layout(height=460, legend=LEGEND, margin={"t": 80})
    return figure


def _add_curve(figure: Figure, variable: PreviewVariable, sample: int) -> None:
    (dim,) = variable.dims
    stride = -(-len(variable.axes[dim]) // MOST_POINTS)
    figure.add_scatter(
        x=_short(variable.axes[dim][::stride]), y=_short(variable.samples[sample][::stride]),
        mode="lines", name=variable.label, line={"color": variable.colour}, visible=sample == 0,
        hovertemplate=f"{dim} %{{x:.4g}}<br>{variable.name} %{{y:.4g}}<extra></extra>",
    )  # fmt: skip


def _short(values: np.ndarray) -> np.ndarray:
    """Return the values in single precision: more than a chart shows, in half the bytes."""
    return np.asarray(values, np.float32)


GALLERY = Exhibit(
    "Samples",
    "A few samples as stored: the operator's input, and its target.",
    draw,
    chart,
)
