"""Burgers' equation on the circle by a fourth-order exponential integrator.

    u_t + u u_x = ν u_xx,    u(x + L, t) = u(x, t),    u(x, 0) = u₀(x)

Symbols, conventions, dealiasing and checks are those of `solvers.burgers`, whose independent companion this
is.

Method: ETDRK4 in Fourier space (`solvers.exponential_integrator`): the heat equation exactly, -(u²/2)_x by
four stages a step. Steps grow by doubling: `num_steps` are shared equally among the BLOCKS intervals that end
at T/8, T/4, T/2 and T, because a field from a Gaussian distribution loses most of its modes in the first
instants.

A second run with half as many steps, which costs half as much again, tells whether the steps resolve the
solution.

Expect: for Cao's distribution (σ = 25, τ = 5, γ = 2) and ν = 0.1/2π, t = 1, the defaults are within 1e-6
(relative L²) of the exact solution for every sample; `tests/solvers/test_burgers_etdrk4.py` holds them to
it. Error ∝ N⁻⁴. Limits: as in `solvers.burgers`.
Sources: Cox and Matthews 2002, J. Comput. Phys. 176, 430; Kassam and Trefethen 2005, SIAM J. Sci. Comput. 26,
1214; the problem: Cao 2021, arXiv:2105.14995, appendix C.2.
"""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float

import resolvent.solvers.double_precision  # noqa: F401  (switches JAX to float64)
from resolvent.solvers.burgers import LANES, LARGEST_CORRECTION, check_parameters
from resolvent.solvers.exponential_integrator import etdrk4
from resolvent.solvers.fourier import product_points
from resolvent.solvers.resolved import check_finite, check_initial, check_tail, refuse

NAME = "Burgers ETDRK4"
BLOCKS = 4


@dataclass(frozen=True)
class BurgersEtdrk4:
    """u₀ → u(·, final_time). The module's docstring has the equation and the method.

    viscosity   ν > 0.
    final_time  > 0.
    num_modes   K, highest wavenumber integrated; more for a smaller viscosity or a shorter time.
    num_steps   N, a multiple of 8: as many in each of four blocks, and half as many in the second run.
    length      L.
    """

    viscosity: float
    final_time: float = 1.0
    num_modes: int = 48
    num_steps: int = 104
    length: float = 1.0

    def __post_init__(self):
        check_parameters(self)
        if self.num_steps % (2 * BLOCKS):
            raise ValueError(f"num_steps must be a multiple of {2 * BLOCKS}, got {self.num_steps}")

    def solve(
        self, initial_coefficients: Complex[np.ndarray, "batch modes_in"]
    ) -> Complex[np.ndarray, "batch modes"]:
        """Coefficients û₀, …, û_K of u(·, final_time), one row a sample, the same bits in any batch.

        The input may have any number of modes: those beyond K are dropped, absent ones are zero.
        """
        check_initial(initial_coefficients, NAME)
        coarse = self.march(initial_coefficients, self.num_steps // 2)
        solution = self.march(initial_coefficients, self.num_steps)
        more_steps = f"use more num_steps (now {self.num_steps})"
        check_finite(coarse, NAME, more_steps)
        check_finite(solution, NAME, more_steps)
        correction = np.linalg.norm(solution - coarse, axis=1) / 15
        refuse(
            correction > LARGEST_CORRECTION * np.linalg.norm(solution, axis=1),
            NAME,
            f"halving the step moves the solution by more than {LARGEST_CORRECTION:.0e}",
            more_steps,
        )
        check_tail(solution, NAME, f"use more num_modes (now {self.num_modes})")
        return solution

    def march(
        self, initial_coefficients: Complex[np.ndarray, "batch modes_in"], num_steps: int
    ) -> Complex[np.ndarray, "batch modes"]:
        """One run of `num_steps` steps, not checked."""
        points = product_points(self.num_modes)
        modes = self.num_modes + 1
        kept = min(modes, initial_coefficients.shape[1])
        batch = len(initial_coefficients)
        # The transforms inside are unnormalised: what is integrated is points · û.
        spectrum = np.zeros((batch + -batch % LANES, modes), initial_coefficients.dtype)
        spectrum[:batch, :kept] = points * initial_coefficients[:, :kept]
        real = spectrum.real.dtype

        wavenumbers = 2 * np.pi / self.length * np.arange(modes)
        ends = self.final_time * 2.0 ** np.arange(1 - BLOCKS, 1)
        sizes = np.diff(ends, prepend=0.0) / (num_steps // BLOCKS)
        blocks = [etdrk4(-self.viscosity * wavenumbers**2, size) for size in sizes]
        scheme = np.stack([np.stack(block) for block in blocks]).astype(real)
        flux = (-0.5j * wavenumbers).astype(spectrum.dtype)
        for start in range(0, batch, LANES):
            lanes = slice(start, start + LANES)
            spectrum[lanes] = _integrate(spectrum[lanes], scheme, flux, points, num_steps // BLOCKS)
        return spectrum[:batch] / np.asarray(points, real)


@partial(jax.jit, static_argnames=("points", "steps"))
def _integrate(
    spectrum: Complex[Array, "lanes modes"],
    scheme: Float[Array, "blocks 6 modes"],
    flux: Complex[Array, " modes"],
    points: int,
    steps: int,
) -> Complex[Array, "lanes modes"]:
    modes = spectrum.shape[1]

    def advection(spectrum):
        """Spectrum of -(u²/2)_x in the modes kept."""
        values = jnp.fft.irfft(spectrum, n=points)
        return flux * jnp.fft.rfft(values * values)[:, :modes]

    def block(spectrum, coefficients):
        full, half, stage, first, middle, last = coefficients

        def step(_, u):
            slope = advection(u)
            kept = half * u
            a = kept + stage * slope
            slope_a = advection(a)
            slope_b = advection(kept + stage * slope_a)
            slope_c = advection(half * a + stage * (2 * slope_b - slope))
            return full * u + first * slope + middle * (slope_a + slope_b) + last * slope_c

        return jax.lax.fori_loop(0, steps, step, spectrum), None

    return jax.lax.scan(block, spectrum, scheme)[0]
