"""How often each value occurs in a dataset."""

from itertools import pairwise

import numpy as np

from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.style import grid_lines, new_figure, title
from resolvent.figures.dataset.preview import DatasetPreview, PreviewVariable

COLUMNS = 3


def draw(dataset: DatasetPreview):
    """Draw a panel for each variable: the share of the values in each bin."""
    variables = dataset.variables
    columns = min(COLUMNS, len(variables))
    rows = -(-len(variables) // columns)
    figure, axes = new_figure(rows, columns, size=(8.6, 0.3 + 2.3 * rows))
    for panel, variable in zip(axes.flat, variables, strict=False):
        _draw_shares(panel, variable)
    for unused in axes.flat[len(variables) :]:
        unused.set_axis_off()
    axes[0, 0].set_ylabel("share of the values")
    return figure


def _draw_shares(panel, variable: PreviewVariable) -> None:
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


def chart(dataset: DatasetPreview):
    """Draw the same as a chart: bars that say their bin and their share."""
    from plotly.subplots import make_subplots

    variables = dataset.variables
    titles = [variable.label for variable in variables]
    figure = make_subplots(len(variables), 1, subplot_titles=titles, vertical_spacing=0.28 / len(variables))
    for row, variable in enumerate(variables, start=1):
        counts, edges = variable.histogram["counts"], variable.histogram["edges"]
        share = counts / max(1, counts.sum())
        bins = [f"{low:.3g} to {high:.3g}" for low, high in pairwise(edges)]
        figure.add_bar(
            x=(edges[:-1] + edges[1:]) / 2, y=share, width=np.diff(edges), row=row, col=1, customdata=bins,
            marker={"color": variable.colour, "line": {"width": 0}}, showlegend=False,
            hovertemplate="%{customdata}: %{y:.3%}<extra></extra>",
        )  # fmt: skip
        kind = "log" if np.count_nonzero(counts) > 2 else "linear"
        figure.update_yaxes(type=kind, exponentformat="power", row=row, col=1)
    figure.update_yaxes(title="share", row=1, col=1)
    figure.update_annotations(font={"size": 12})
    figure.update_layout(height=60 + 230 * len(variables), bargap=0)
    return figure


HISTOGRAMS = Exhibit(
    "Values",
    "How often each value occurs, over up to 64 samples and all points.",
    draw,
    chart,
)
