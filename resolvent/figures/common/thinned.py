"""Reduce values for pages: fewer points, and four digits each."""

import math
from typing import Any

import numpy as np

CURVE_POINTS = 512  # of a curve in a page
SIDE_POINTS = 64  # along each side of a field in a page
DIGITS = 4


def picked(count: int, most: int) -> np.ndarray:
    """Return at most `most` of the indices 0, …, count - 1, evenly spaced, including both ends."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def picked_on_log_axis(count: int, most: int = CURVE_POINTS) -> np.ndarray:
    """Return at most `most` of the indices 0, …, count - 1, evenly spaced on a logarithmic axis."""
    return np.unique((np.geomspace(1, count, min(count, most)) - 1).round().astype(int))


def thinned(values: np.ndarray, dimension: int) -> np.ndarray:
    """Return values of a curve (..., n) or a field (..., n, n) at the points drawn on a page."""
    most = CURVE_POINTS if dimension == 1 else SIDE_POINTS
    for axis in range(-dimension, 0):
        values = np.take(values, picked(values.shape[axis], most), axis=axis)
    return values


def rounded(values: Any) -> Any:
    """Return nested lists of numbers with `DIGITS` digits; None replaces values that are not finite."""
    if isinstance(values, list | tuple) or (isinstance(values, np.ndarray) and values.ndim):
        return [rounded(one) for one in values]
    value = float(values)
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
