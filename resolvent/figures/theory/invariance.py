"""The same function on twice as fine a grid, through every operator that claims not to care."""

from itertools import cycle

import pandas as pd

from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.style import COLOURS, SPARE, grid_lines, new_figure, resolution_axis, title
from resolvent.figures.theory.collection import list_fits
from resolvent.figures.theory.continuum import by_operator, fits_of, number

MARKERS = "os^DPXv<>ph"


def draw(invariance: pd.DataFrame, continuum_orders: pd.DataFrame):
    """Draw a panel for one dimension and one for two: errors between n and 2n, fitted orders beside."""
    fits = fits_of(continuum_orders, "invariance")
    claimed = invariance[invariance["claims"] & invariance["points"].notna()].astype({"points": int})
    looks = _looks(claimed)
    figure, axes = new_figure(1, 2, size=(10.4, 3.9), sharey=True)
    for panel, dimension in zip(axes[0], (1, 2), strict=True):
        _draw_operators(panel, claimed[claimed["dimension"] == dimension], fits, looks)
        title(panel, "One dimension" if dimension == 1 else "Two dimensions")
    axes[0, 0].set_ylabel("relative difference of n and 2n")
    return figure


def _draw_operators(panel, table: pd.DataFrame, fits: pd.DataFrame, looks: dict) -> None:
    words = []
    for case, group in by_operator(table):
        colour, marker = looks[_kind(case)]
        panel.plot(group["points"], group["error"], color=colour, marker=marker, ms=5, lw=1.3, mfc="none")
        words.append((f"{case}  {number(fits.loc[case, 'fitted'])} ({fits.loc[case, 'theory']:g})", colour))
    resolution_axis(panel, table["points"])
    panel.set(yscale="log", xlabel="intervals a side n")
    grid_lines(panel)
    list_fits(panel, "order fitted (theory)", words, left=1.02, top=1.0)


def _looks(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Return colour and marker of each kind of operator, the same in one dimension and in two."""
    kinds = dict.fromkeys(_kind(case) for case, _ in by_operator(table))
    return dict(zip(kinds, zip(cycle(COLOURS + SPARE), cycle(MARKERS), strict=False), strict=False))


def _kind(case: str) -> str:
    return case.replace("1d", "").replace("2d", "")


INVARIANCE = Exhibit(
    "From n to 2n points",
    "Relative L² difference, at the common points, of an operator's outputs for one smooth function on n "
    "and on 2n intervals a side, n = {invariance_points_1d} in one dimension and {invariance_points_2d} "
    "in two, half as many where all points attend to all. Small operators, untrained, their weights moved"
    " by normal numbers; only operators that claim to be discretisation-invariant.",
    draw,
)
