"""Burgers' equation on the circle by symmetric splitting, extrapolated to fourth order.

    u_t + u u_x = ν u_xx,    u(x + L, t) = u(x, t),    u(x, 0) = u₀(x)

u(x, t)  velocity, positive to the right; x in [0, L), L = 1; t in [0, final_time], final_time = 1.
ν        viscosity > 0; its wave steepens to a front of width about ν / max|u|, then decays.

Convention: initial field and solution are Fourier coefficients û₀, …, û_K (see `solvers.fourier`);
`num_modes` is K, the highest wavenumber integrated. It is counted *after* dealiasing: products are formed on
a periodic grid (left end included, right end excluded) of at least 3K + 1 points, the 2/3 rule, so that u² is
exact in the modes up to K.

Method, in every step of size h (Strang 1968, SIAM J. Numer. Anal. 5, 506): the heat equation over h/2,
exactly, as û_k ← exp(-ν(2πk/L)² h/2) û_k; then u_t = -(u²/2)_x over h, by one classical Runge-Kutta step of
fourth order; then the heat equation over h/2. The scheme is symmetric but for the Runge-Kutta step, whose
error is of fourth order, so its error is c h² + O(h⁴), and one Richardson extrapolation,

    u = (4 u[2N steps] - u[N steps]) / 3,

is of fourth order. The steps are not equal: t_n = final_time (n/N)^{3/2}. A field from a Gaussian
distribution has all its modes at once; most of them die in the first instants, and short steps there pay.

Expect: for Cao's distribution (σ = 25, τ = 5, γ = 2) and ν = 0.1/2π, t = 1, the defaults are within 1e-7
(relative L²) of the exact solution for every sample, and closer for ν = 0.1; `tests/solvers/test_burgers.py`
holds them to it. Good values: batches in multiples of LANES, since a partial one costs as much as a whole
one. Limits: num_modes must grow like max|u| L / ν. A run that overflows, or does not resolve the solution in
time or in space, ends in a SolverError.
Source of the problem: Cao 2021, arXiv:2105.14995, appendix C.2.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float

import resolvent.solvers.double_precision  # noqa: F401  (switches JAX to float64)
from resolvent.solvers.fourier import product_points
from resolvent.solvers.resolved import check_finite, check_initial, check_tail, refuse

NAME = "Burgers split-step"
LARGEST_CORRECTION = 1e-3  # of the norm: beyond, the runs of N and 2N steps are not yet in the regime c h²
# XLA vectorises across the batch, so a sample's last bits could depend on its companions. Every compiled call
# therefore integrates exactly this many samples, the missing ones zero. 16 balances cost per call and waste.
LANES = 16


@dataclass(frozen=True)
class BurgersSplitStep:
    """u₀ → u(·, final_time). The module's docstring has the equation and the method.

    viscosity   ν > 0.
    final_time  > 0.
    num_modes   K, highest wavenumber integrated; more for a smaller viscosity or a shorter time.
    num_steps   N; the run costs 3N steps, N and then 2N for the extrapolation. Error ∝ N⁻⁴.
    length      L.
    """

    viscosity: float
    final_time: float = 1.0
    num_modes: int = 48
    num_steps: int = 240
    length: float = 1.0

    def __post_init__(self):
        check_parameters(self)

    def solve(
        self, initial_coefficients: Complex[np.ndarray, "batch modes_in"]
    ) -> Complex[np.ndarray, "batch modes"]:
        """Coefficients û₀, …, û_K of u(·, final_time), one row a sample, the same bits in any batch.

        The input may have any number of modes: those beyond K are dropped, absent ones are zero.
        """
        check_initial(initial_coefficients, NAME)
        coarse = self.strang(initial_coefficients, self.num_steps)
        fine = self.strang(initial_coefficients, 2 * self.num_steps)
        more_steps = f"use more num_steps (now {self.num_steps})"
        check_finite(coarse, NAME, more_steps)
        check_finite(fine, NAME, more_steps)
        correction = np.linalg.norm(fine - coarse, axis=1) / 3
        too_large = correction > LARGEST_CORRECTION * np.linalg.norm(fine, axis=1)
        refuse(
            too_large,
            NAME,
            f"halving the step moves the solution by more than {LARGEST_CORRECTION:.0e}",
            more_steps,
        )
        solution = (4 * fine - coarse) / 3
        check_tail(solution, NAME, f"use more num_modes (now {self.num_modes})")
        return solution

    def strang(
        self, initial_coefficients: Complex[np.ndarray, "batch modes_in"], num_steps: int
    ) -> Complex[np.ndarray, "batch modes"]:
        """One run of `num_steps` steps, neither extrapolated nor checked: second order."""
        points = product_points(self.num_modes)
        kept = min(self.num_modes + 1, initial_coefficients.shape[1])
        batch = len(initial_coefficients)
        # The transforms inside are unnormalised: what is integrated is points · û, with zeros above K.
        spectrum = np.zeros((batch + -batch % LANES, points // 2 + 1), initial_coefficients.dtype)
        real = spectrum.real.dtype
        spectrum[:batch, :kept] = points * initial_coefficients[:, :kept]

        steps = np.diff(self.final_time * (np.arange(num_steps + 1) / num_steps) ** 1.5)
        wavenumbers = 2 * np.pi / self.length * np.arange(points // 2 + 1)
        # The closing half step of heat merges with the opening one of the next step.
        heat_times = np.convolve(steps, [0.5, 0.5])
        heat = np.exp(-self.viscosity * wavenumbers**2 * heat_times[:, None])
        flux = np.where(np.arange(points // 2 + 1) <= self.num_modes, -0.5j * wavenumbers, 0)
        steps, heat, flux = steps.astype(real), heat.astype(real), flux.astype(spectrum.dtype)
        for start in range(0, batch, LANES):
            lanes = slice(start, start + LANES)
            spectrum[lanes] = _integrate(spectrum[lanes], steps, heat, flux)
        return spectrum[:batch, : self.num_modes + 1] / np.asarray(points, real)


@jax.jit
def _integrate(
    spectrum: Complex[Array, "lanes half"],
    steps: Float[Array, " num_steps"],
    heat: Float[Array, "num_steps+1 half"],
    flux: Complex[Array, " half"],
) -> Complex[Array, "lanes half"]:
    points = 2 * (spectrum.shape[1] - 1)

    def advection(spectrum):
        """Spectrum of -(u²/2)_x; `flux` is zero on the modes that the 2/3 rule removes."""
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


def check_parameters(solver) -> None:
    """Raise a ValueError where a stepper for Burgers' equation has an impossible parameter."""
    for name in ("viscosity", "final_time", "length"):
        if not getattr(solver, name) > 0:
            raise ValueError(f"{name} must be positive, got {getattr(solver, name)}")
    for name in ("num_modes", "num_steps"):
        if getattr(solver, name) < 1:
            raise ValueError(f"{name} must be at least 1, got {getattr(solver, name)}")
