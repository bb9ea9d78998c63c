"""Choose a discretisation from an accuracy: for each sample the coarsest whose error, estimated, is below it.

A discretisation is a rung on each of several ladders: of modes, of steps. Every sample starts on the lowest
rungs and is solved again on finer ones until two of its solutions agree. What the coarser one is off by is
then their difference, D. How an error falls from rung to rung is known, in a measure m that the solver gives
for each ladder (N^{-order} of N steps, the tail of the spectrum at K modes), so that the finer one is off by

    D ρ / (1 - ρ),    ρ = m(finer rung) / m(coarser rung).

The ladders are climbed one after the other, modes first while steps are few, so that a difference is due to
one of them; a ladder whose rung has not changed keeps its estimate. Estimates count only once the difference
is small (LARGEST_DIFFERENCE), and are held to the accuracy over SAFETY. A solver guesses the error of each
solution by itself, too, from its spectrum or from two runs, and an estimate is not less than half of that:
either may be small by accident, both together hardly. The rungs of the next solution are those at which the
measures promise the accuracy, from the estimate or, before there is one, from the guess, so that all that was
solved before the last solution costs a fraction of it.

Nothing here depends on the other samples, so that a sample has the same bits in any batch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from resolvent.solvers.common.errors import SolverError, Words

SAFETY = 3.0
LARGEST_DIFFERENCE = 0.05  # of two solutions: beyond, they say nothing of an error yet
LARGEST_RATIO = 0.75  # of two measures, where solutions agree
FIRST_RUNGS = 3  # climbed while they do not: about a factor of two
MOST_RUNGS = 6  # climbed at once: about a factor of four
TAIL_GUESS = 3.0  # error over the tail of the spectrum; 13 was seen for Burgers' equation
# Points of fast transforms, 2^j times 4, 5 and 6, and the modes whose products they carry (the 2/3 rule).
MODES = tuple((points - 1) // 3 for j in range(3, 13) for points in (4 * 2**j, 5 * 2**j, 6 * 2**j))
# In two dimensions a rung costs more: 2^j times 16, 18, 20, 24, 27 and 30 points.
MODES_2D = tuple((points * 2**j - 1) // 3 for j in range(1, 7) for points in (16, 18, 20, 24, 27, 30))
STEPS = (8, 16, 24, *(8 * count * 2**j for j in range(10) for count in (4, 5, 6)))  # multiples of 8


class Attempt(NamedTuple):
    """Solutions of some samples on one discretisation, and for each ladder what is known of their errors.

    measures  (samples, rungs): the error on each rung, up to a factor.
    guesses   (samples): the error that this ladder adds, roughly.
    """

    solutions: Sequence[np.ndarray]
    measures: Sequence[Float[np.ndarray, "samples rungs"]]
    guesses: Sequence[Float[np.ndarray, " samples"]]


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
    start: Int[np.ndarray, "batch ladders"],
    sizes: Sequence[int],
    attempt: Callable[[Int[np.ndarray, " some"], tuple[int, ...]], Attempt],
    difference: Callable[[np.ndarray, np.ndarray], float],
    cost: Callable[[tuple[int, ...]], float],
    out_of_reach: Callable[[tuple[int, ...]], Words],
) -> Solved:
    """Solve every sample to a relative error of `accuracy`.

    start         the rungs where a sample begins.
    sizes         rungs of each ladder.
    attempt       solves some samples on the rungs given; a solution is not finite where they are too low.
    difference    of two solutions of a sample, the finer one second, relative to it.
    cost          of a sample on the rungs given.
    out_of_reach  says what to do where the rungs given are not enough, and there are none above.

    Raises a SolverError where the highest rungs are not fine enough.
    """
    batch, ladders = start.shape
    rungs, before = start.copy(), start.copy()
    parts = np.full((batch, ladders), np.inf)  # of the error, by ladder
    solutions: list[Any] = [None] * batch
    work = np.zeros(batch)
    left = np.arange(batch)
    share = accuracy / (SAFETY * ladders)
    while left.size:
        for here in map(tuple, np.unique(rungs[left], axis=0).tolist()):
            rows = left[(rungs[left] == here).all(axis=1)]
            found = attempt(rows, here)
            work[rows] += cost(here)
            pairs = zip(rows, found.solutions, strict=True)
            apart = np.array(
                [np.inf if solutions[row] is None else difference(solutions[row], one) for row, one in pairs]
            )
            known = apart < LARGEST_DIFFERENCE  # false of what is not a number
            moves = np.ones(len(rows), bool)
            for k, (measure, guess) in enumerate(zip(found.measures, found.guesses, strict=True)):
                changed = rungs[rows, k] != before[rows, k]
                ratio = measure[:, here[k]] / measure[np.arange(len(rows)), before[rows, k]]
                falls = np.minimum(ratio, LARGEST_RATIO)  # a spectrum of rounding errors does not
                estimate = np.maximum(apart * falls / (1 - falls), guess / 2)
                estimate = np.where(known, estimate, np.inf)
                parts[rows, k] = np.where(changed, estimate, parts[rows, k])
                error = np.where(np.isfinite(parts[rows, k]), parts[rows, k], guess)
                short = parts[rows, k] > share
                finer = _next(error, measure, here[k], share)
                rungs[rows, k] = np.where(short & moves, finer, rungs[rows, k])
                moves &= ~(short & known)
            for row, one in zip(rows, found.solutions, strict=True):
                if np.isfinite(one).all():
                    solutions[row], before[row] = one, here
            done = (parts[rows] <= share).all(axis=1)
            rungs[rows[done]] = here
            for row in rows[(rungs[rows] >= sizes).any(axis=1)]:
                finding = f"no discretisation reaches the accuracy {accuracy:.0e} (sample row {row})"
                raise SolverError(finding, out_of_reach(here))
        left = left[(parts[left] > share).any(axis=1)]
    alone = np.array([cost(tuple(row)) for row in rungs.tolist()])
    return Solved(solutions, rungs, parts.sum(axis=1), work / alone)


def _next(
    error: Float[np.ndarray, " some"], measure: Float[np.ndarray, "some rungs"], rung: int, share: float
) -> Int[np.ndarray, " some"]:
    """Return the rung of the next solution: that at which the measure promises half of what is allowed."""
    with np.errstate(invalid="ignore"):
        enough = error[:, None] * measure / measure[:, rung : rung + 1] <= share / 2
    wanted = np.where(enough.any(axis=1), enough.argmax(axis=1), measure.shape[1])
    wanted = np.clip(wanted, rung + 1, rung + MOST_RUNGS)
    return np.where(np.isfinite(error), wanted, rung + FIRST_RUNGS)


def of_order(order: int, values: Sequence[int], batch: int) -> Float[np.ndarray, "batch rungs"]:
    """Return the measure of a ladder of step counts, for a method of this order."""
    return np.broadcast_to(np.asarray(values, float) ** -order, (batch, len(values)))


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
