"""Kolmogorov flow by a fourth-order exponential integrator; `solvers.kolmogorov.flow` has the equation.

Method: ETDRK4 (`solvers.common.exponential_integrator`): viscosity exactly, advection and forcing by four
stages per step. Each interval between observation times is divided into equal steps of at most `step`. On a
CPU the steps are in `solvers.kolmogorov.lanes`, compiled with Numba, with each sample shared among
`OMP_NUM_THREADS` threads, or as many as there are cores; on a GPU they are in JAX.

Expect: with the defaults a relative L² error of about 1e-6 at t = 11 and 11.1 for the default distribution,
mostly from truncated modes. Good values: 42, 63, 71 or 85 modes, whose grids of 128, 192, 216 and 256 points
are fast.

Limits: advection is explicit, and steps must not exceed LARGEST_COURANT / (K max(|u| + |v|)): for the
developed field about 0.025, 0.0125 and 0.0075 at K = 42, 85 and 138. A sample that violates this limit is
solved again with half the step, then with a quarter, and then refused.
Sources: Cox and Matthews 2002, J. Comput. Phys. 176, 430; Kassam and Trefethen 2005, SIAM J. Sci. Comput. 26,
1214.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from resolvent.solvers.common.accuracy import (
    MODES_2D,
    Attempt,
    Solved,
    cheapest,
    first,
    solve_to_accuracy,
    tails,
)
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

LARGEST_COURANT = 4.0  # limit of (|u| + |v|) · K · step: slightly above, runs blow up or are wrong unnoticed
FIRST_MODES = 16  # modes for measuring the error in time at ν = 1/70, scaled by ν^{-1/2}
COURANT, PAIR = 1.2, 2 / 3  # step times K of the first run of a pair, and ratio of the two steps
CALM = 0.9  # safety factor for steps of other flows, relative to the pilot
SPREAD = 2.0  # steps shorter by this factor are short enough for all flows
SHORTER, TRIES = 0.85, 15  # ratio of successive steps, and number of attempts, if a step is unstable
IN_MODES = 0.8  # share of the accuracy for truncated modes; the rest is for the steps
TAIL = 1.0  # ratio of error and tail of the spectrum; measured: 0.2 to 0.8
ORDER = 4  # of the error, in the step
HALVINGS = 2  # of the step, for unstable samples


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


class Pilot(NamedTuple):
    """Modes and steps determined from a few flows of a distribution, used for all flows.

    start    first rung of `MODES_2D`.
    few      rung for measuring the error in time.
    courant  step times modes, if the error in time allows.
    longest  step at which the error in time of the pilot's flows reaches its share of the accuracy.
    """

    start: int
    few: int
    courant: float
    longest: float


def pilot(
    accuracy: float,
    initial: Initial,
    times: tuple[float, ...],
    viscosity: float = 1 / 70,
    forcing_wavenumber: int = 4,
) -> Pilot:
    """Determine the first number of modes and the largest steps from some flows of a distribution.

    Raises as `solve_to`.
    """
    physics = times, viscosity, forcing_wavenumber
    modes = max(forcing_wavenumber, FIRST_MODES * (70 * viscosity) ** -0.5)
    few = int(np.searchsorted(MODES_2D, modes).clip(max=len(MODES_2D) - 2))
    pairs = [_pair(accuracy, initial[row : row + 1], MODES_2D[few], *physics) for row in range(len(initial))]
    courant, longest = (min(pair[k] for pair in pairs) for k in (0, 1))
    found, steps, _ = _climbed(accuracy, few, initial, physics, lambda _, k: min(courant / k, longest))
    courant = min(courant, (steps * np.array(MODES_2D)[found.rungs[:, 0]]).min())
    needs = first(_in_modes(found.solutions) <= accuracy)
    forced = int(np.searchsorted(MODES_2D, forcing_wavenumber))
    start = max(forced, cheapest(needs[:, None], lambda rung: MODES_2D[rung[0]] ** 3)[0])
    courant, safe = CALM * courant, MODES_2D[start] * longest / SPREAD
    # True if a pair of runs for each flow costs more than steps short enough for all flows.
    if courant / safe <= 1 + (1 + 1 / PAIR) * (MODES_2D[few] / MODES_2D[start]) ** 3:
        courant = min(courant, safe)
    return Pilot(start, few, courant, longest)


def solve_to(
    accuracy: float,
    initial: Initial,
    times: tuple[float, ...],
    pilot: Pilot,
    viscosity: float = 1 / 70,
    forcing_wavenumber: int = 4,
) -> tuple[Solved, Float[np.ndarray, " batch"]]:
    """Solve to a relative L² error of `accuracy` at every time, with adaptive modes for each sample.

    Returns the solutions, with rungs of `MODES_2D`, and the largest step of each sample, bit-identical in any
    batch with the same pilot. If accuracy rather than stability limits the step, each sample has its own
    step, from a pair of runs with few modes, on which the error in time hardly depends.

    Raises as `solve`, and `SolverError` if the accuracy cannot be reached.
    """
    physics = times, viscosity, forcing_wavenumber
    longest, spent = np.zeros((2, len(initial)))

    def step_of(row: int, modes: int) -> float:
        step = pilot.courant / modes
        if SPREAD * step <= pilot.longest * (1 + 1e-9):
            longest[row] = pilot.longest / SPREAD
            return step
        if not longest[row]:
            few = MODES_2D[pilot.few]
            _, longest[row], spent[row] = _pair(accuracy, initial[row : row + 1], few, *physics)
        # Steps are rounded to rungs of ten per cent, so that samples share the integrator's coefficients.
        wanted = np.log(min(step, longest[row]))
        return float(np.exp(np.log(1.1) * np.floor(wanted / np.log(1.1) + 1e-9)))

    found, steps, marched = _climbed(accuracy, pilot.start, initial, physics, step_of)
    in_time = (1 - IN_MODES) * accuracy * (steps / longest) ** ORDER
    alone = np.array(MODES_2D)[found.rungs[:, 0]] ** 2 / steps
    return replace(found, errors=IN_MODES * found.errors + in_time, work=(spent + marched) / alone), steps


def _pair(accuracy: float, initial: Initial, modes: int, *physics) -> tuple[float, float, float]:
    """Measure the error in time of one flow by two runs with different steps on few modes.

    Returns the stable product of step and modes, the step at which the error reaches its limit, and the work.
    """
    coarse, step, spent = _marched(initial, modes, COURANT / modes, *physics)
    courant = step * modes
    fine, step, more = _marched(initial, modes, PAIR * step, *physics)
    apart = largest_difference(coarse, fine) / (PAIR**-ORDER - 1)
    return courant, step * ((1 - IN_MODES) * accuracy / max(apart, 1e-100)) ** (1 / ORDER), spent + more


def _marched(initial: Initial, modes: int, step: float, times, viscosity: float, forcing_wavenumber: int):
    """Solve one flow with this step, or the longest shorter step that is stable."""
    spent = 0.0
    for _ in range(TRIES):
        with np.errstate(over="ignore", invalid="ignore"):
            solver = KolmogorovEtdrk4(viscosity, forcing_wavenumber, modes, step)
            (solution,) = solver.march(initial, times)
        spent += modes**2 / step
        if np.isfinite(solution).all():
            break
        step *= SHORTER
    return solution, step, spent


def _in_modes(solutions: Sequence[np.ndarray]) -> Float[np.ndarray, "samples rungs"]:
    """Estimate the truncation errors from the spectra, relative to their share of the accuracy."""
    powers = [np.nan_to_num(power_of_shells(one).max(axis=0), nan=1.0, posinf=1.0) for one in solutions]
    return np.concatenate([TAIL / IN_MODES * tails(power[None], MODES_2D) for power in powers])


def _climbed(
    accuracy: float, start: int, initial: Initial, physics, step_of: Callable[[int, int], float]
) -> tuple[Solved, Float[np.ndarray, " batch"], Float[np.ndarray, " batch"]]:
    """Solve every sample with enough modes; also return the steps and the total work of each."""
    steps, spent = np.zeros((2, len(initial)))

    def attempt(rows: Int[np.ndarray, " some"], rungs: tuple[int, ...]) -> Attempt:
        modes, solutions = MODES_2D[rungs[0]], []
        for row in rows.tolist():
            one = initial[row : row + 1]
            solution, steps[row], work = _marched(one, modes, step_of(row, modes), *physics)
            spent[row] += work
            solutions.append(solution)
        return Attempt(solutions, (_in_modes(solutions),))

    def out_of_reach(rungs: tuple[int, ...]) -> str:
        return (
            f"with {MODES_2D[rungs[0]]} modes it is not resolved; ask for a lower accuracy, an earlier "
            "spin_up_time or a larger viscosity"
        )

    found = solve_to_accuracy(
        accuracy, (start,), len(initial), attempt, lambda rungs: MODES_2D[rungs[0]], out_of_reach
    )
    return found, steps, spent


@lru_cache(maxsize=8)
def _scheme(num_modes: int, viscosity: float, step: float) -> Etdrk4:
    laplacian = flow(num_modes, 1, np.dtype(complex)).laplacian
    return etdrk4(viscosity * laplacian, step)


@partial(jax.jit, static_argnames="points")
def _march(
    spectrum: Spectra, num_steps: Int[Array, ""], scheme: Etdrk4, tables: Flow, points: int
) -> tuple[Spectra, Float[Array, " lanes"]]:
    """Return the spectra after `num_steps`, and the largest |u| + |v| at the start of a step."""

    def slope(w):
        return tendency(w, tables, points)[0]

    def step(_, state):
        w, fastest = state
        at_start, speed = tendency(w, tables, points)
        return etdrk4_step(w, at_start, slope, scheme), jnp.maximum(fastest, speed)

    start = jnp.zeros(spectrum.shape[0], tables.laplacian.dtype)
    return jax.lax.fori_loop(0, num_steps, step, (spectrum, start))
