"""A few samples of a dataset as they are stored: images of fields, curves of signals."""

from pathlib import Path

import numpy as np

from resolvent.figures.common.style import grid_lines, new_figure, save, title
from resolvent.figures.dataset.preview import DatasetPreview, PreviewVariable


def draw_dataset_gallery(card: str | Path, preview: str | Path, output: str | Path) -> list[Path]:
    """Draw fields on the plane: a row for each variable, a column for each sample, one colour scale a row.

    Functions of one variable: a panel for each sample with all of them.
    """
    dataset = DatasetPreview(card, preview)
    draw = _fields if len(dataset.functions[0].dims) == 2 else _curves
    return save(draw(dataset), output)


def _fields(dataset: DatasetPreview):
    rows, columns = len(dataset.functions), len(dataset.samples)
    figure, axes = new_figure(rows, columns, size=(8.6, 0.4 + 2.05 * rows))
    for variable, row in zip(dataset.functions, axes, strict=True):
        scale = _colours(variable.samples)
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


def _colours(values: np.ndarray) -> dict:
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
