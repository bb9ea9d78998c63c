"""Common parts of the figures on theory: axes, and fitted and theoretical orders."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from resolvent.figures.common.numbers import DASH
from resolvent.figures.common.style import MUTED, grid_lines, resolution_axis

ORDERS = "order fitted (theory)"
DOTTED = {"color": MUTED, "lw": 1.1, "ls": (0, (2, 2))}  # theoretical lines
FIT_LINE = 0.062  # line height of the list of fits, as a fraction of the panel


def logarithmic(panel, points: pd.Series, label: str, *, small: bool = True) -> None:
    """Set logarithmic axes for these numbers of points; `small` makes their labels small."""
    resolution_axis(panel, points)
    if small:
        panel.tick_params(axis="x", labelsize=8)
    panel.set(yscale="log", xlabel=label)
    grid_lines(panel)


def guide(panel, points: pd.Series, order: float, top: float) -> None:
    """Draw a line of the given order through twice `top` at the fewest points."""
    ends = np.array([points.min(), points.max()], dtype=float)
    panel.plot(ends, 2 * top * (ends / ends[0]) ** -order, **DOTTED)


def list_fits(panel, head: str, fits: Iterable[tuple[str, str]], *, left: float, top: float) -> None:
    """List fitted orders, (text, colour), from a corner in axes fractions downwards."""
    for line, (words, colour) in enumerate([(head, MUTED), *fits]):
        y = top - FIT_LINE * line
        panel.text(left, y, words, transform=panel.transAxes, color=colour, fontsize=8.5, va="top")


def fits_of(orders: pd.DataFrame, measurement: str) -> Any:
    return orders[orders["measurement"] == measurement].set_index("case")


def number(value: float, digits: int = 2) -> str:
    return DASH if np.isnan(value) else f"{value:.{digits}f}"


def with_theory(fit: pd.Series) -> str:
    return f"{number(fit['fitted'])} ({fit['theory']:g})"
