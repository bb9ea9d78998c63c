"""Samples of a store as a task reads them back to measure their errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.storage.addresses import located
from resolvent.datasets.storage.layout import Layout
from resolvent.datasets.storage.store import read_array


class Stored:
    """The samples in `store`. Positions count along the sample axis, over all splits."""

    def __init__(self, store: Path, layout: Layout, seed: int):
        self.store, self.layout, self.seed = store, layout, seed

    def random_positions(self, count: int) -> list[int]:
        """`count` different positions (or all, if there are fewer), the same for the same seed."""
        size = min(count, self.layout.num_samples)
        chosen = np.random.default_rng(self.seed).choice(self.layout.num_samples, size, replace=False)
        return sorted(map(int, chosen))

    @property
    def all_positions(self) -> range:
        return range(self.layout.num_samples)

    def names(self, positions: list[int] | range) -> list[tuple[str, int]]:
        """Split and index of each position: what a task computes a sample from."""
        return [self.layout.split_of(position) for position in positions]

    def values(self, name: str, positions: list[int] | range) -> np.ndarray:
        """Rows of the array `name`, such as "n512/final_velocity"."""
        if isinstance(positions, range):
            return read_array(self.store, name, positions)
        return np.concatenate([read_array(self.store, name, range(p, p + 1)) for p in positions])


def against_computed_again(task, stored: Stored, positions: list[int]) -> dict:
    """Errors of what is stored in float32 against the same samples computed now: rounding, or it is damaged.

    Where a task measures its solver in float64, this ties the stored numbers to what was measured.

    Raises
    ------
    DatasetError
        When an array is farther from what is computed than rounding explains.
    """
    again = task.compute(stored.names(positions))
    errors = {name: relative_errors(stored.values(name, positions), again[name]) for name in again}
    name, largest = max(((name, error.max()) for name, error in errors.items()), key=lambda pair: pair[1])
    if not largest <= np.finfo(np.float32).eps:
        raise DatasetError(
            f"{located(stored.store)} is not finalised: '{name}' differs by {largest:.1e} from the same "
            f"samples computed again; make it again with snakemake -R solve_{stored.store.parent.name}"
        )
    return error_facts(np.max(list(errors.values()), axis=0))


def relative_errors(values: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Relative L2 error of each sample over all its points."""
    difference = (values - reference).reshape(len(values), -1)
    return np.linalg.norm(difference, axis=1) / np.linalg.norm(reference.reshape(len(values), -1), axis=1)


def error_facts(errors: np.ndarray) -> dict:
    """Errors of samples as the card states them, to three digits: the rest is the machine's rounding."""
    return {
        "samples": len(errors),
        "median_relative_l2": float(f"{np.median(errors):.2e}"),
        "largest_relative_l2": float(f"{np.max(errors):.2e}"),
    }
