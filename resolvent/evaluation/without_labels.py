"""Error bounds (theorems) and error estimates for predictions without labels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import xarray

from resolvent.common.errors import EvaluationError
from resolvent.common.norms import relative_l2, square_norm
from resolvent.datasets.tasks.settings import DatasetSettings
from resolvent.datasets.tasks.symmetries import Symmetry
from resolvent.solvers.common.grid import AnyGrid

Predict = Callable[[np.ndarray], np.ndarray]  # maps inputs to predictions, (samples, ...)


def under_symmetries(
    predict: Predict,
    inputs: np.ndarray,
    prediction: np.ndarray,
    grid: AnyGrid,
    symmetries: tuple[Symmetry, ...],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of predictions over all symmetries, and their relative scatter (samples,).

    Each symmetry g maps the inputs, and the predictions are mapped back to P_g, all equal if exact. The
    scatter √(Σ ‖P_g - P̄‖² / (|G| - 1)) / ‖P̄‖, in L² on the `grid` of predictions, measures the part of the
    error that changes with g, but not the part common to all g. It is NaN without symmetries.
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
    """Return bounds and estimates of the errors of predictions, (sample,) or (sample, bound), by name.

    scatter  from `under_symmetries`, which needs the operator; all others need only the predictions.

    The attribute `kind` is "theorem" or "estimate". Raises `SolverError` for inputs without a solution.
    """
    inputs = inputs.astype(np.float64)  # stores may have single precision
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
    """Return predictions and, with `certify`, bounds and estimates of their errors.

    `symmetrise` averages the predictions over the symmetries of the equation; `steps` corrects them by so
    many iterations of a solver. Raises `EvaluationError` if the equation has no symmetries or no such solver.
    """
    symmetries = equation.symmetries()
    if symmetrise and not symmetries:
        raise EvaluationError(f"no symmetries are known for {equation.equation}: leave out symmetrise")
    result, scatter = predict(inputs), None
    if symmetrise or certify:
        mean, scatter = under_symmetries(predict, inputs, result, grid, symmetries)
        result = mean if symmetrise else result
    try:
        result = equation.corrected(inputs, result, steps) if steps else result
    except ValueError as error:
        raise EvaluationError(f"correct={steps}: {error}") from None
    return result, known_of(equation, inputs, result, grid, scatter) if certify else None
