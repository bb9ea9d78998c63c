"""What the tests that every registered solver passes need to know of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SolverProblem:
    """A small problem with a known solution.

    inputs       refinement → the solver's input, float64 or complex128, (batch, ...), five samples or more.
    solve        (input, refinement) → solutions (batch, ...); refinement is a number of steps or of points.
    reference    refinement → solutions that the solver did not make: closed form, manufactured, independent.
    refinements  three or more, growing, in the regime where the error follows its order.
    order        the order of convergence promised: error ∝ refinement^-order.
    single       largest relative L2 difference between solutions in float32 and in float64, at the last
                 refinement; the precision of the computation follows that of the input.
    """

    inputs: Callable[[int], np.ndarray]
    solve: Callable[[np.ndarray, int], np.ndarray]
    reference: Callable[[int], np.ndarray]
    refinements: tuple[int, ...]
    order: float
    single: float
