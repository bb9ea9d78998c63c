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

from resolvent.solvers.common.accuracy import (
    MODES_2D,
    SAFETY,
    Attempt,
    Solved,
    solve_to_accuracy,
    tails,
)
from resolvent.solvers.common.errors import Words
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
    largest_difference,
    power_of_shells,
    tendency,
)
from resolvent.solvers.kolmogorov.lanes import advance

LARGEST_COURANT = 4.0  # of (|u| + |v|) · K · step: a little above, runs blow up, or look sound and are wrong
FIRST_MODES = 20  # of the first solution at ν = 1/70; more, as ν^{-1/2}, for a smaller one
COURANT, PAIR = 0.9, 2 / 3  # step times K of the first solution, and the step of the second over it
SHORTER, TRIES = 0.8, 12  # steps tried, each over the one before, of a flow that outruns them
TAIL = 1.0  # error over the tail of the spectrum, roughly; 3 was seen after a long time
ORDER = 4  # of the error, in the step
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


def solve_to(
    accuracy: float,
    initial: Initial,
    times: tuple[float, ...],
    viscosity: float = 1 / 70,
    forcing_wavenumber: int = 4,
) -> tuple[Solved, Float[np.ndarray, " batch"]]:
    """Solve to a relative L² error of `accuracy` at every time, each sample with modes and a step of its own.

    Returns what was found, with the rungs of `MODES_2D`, and the largest step of each sample. The same bits
    in any batch. The first solution of a sample is a pair, on few modes and with two steps: what they
    differ by shows how long a step may be. The more modes, the shorter it is.

    Raises as `solve`; a SolverError where the accuracy cannot be reached.
    """
    batch = len(initial)
    courant, longest, in_time, steps, spent = np.zeros((5, batch))
    allowed = accuracy / SAFETY  # of the error in time

    def marched(row, modes, step):
        for _ in range(TRIES):
            with np.errstate(over="ignore", invalid="ignore"):
                solver = KolmogorovEtdrk4(viscosity, forcing_wavenumber, modes, step)
                solution = solver.march(initial[row : row + 1], times)[0]
            spent[row] += modes**2 / step
            if np.isfinite(solution).all():
                break
            step *= SHORTER
        return solution, step

    def attempt(rows: Int[np.ndarray, " some"], rungs: tuple[int, ...]) -> Attempt:
        modes, solutions = MODES_2D[rungs[0]], []
        for row in rows.tolist():
            if not courant[row]:
                coarse, step = marched(row, modes, COURANT / modes)
                courant[row] = step * modes
                solution, step = marched(row, modes, PAIR * step)
                apart = largest_difference(coarse, solution) / (PAIR**-ORDER - 1)
                longest[row] = step * (allowed / max(apart, 1e-100)) ** (1 / ORDER)
            else:
                # Rungs of a tenth, so that samples share the coefficients of the integrator.
                wanted = np.log(min(courant[row] / modes, longest[row]))
                step = float(np.exp(np.log(1.1) * np.floor(wanted / np.log(1.1) + 1e-9)))
                solution, step = marched(row, modes, step)
            steps[row], in_time[row] = step, allowed * (step / longest[row]) ** ORDER
            solutions.append(solution)
        power = np.array([power_of_shells(one).max(axis=0) for one in solutions])
        shares = tails(np.nan_to_num(power, nan=1.0, posinf=1.0), MODES_2D)
        return Attempt(solutions, (shares,), (TAIL * shares[:, rungs[0]],))

    def out_of_reach(rungs: tuple[int, ...]) -> Words:
        return (
            f"with {MODES_2D[rungs[0]]} modes it is not resolved; ask for a lower accuracy, an earlier "
            "spin_up_time or a larger viscosity"
        )

    first = max(forcing_wavenumber, FIRST_MODES * (70 * viscosity) ** -0.5)
    start = np.full((batch, 1), np.searchsorted(MODES_2D, first).clip(max=len(MODES_2D) - 2))
    found = solve_to_accuracy(
        accuracy, start, (len(MODES_2D),), attempt, largest_difference, lambda rungs: 1.0, out_of_reach
    )
    alone = np.array(MODES_2D)[found.rungs[:, 0]] ** 2 / steps
    return replace(found, errors=found.errors + in_time, work=spent / alone), steps


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
