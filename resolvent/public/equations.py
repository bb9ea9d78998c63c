"""The solvers behind one function: values on a grid in, the solution on the same grid out, in physical units.

Solvers themselves take Fourier coefficients and have more parameters: `resolvent.solvers`.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

import numpy as np

from resolvent.datasets.imported.arrays_checks import JUMP, seam
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.grid import Nodes

FEWEST_MODES = {"burgers": 192, "kolmogorov": 42}  # also where the grid of the values carries fewer


def solve(equation: str, values: Any, **parameters: Any) -> np.ndarray:
    """Solve an equation for values on a grid.

    Parameters
    ----------
    equation
        "burgers", "darcy", "kolmogorov", "lorenz63" or "controlled_ode".
    values
        Real numbers in physical units, (samples, ...space) or those of one sample, (...space): what is known,
        as the function of this name in `resolvent.public.equations` describes it.
    parameters
        Of the equation and of the method: the keywords of that function.

    Returns
    -------
    numpy.ndarray
        The solution in float64, with an axis of samples where `values` have one.

    Raises
    ------
    ValueError
        For an unknown equation or parameter, and for values of another type or shape than the equation takes.
    SolverError
        When a solution is not resolved, not stable or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> import resolvent
    >>> x = np.arange(64) / 64
    >>> velocity = resolvent.solve("burgers", np.sin(2 * np.pi * x), viscosity=0.05)
    >>> velocity.shape, f"{abs(velocity).max():.4f}"
    ((64,), '0.7179')
    """
    if equation not in EQUATIONS:
        raise ValueError(f"unknown equation {equation!r}; accepted: {', '.join(EQUATIONS)}")
    function = EQUATIONS[equation]
    accepted = [name for name in inspect.signature(function).parameters if name != "values"]
    for name in parameters:
        if name not in accepted:
            near = get_close_matches(name, accepted, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise ValueError(
                f"unknown parameter {name!r} of {equation}; {hint}accepted: {', '.join(accepted)}"
            )
    return function(values, **parameters)


def burgers(
    values: Any,
    *,
    viscosity: float = 0.1 / (2 * math.pi),
    final_time: float = 1 / (2 * math.pi),
    length: float = 1.0,
    method: str = "split-step",
    num_steps: int = 480,
) -> np.ndarray:
    """Solve the viscous Burgers equation on the circle: velocity at time 0 → velocity at `final_time`.

    Parameters
    ----------
    values
        (samples, n) or (n,), on the periodic grid x_j = j · length / n of an even number of points. They
        stand for the trigonometric polynomial through them, and all its modes are integrated.
    viscosity, final_time, length
        ν and T and the period, all positive. The defaults are those of the dataset `burgers`.
    method
        "split-step", "etdrk4" or "cole-hopf", the closed form.
    num_steps
        Steps in time.

    Raises
    ------
    ValueError, SolverError
        As `solve`.
    """
    fields, single = _checked(values, "burgers", ("n",), "initial velocity", "observe")
    from resolvent.solvers.common.fourier import coefficients_of, observe

    points = fields.shape[-1]
    coefficients = coefficients_of(fields)
    physics = {"viscosity": viscosity, "final_time": final_time, "length": length}
    num_modes = max(FEWEST_MODES["burgers"], points // 2 - 1)
    _warn_of_a_jump(fields)
    with _modes_by_points(num_modes, points, "observe(coefficients_of(values), n)"):
        if method == "cole-hopf":
            from resolvent.solvers.burgers.cole_hopf import cole_hopf

            final = cole_hopf(coefficients, **physics, work_points=max(1024, 4 * points))
        elif method == "split-step":
            from resolvent.solvers.burgers.split_step import BurgersSplitStep

            final = BurgersSplitStep(**physics, num_modes=num_modes, num_steps=num_steps).solve(coefficients)
        elif method == "etdrk4":
            from resolvent.solvers.burgers.etdrk4 import BurgersEtdrk4

            final = BurgersEtdrk4(**physics, num_modes=num_modes, num_steps=num_steps).solve(coefficients)
        else:
            raise ValueError(f"unknown method {method!r}; accepted: split-step, etdrk4, cole-hopf")
    return _returned(observe(final, points), single)


def darcy(
    values: Any,
    *,
    source: float | np.ndarray = 1.0,
    grid: str = "nodes",
    face_mean: str = "arithmetic",
    tolerance: float = 1e-8,
) -> np.ndarray:
    """Solve -∇·(a∇p) = f on the unit square, p = 0 on its boundary: coefficient a → pressure p.

    Parameters
    ----------
    values
        (samples, n, n) or (n, n), axes (y, x), positive: a on `grid`.
    source
        f, a number or values on the grid.
    grid
        "nodes" x_j = j/(n - 1), which include the boundary, or "cell_centres" x_j = (j + 1/2)/n.
    face_mean
        Mean of neighbouring coefficients, "arithmetic", or "harmonic", which conserves fluxes through layers.
    tolerance
        Of the residual, relative to the right-hand side.

    Raises
    ------
    ValueError, SolverError
        As `solve`.

    Examples
    --------
    >>> import numpy as np
    >>> import resolvent
    >>> pressure = resolvent.solve("darcy", np.ones((65, 65)))
    >>> f"{pressure.max():.4f}"
    '0.0737'
    """
    fields, single = _checked(values, "darcy", ("n", "n"), "coefficient", "observe_cosine")
    from resolvent.solvers.darcy.five_point import DarcyFivePoint

    solver = DarcyFivePoint(grid=grid, face_mean=face_mean, tolerance=tolerance)
    return _returned(solver.solve(fields, source), single)


def kolmogorov(
    values: Any,
    *,
    final_time: float = 0.1,
    viscosity: float = 1 / 70,
    forcing_wavenumber: int = 4,
    step: float = 0.01,
) -> np.ndarray:
    """Solve Kolmogorov flow on the torus [0, 2π)²: vorticity at time 0 → vorticity at `final_time`.

    Parameters
    ----------
    values
        (samples, n, n) or (n, n), axes (y, x), on the periodic grid x_j = 2πj/n, n even. All modes that the
        grid carries are integrated.
    final_time, viscosity, forcing_wavenumber
        T, ν and n of the body force sin(ny).
    step
        Largest step in time, halved for samples that need it.

    Raises
    ------
    ValueError, SolverError
        As `solve`.
    """
    fields, single = _checked(values, "kolmogorov", ("n", "n"), "vorticity", "observe_2d")
    from resolvent.solvers.common.fourier import coefficients_of_2d, observe_2d
    from resolvent.solvers.kolmogorov.etdrk4 import KolmogorovEtdrk4

    points = fields.shape[-1]
    num_modes = max(FEWEST_MODES["kolmogorov"], points // 2 - 1)
    _warn_of_a_jump(fields)
    with _modes_by_points(num_modes, points, "observe_2d(coefficients_of_2d(values), n)"):
        solver = KolmogorovEtdrk4(
            viscosity=viscosity, forcing_wavenumber=forcing_wavenumber, num_modes=num_modes, step=step
        )
        later = solver.solve(coefficients_of_2d(fields), (final_time,))[:, 0]
    return _returned(observe_2d(later, points), single)


def lorenz63(
    values: Any,
    *,
    times: Sequence[float],
    sigma: float = 10.0,
    rho: float = 28.0,
    beta: float = 8 / 3,
    step: float = 0.01,
) -> np.ndarray:
    """Solve Lorenz's model of 1963: states at time 0 → trajectories, (samples, 3, times) or (3, times).

    Parameters
    ----------
    values
        (samples, 3) or (3,): x, y and z at time 0.
    times
        Increasing, none negative: at least two.
    sigma, rho, beta
        σ, ρ, β > 0.
    step
        Largest step in time.

    Raises
    ------
    ValueError, SolverError
        As `solve`.

    Examples
    --------
    >>> import resolvent
    >>> resolvent.solve("lorenz63", [1.0, 1.0, 1.0], times=[0.0, 0.5, 1.0]).shape
    (3, 3)
    """
    states, single = _checked(values, "lorenz63", (3,), "initial state", "")
    from resolvent.solvers.lorenz63 import Lorenz63

    solver = Lorenz63(sigma=sigma, rho=rho, beta=beta, step=step)
    return _returned(solver.solve(states, Nodes(tuple(map(float, times)))), single)


def controlled_ode(values: Any, *, initial_value: float = 1.0) -> np.ndarray:
    """Solve dz = sin(z) du: control u → state z at the same times, by the closed form.

    Parameters
    ----------
    values
        (samples, times) or (times,): the control, at time 0 first. The state depends on u(t) - u(0) alone, so
        that the times themselves do not matter.
    initial_value
        z at time 0.

    Raises
    ------
    ValueError
        As `solve`.
    """
    control, single = _checked(values, "controlled_ode", ("times",), "control", "")
    from resolvent.solvers.controlled_ode import ControlledOde

    return _returned(ControlledOde(initial_value).state(control - control[:, :1]), single)


EQUATIONS = {
    "burgers": burgers,
    "darcy": darcy,
    "kolmogorov": kolmogorov,
    "lorenz63": lorenz63,
    "controlled_ode": controlled_ode,
}


def _warn_of_a_jump(fields: np.ndarray) -> None:
    """Warn of values (samples, ...space) that do not go on from the last point to the first."""
    found = seam(fields, fields.ndim - 1)["seam"]
    if found > JUMP:
        warnings.warn(
            f"values jump from the last point to the first {found:.3g} times as far as between any "
            "neighbours: the equation is periodic; give values of a whole period",
            stacklevel=4,
        )


@contextmanager
def _modes_by_points(num_modes: int, points: int, evaluated: str) -> Iterator[None]:
    """Name in an error the way to more modes: more points. `evaluated` gives the same values there."""
    try:
        yield
    except SolverError as error:
        if "num_modes" not in str(error):
            raise
        more = 4 * (num_modes + 1)
        remedy = (
            f"give values on n = {more} points or more (now {points}): {evaluated} of "
            "resolvent.solvers.common.fourier"
        )
        raise SolverError(error.finding, remedy) from None


def _checked(
    values: Any, equation: str, space: tuple[str | int, ...], what: str, observe: str
) -> tuple[np.ndarray, bool]:
    """Return values as (samples, ...space) in float64, and whether they are of one sample without that axis.

    `observe` is the function that evaluates coefficients of such functions on a grid.
    """
    axes = ", ".join(map(str, space))
    expected = f"{equation} takes the {what} as real numbers, (samples, {axes}) or ({axes}"
    expected += ",)" if len(space) == 1 else ")"
    if hasattr(values, "dims"):
        raise ValueError(f"{expected}; got a DataArray: give its .values, in this order of axes")
    array = np.asarray(values)
    if array.dtype.kind == "c":
        hint = (
            f": values on a grid, not coefficients; {observe} of resolvent.solvers gives them"
            if observe
            else ""
        )
        raise ValueError(f"{expected}; got {array.dtype} of shape {array.shape}{hint}")
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{expected}; got {array.dtype} of shape {array.shape}")
    single = array.ndim == len(space)
    batch = array[None] if single else array
    sizes = dict(zip(space, batch.shape[1:], strict=False))
    fits = batch.ndim == 1 + len(space) and all(
        size == (name if isinstance(name, int) else sizes[name])
        for name, size in zip(space, batch.shape[1:], strict=True)
    )
    if not fits or 0 in batch.shape:
        raise ValueError(f"{expected}; got shape {array.shape}")
    if not np.isfinite(batch).all():
        rows = ", ".join(map(str, np.unique(np.argwhere(~np.isfinite(batch))[:8, 0])))
        raise ValueError(f"the {what} of {equation} is not finite in samples {rows}")
    return batch.astype(np.float64), single


def _returned(solution: np.ndarray, single: bool) -> np.ndarray:
    return solution[0] if single else solution
