"""Burgers' equation on the circle by symmetric splitting, extrapolated to fourth order.

`solvers.burgers.equation` has the equation, its symbols, conventions and limits.

Method, in every step of size h (Strang 1968, SIAM J. Numer. Anal. 5, 506): the heat equation over h/2,
exactly, as û_k ← exp(-ν(2πk/L)² h/2) û_k; then u_t = -(u²/2)_x over h, by one classical Runge-Kutta step of
fourth order; then the heat equation over h/2. The scheme is symmetric but for the Runge-Kutta step, whose
error is of fourth order, so its error is c h² + O(h⁴), and one Richardson extrapolation,

    u = (4 u[2N steps] - u[N steps]) / 3,

is of fourth order. The steps are not equal: t_n = final_time (n/N)^{3/2}. A Gaussian field has all its modes
at once; most of them die in the first instants, and short steps there pay.

Expect: for Cao's distribution (σ = 25, τ = 5, γ = 2) and ν = 0.1/2π, t = 1, the defaults are within 1e-7
(relative L²) of the exact solution for every sample, and closer for ν = 0.1;
`tests/solvers/burgers/test_burgers.py` holds them to it.
Good values: batches in multiples of LANES, since a partial block costs as much as a whole one.
"""

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float

from resolvent.solvers.burgers.equation import LANES, BurgersSolver
from resolvent.solvers.burgers.lanes import march_split_step
from resolvent.solvers.common.fourier import product_points
from resolvent.solvers.common.lanes import in_lanes, lanes_here
from resolvent.solvers.common.vectors import LANES as VECTOR


@dataclass(frozen=True)
class BurgersSplitStep(BurgersSolver):
    """u₀ → u(·, final_time). The module's docstring has the method, `BurgersSolver` the parameters.

    num_steps  N; the run costs 3N steps, N and then 2N for the extrapolation. Error ∝ N⁻⁴.
    """

    name: ClassVar[str] = "Burgers split-step"
    runs: ClassVar[int] = 2
    error_ratio: ClassVar[int] = 4

    def march(
        self, initial_coefficients: Complex[np.ndarray, "batch modes_in"], num_steps: int
    ) -> Complex[np.ndarray, "batch modes"]:
        """Return the result of one run of `num_steps` steps, of second order and not checked."""
        points, modes = product_points(self.num_modes), self.num_modes + 1
        spectrum = self._resized(initial_coefficients, points // 2 + 1)
        steps = np.diff(self.final_time * (np.arange(num_steps + 1) / num_steps) ** 1.5)
        wavenumbers = 2 * np.pi / self.length * np.arange(points // 2 + 1)
        # The closing half step of heat merges with the opening one of the next step.
        heat_times = np.convolve(steps, [0.5, 0.5])
        heat = np.exp(-self.viscosity * wavenumbers**2 * heat_times[:, None])
        if lanes_here(LANES) == VECTOR:
            final = march_split_step(
                spectrum[:, :modes], points, steps, heat[:, :modes], -wavenumbers[:modes] / 2
            )
            return final.astype(spectrum.dtype)
        # The transforms inside are unnormalised: what is integrated is points · û, with zeros above K.
        real = spectrum.real.dtype
        flux = np.where(np.arange(points // 2 + 1) <= self.num_modes, -0.5j * wavenumbers, 0)
        steps, heat, flux = steps.astype(real), heat.astype(real), flux.astype(spectrum.dtype)
        (final,) = in_lanes(
            lambda block: (_integrate(block, steps, heat, flux),), LANES["gpu"], points * spectrum
        )
        return final[:, :modes] / np.asarray(points, real)


@jax.jit
def _integrate(
    spectrum: Complex[Array, "lanes half"],
    steps: Float[Array, " num_steps"],
    heat: Float[Array, "num_steps+1 half"],
    flux: Complex[Array, " half"],
) -> Complex[Array, "lanes half"]:
    points = 2 * (spectrum.shape[1] - 1)

    def advection(spectrum):
        """Return the spectrum of -(u²/2)_x; `flux` is zero on the modes that the 2/3 rule removes."""
        values = jnp.fft.irfft(spectrum, n=points)
        return flux * jnp.fft.rfft(values * values)

    def step(spectrum, inputs):
        step_size, heat_factors = inputs
        slope_1 = advection(spectrum)
        slope_2 = advection(spectrum + step_size / 2 * slope_1)
        slope_3 = advection(spectrum + step_size / 2 * slope_2)
        slope_4 = advection(spectrum + step_size * slope_3)
        advected = spectrum + step_size / 6 * (slope_1 + 2 * slope_2 + 2 * slope_3 + slope_4)
        return heat_factors * advected, None

    final, _ = jax.lax.scan(step, heat[0] * spectrum, (steps, heat[1:]))
    return final
