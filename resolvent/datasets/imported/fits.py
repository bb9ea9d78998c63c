"""Fit an equation's own parameters to solutions made elsewhere: which values, if any, would explain them.

An equation says which parameters are searched, `Searched`, and gives the errors of the labels solved again
with other values of them. Its cheap solver may not reach all of these: where a search has to leave its range,
the other one takes over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from resolvent.common.errors import Words
from resolvent.datasets.tasks.error_budget import error_facts
from resolvent.solvers.common.errors import SolverError

EXPLAINED = 1e-4  # mean error of a fit that needs no other
UNSOLVED = 1e9  # stands for the error where nothing is solved: the search would subtract infinities

# From values by name, and whether the cheap solver alone may be taken, to the error of each sample. Raises a
# SolverError where the solver cannot.
Errors = Callable[[dict[str, float], bool], np.ndarray]


@dataclass(frozen=True)
class Searched:
    """A parameter that is searched by factors.

    around     the value that is stated, or the middle of the search.
    unit       what the value is multiplied by where it is reported.
    reach      it is sought up to so many times smaller or larger.
    scanned    at so many values first.
    tolerance  of its logarithm.
    most       evaluations after these, of the cheap solver and of the other.
    """

    name: str
    around: float
    unit: float = 1.0
    reach: float = 16.0
    scanned: int = 17
    tolerance: float = 1e-8
    most: tuple[int, int] = (100, 20)


def best_fits(errors: Errors, searched: list[Searched]) -> dict[str, dict]:
    """Find the best value of each parameter alone, at those stated of the others, and of both together.

    Each entry has the values and the errors of these samples' solutions there. The parameters that are
    costly to search come first: their other solver is no news where a later one explains the solutions.
    """
    stated, widest = np.log([(one.around, one.reach) for one in searched]).T

    def at(logarithms: np.ndarray, cheaply: bool = False) -> np.ndarray:
        values = np.exp(np.clip(logarithms, stated - widest, stated + widest))
        try:
            return errors(dict(zip((one.name for one in searched), values.tolist(), strict=True)), cheaply)
        except SolverError:
            return np.array([np.inf])

    starts, explained, found = [stated] * len(searched), False, {}
    for number in reversed(range(len(searched))):
        along = np.eye(len(searched))[number]

        def error(shift: float, cheaply: bool, along: np.ndarray = along) -> float:
            return float(at(stated + shift * along, cheaply).mean())

        shift = least(error, searched[number], costly=not explained)
        starts[number] = stated + shift * along
        explained = explained or bool(at(starts[number]).mean() <= EXPLAINED)
    for number, one in enumerate(searched):
        value = {one.name: np.exp(starts[number][number]) * one.unit}
        found[f"{one.name}_that_fits_best"] = fitted(at(starts[number]), value)
    if len(searched) > 1:
        from scipy.optimize import minimize

        start = min(starts, key=lambda start: at(start).mean())
        simplex = start + np.vstack([np.zeros(len(searched)), 0.1 * np.eye(len(searched))])
        both = minimize(
            lambda logarithms: min(at(logarithms).mean(), UNSOLVED),
            start,
            method="Nelder-Mead",
            options={"initial_simplex": simplex, "maxfev": 150, "xatol": 1e-7, "fatol": 1e-14},
        ).x
        both = np.clip(both, stated - widest, stated + widest)
        values = {one.name: np.exp(both[number]) * one.unit for number, one in enumerate(searched)}
        found["both_that_fit_best_together"] = fitted(at(both), values)
    return found


def least(error: Callable[[float, bool], float], one: Searched, costly: bool = True) -> float:
    """Find the shift of a parameter's logarithm, within its reach, at which `error` is least.

    Where the cheap solver reaches it alone is tried, unless the error falls up to the end of its range, and
    the other may be taken.
    """
    from scipy.optimize import minimize_scalar

    scanned = np.linspace(-np.log(one.reach), np.log(one.reach), one.scanned)
    found = np.array([error(shift, True) for shift in scanned])
    first = int(np.argmax(np.isfinite(found)))
    cheaply = bool(np.isfinite(found).any() and (np.argmin(found) > first or not costly))
    if not cheaply:
        found = np.array(
            [each if np.isfinite(each) else error(s, False) for each, s in zip(found, scanned, strict=True)]
        )
    best = int(np.argmin(found))
    refined = minimize_scalar(
        lambda shift: min(error(shift, cheaply), UNSOLVED),
        bounds=(scanned[max(0, best - 1)], scanned[min(one.scanned - 1, best + 1)]),
        method="bounded",
        options={"xatol": one.tolerance, "maxiter": one.most[0 if cheaply else 1]},
    ).x
    return min((float(refined), float(scanned[best]), 0.0), key=lambda shift: error(shift, False))


def fitted(errors: np.ndarray, values: dict[str, float], digits: int = 5) -> dict:
    """Return values that fit best, for the card, with the errors there."""
    numbers = {name: float(f"{value:.{digits}g}") for name, value in values.items()}
    return numbers | (error_facts(errors) if np.isfinite(errors).all() else {"not_available": "not solved"})


def explanation(fits: dict[Words, dict], names: Words, tolerance: float) -> Words:
    """Say which of `fits`, the simplest first, explains solutions to this error, or comes closest.

    names  of the parameters, where no fit does.
    """
    errors = {words: fit.get("median_relative_l2", np.inf) for words, fit in fits.items()}
    fitting = [words for words, error in errors.items() if error <= tolerance]
    if fitting:
        return f"They fit {fitting[0]}, to {errors[fitting[0]]:.1e}: state that, or choose another file."
    last = list(fits)[-1]
    return f"No {names} fit them: {last} come closest, to {errors[last]:.1e}."


def label_warnings(
    labels: dict, what: Words, stated: Words, tolerance: float, explained: Words = ""
) -> list[Words]:
    """Say how labels differ from ours, where their median error exceeds `tolerance`, and what explains them.

    Where the median does not but the largest error exceeds ten times as much, that is said.

    what  labels are; `stated`: what they differ from.
    """
    if "not_available" in labels:
        return [explained] if explained else []
    median, largest = labels["median_relative_l2"], labels["largest_relative_l2"]
    if median > tolerance:
        return [
            f"The {what} in the file differ {stated}, by {median:.1e} in the median (relative L²), above the "
            f"tolerance {tolerance:.0e}. {explained}".rstrip()
        ]
    if largest > 10 * tolerance:
        return [
            f"Some {what} in the file differ {stated}: by {largest:.1e} at most (relative L²), though by "
            f"{median:.1e} in the median; the tolerance is {tolerance:.0e}."
        ]
    return []
