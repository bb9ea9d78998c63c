"""Straight lines through measurements."""

from __future__ import annotations

import numpy as np


def order(points: np.ndarray, values: np.ndarray) -> float:
    """Fit p of values ≈ C pointsᵖ: the least-squares slope of the logarithms."""
    return float(np.polyfit(np.log(points), np.log(values), 1)[0])


def rate(points: np.ndarray, errors: np.ndarray, floor: float) -> float:
    """Fit ρ of errors ≈ C ρ^points to the errors above `floor` (rounding); NaN if those are under two."""
    above = errors > floor
    if above.sum() < 2:
        return float("nan")
    return float(np.exp(np.polyfit(points[above], np.log(errors[above]), 1)[0]))
