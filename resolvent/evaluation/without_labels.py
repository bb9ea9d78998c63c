"""Errors of predictions where no label is known: bounds, which are theorems, and estimates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import xarray

from resolvent.common.errors import EvaluationError
from resolvent.common.norms import relative_l2, square_norm
from resolvent.datasets.tasks.settings import DatasetSettings
from resolvent.datasets.tasks.symmetries import Symmetry
from resolvent.solvers.common.grid import AnyGrid

Predict = Callable[[np.ndarray], np.ndarray]  # inputs to predictions, (samples, ...)


def under_symmetries(
    predict: Predict,
    inputs: np.ndarray,
    prediction: np.ndarray,
    grid: AnyGrid,
    symmetries: tuple[Symmetry, ...],
) -> tuple[np.ndarray, np.ndarray]:
    """Return means of predictions over the symmetries, and how far these scatter, relative: (samples,).

    A symmetry maps inputs, and its predictions are mapped back, P_g. Were they right they would be one
    function; the scatter √(Σ ‖P_g - P̄‖² / (|G| - 1)) / ‖P̄‖, in the L² norm of the `grid` of predictions, is
    the size of the part of their errors that changes with g. What all of them have in common it does not
    see. It is NaN where there are no symmetries.
    """
    total, squares = np.zeros_like(prediction), np.zeros(len(prediction))
    for one in symmetries:
        off = one.back(predict(one.inputs(inputs))) - prediction
        total += off
        squares += square_norm(off, grid.weights)
    shift = total / (1 + len(symmetries))
    mean = prediction + shift
    left = np.maximum(squares - (1 + len(symmetries)) * square_norm(shift, grid.weights), 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        scatter = np.sqrt(left / len(symmetries) / square_norm(mean, grid.weights))
    return mean, scatter


def known_of(
    equation: DatasetSettings,
    inputs: np.ndarray,
    prediction: np.ndarray,
    grid: AnyGrid,
    scatter: np.ndarray | None = None,
) -> xarray.Dataset:
    """Return what is known of errors of predictions on the `grid`: (sample,), or (sample, bound), by name.

    scatter  that of `under_symmetries`, which takes the operator; the others take predictions alone.

    The attribute `kind` says "theorem" or "estimate". Raises a SolverError for inputs that have no solution.
    """
    inputs = inputs.astype(np.float64)  # stores may have less
    found = {
        name: (("sample", "bound"), values, {"kind": "theorem"})
        for name, values in equation.error_bounds(inputs, prediction).items()
    }
    answer = equation.cheap_answer(inputs, prediction, grid)
    estimates = {} if answer is None else {"to_solver": relative_l2(prediction, answer, grid.weights)}
    if scatter is not None and equation.symmetries():
        estimates["scatter"] = scatter
    coordinates = {"bound": ["lower", "upper"]} if found else {}
    return xarray.Dataset(
        found | {name: ("sample", values, {"kind": "estimate"}) for name, values in estimates.items()},
        coords=coordinates,
    )


def asked(
    predict: Predict,
    inputs: np.ndarray,
    grid: AnyGrid,
    equation: DatasetSettings,
    symmetrise: bool = False,
    steps: int = 0,
    certify: bool = True,
) -> tuple[np.ndarray, xarray.Dataset | None]:
    """Return predictions, averaged over symmetries or corrected by steps if asked, and what errors they have.

    Raises an `EvaluationError` where the equation has no symmetries, or no solver that starts from them.
    """
    symmetries = equation.symmetries()
    if symmetrise and not symmetries:
        raise EvaluationError(f"no symmetries are known of {equation.equation}: leave symmetrise out")
    result, scatter = predict(inputs), None
    if symmetrise or certify:
        mean, scatter = under_symmetries(predict, inputs, result, grid, symmetries)
        result = mean if symmetrise else result
    try:
        result = equation.corrected(inputs, result, steps) if steps else result
    except ValueError as error:
        raise EvaluationError(f"correct={steps}: {error}") from None
    return result, known_of(equation, inputs, result, grid, scatter) if certify else None
