"""Tables 2a, 2b and 3 of Cao 2021: models by resolution, and by noise, in the units of the paper."""

import pandas as pd

from resolvent.figures.common.results import Run
from resolvent.figures.common.table import Table
from resolvent.figures.papers.cao2021.reported import TABLE_2A, TABLE_2B, TABLE_3
from resolvent.figures.papers.cao2021.side_by_side import side_by_side
from resolvent.figures.published.beside import record


def draw_burgers(comparisons: list[pd.DataFrame], experiments: list[list[Run]]) -> Table:
    """Return Table 2a, from the comparison of its experiment."""
    return side_by_side(comparisons, experiments, TABLE_2A)


def draw_darcy(comparisons: list[pd.DataFrame], experiments: list[list[Run]]) -> Table:
    """Return Table 2b, from the comparison of its experiment."""
    return side_by_side(comparisons, experiments, TABLE_2B, headings=pairs(experiments))


def draw_inverse(comparisons: list[pd.DataFrame], experiments: list[list[Run]]) -> Table:
    """Return Table 3, from the comparisons of its experiments, which differ in the noise of training."""
    return side_by_side(comparisons, experiments, TABLE_3, headings=pairs(experiments))


def pairs(experiments: list[list[Run]]) -> dict[int, str]:
    """Return headings "n = 141 (43)": points a side, and in brackets those of the coarse grid, if any."""
    found: dict[int, set[int]] = {}
    for run in (run for runs in experiments for run in runs):
        coarse = record(run.record)["coarse_points"]
        if coarse is not None:
            found.setdefault(run.resolution, set()).add(coarse)
    return {
        points: f"n = {points} ({', '.join(map(str, sorted(coarse)))})" for points, coarse in found.items()
    }
