"""Mean and variance of samples in blocks, combined as in Chan, Golub and LeVeque (1983)."""

from __future__ import annotations

from typing import Any


class Moments:
    """Mean and variance of all samples added so far: numbers, NumPy arrays or tensors."""

    def __init__(self) -> None:
        self.count = 0
        self.mean: Any = 0.0
        self.variance: Any = 0.0

    def add(self, count: int, mean: Any, variance: Any) -> None:
        """Add a block of `count` samples with its mean and its population variance."""
        share = count / (self.count + count)
        shift = mean - self.mean
        self.variance = (1 - share) * self.variance + share * variance + share * (1 - share) * shift**2
        self.mean = self.mean + share * shift
        self.count += count
