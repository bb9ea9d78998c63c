"""Training loss and test error by epoch, every seed a line: Figure 8 of Cao 2021 (arXiv:2105.14995).

What the figure can show is how far runs that differ in nothing but their seed come apart, and whether some
diverge. What it cannot show is why. A run's seed draws its initial weights, the order of its samples and its
dropout masks, as in the paper's Figure 8b; with the training setting `loader_seed` the order is one for all
seeds, as in 8a, and the panels' titles say which of the two it is. Nor is the band an interval: a range
over seeds grows with their number, and the spread over the few test samples is in the tables, not here.

As in the paper, the left panel has the loss, whose H1 seminorm is weighted by gamma, averaged over an epoch
in which the weights still move and dropout is on; the right one has the relative L2 error of the test samples
after it, without dropout. They choose nothing here. Where a run has not recorded the test error
(`record_test_error`), both panels are relative L2 errors, of the training and of the validation samples.
"""

import numpy as np
import pandas as pd

from resolvent.common.counts import counted
from resolvent.figures.common.numbers import scientific
from resolvent.figures.common.results import Run
from resolvent.figures.common.style import MUTED, appearances, error_limits, grid_lines, new_figure, title
from resolvent.figures.experiment.comparison import grouped, status_of

AS_PRINTED = {
    "train_loss": "Training samples: loss, H¹ part weighted by γ",
    "test_relative_l2": "Test samples: relative L² error",
}
WITHOUT_TEST = {
    "train_relative_l2": "Training samples: relative L² error",
    "validation_relative_l2": "Validation samples: relative L² error",
}


def draw_convergence(experiments: list[list[Run]]):
    """Draw a row of two panels for each model and training resolution of each experiment.

    A thin line is a seed, the bold one their median, the band their range; seeds that diverged count in
    neither: their lines end in a cross, and the text counts them.
    """
    from matplotlib.ticker import MaxNLocator

    groups = [group for experiment in experiments for group in grouped(experiment)]
    looks = appearances(run for experiment in experiments for run in experiment)
    figure, axes = new_figure(len(groups), 2, size=(8.6, 0.4 + 3.7 * len(groups)), sharex="row", sharey="row")
    for group, pair in zip(groups, axes, strict=True):
        recorded = all(run.record.training.get("record_test_error") for run in group)
        panels = AS_PRINTED if recorded else WITHOUT_TEST
        for (column, words), panel in zip(panels.items(), pair, strict=True):
            _draw_seeds(panel, group, column, looks[group[0].model].colour)
            panel.xaxis.set_major_locator(MaxNLocator(6, integer=True))
            panel.set_xlabel("epoch")
            grid_lines(panel)
            title(panel, words)
        errors = [curve for column in panels for run in group for curve in run.by_epoch(column)]
        error_limits(pair[0], errors, margin=1.2)
        first, last = panels
        pair[0].set_ylabel("loss, relative error" if recorded else "relative L² error")
        title(pair[0], f"{group[0].label}, n = {group[0].resolution}, {varied(group)}\n{panels[first]}")
        # Below the right panel: where the seeds end, and how many did not get there.
        ends = [run.by_epoch(last).iloc[-1] for run in group if not run.diverged]
        said = []
        if ends:
            among = f", from {scientific(min(ends))} to {scientific(max(ends))}" if len(ends) > 1 else ""
            said.append(f"last epoch: median {scientific(np.median(ends))}{among}")
        if len(ends) < len(group):
            said.append(f"× {status_of(group)}")
        place = {"transform": pair[1].transAxes, "ha": "right", "va": "top", "color": MUTED, "fontsize": 8}
        pair[1].text(1, -0.19, "\n".join(said), **place)
    return figure


def varied(group: list[Run]) -> str:
    """Describe what the seeds of a group draw: "10 seeds of initial weights and sample order"."""
    one_order = group[0].record.training.get("loader_seed") is not None
    order = "initial weights, one sample order" if one_order else "initial weights and sample order"
    return f"{counted(len(group), 'seed')} of {order}"


def _draw_seeds(panel, group: list[Run], column: str, colour: str) -> None:
    finished = [run.by_epoch(column) for run in group if not run.diverged]
    for curve in finished:
        panel.plot(curve.index, curve, color=colour, lw=0.6, alpha=0.45)
    if finished:
        seeds = pd.concat(finished, axis=1)
        panel.fill_between(seeds.index, seeds.min(axis=1), seeds.max(axis=1), color=colour, alpha=0.15, lw=0)
        panel.plot(seeds.index, seeds.median(axis=1), color=colour, lw=2)
    for run in group:
        curve = run.by_epoch(column)
        if run.diverged and not curve.empty:
            panel.plot(curve.index, curve, color=MUTED, lw=0.8)
            panel.plot(curve.index[-1:], curve.iloc[-1:], "x", color=MUTED, ms=7, mew=1.8)
