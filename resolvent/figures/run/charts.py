"""The charts of the page of a run: its training, and how its errors are distributed."""

from itertools import pairwise

import numpy as np
from plotly.graph_objects import Figure

from resolvent.figures.common.charts import LOGARITHMIC, epoch_tick
from resolvent.figures.common.numbers import scientific
from resolvent.figures.common.results import Run
from resolvent.figures.common.style import Appearance
from resolvent.figures.common.thinned import CURVE_POINTS, picked, rounded

CURVES = {
    "train_relative_l2": ("training samples", "dot"),
    "validation_relative_l2": ("validation samples", "solid"),
    "test_relative_l2": ("test samples", "dash"),
}
BINS = 24
FEWEST_TICKS = 6  # of fewer samples every number has a tick, as there are no parts of one


def chart_training(run: Run, look: Appearance) -> Figure | None:
    """Chart the errors by epoch; None of a run that diverged before its first epoch ended."""
    figure = Figure()
    for column, (words, dash) in CURVES.items():
        curve = run.by_epoch(column)
        if curve.empty:
            continue
        curve = curve.iloc[picked(len(curve), CURVE_POINTS)]
        figure.add_scatter(
            x=curve.index.to_list(), y=rounded(curve.to_list()), name=words,
            mode="lines" if len(curve) > 1 else "markers", line={"color": look.colour, "dash": dash},
            hovertemplate=f"{words}, epoch %{{x}}: %{{y:.3e}}<extra></extra>",
        )  # fmt: skip
    if not figure.data:
        return None
    if not run.diverged:
        figure.add_vline(run.cost.best_epoch, line={"width": 1, "dash": "dot", "color": look.colour})
    figure.update_layout(height=380, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"})
    figure.update_yaxes(title="relative L² error", **LOGARITHMIC)
    figure.update_xaxes(title="epoch", dtick=epoch_tick([run]))
    return figure


def chart_histogram(errors: np.ndarray, look: Appearance) -> Figure:
    """Chart how many test samples have which error, in bins of equal width on a logarithmic axis."""
    logarithms = np.log10(errors)
    counts, edges = np.histogram(logarithms, bins=min(BINS, max(4, len(errors) // 4)))
    middles, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    ticks = 10 ** np.linspace(edges[0], edges[-1], 5)
    figure = Figure()
    figure.add_bar(
        x=rounded(middles), y=counts.tolist(), width=rounded(widths), marker={"color": look.colour},
        text=[f"{scientific(low)} to {scientific(high)}" for low, high in pairwise(10**edges)],
        textposition="none", hovertemplate="error %{text}<br>%{y} test samples<extra></extra>",
    )  # fmt: skip
    figure.update_layout(height=320, bargap=0.02)
    figure.update_xaxes(
        title="relative L² error of a test sample", tickvals=rounded(np.log10(ticks)),
        ticktext=[scientific(tick, 2) for tick in ticks],
    )  # fmt: skip
    figure.update_yaxes(title="test samples", dtick=1 if counts.max() < FEWEST_TICKS else None)
    return figure
