"""One function for all solvers: from values on a grid to the solution on the same grid, in physical units.

The solvers take Fourier coefficients and have more parameters: `resolvent.solvers`.
"""

from __future__ import annotations

import inspect
import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np

from resolvent.common.outside import unknown
from resolvent.datasets.imported.arrays_checks import JUMP, seam, unmasked
from resolvent.datasets.tasks.registry import EQUATIONS, settings_class
from resolvent.datasets.tasks.settings import Known
from resolvent.solvers.common.errors import SolverError


def solve(equation: str, values: Any, **parameters: Any) -> np.ndarray:
    """Solve an equation for values on a grid.

    Parameters
    ----------
    equation
        "burgers", "darcy", "kolmogorov", "lorenz63" or "controlled_ode"; or your own equation,
        "module:SettingsClass".
    values
        Known values in physical units, real, (samples, ...space) or (...space) for one sample; see
        `solve_values` of the equation's settings.
    parameters
        Parameters of the equation and of the method: the keywords of `solve_values`.

    Returns
    -------
    numpy.ndarray
        The solution in float64, with an axis of samples if `values` has one.

    Raises
    ------
    ValueError
        If the equation is unknown, a parameter is unknown or missing, or the values have the wrong type or
        shape.
    SolverError
        If a solution is not resolved, not stable or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> import resolvent
    >>> x = np.arange(64) / 64
    >>> velocity = resolvent.solve("burgers", np.sin(2 * np.pi * x), viscosity=0.05)
    >>> velocity.shape, f"{abs(velocity).max():.4f}"
    ((64,), '0.7179')
    """
    settings = settings_class(equation) if equation in EQUATIONS or ":" in equation else None
    if settings is None or settings.known is None or settings.solve_values is None:
        accepted = ", ".join(name for name in EQUATIONS if settings_class(name).known)
        raise ValueError(f"unknown equation {equation!r}; accepted: {accepted}")
    _, *accepts = inspect.signature(settings.solve_values).parameters.values()
    for name in parameters:
        if name not in (names := [parameter.name for parameter in accepts]):
            raise ValueError(f"{equation}: {unknown('parameter', name, names)}")
    for parameter in accepts:
        if parameter.default is parameter.empty and parameter.name not in parameters:
            raise ValueError(f"{equation} needs the parameter {parameter.name!r}")
        if parameter.name in parameters:
            _check_number(equation, parameter, parameters[parameter.name])
    fields, single = _checked(values, equation, settings.known)
    if settings.known.fewest_modes and (jump := seam(fields, range(1, fields.ndim))["seam"]) > JUMP:
        warnings.warn(
            f"{equation} is periodic, but values jump from the last point to the first {jump:.3g} times as "
            "far as between any neighbours; give values of a whole period",
            stacklevel=2,
        )
    try:
        solution = settings.solve_values(fields, **parameters)
    except SolverError as error:
        if not settings.known.fewest_modes or "num_modes" not in str(error):
            raise
        # The number of points determines the number of modes, so the remedy is more points.
        points = fields.shape[-1]
        remedy = (
            f"give values on n = {4 * (settings.known.num_modes(points) + 1)} points or more (now {points}): "
            "scipy.signal.resample(values, n, axis=-1) adds points to a periodic function along an axis"
        )
        raise SolverError(error.finding, remedy) from None
    return solution[0] if single else solution


def _check_number(equation: str, parameter: inspect.Parameter, value: Any) -> None:
    """Raise `ValueError` if a parameter that is annotated as a number is none, or text where arrays are."""
    kinds = {"float": Real, "int": Integral}
    kind = getattr(parameter.annotation, "__name__", str(parameter.annotation))
    wrong = "float" in kind and (isinstance(value, str) or (value is None and "None" not in kind))
    if kind in kinds:
        wrong = isinstance(value, bool) or not isinstance(value, kinds[kind])
    if wrong:
        expected = "an integer" if kind == "int" else "a number" if kind == "float" else "numbers"
        raise ValueError(f"{equation}: {parameter.name} must be {expected}, got {value!r:.60}")


def _checked(values: Any, equation: str, known: Known) -> tuple[np.ndarray, bool]:
    """Return values as (samples, ...) in float64, and whether they had no axis of samples."""
    axes = ", ".join(map(str, known.axes))
    one_sample = f"({axes},)" if len(known.axes) == 1 else f"({axes})"
    expected = f"{equation} takes the {known.name} as real numbers, (samples, {axes}) or {one_sample}"
    if hasattr(values, "dims"):
        raise ValueError(f"{expected}; got a DataArray: give its .values, in this order of axes")
    array = np.asarray(unmasked(values))
    if array.dtype.kind not in "fiu":
        hint = ""
        if array.dtype.kind == "c" and known.observe:
            hint = f": values on a grid, not coefficients; {known.observe} of resolvent.solvers gives them"
        raise ValueError(f"{expected}; got {array.dtype} of shape {array.shape}{hint}")
    single = array.ndim == len(known.axes)
    batch = array[None] if single else array
    sizes = dict(zip(known.axes, batch.shape[1:], strict=False))
    fits = batch.ndim == 1 + len(known.axes) and all(
        size == (name if isinstance(name, int) else sizes[name])
        for name, size in zip(known.axes, batch.shape[1:], strict=True)
    )
    if not fits or 0 in batch.shape:
        raise ValueError(f"{expected}; got shape {array.shape}")
    if not np.isfinite(batch).all():
        rows = ", ".join(map(str, np.unique(np.argwhere(~np.isfinite(batch))[:8, 0])))
        raise ValueError(f"the {known.name} of {equation} is not finite in samples {rows}")
    return batch.astype(np.float64), single
