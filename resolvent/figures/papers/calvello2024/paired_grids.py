"""The same test samples on two grids: how much a model loses away from the grid that it was trained on.

Two curves of errors hide whether a sample is hard on both grids. Here the ratio is taken sample by sample, of
one trained model, and only then averaged (`resolvent/figures/common/intervals.py`).
"""

import numpy as np

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.intervals import Interval, geometric_mean
from resolvent.figures.common.labels import label_right
from resolvent.figures.common.results import Run, error_matrix
from resolvent.figures.common.style import (
    INK,
    MUTED,
    appearances,
    grid_lines,
    name_diverged,
    new_figure,
    title,
)
from resolvent.figures.papers.calvello2024.chosen import heading, lost_labels, widest_by_experiment


def draw_paired_grids(experiments: list[list[Run]]):
    """Draw a panel for each experiment: the error over that on the training grid, geometric mean.

    Bars are 95 % intervals over samples and seeds.
    """
    by_experiment = [
        [group for group in groups if _away(group)] or groups for groups in widest_by_experiment(experiments)
    ]
    looks = appearances(run for groups in by_experiment for group in groups for run in group)
    figure, axes = new_figure(len(by_experiment), 1, size=(8.6, 0.4 + 3.8 * len(by_experiment)))
    for groups, panel in zip(by_experiment, axes[:, 0], strict=True):
        _draw(panel, groups, looks)
    axes[-1, 0].set_xlabel("test resolution (points a side)")
    return figure


def paired_ratios(group: list[Run]) -> dict[int, Interval]:
    """Return the error at every other resolution over that on the training grid.

    Only seeds with finite errors at both count.
    """
    own = group[0].resolution
    found = {}
    for away in _away(group):
        rows = []
        for run in group:
            pair = [error_matrix([run.errors], where, run.noise) for where in (away, own)]
            if any(one.empty for one in pair):
                continue
            ratio = pair[0].iloc[0] / pair[1].iloc[0]
            if ratio.isna().any():
                raise ResultError(
                    f"{run.directory} was tested on other samples at {away} than at {own}: evaluate it again"
                )
            rows.append(ratio.to_numpy())
        if rows:
            found[away] = geometric_mean(np.stack(rows))
    return found


def _away(group: list[Run]) -> list[int]:
    """Return the resolutions tested beside that of training."""
    return sorted({int(one) for one in group[0].errors["resolution"].unique()} - {group[0].resolution})


def _draw(panel, groups: list[list[Run]], looks) -> None:
    found = {group[0].model: paired_ratios(group) for group in groups}
    grids = sorted({away for ratios in found.values() for away in ratios})
    labels, width = [], 0.6 / len(groups)
    for number, group in enumerate(groups):
        ratios, look = found[group[0].model], looks[group[0].model]
        if not ratios:
            continue
        x = [grids.index(away) + (number - (len(groups) - 1) / 2) * width for away in ratios]
        value, low, high = (
            np.array([getattr(one, name) for one in ratios.values()]) for name in ("value", "low", "high")
        )
        panel.vlines(x, low, high, color=look.colour, lw=1.6)
        panel.plot(x, value, ls="", ms=6, **look.marks())
        labels.append((float(value[-1]), group[0].label, look.colour))
    panel.axhline(1, color=INK, lw=0.8)
    panel.set_xticks(range(len(grids)), [str(away) for away in grids])
    panel.set_xlim(-0.5, max(len(grids), 1) - 0.5)
    panel.set_yscale("log")
    panel.set_ylabel("error there over error on the training grid")
    grid_lines(panel)
    title(panel, heading(groups[0][0]))
    label_right(panel, labels)
    if labels:
        name_diverged(panel, lost_labels(groups))
    else:
        words = "no finished model was tested on another grid"
        panel.text(0.5, 0.7, words, transform=panel.transAxes, ha="center", color=MUTED)
