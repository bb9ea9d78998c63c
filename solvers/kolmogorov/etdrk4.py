"""Kolmogorov flow by a fourth-order exponential integrator; `solvers.kolmogorov.flow` has the equation.

Method: ETDRK4 (`solvers.common.exponential_integrator`): viscosity exactly, advection and forcing by four
stages a step. Each interval between observation times is cut into equal steps no longer than `step`. On a
processor the steps are those of `solvers.kolmogorov.lanes`, compiled with Numba, and each sample is shared
among `OMP_NUM_THREADS` threads, or as many as there are cores; on a GPU, with JAX.

Expect: with the defaults a relative L² error of about 1e-6 at t = 11 and 11.1 from the default distribution,
most of it from the modes left out. Good values: 42, 63, 71 or 85 modes, whose grids of 128, 192, 216 and 256
points are fast.
Limits: advection is explicit, and a step must not exceed LARGEST_COURANT / (K max(|u| + |v|)): from the
developed field about 0.025, 0.0125 and 0.0075 at K = 42, 85 and 138. A sample whose flow outruns its step is
solved again with half of it, and again with a quarter; if it outruns that too, it is refused.
Sources: Cox and Matthews 2002, J. Comput. Phys. 176, 430; Kassam and Trefethen 2005, SIAM J. Sci. Comput. 26,
1214.
"""

from dataclasses import dataclass, replace
from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from resolvent.solvers.common.exponential_integrator import Etdrk4, etdrk4, etdrk4_step
from resolvent.solvers.common.lanes import lanes_here
from resolvent.solvers.kolmogorov.flow import (
    LANES,
    Flow,
    FlowSolver,
    Initial,
    Solution,
    Spectra,
    flow,
    tendency,
)
from resolvent.solvers.kolmogorov.lanes import advance

LARGEST_COURANT = 4.0  # of (|u| + |v|) · K · step: a little above, runs blow up, or look sound and are wrong
HALVINGS = 2  # of the step, for a sample whose flow outruns it


@dataclass(frozen=True)
class KolmogorovEtdrk4(FlowSolver):
    """ω(·, 0) → ω(·, times); `FlowSolver` has the other parameters.

    step  largest step in time, halved for samples that need it. Error ∝ step⁴.
    """

    step: float = 0.01

    def solve(self, initial: Initial, times: tuple[float, ...]) -> Solution:
        solution = self.march(initial, times)
        step = min(self.step, max(np.diff(times, prepend=0.0)))
        for _ in range(HALVINGS):
            lost = ~np.isfinite(solution[:, -1]).all(axis=(1, 2))
            if not lost.any():
                break
            step /= 2
            solution[lost] = replace(self, step=step).march(initial[lost], times)
        self._check(solution, step)
        return solution

    def _advance(
        self, spectrum: Spectra | np.ndarray, duration: float, tables: Flow, points: int
    ) -> np.ndarray:
        num_steps = int(np.ceil(duration / self.step - 1e-9))
        # Rounded, because intervals between times differ in their last bits.
        step = round(duration / num_steps, 15)
        scheme = _scheme(self.num_modes, self.viscosity, step)
        if lanes_here(LANES) == 1:
            alone, speed = advance(np.asarray(spectrum)[0], num_steps, scheme, tables, points)
            later, fastest = alone[None].astype(spectrum.dtype), np.array([speed])
        else:
            real = tables.laplacian.dtype
            scheme = Etdrk4(*(part.astype(real) for part in scheme))
            later, fastest = _march(spectrum, np.asarray(num_steps), scheme, tables, points)
        outrun = np.asarray(fastest) * self.num_modes * step > LARGEST_COURANT
        return np.where(outrun[:, None, None], later.dtype.type(np.nan), later)


@lru_cache(maxsize=8)
def _scheme(num_modes: int, viscosity: float, step: float) -> Etdrk4:
    laplacian = flow(num_modes, 1, np.dtype(complex)).laplacian
    return etdrk4(viscosity * laplacian, step)


@partial(jax.jit, static_argnames="points")
def _march(
    spectrum: Spectra, num_steps: Int[Array, ""], scheme: Etdrk4, tables: Flow, points: int
) -> tuple[Spectra, Float[Array, " lanes"]]:
    """Return the spectra after `num_steps`, and the largest |u| + |v| met at the start of a step."""

    def slope(w):
        return tendency(w, tables, points)[0]

    def step(_, state):
        w, fastest = state
        at_start, speed = tendency(w, tables, points)
        return etdrk4_step(w, at_start, slope, scheme), jnp.maximum(fastest, speed)

    start = jnp.zeros(spectrum.shape[0], tables.laplacian.dtype)
    return jax.lax.fori_loop(0, num_steps, step, (spectrum, start))
