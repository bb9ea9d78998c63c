"""Kolmogorov flow by the split-step scheme of the papers' data; `solvers.kolmogorov.flow` has the equation.

Method (Chandler and Kerswell 2013, J. Fluid Mech. 722, 554): Crank-Nicolson for viscosity, Heun's predictor
and corrector for advection and forcing N. A step of size h:

    (1 - hνΔ/2) ω* = (1 + hνΔ/2) ω + h N(ω)
    (1 - hνΔ/2) ω′ = (1 + hνΔ/2) ω + h/2 (N(ω) + N(ω*))

The step follows the flow: h = courant · Δx / max(|u| + |v|), no longer than `largest_step`, and cut to meet
each observation time. Second order: the companion of `solvers.kolmogorov.etdrk4`, not its rival.
"""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float

from resolvent.solvers.kolmogorov.flow import Flow, check_parameters, check_solution, march, tendency


@dataclass(frozen=True)
class KolmogorovSplitStep:
    """ω(·, 0) → ω(·, times).

    viscosity           ν > 0.
    forcing_wavenumber  n of the body force sin(ny).
    num_modes           K, highest wavenumber integrated along each axis.
    courant             Courant number on the grid of the products; stable to about 0.5.
    largest_step        bound of the step in time. Error ∝ step².
    """

    viscosity: float = 1 / 70
    forcing_wavenumber: int = 4
    num_modes: int = 71
    courant: float = 0.5
    largest_step: float = 0.01

    def __post_init__(self) -> None:
        check_parameters(self)

    def solve(
        self, initial: Complex[np.ndarray, "batch rows_in columns_in"], times: tuple[float, ...]
    ) -> Complex[np.ndarray, "batch times rows columns"]:
        """Return the coefficients of the vorticity at `times`; as `KolmogorovEtdrk4.solve`."""
        solution = march(self, initial, times, self._advance)
        check_solution(solution, self.largest_step)
        return solution

    def _advance(
        self,
        spectrum: Complex[np.ndarray | Array, "lanes columns rows"],
        duration: float,
        tables: Flow,
        points: int,
    ) -> Complex[Array, "lanes columns rows"]:
        real = tables.laplacian.dtype.type
        distance = real(self.courant * 2 * np.pi / points)
        return _march(
            spectrum, real(duration), real(self.viscosity), distance, real(self.largest_step), tables, points
        )


@partial(jax.jit, static_argnames="points")
def _march(
    spectrum: Complex[Array, "lanes columns rows"],
    duration: Float[Array, ""],
    viscosity: Float[Array, ""],
    distance: Float[Array, ""],
    largest_step: Float[Array, ""],
    tables: Flow,
    points: int,
) -> Complex[Array, "lanes columns rows"]:
    def unfinished(state):
        _, left = state
        return jnp.any(left > 0)

    def step(state):
        w, left = state
        slope, speed = tendency(w, tables, points)
        allowed = jnp.minimum(distance / speed, largest_step)
        # Equal steps over what is left: none is cut to a sliver. A flow that is not finite ends at once.
        count = jnp.ceil(left / allowed * (1 - 1e-12))
        h = jnp.where(count >= 1, left / jnp.maximum(count, 1), 0)
        diffusion = h[:, None, None] / 2 * viscosity * tables.laplacian
        forward, h_wide = (1 + diffusion) * w, h[:, None, None]
        predicted = (forward + h_wide * slope) / (1 - diffusion)
        again, _ = tendency(predicted, tables, points)
        corrected = (forward + h_wide / 2 * (slope + again)) / (1 - diffusion)
        left = jnp.where(count > 1, left - h, 0)
        return jnp.where(h_wide > 0, corrected, w), left

    lefts = jnp.full(spectrum.shape[0], duration)
    return jax.lax.while_loop(unfinished, step, (spectrum, lefts))[0]
