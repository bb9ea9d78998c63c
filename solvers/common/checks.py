"""Checks around a solver: a finite field goes in, a finite one whose spectrum has decayed comes out."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Complex, Inexact

from resolvent.solvers.common.errors import CHECK, SolverError, Words

LARGEST_TAIL = 1e-8  # of the norm: a solution with more in its last modes has lost some beyond them
_ROWS_SHOWN = 8
_KINDS = {"c": "complex", "f": "floating-point"}


def check_array(values: object, kind: str, axes: Sequence[str | int], name: str, *, hint: Words = "") -> None:
    """Check that an argument of a solver is an array of the kind and shape that it expects.

    kind  "c" for complex numbers, "f" for real ones.
    axes  for each axis its size, or a name: axes of one name have one size.
    name  what the argument is called in the message;  hint  what else the message says.

    Raises a ValueError where it is not; in one line, with both shapes.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind == kind and values.ndim == len(axes):
        sizes = {
            axis: axis if isinstance(axis, int) else size
            for axis, size in zip(axes, values.shape, strict=True)
        }
        if values.shape == tuple(sizes[axis] for axis in axes):
            return
    expected = f"{_KINDS[kind]} array of shape ({', '.join(map(str, axes))})"
    got = (
        f"{values.dtype} of shape {values.shape}" if isinstance(values, np.ndarray) else type(values).__name__
    )
    raise ValueError(f"{name} must be a {expected}, got {got}{'; ' if hint else ''}{hint}")


def check_initial(values: Inexact[np.ndarray, "batch values"], solver: str) -> None:
    """Raise a SolverError where a sample cannot be solved because what it starts from is not finite."""
    refuse(_not_finite(values), solver, symptom="the initial field is not finite", remedy=CHECK)


def check_finite(coefficients: Complex[np.ndarray, "batch modes"], solver: str, *, remedy: Words) -> None:
    """Raise a SolverError where a sample has overflowed, or is so large that its norm does."""
    refuse(_not_finite(coefficients), solver, symptom="the solution is not finite", remedy=remedy)


def check_tail(coefficients: Complex[np.ndarray, "batch modes"], solver: str, *, remedy: Words) -> None:
    """Raise a SolverError where the highest eighth of the modes holds more than LARGEST_TAIL of the norm."""
    num_modes = coefficients.shape[1] - 1
    tail = np.linalg.norm(coefficients[:, 1 + num_modes - max(1, num_modes // 8) :], axis=1)
    norm = np.linalg.norm(coefficients, axis=1)
    symptom: Words = f"the highest eighth of the modes holds more than {LARGEST_TAIL:.0e} of the solution"
    refuse(tail > LARGEST_TAIL * norm, solver, symptom=symptom, remedy=remedy)


def refuse(rows: Bool[np.ndarray, " batch"], solver: str, *, symptom: Words, remedy: Words) -> None:
    """Raise a SolverError that names the marked sample rows, if there are any."""
    marked = np.flatnonzero(rows)
    if marked.size:
        named = ", ".join(map(str, marked[:_ROWS_SHOWN])) + (", ..." if marked.size > _ROWS_SHOWN else "")
        raise SolverError(f"{solver}: {symptom} (sample rows {named})", remedy)


def _not_finite(values: Inexact[np.ndarray, "batch values"]) -> Bool[np.ndarray, " batch"]:
    with np.errstate(over="ignore", invalid="ignore"):
        return ~np.isfinite(np.linalg.norm(values, axis=1))
