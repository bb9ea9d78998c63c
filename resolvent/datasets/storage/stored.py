"""Samples of a store as a task reads them back to measure their errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from resolvent.datasets.storage.layout import Layout
from resolvent.datasets.storage.store import read_array


class Stored:
    """The samples in `store`. Positions count along the sample axis, over all splits.

    errors  of every sample, estimated when it was solved, by name: (num_samples,) each.
    """

    def __init__(self, store: Path, layout: Layout, seed: int, errors: dict[str, np.ndarray] | None = None):
        self.store, self.layout, self.seed = store, layout, seed
        self.errors = errors or {}

    def random_positions(self, count: int) -> list[int]:
        """Choose `count` different positions (or all, if there are fewer), the same for the same seed."""
        size = min(count, self.layout.num_samples)
        chosen = np.random.default_rng(self.seed).choice(self.layout.num_samples, size, replace=False)
        return sorted(map(int, chosen))

    @property
    def all_positions(self) -> range:
        """Every position."""
        return range(self.layout.num_samples)

    def names(self, positions: list[int] | range) -> list[tuple[str, int]]:
        """Give the split and the index of each position: what a task computes a sample from."""
        return [self.layout.split_of(position) for position in positions]

    def values(self, name: str, positions: list[int] | range) -> np.ndarray:
        """Read rows of the array `name`, such as "n512/final_velocity"."""
        if isinstance(positions, range):
            return read_array(self.store, name, positions)
        return np.concatenate([read_array(self.store, name, range(p, p + 1)) for p in positions])
