"""Sizes of the grids of the samplers. Does not import torch, so that configurations are checked early."""

import math


def downsampled_sizes(n: int, factor: float) -> tuple[int, int]:
    """Return the points per side, ⌊n r⌋ of the intermediate grid and ⌊⌊n r⌋ r⌋ of the coarse, r = `factor`.

    The paper's grids need r ≈ √(n_coarse/n), the smallest suitable multiple of 0.005:
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
    """Return the points per side of the coarse grid, without a minimum."""
    return _floor(_floor(n, factor), factor)


def suitable_factor(n: int, coarse: int) -> float | None:
    """Return the smallest multiple of 0.005 that leads from n points per side to `coarse`, or None."""
    return next((k / 200 for k in range(1, 201) if coarse_points(n, k / 200) == coarse), None)


def upsampled_size(n: int, factor: float) -> int:
    """Return the points per side of the up-sampler's intermediate grid: round(n r) - 1, r = `factor`."""
    return round(n * factor) - 1


def _floor(n: int, factor: float) -> int:
    return math.floor(n * factor + 1e-9)  # 100 · 0.29 < 29 in floating point
