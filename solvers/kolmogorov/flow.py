"""Kolmogorov flow: two-dimensional Navier-Stokes on the torus, driven by a shear force, in vorticity form.

    ω_t + u·∇ω = νΔω - n cos(ny),    -Δψ = ω,  u = (ψ_y, -ψ_x),    (x, y) in [0, 2π]², periodic

ω(x, y, t)  vorticity v_x - u_y of the velocity u = (u, v); ψ stream function; ν viscosity > 0.
n           forcing wavenumber: the body force is sin(ny) along x, its curl -n cos(ny). There is no drag.

Convention: fields are Fourier coefficients as in `solvers.common.fourier`, (..., 2K + 1, K + 1); `num_modes`
is K, the highest wavenumber along each axis, counted *after* dealiasing: products are formed on at least
3K + 1 points along each axis, the 2/3 rule, so that they are exact in the modes kept.

Advection needs four transforms, not five: because u is free of divergence,

    u·∇ω = (∂_xx - ∂_yy)(uv) + ∂_xy(v² - u²).

This module has what the two integrators share, `solvers.kolmogorov.etdrk4` and
`solvers.kolmogorov.split_step`.

Expect: from calvello_kolmogorov of `solvers.random_fields.distributions` at ν = 1/70 a developed flow at
t = 11 whose spectrum falls to 2e-6 of its leading mode at k = 64. It is chaotic: errors grow, and single
precision is off by 1e-3.
Sources: Chandler and Kerswell 2013, J. Fluid Mech. 722, 554; Calvello et al. 2024, arXiv:2406.06486, 6.2.3.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Complex, Float

from resolvent.solvers.common.checks import check_array, check_finite, check_initial, refuse
from resolvent.solvers.common.errors import Words
from resolvent.solvers.common.fourier import product_points
from resolvent.solvers.common.lanes import in_lanes, lanes_here

NAME = "Kolmogorov flow"
LARGEST_TAIL = 0.03  # of the norm, in the highest eighth of the modes: more is a grossly unresolved flow
# Samples advanced together, always this many: a CPU's cache holds one, a GPU wants more.
LANES = {"cpu": 1, "gpu": 16}


class Flow(NamedTuple):
    """Wavenumber tables in the layout of the computation: (k_x, k_y), so that transforms run along rows.

    laplacian  -(k_x² + k_y²);  u, v  factors from vorticity to velocity;  force  spectrum of -n cos(ny);
    difference, mixed  factors of F(uv) and F(v² - u²) in -u·∇ω.

    They are NumPy's arrays, and JAX's inside of compiled functions.
    """

    laplacian: Float[Any, "columns rows"]
    u: Complex[Any, "columns rows"]
    v: Complex[Any, "columns rows"]
    force: Float[Any, "columns rows"]
    difference: Float[Any, "columns rows"]
    mixed: Float[Any, "columns rows"]


Advance = Callable[[Complex[Any, "lanes columns rows"], float, Flow, int], ArrayLike]


@runtime_checkable
class FlowSolver(Protocol):
    """The parameters that both integrators of this flow have."""

    @property
    def viscosity(self) -> float: ...

    @property
    def forcing_wavenumber(self) -> int: ...

    @property
    def num_modes(self) -> int: ...


def flow(num_modes: int, forcing_wavenumber: int, dtype: np.dtype) -> Flow:
    """Return the tables for K = num_modes, in the precision of the complex `dtype`."""
    k_x, k_y = np.meshgrid(np.arange(num_modes + 1.0), _both_signs(num_modes), indexing="ij")
    squares = k_x**2 + k_y**2
    inverse = np.divide(1, squares, out=np.zeros_like(squares), where=squares > 0)
    force = np.zeros_like(squares)
    force[0, [forcing_wavenumber, -forcing_wavenumber]] = -forcing_wavenumber / 2
    real = np.empty(0, dtype).real.dtype
    return Flow(
        laplacian=-squares.astype(real),
        u=(1j * k_y * inverse).astype(dtype),  # u = ψ_y
        v=(-1j * k_x * inverse).astype(dtype),  # v = -ψ_x
        force=force.astype(real),
        difference=(k_x**2 - k_y**2).astype(real),
        mixed=(k_x * k_y).astype(real),
    )


def tendency(
    vorticity: Complex[Array, "lanes columns rows"], tables: Flow, points: int
) -> tuple[Complex[Array, "lanes columns rows"], Float[Array, " lanes"]]:
    """Return the spectrum of -u·∇ω plus the forcing, in the modes kept; and the largest |u| + |v|."""
    num_modes = vorticity.shape[1] - 1
    u, v = _values(tables.u * vorticity, points), _values(tables.v * vorticity, points)
    advection = tables.difference * _spectrum(u * v, num_modes)
    advection += tables.mixed * _spectrum(v * v - u * u, num_modes)
    return advection + tables.force, (abs(u) + abs(v)).max(axis=(1, 2))


def _values(
    spectrum: Complex[Array, "lanes columns rows"], points: int
) -> Float[Array, "lanes points points"]:
    """Evaluate on the grid of points × points; only the columns that are not zero are transformed along y."""
    num_modes = spectrum.shape[1] - 1
    gap = jnp.zeros((*spectrum.shape[:2], points - 2 * num_modes - 1), spectrum.dtype)
    padded = jnp.concatenate([spectrum[..., : num_modes + 1], gap, spectrum[..., num_modes + 1 :]], axis=-1)
    along_y = jnp.fft.ifft(padded, norm="forward")
    return jnp.fft.irfft(along_y.swapaxes(1, 2), n=points, norm="forward")


def _spectrum(
    values: Float[Array, "lanes points points"], num_modes: int
) -> Complex[Array, "lanes columns rows"]:
    """Return the coefficients of the modes kept."""
    along_x = jnp.fft.rfft(values, norm="forward")[..., : num_modes + 1].swapaxes(1, 2)
    both = jnp.fft.fft(along_x, norm="forward")
    return jnp.concatenate([both[..., : num_modes + 1], both[..., -num_modes:]], axis=-1)


def check_parameters(solver: FlowSolver) -> None:
    """Raise a ValueError where a solver of this equation has an impossible parameter."""
    for name in ("viscosity", "step", "largest_step", "courant"):
        if not getattr(solver, name, 1) > 0:
            raise ValueError(f"{name} must be positive, got {getattr(solver, name)}")
    if solver.forcing_wavenumber < 1:
        raise ValueError(f"forcing_wavenumber must be at least 1, got {solver.forcing_wavenumber}")
    if solver.num_modes < solver.forcing_wavenumber:
        raise ValueError(
            f"num_modes must reach the forcing wavenumber {solver.forcing_wavenumber}, got {solver.num_modes}"
        )


def march(
    solver: FlowSolver,
    initial: Complex[np.ndarray, "batch rows_in columns_in"],
    times: tuple[float, ...],
    advance: Advance,
) -> Complex[np.ndarray, "batch times rows columns"]:
    """Observe the samples at `times`, in lanes, interval by interval. A flow that blows up is not finite.

    advance(spectrum, duration, tables, points) gives the spectra, (lanes, K + 1, 2K + 1), a while later.

    Raises
    ------
    ValueError
        Where the times do not increase from 0, or the input is not an array of coefficients.
    SolverError
        Where an initial field is not finite.
    """
    check_times(times)
    hint: Words = (
        "resolvent.solvers.common.fourier.coefficients_of_2d turns values on a grid into coefficients"
    )
    check_array(initial, "c", ("batch", "2K + 1", "K + 1"), f"initial of {NAME}", hint=hint)
    if initial.shape[1] != 2 * initial.shape[2] - 1:
        raise ValueError(
            f"initial of {NAME} must be of shape (batch, 2K + 1, K + 1), got {initial.shape}; {hint}"
        )
    check_initial(initial.reshape(len(initial), -1), NAME)
    num_modes = solver.num_modes
    points = product_points(num_modes)
    tables = flow(num_modes, solver.forcing_wavenumber, initial.dtype)

    def observed(spectrum):
        result = np.empty((len(spectrum), len(times), 2 * num_modes + 1, num_modes + 1), initial.dtype)
        for observation, duration in enumerate(np.diff(times, prepend=0.0)):
            spectrum = advance(spectrum, float(duration), tables, points)
            result[:, observation] = np.asarray(spectrum).swapaxes(1, 2)
        return (result,)

    (result,) = in_lanes(observed, lanes_here(LANES), _resized(initial, num_modes).swapaxes(1, 2))
    return result


def check_solution(result: Complex[np.ndarray, "batch times rows columns"], step: float) -> None:
    """Raise a SolverError where a sample blew up, with the step it was solved with, or is not resolved."""
    shorter: Words = f"use a shorter step (now {step:g}), which the modes kept can follow stably"
    check_finite(result.reshape(len(result), -1), NAME, remedy=shorter)
    _check_tail(result, remedy=f"use more num_modes (now {result.shape[-1] - 1})")


def check_times(times: tuple[float, ...]) -> None:
    """Raise a ValueError where times of observation do not increase from 0."""
    for before, after in zip((0.0, *times[:-1]), times, strict=True):
        if not after > before:
            raise ValueError(f"times must increase from 0, but {after:g} follows {before:g}")


def _resized(
    coefficients: Complex[np.ndarray, "batch rows_in columns_in"], num_modes: int
) -> Complex[np.ndarray, "batch rows columns"]:
    """Return the same functions with K = num_modes: modes beyond are dropped, absent ones are zero."""
    kept = min(num_modes, coefficients.shape[-1] - 1)
    result = np.zeros((len(coefficients), 2 * num_modes + 1, num_modes + 1), coefficients.dtype)
    result[:, : kept + 1, : kept + 1] = coefficients[:, : kept + 1, : kept + 1]
    if kept:
        result[:, -kept:, : kept + 1] = coefficients[:, -kept:, : kept + 1]
    return result


def _both_signs(num_modes: int) -> Float[np.ndarray, " rows"]:
    """Return the wavenumbers in the order of the FFT."""
    return np.concatenate([np.arange(num_modes + 1.0), np.arange(-num_modes, 0.0)])


def _check_tail(coefficients: Complex[np.ndarray, "batch times rows columns"], *, remedy: Words) -> None:
    num_modes = coefficients.shape[-1] - 1
    largest = np.maximum(np.abs(_both_signs(num_modes))[:, None], np.arange(num_modes + 1))
    high = largest > num_modes - max(1, num_modes // 8)
    power = np.abs(coefficients) ** 2
    share = np.sqrt((power * high).sum(axis=(2, 3)) / power.sum(axis=(2, 3)).clip(min=1e-300)).max(axis=1)
    symptom: Words = f"the highest eighth of the modes holds more than {LARGEST_TAIL:.0%} of the vorticity"
    refuse(share > LARGEST_TAIL, NAME, symptom=symptom, remedy=remedy)
