"""How often each value occurs in a dataset."""

from pathlib import Path

import numpy as np

from resolvent.figures.common.style import grid_lines, new_figure, save, title
from resolvent.figures.dataset.preview import DatasetPreview, PreviewVariable

COLUMNS = 3


def draw_dataset_histograms(card: str | Path, preview: str | Path, output: str | Path) -> list[Path]:
    """Draw a panel for each variable: the share of the values in each bin."""
    variables = DatasetPreview(card, preview).variables
    columns = min(COLUMNS, len(variables))
    rows = -(-len(variables) // columns)
    figure, axes = new_figure(rows, columns, size=(8.6, 0.3 + 2.3 * rows))
    for panel, variable in zip(axes.flat, variables, strict=False):
        _draw(panel, variable)
    for unused in axes.flat[len(variables) :]:
        unused.set_axis_off()
    axes[0, 0].set_ylabel("share of the values")
    return save(figure, output)


def _draw(panel, variable: PreviewVariable) -> None:
    counts, edges = variable.histogram["counts"], variable.histogram["edges"]
    share = counts / max(1, counts.sum())
    panel.stairs(share, edges, color=variable.colour, lw=1.2)
    panel.stairs(share, edges, color=variable.colour, alpha=0.18, fill=True)
    if np.count_nonzero(counts) > 2:  # else two values, as of a level set: a linear axis shows more
        panel.set_yscale("log")
        panel.set_ylim(bottom=share[share > 0].min() / 2)
    grid_lines(panel)
    title(panel, variable.label)
    panel.title.set(fontsize=8, color=variable.colour)
