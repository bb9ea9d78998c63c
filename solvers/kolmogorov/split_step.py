"""Kolmogorov flow by the split-step scheme of the paper's data; `solvers.kolmogorov.flow` has the equation.

Method (Chandler and Kerswell 2013, J. Fluid Mech. 722, 554): Crank-Nicolson for viscosity, Heun's
predictor-corrector for advection and forcing N. A step of size h:

    (1 - hνΔ/2) ω* = (1 + hνΔ/2) ω + h N(ω)
    (1 - hνΔ/2) ω′ = (1 + hνΔ/2) ω + h/2 (N(ω) + N(ω*))

The step is adaptive: h = courant · Δx / max(|u| + |v|), at most `largest_step`, and adjusted to hit each
observation time. The method has second order, and serves to check `solvers.kolmogorov.etdrk4`.
"""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from resolvent.solvers.kolmogorov.flow import Flow, FlowSolver, Initial, Solution, Spectra, tendency


@dataclass(frozen=True)
class KolmogorovSplitStep(FlowSolver):
    """ω(·, 0) → ω(·, times); `FlowSolver` has the other parameters.

    courant       Courant number on the grid of the products; stable to about 0.5.
    largest_step  largest time step. Error ∝ step².
    """

    courant: float = 0.5
    largest_step: float = 0.01

    def solve(self, initial: Initial, times: tuple[float, ...]) -> Solution:
        solution = self.march(initial, times)
        self._check(solution, self.largest_step)
        return solution

    def _advance(self, spectrum: Spectra | np.ndarray, duration: float, tables: Flow, points: int) -> Spectra:
        real = tables.laplacian.dtype.type
        distance = real(self.courant * 2 * np.pi / points)
        return _march(
            spectrum, real(duration), real(self.viscosity), distance, real(self.largest_step), tables, points
        )


@partial(jax.jit, static_argnames="points")
def _march(
    spectrum: Spectra,
    duration: Float[Array, ""],
    viscosity: Float[Array, ""],
    distance: Float[Array, ""],
    largest_step: Float[Array, ""],
    tables: Flow,
    points: int,
) -> Spectra:
    def unfinished(state):
        _, left = state
        return jnp.any(left > 0)

    def step(state):
        w, left = state
        slope, speed = tendency(w, tables, points)
        allowed = jnp.minimum(distance / speed, largest_step)
        # Equal steps over the remaining time, so that none is tiny. A flow that is not finite stops at once.
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
