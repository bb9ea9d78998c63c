"""Kolmogorov flow: two-dimensional Navier-Stokes on the torus, driven by a shear force, in vorticity form.

    ω_t + u·∇ω = νΔω - n cos(ny),    -Δψ = ω,  u = (ψ_y, -ψ_x),    (x, y) in [0, 2π]², periodic

ω(x, y, t)  vorticity v_x - u_y of the velocity u = (u, v); ψ stream function; ν viscosity > 0.
n           forcing wavenumber: the body force is sin(ny) along x, its curl -n cos(ny). There is no drag.

Convention: fields are Fourier coefficients as in `solvers.common.fourier`, (..., 2K + 1, K + 1); `num_modes`
is K, the highest wavenumber along each axis, counted *after* dealiasing: products are formed on at least 3K +
1 points along each axis, the 2/3 rule, so that they are exact in the retained modes.

Advection needs four transforms instead of five, because u is divergence-free:

    u·∇ω = (∂_xx - ∂_yy)(uv) + ∂_xy(v² - u²).

This module has the common parts of `solvers.kolmogorov.etdrk4` and `solvers.kolmogorov.split_step`.

Expect: for calvello_kolmogorov of `solvers.random_fields.distributions` at ν = 1/70 a developed flow at t =
11 whose spectrum has decayed to 2e-6 of its leading mode at k = 64. It is chaotic: errors grow, and single
precision has an error of 1e-3. Sources: Chandler and Kerswell 2013, J. Fluid Mech. 722, 554; Calvello et al.
2024, arXiv:2406.06486, 6.2.3.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Complex, Float

from resolvent.solvers.common.checks import check_array, check_finite, check_initial, refuse
from resolvent.solvers.common.fourier import product_points
from resolvent.solvers.common.lanes import in_lanes, lanes_here

NAME = "Kolmogorov flow"
LARGEST_TAIL = 0.03  # share of the norm in the highest eighth of the modes; more is grossly unresolved
Spectra = Complex[Array, "lanes columns rows"]
Initial = Complex[np.ndarray, "batch rows_in columns_in"]
Solution = Complex[np.ndarray, "batch times rows columns"]
# Fixed number of samples computed at once: one fits into a CPU's cache, a GPU needs more.
LANES = {"cpu": 1, "gpu": 16}


class Flow(NamedTuple):
    """Wavenumber tables in the layout (k_x, k_y), so that transforms run along rows.

    laplacian  -(k_x² + k_y²);  u, v  factors from vorticity to velocity;  force  spectrum of -n cos(ny);
    difference, mixed  factors of F(uv) and F(v² - u²) in -u·∇ω.

    NumPy arrays, or JAX arrays inside compiled functions.
    """

    laplacian: Float[Any, "columns rows"]
    u: Complex[Any, "columns rows"]
    v: Complex[Any, "columns rows"]
    force: Float[Any, "columns rows"]
    difference: Float[Any, "columns rows"]
    mixed: Float[Any, "columns rows"]


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


def tendency(vorticity: Spectra, tables: Flow, points: int) -> tuple[Spectra, Float[Array, " lanes"]]:
    """Return the spectrum of -u·∇ω plus the forcing, in the retained modes, and the largest |u| + |v|."""
    num_modes = vorticity.shape[1] - 1
    u, v = _values(tables.u * vorticity, points), _values(tables.v * vorticity, points)
    advection = tables.difference * _spectrum(u * v, num_modes)
    advection += tables.mixed * _spectrum(v * v - u * u, num_modes)
    return advection + tables.force, (abs(u) + abs(v)).max(axis=(1, 2))


def _values(spectrum: Spectra, points: int) -> Float[Array, "lanes points points"]:
    """Evaluate on the grid of points × points, transforming only nonzero columns along y."""
    num_modes = spectrum.shape[1] - 1
    gap = jnp.zeros((*spectrum.shape[:2], points - 2 * num_modes - 1), spectrum.dtype)
    padded = jnp.concatenate([spectrum[..., : num_modes + 1], gap, spectrum[..., num_modes + 1 :]], axis=-1)
    along_y = jnp.fft.ifft(padded, norm="forward")
    return jnp.fft.irfft(along_y.swapaxes(1, 2), n=points, norm="forward")


def _spectrum(values: Float[Array, "lanes points points"], num_modes: int) -> Spectra:
    """Return the coefficients of the retained modes."""
    along_x = jnp.fft.rfft(values, norm="forward")[..., : num_modes + 1].swapaxes(1, 2)
    both = jnp.fft.fft(along_x, norm="forward")
    return jnp.concatenate([both[..., : num_modes + 1], both[..., -num_modes:]], axis=-1)


@dataclass(frozen=True)
class FlowSolver(ABC):
    """ω(·, 0) → ω(·, times).

    viscosity           ν > 0.
    forcing_wavenumber  n of the body force sin(ny).
    num_modes           K, highest wavenumber along each axis.
    """

    viscosity: float = 1 / 70
    forcing_wavenumber: int = 4
    num_modes: int = 71

    def __post_init__(self) -> None:
        for name in ("viscosity", "step", "largest_step", "courant"):
            if not getattr(self, name, 1) > 0:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)}")
        if self.forcing_wavenumber < 1:
            raise ValueError(f"forcing_wavenumber must be at least 1, got {self.forcing_wavenumber}")
        if self.num_modes < self.forcing_wavenumber:
            raise ValueError(
                f"num_modes must reach the forcing wavenumber {self.forcing_wavenumber}, got {self.num_modes}"
            )

    @abstractmethod
    def solve(self, initial: Initial, times: tuple[float, ...]) -> Solution:
        """Return coefficients of the vorticity at `times`, increasing from 0, bit-identical in any batch.

        The input may have any number of modes: modes beyond K are dropped, missing modes are zero.

        Raises `ValueError` if the times do not increase from 0, or the input is not an array of coefficients,
        and `SolverError` if the initial field is not finite, or the run is not stable or not resolved.
        """

    @abstractmethod
    def _advance(
        self, spectrum: Spectra | np.ndarray, duration: float, tables: Flow, points: int
    ) -> ArrayLike:
        """Return the spectra, (lanes, K + 1, 2K + 1), after `duration`; not finite if they blow up."""

    def march(self, initial: Initial, times: tuple[float, ...]) -> Solution:
        """Return the unchecked result of one run; unstable samples are not finite."""
        for before, after in zip((0.0, *times[:-1]), times, strict=True):
            if not after > before:
                raise ValueError(f"times must increase from 0, but {after:g} follows {before:g}")
        hint = "resolvent.solvers.common.fourier.coefficients_of_2d turns values on a grid into coefficients"
        check_array(initial, "c", ("batch", "2K + 1", "K + 1"), f"initial of {NAME}", hint=hint)
        if initial.shape[1] != 2 * initial.shape[2] - 1:
            raise ValueError(
                f"initial of {NAME} must be of shape (batch, 2K + 1, K + 1), got {initial.shape}; {hint}"
            )
        check_initial(initial.reshape(len(initial), -1), NAME)
        num_modes = self.num_modes
        points = product_points(num_modes)
        tables = flow(num_modes, self.forcing_wavenumber, initial.dtype)
        resized = with_modes(initial, num_modes)

        def observed(spectrum):
            result = np.empty((len(spectrum), len(times), 2 * num_modes + 1, num_modes + 1), initial.dtype)
            for observation, duration in enumerate(np.diff(times, prepend=0.0)):
                spectrum = self._advance(spectrum, float(duration), tables, points)
                result[:, observation] = np.asarray(spectrum).swapaxes(1, 2)
            return (result,)

        (result,) = in_lanes(observed, lanes_here(LANES), resized.swapaxes(1, 2))
        return result

    def _check(self, result: Solution, step: float) -> None:
        """Raise `SolverError` if a sample, solved with this step, blew up or is not resolved."""
        shorter = f"use a shorter step (now {step:g}), which the modes kept can follow stably"
        check_finite(result.reshape(len(result), -1), NAME, remedy=shorter)
        largest = np.maximum(np.abs(_both_signs(self.num_modes))[:, None], np.arange(self.num_modes + 1))
        high = largest > self.num_modes - max(1, self.num_modes // 8)
        power = np.abs(result) ** 2
        share = np.sqrt((power * high).sum(axis=(2, 3)) / power.sum(axis=(2, 3)).clip(min=1e-300))
        symptom = f"the highest eighth of the modes holds more than {LARGEST_TAIL:.0%} of the vorticity"
        remedy = f"use more num_modes (now {self.num_modes})"
        refuse(share.max(axis=1) > LARGEST_TAIL, NAME, symptom=symptom, remedy=remedy)


def largest_difference(
    coarse: Complex[np.ndarray, "times rows columns"],
    fine: Complex[np.ndarray, "times more_rows more_columns"],
) -> float:
    """Return the largest relative L² difference over all times; infinite if one is not finite."""
    most = max(coarse.shape[-1], fine.shape[-1]) - 1
    coarse, fine = (with_modes(one, most) for one in (coarse, fine))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        found = np.sqrt(power_of_shells(coarse - fine).sum(axis=1) / power_of_shells(fine).sum(axis=1)).max()
    return float(found) if np.isfinite(found) else np.inf if (coarse - fine).any() else 0.0


def with_modes(
    coefficients: Complex[np.ndarray, "*batch rows columns"], num_modes: int
) -> Complex[np.ndarray, "*batch more_rows more_columns"]:
    """Return the modes up to `num_modes` along each axis, padded with zeros."""
    kept = min(num_modes, coefficients.shape[-1] - 1)
    result = np.zeros((*coefficients.shape[:-2], 2 * num_modes + 1, num_modes + 1), coefficients.dtype)
    result[..., : kept + 1, : kept + 1] = coefficients[..., : kept + 1, : kept + 1]
    if kept:
        result[..., -kept:, : kept + 1] = coefficients[..., -kept:, : kept + 1]
    return result


def power_of_shells(spectra: Complex[np.ndarray, "times rows columns"]) -> Float[np.ndarray, "times shells"]:
    """Return the power of the wavenumbers with max(|k_x|, |k_y|) = 0, …, K."""
    columns = np.arange(spectra.shape[-1])
    shells = np.maximum(np.abs(_both_signs(len(columns) - 1))[:, None], columns).astype(int).ravel()
    power = np.where(columns > 0, 2, 1) * (spectra.real**2 + spectra.imag**2)  # columns count twice, for ±k_x
    return np.stack([np.bincount(shells, one.ravel()) for one in power])


def _both_signs(num_modes: int) -> Float[np.ndarray, " rows"]:
    """Return the wavenumbers in the order of the FFT."""
    return np.concatenate([np.arange(num_modes + 1.0), np.arange(-num_modes, 0.0)])
