"""Errors of predictions where no label is known: what symmetries say, which is an estimate, and bounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import xarray

from resolvent.common.errors import EvaluationError
from resolvent.common.norms import square_norm
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


def asked(
    predict: Predict,
    inputs: np.ndarray,
    grid: AnyGrid,
    equation: DatasetSettings,
    symmetrise: bool = False,
    steps: int = 0,
) -> tuple[np.ndarray, xarray.Dataset]:
    """Return predictions, averaged over symmetries or corrected by steps if asked, and what errors they have.

    Raises an `EvaluationError` where the equation has no symmetries, or no solver that starts from them.
    """
    symmetries = equation.symmetries()
    if symmetrise and not symmetries:
        raise EvaluationError(f"no symmetries are known of {equation.equation}: leave symmetrise out")
    prediction = predict(inputs)
    mean, scatter = under_symmetries(predict, inputs, prediction, grid, symmetries)
    result = mean if symmetrise else prediction
    try:
        result = equation.corrected(inputs, result, steps) if steps else result
    except ValueError as error:
        raise EvaluationError(f"correct={steps}: {error}") from None
    known = {
        name: (("sample", "bound"), values, {"kind": "theorem"})
        for name, values in equation.error_bounds(inputs, result).items()
    }
    estimated = {"scatter": ("sample", scatter, {"kind": "estimate"})} if symmetries else {}
    return result, xarray.Dataset(known | estimated, coords={"bound": ["lower", "upper"]} if known else {})
