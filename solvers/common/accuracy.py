"""Choose a discretisation from an accuracy: for each sample one whose error, estimated, is below it.

A discretisation is a rung on each of several ladders: of modes, of steps. All samples begin on the same
rungs, and a solution says, by itself, how large its error is on its rungs and on others: from its spectrum,
from runs with different steps, from the terms left out of a series. Where that is above the accuracy, the
sample is solved again on the rungs where it is promised to be below.

Where to begin, a pilot finds: a few samples of the distribution, the same for every batch of a dataset. The
rungs to begin on are those at which all of them, solved in this way, cost least (`cheapest`).

Nothing here depends on the other samples, so that a sample has the same bits in any batch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from resolvent.solvers.common.errors import SolverError, Words

AGAIN = 2.0  # price of a second solution: samples of different needs are not side by side
LOST_RUNGS = 3  # climbed by a sample whose solution is not finite: about a factor of two
MOST_RUNGS = 6  # climbed at once: about a factor of four
# Points of fast transforms, 2^j times 4, 5 and 6, and the modes whose products they carry (the 2/3 rule).
MODES = tuple((points - 1) // 3 for j in range(3, 13) for points in (4 * 2**j, 5 * 2**j, 6 * 2**j))
# In two dimensions a rung costs more: 2^j times 16, 18, 20, 24, 27 and 30 points.
MODES_2D = tuple((points * 2**j - 1) // 3 for j in range(1, 7) for points in (16, 18, 20, 24, 27, 30))
STEPS = (8, 16, 24, *(8 * count * 2**j for j in range(10) for count in (4, 5, 6, 7)))  # multiples of 8


class Attempt(NamedTuple):
    """Solutions of some samples on one discretisation, and for each ladder what is known of their errors.

    errors  (samples, rungs): relative to the solution, as estimated for each rung of the ladder.
    """

    solutions: Sequence[np.ndarray]
    errors: Sequence[Float[np.ndarray, "samples rungs"]]


@dataclass(frozen=True)
class Solved:
    """The solution of every sample, the rungs it was found on, and its relative error, estimated.

    work  of all that was solved for it, over that of the solution alone.
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
    out_of_reach: Callable[[tuple[int, ...]], Words],
    stride: int = 1,
) -> Solved:
    """Solve `batch` samples to a relative error of `accuracy`.

    start         the rung of each ladder where samples begin.
    attempt       solves some samples on the rungs given; a solution is not finite where they are too low.
    cost          of a sample on the rungs given.
    out_of_reach  says what to do where the rungs given are not enough, and there are none above.
    stride        rungs climbed at a time: with two, more samples are side by side on a rung.

    Raises a SolverError where the highest rungs are not fine enough.
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
    """Return the first rung that is enough for each sample, or the last."""
    return np.where(enough.any(axis=1), enough.argmax(axis=1), enough.shape[1] - 1)


def cheapest(
    needs: Int[np.ndarray, "samples ladders"], cost: Callable[[tuple[int, ...]], float]
) -> tuple[int, ...]:
    """Return the rungs to begin on, where samples that need higher ones are solved again on these."""

    def price(start: tuple[int, ...]) -> float:
        above = np.maximum(needs[(needs > start).any(axis=1)], start)
        return len(needs) * cost(start) + AGAIN * sum(cost(tuple(row)) for row in above.tolist())

    return min(product(*(np.unique(one).tolist() for one in needs.T)), key=price)


def tails(power: Float[np.ndarray, "batch modes"], ladder: Sequence[int]) -> Float[np.ndarray, "batch rungs"]:
    """Return what share of the norm the highest eighth of the modes has when a spectrum ends at each rung.

    power  of wavenumbers 0, …, K. Beyond K the shares go on falling as fast as in its second half.
    """
    last = power.shape[1] - 1
    known = np.array([modes for modes in ladder if modes <= last])
    norm = power.sum(axis=1)
    bands = [power[:, modes + 1 - max(4, modes // 8) : modes + 1].sum(axis=1) for modes in known]
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.sqrt(np.stack(bands, axis=1) / norm[:, None])
    shares = np.where(shares > 0, shares, 1e-300)  # a ratio of two needs them positive
    half = int(np.argmax(known >= known[-1] / 2))
    span = max(1, known[-1] - known[half])
    rate = np.maximum(np.log(shares[:, half] / shares[:, -1]) / span, 1e-6)
    beyond = np.array([modes - known[-1] for modes in ladder if modes > last])
    return np.concatenate([shares, shares[:, -1:] * np.exp(-rate[:, None] * beyond)], axis=1)
