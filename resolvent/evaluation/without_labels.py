"""Error bounds (theorems) and error estimates for predictions without labels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import xarray

from resolvent.common.errors import EvaluationError
from resolvent.common.norms import relative_l2
from resolvent.datasets.tasks.settings import DatasetSettings
from resolvent.datasets.tasks.symmetries import Symmetry
from resolvent.solvers.common.grid import AnyGrid

Predict = Callable[[np.ndarray], np.ndarray]  # maps inputs to predictions, (samples, ...)


def under_symmetries(
    predict: Predict, inputs: np.ndarray, prediction: np.ndarray, symmetries: tuple[Symmetry, ...]
) -> np.ndarray:
    """Return the means of predictions over all symmetries.

    Each symmetry maps the inputs, and its predictions are mapped back; all are equal if they are exact.
    """
    total = np.zeros_like(prediction)
    for symmetry in symmetries:
        total += symmetry.back(predict(symmetry.inputs(inputs))) - prediction
    return prediction + total / (1 + len(symmetries))


def known_of(
    equation: DatasetSettings, inputs: np.ndarray, prediction: np.ndarray, grid: AnyGrid
) -> xarray.Dataset:
    """Return bounds and estimates of the errors of predictions, (sample,) or (sample, bound), by name.

    The attribute `kind` is "theorem" or "estimate"; there is none without a cheap solver. Raises
    `SolverError` for inputs without a solution.
    """
    inputs = inputs.astype(np.float64)  # stores may have single precision
    bounds = {
        name: (("sample", "bound"), values, {"kind": "theorem"})
        for name, values in equation.error_bounds(inputs, prediction).items()
    }
    answer = equation.cheap_answer(inputs, prediction, grid)
    estimates = {} if answer is None else {"to_solver": relative_l2(prediction, answer, grid.weights)}
    coordinates = {"bound": ["lower", "upper"]} if bounds else {}
    return xarray.Dataset(
        bounds | {name: ("sample", values, {"kind": "estimate"}) for name, values in estimates.items()},
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
    result = predict(inputs)
    if symmetrise:
        result = under_symmetries(predict, inputs, result, symmetries)
    try:
        result = equation.corrected(inputs, result, steps) if steps else result
    except ValueError as error:
        raise EvaluationError(f"correct={steps}: {error}") from None
    return result, known_of(equation, inputs, result, grid) if certify else None
