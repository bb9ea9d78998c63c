"""Checks of solvers: finite input, finite output with a decayed spectrum."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Complex, Inexact

from resolvent.solvers.common.errors import CHECK, SolverError

LARGEST_TAIL = 1e-8  # relative to the norm: larger tails mean that higher modes are missing
_ROWS_SHOWN = 8
_KINDS = {"c": "complex", "f": "floating-point"}


def check_array(values: object, kind: str, axes: Sequence[str | int], name: str, *, hint: str = "") -> None:
    """Check kind and shape of an array argument of a solver.

    kind  "c" for complex numbers, "f" for real numbers.
    axes  size or name of each axis; axes with equal names have equal sizes.
    name  name of the argument in the message;  hint  addition to the message.

    Raises `ValueError` with expected and actual shape, in one line.
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
    """Raise `SolverError` if the input of a sample is not finite."""
    refuse(_not_finite(values), solver, symptom="the initial field is not finite", remedy=CHECK)


def check_finite(coefficients: Complex[np.ndarray, "batch modes"], solver: str, *, remedy: str) -> None:
    """Raise `SolverError` if a sample, or its norm, has overflowed."""
    refuse(_not_finite(coefficients), solver, symptom="the solution is not finite", remedy=remedy)


def check_tail(coefficients: Complex[np.ndarray, "batch modes"], solver: str, *, remedy: str) -> None:
    """Raise `SolverError` if the highest eighth of the modes has more than LARGEST_TAIL of the norm."""
    num_modes = coefficients.shape[1] - 1
    tail = np.linalg.norm(coefficients[:, 1 + num_modes - max(1, num_modes // 8) :], axis=1)
    norm = np.linalg.norm(coefficients, axis=1)
    symptom = f"the highest eighth of the modes holds more than {LARGEST_TAIL:.0e} of the solution"
    refuse(tail > LARGEST_TAIL * norm, solver, symptom=symptom, remedy=remedy)


def refuse(rows: Bool[np.ndarray, " batch"], solver: str, *, symptom: str, remedy: str) -> None:
    """Raise `SolverError` with the marked sample rows, if there are any."""
    marked = np.flatnonzero(rows)
    if marked.size:
        named = ", ".join(map(str, marked[:_ROWS_SHOWN])) + (", ..." if marked.size > _ROWS_SHOWN else "")
        raise SolverError(f"{solver}: {symptom} (sample rows {named})", remedy)


def _not_finite(values: Inexact[np.ndarray, "batch values"]) -> Bool[np.ndarray, " batch"]:
    with np.errstate(over="ignore", invalid="ignore"):
        return ~np.isfinite(np.linalg.norm(values, axis=1))
