"""Choose an adaptive discretisation for each sample, with an estimated error below a given accuracy.

A discretisation is a rung on each of several ladders, such as modes and steps. All samples start on the same
rungs. Each solution provides error estimates for its own and other rungs: from its spectrum, from runs with
different steps, or from the truncated terms of a series. If the error exceeds the accuracy, the sample is
solved again on the rungs where the estimate is small enough.

A pilot finds the first rungs: a few samples of the distribution, the same for every batch of a dataset. They
start on the rungs with the lowest total cost for these samples (`cheapest`).

No choice depends on other samples, so that results are bit-identical in any batch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from resolvent.solvers.common.errors import SolverError

AGAIN = 2.0  # relative cost of a second solution, which cannot fill all vector lanes
LOST_RUNGS = 3  # rungs climbed if a solution is not finite: about a factor of two
MOST_RUNGS = 6  # most rungs climbed at once: about a factor of four
# Lengths of fast transforms, 2^j times 4, 5 and 6, and the number of modes for them (the 2/3 rule).
MODES = tuple((points - 1) // 3 for j in range(3, 13) for points in (4 * 2**j, 5 * 2**j, 6 * 2**j))
# Finer rungs in two dimensions, where each costs more: 2^j times 16, 18, 20, 24, 27 and 30 points.
MODES_2D = tuple((points * 2**j - 1) // 3 for j in range(1, 7) for points in (16, 18, 20, 24, 27, 30))
STEPS = (8, 16, 24, *(8 * count * 2**j for j in range(10) for count in (4, 5, 6, 7)))  # multiples of 8


class Attempt(NamedTuple):
    """Solutions of some samples on one discretisation, with error estimates for each ladder.

    errors  (samples, rungs) for each ladder: estimated relative errors on each rung.
    """

    solutions: Sequence[np.ndarray]
    errors: Sequence[Float[np.ndarray, "samples rungs"]]


@dataclass(frozen=True)
class Solved:
    """The solution of every sample, its rungs, and its estimated relative error.

    work  cost of everything solved for a sample, relative to the cost of the final solution.
    """

    solutions: list[Any]
    rungs: Int[np.ndarray, "batch ladders"]
    errors: Float[np.ndarray, " batch"]
    work: Float[np.ndarray, " batch"]


def solve_to_accuracy(
    accuracy: float,
    start: Sequence[int],
    batch: int,
    attempt: Callable[[Int[np.ndarray, " some"], tuple[int, ...]], Attempt],
    cost: Callable[[tuple[int, ...]], float],
    out_of_reach: Callable[[tuple[int, ...]], str],
    stride: int = 1,
) -> Solved:
    """Solve `batch` samples to a relative error of `accuracy`.

    start         first rung on each ladder.
    attempt       solves some samples on given rungs; solutions may be not finite if these are too low.
    cost          returns the cost of a sample on given rungs.
    out_of_reach  returns the remedy for the message if the highest rungs are not enough.
    stride        climb in multiples of so many rungs, so that more samples share a rung.

    Raises `SolverError` if the highest rungs are not fine enough.
    """
    rungs = np.tile(np.array(start), (batch, 1))
    solutions: list[Any] = [None] * batch
    errors, work = np.full(batch, np.inf), np.zeros(batch)
    while (left := np.flatnonzero(errors > accuracy)).size:
        for here in map(tuple, np.unique(rungs[left], axis=0).tolist()):
            rows = left[(rungs[left] == here).all(axis=1)]
            found = attempt(rows, here)
            work[rows] += cost(here)
            lost = np.array([not np.isfinite(one).all() for one in found.solutions])
            parts = np.stack([error[:, k] for error, k in zip(found.errors, here, strict=True)], axis=1)
            errors[rows] = np.where(lost, np.inf, parts.sum(axis=1))
            for row, one in zip(rows, found.solutions, strict=True):
                solutions[row] = one
            above = errors[rows] > accuracy
            for k, error in enumerate(found.errors):
                share, top = accuracy / len(here), len(error[0])
                wanted = np.where((error <= share).any(axis=1), (error <= share).argmax(axis=1), top)
                by = np.clip(wanted - here[k], parts[:, k] > share, MOST_RUNGS)
                by = np.where(lost, LOST_RUNGS, -(-by // stride) * stride)
                rungs[rows[above], k] = here[k] + by[above]
                for row in rows[rungs[rows, k] >= top]:
                    finding = f"no discretisation reaches the accuracy {accuracy:.0e} (sample row {row})"
                    raise SolverError(finding, out_of_reach(here))
    alone = np.array([cost(tuple(row)) for row in rungs.tolist()])
    return Solved(solutions, rungs, errors, work / alone)


def first(enough: Bool[np.ndarray, "samples rungs"]) -> Int[np.ndarray, " samples"]:
    """Return the first sufficient rung for each sample, or the last rung."""
    return np.where(enough.any(axis=1), enough.argmax(axis=1), enough.shape[1] - 1)


def cheapest(
    needs: Int[np.ndarray, "samples ladders"], cost: Callable[[tuple[int, ...]], float]
) -> tuple[int, ...]:
    """Return the first rungs of minimal cost, if samples that need higher rungs are solved again."""

    def price(start: tuple[int, ...]) -> float:
        above = np.maximum(needs[(needs > start).any(axis=1)], start)
        return len(needs) * cost(start) + AGAIN * sum(cost(tuple(row)) for row in above.tolist())

    return min(product(*(np.unique(one).tolist() for one in needs.T)), key=price)


def tails(power: Float[np.ndarray, "batch modes"], ladder: Sequence[int]) -> Float[np.ndarray, "batch rungs"]:
    """Return the share of the norm in the highest eighth of the modes, for a spectrum truncated at each rung.

    power  power of wavenumbers 0, …, K. Beyond K the shares are extrapolated from the second half.
    """
    last = power.shape[1] - 1
    known = np.array([modes for modes in ladder if modes <= last])
    norm = power.sum(axis=1)
    bands = [power[:, modes + 1 - max(4, modes // 8) : modes + 1].sum(axis=1) for modes in known]
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.sqrt(np.stack(bands, axis=1) / norm[:, None])
    shares = np.where(shares > 0, shares, 1e-300)  # positive, for ratios
    half = int(np.argmax(known >= known[-1] / 2))
    span = max(1, known[-1] - known[half])
    rate = np.maximum(np.log(shares[:, half] / shares[:, -1]) / span, 1e-6)
    beyond = np.array([modes - known[-1] for modes in ladder if modes > last])
    return np.concatenate([shares, shares[:, -1:] * np.exp(-rate[:, None] * beyond)], axis=1)
