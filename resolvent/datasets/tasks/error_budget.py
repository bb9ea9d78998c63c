"""Entries of error budgets: "against_…" are measured errors of a solver, which must not exceed `accuracy`."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

from resolvent.common.norms import relative_l2
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.storage.addresses import located

if TYPE_CHECKING:
    from resolvent.datasets.storage.store import Stored
    from resolvent.datasets.tasks.task import Task

CONFIDENCE = 0.95


def error_facts(errors: np.ndarray, total: int | None = None) -> dict:
    """Return a summary of errors for the card, to three digits, since further digits depend on the machine.

    If the errors belong to a random subset of `total` samples, "largest_is" states how many of all samples
    may have a larger error.
    """
    count = len(errors)
    facts = {
        "samples": count,
        "median_relative_l2": float(f"{np.median(errors):.2e}"),
        "largest_relative_l2": float(f"{np.max(errors):.2e}"),
    }
    if total is None:
        return facts
    if count == total:
        return {**facts, "of": total, "largest_is": "the largest of all samples"}
    words = (
        f"the largest of {count:,} of {total:,} samples, chosen at random; with {100 * CONFIDENCE:g} % "
        f"confidence at most {larger_at_most(count, total):,} of the {total:,} have a larger error"
    )
    return {**facts, "of": total, "largest_is": words}


def chosen_facts(chosen: dict[str, np.ndarray], names: tuple[str, ...]) -> dict:
    """Return the ranges of the adaptive choices `names` for the card, and the overhead of choosing."""
    facts: dict = {}
    for name in names:
        values = chosen[name]
        three = {"least": values.min(), "median": np.median(values), "largest": values.max()}
        facts[name] = {key: int(x) if x >= 1 else float(f"{x:.3g}") for key, x in three.items()}
    return facts | {
        "largest_estimated_error": float(f"{chosen['estimated'].max():.1e}"),
        "work_over_that_of_the_last_solution": float(f"{chosen['work'].mean():.2f}"),
    }


def larger_at_most(count: int, total: int) -> int:
    """Bound the number of `total` samples whose error exceeds the largest of `count` random samples.

    More than m samples exceed it only if none of the m + 1 largest errors was chosen. This has the
    probability C(total - m - 1, count) / C(total, count) for any distribution of errors. The bound is the
    smallest m for which it is at most 1 - `CONFIDENCE` (one-sided tolerance limit, Wilks 1941, Ann. Math.
    Statist. 12, 91, for finitely many samples).
    """
    allowed = round(1 / (1 - CONFIDENCE))  # integers, which do not overflow
    larger = 0
    while allowed * comb(total - larger - 1, count) > comb(total, count):
        larger += 1
    return larger


def stored_errors(stored: Stored, positions: list[int], reference: dict[str, np.ndarray]) -> np.ndarray:
    """Return the largest error of each sample at `positions` over all arrays of `reference`.

    Raises `DatasetError` if the reference is empty, or an array is not one of the stored arrays.
    """
    shapes = {name: (len(positions), *shape) for name, shape in stored.layout.arrays.items()}
    errors = []
    for name, values in reference.items():
        if np.shape(values) != shapes.get(name):
            raise DatasetError(
                f"the reference has an array '{name}' of shape {np.shape(values)}; accepted: "
                + ", ".join(f"'{array}' of shape {shape}" for array, shape in shapes.items())
            )
        errors.append(_errors(stored.values(name, positions), values))
    if not errors:
        raise DatasetError(f"the reference has no arrays; accepted: {', '.join(shapes)}")
    return np.max(errors, axis=0)


def _errors(values: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return the relative error of each sample; 0 for identical functions, even if they are zero."""
    same = (values == expected).reshape(len(values), -1).all(axis=1)
    return np.where(same, 0.0, relative_l2(values, expected))


def against_computed_again(task: Task, stored: Stored, positions: list[int]) -> dict:
    """Return the errors of stored samples against the same samples computed again.

    This links the stored numbers to measurements in float64. Raises `DatasetError` if an array differs by
    more than rounding.
    """
    again = task.compute(stored.names(positions))
    errors = {name: _errors(stored.values(name, positions), again[name]) for name in again}
    name = max(errors, key=lambda name: errors[name].max())
    largest = errors[name].max()
    if not largest <= np.finfo(np.float32).eps:
        raise DatasetError(
            f"{located(stored.store)} is not finalised: '{name}' differs by {largest:.1e} from the same "
            f"samples computed again; regenerate it with snakemake -R solve_{stored.store.parent.name}"
        )
    return error_facts(np.max(list(errors.values()), axis=0), stored.layout.num_samples)
