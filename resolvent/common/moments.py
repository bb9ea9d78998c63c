"""Mean and variance of samples that come in blocks, combined as in Chan, Golub and LeVeque (1983)."""

from __future__ import annotations

from typing import Any


class Moments:
    """Keep those of all samples added: numbers, or arrays of NumPy or torch, shaped as what is added."""

    def __init__(self) -> None:
        self.count = 0
        self.mean: Any = 0.0
        self.variance: Any = 0.0

    def add(self, count: int, mean: Any, variance: Any) -> None:
        """Add a block of `count` samples; its variance is that of a population."""
        share = count / (self.count + count)
        shift = mean - self.mean
        self.variance = (1 - share) * self.variance + share * variance + share * (1 - share) * shift**2
        self.mean = self.mean + share * shift
        self.count += count
