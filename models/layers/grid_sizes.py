"""Sizes of the grids that the samplers go between; no torch, so that they can be checked early."""

import math


def downsampled_sizes(n: int, factor: float) -> tuple[int, int]:
    """Count the points a side of the intermediate grid, ⌊n r⌋, and the coarse grid, ⌊⌊n r⌋ r⌋, r = `factor`.

    The paper's grids need r ≈ √(n_coarse/n), the smallest multiple of 0.005 that leads there:
    141 → 78 → 43 (0.555), 211 → 113 → 61 (0.54), 141 → 71 → 36 (0.51), 211 → 123 → 71 (0.585).
    Raises `ValueError` if fewer than two points are left.
    """
    middle, coarse = _floor(n, factor), coarse_points(n, factor)
    if coarse < 2:
        raise ValueError(
            f"downsampling_factor {factor} leaves {coarse} of {n} points a side; at least 2 needed"
        )
    return middle, coarse


def coarse_points(n: int, factor: float) -> int:
    """Count the points a side of the coarse grid, however few."""
    return _floor(_floor(n, factor), factor)


def suitable_factor(n: int, coarse: int) -> float | None:
    """Find the smallest multiple of 0.005 that leads from n points a side to `coarse`; None without one."""
    return next((k / 200 for k in range(1, 201) if coarse_points(n, k / 200) == coarse), None)


def upsampled_size(n: int, factor: float) -> int:
    """Count the points a side of the up-sampler's grid below n points: round(n r) - 1, r = `factor`."""
    return round(n * factor) - 1


def _floor(n: int, factor: float) -> int:
    return math.floor(n * factor + 1e-9)  # 100 · 0.29 < 29 in floating point
