"""Common base of both integrators of Burgers' equation: parameters, checks, extrapolation, adaptivity.

    u_t + u u_x = ν u_xx,    u(x + L, t) = u(x, t),    u(x, 0) = u₀(x)

u(x, t)  velocity, positive to the right; x in [0, L), L = 1; t in [0, final_time], final_time = 1.
ν        viscosity > 0; its wave steepens to a front of width about ν / max|u|, then decays.

Convention: initial field and solution are Fourier coefficients û₀, …, û_K (see `solvers.common.fourier`);
`num_modes` is K, the highest wavenumber, counted *after* dealiasing: products are formed on a periodic grid
(left end included, right end excluded) of at least 3K + 1 points, the 2/3 rule, so that u² is exact in the
modes up to K. The steps are in `solvers.burgers.lanes`, eight samples at a time.

Limits: num_modes must grow like max|u| L / ν. A run that overflows, or does not resolve the solution in time
or space, raises `SolverError`.

Source of the problem: Cao 2021, arXiv:2105.14995, appendix C.2.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Complex, Float, Int

from resolvent.solvers.common.accuracy import (
    MODES,
    STEPS,
    Attempt,
    Solved,
    cheapest,
    first,
    solve_to_accuracy,
    tails,
)
from resolvent.solvers.common.checks import check_array, check_finite, check_initial, check_tail, refuse
from resolvent.solvers.common.errors import SolverError

SPACE_MARGIN = 4.0  # safety factor for errors of other samples, relative to the pilot's
OF_ROUNDING = 0.01  # errors that are smaller, relative to the accuracy, may be of rounding
AGREEING = 0.05  # largest difference of two solutions that still measures the error in time
LARGEST_CORRECTION = 1e-3  # relative to the norm; beyond, the error does not yet follow its order in the step

Viscosity = float | Float[np.ndarray, " batch"]  # of all samples, or of each


class Pilot(NamedTuple):
    """Rungs and errors measured on a few samples of a distribution, used for all samples.

    start  rungs of `MODES` and of the steps with which samples start.
    early  by rung of `MODES`: the largest error relative to the tail of the peak spectrum, max |û|² over
           time. Truncated modes are short-lived, so their effect is not visible in the final spectrum.
    """

    start: tuple[int, ...]
    early: Float[np.ndarray, " rungs"]


class Tried(NamedTuple):
    """Solutions on one pair of rungs, and indicators of their errors.

    in_modes  (2, samples, rungs): tails of the spectra of the solutions and of the peak spectra.
    in_steps  (samples, rungs): errors in time from runs with different steps.
    """

    solutions: Complex[np.ndarray, "samples modes"]
    in_modes: Float[np.ndarray, "2 samples rungs"]
    in_steps: Float[np.ndarray, "samples steps"]


@dataclass(frozen=True)
class BurgersSolver(ABC):
    """u₀ → u(·, final_time), by two runs in time and one Richardson extrapolation.

    viscosity   ν > 0: a number, or one for each sample.
    final_time  > 0.
    num_modes   K, highest wavenumber; larger for a smaller viscosity or a shorter time.
    num_steps   N, number of time steps.
    length      L.

    Raises `ValueError` if a parameter is not positive.
    """

    name: ClassVar[str]
    order: ClassVar[int]  # of the extrapolated solution, in the step
    runs: ClassVar[int]  # the two take half of `runs` · N steps, and as many
    error_ratio: ClassVar[int]  # ratio of the errors of the two runs
    steps: ClassVar[tuple[int, ...]] = STEPS  # adaptive choices of the number of steps
    margin: ClassVar[float]  # safety factor for the error in time estimated from different steps

    viscosity: Viscosity
    final_time: float = 1.0
    num_modes: int = 48
    num_steps: int = 240
    length: float = 1.0

    def __post_init__(self) -> None:
        for name in ("viscosity", "final_time", "length"):
            if not (least := np.min(getattr(self, name))) > 0:
                raise ValueError(f"{name} must be positive, got {least}")
        for name in ("num_modes", "num_steps"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")

    def solve(
        self, initial_coefficients: Complex[np.ndarray, "batch modes_in"]
    ) -> Complex[np.ndarray, "batch modes"]:
        """Return the coefficients û₀, …, û_K of u(·, final_time), one row per sample.

        Results are bit-identical in any batch. The input may have any number of modes: modes beyond K are
        dropped, missing modes are zero.

        Raises `ValueError` if the input is not an array of coefficients, and `SolverError` if the input is
        not finite, or the solution is not resolved: it overflows, its spectrum has a large tail, or the error
        estimated from the two runs exceeds LARGEST_CORRECTION of the norm.
        """
        check_input(initial_coefficients, self.name)
        coarse, fine, _ = self._marched_twice(initial_coefficients)
        more_steps = f"use more num_steps (now {self.num_steps})"
        check_finite(coarse, self.name, remedy=more_steps)
        check_finite(fine, self.name, remedy=more_steps)
        correction = np.linalg.norm(fine - coarse, axis=1) / (self.error_ratio - 1)
        refuse(
            correction > LARGEST_CORRECTION * np.linalg.norm(fine, axis=1),
            self.name,
            symptom=f"halving the step moves the solution by more than {LARGEST_CORRECTION:.0e}",
            remedy=more_steps,
        )
        solution = self._extrapolated(coarse, fine)
        check_tail(solution, self.name, remedy=f"use more num_modes (now {self.num_modes})")
        return solution

    def unchecked(
        self, initial_coefficients: Complex[np.ndarray, "batch modes_in"]
    ) -> Complex[np.ndarray, "batch modes"]:
        """Return the result of `solve` without checking the resolution."""
        coarse, fine, _ = self._marched_twice(initial_coefficients)
        return self._extrapolated(coarse, fine)

    @classmethod
    def pilot(
        cls,
        accuracy: float,
        initial_coefficients: Complex[np.ndarray, "batch modes_in"],
        viscosity: Viscosity,
        final_time: float = 1.0,
        length: float = 1.0,
    ) -> Pilot:
        """Find the first rungs for all samples, and the errors of truncated modes, from some samples.

        The samples are solved on increasing rungs of modes, with enough steps for the accuracy, until two
        successive solutions of each sample agree to a tenth of it; the last solution is the reference.

        Raises as `solve_to`.
        """
        check_input(initial_coefficients, cls.name)
        steps, step = np.array(cls.steps), 0
        found: list[Tried] = []
        apart = in_time = np.inf
        while apart > accuracy / 10 or in_time > accuracy:
            if len(found) == len(MODES):
                if in_time <= accuracy or step == len(steps) - 1:
                    finding = f"no discretisation reaches the accuracy {accuracy:.0e} for the first samples"
                    raise SolverError(finding, _out_of_reach(MODES[-1], cls.steps[step]))
                # The steps were too long for any number of modes to agree with the next, as over long times.
                found, apart = [], np.inf
                step = min(int(np.searchsorted(steps, 2 * steps[step])), len(steps) - 1)
            rungs = len(found), step
            found.append(cls.tried(initial_coefficients, rungs, viscosity, final_time, length))
            in_time = found[-1].in_steps[:, step].max()
            if len(found) > 1:
                apart = max(map(difference_of_spectra, found[-2].solutions, found[-1].solutions))
            # With too few steps no number of modes agrees with the next: the steps themselves are unstable.
            if apart < AGREEING or not np.isfinite(apart) or not in_time < 1:
                by = min(2.0, (in_time / accuracy) ** (1 / cls.order))
                step = min(max(step, int(np.searchsorted(steps, steps[step] * by))), len(steps) - 1)
        early = np.zeros(len(MODES))
        for k, one in enumerate(found[:-1]):
            errors = np.array(list(map(difference_of_spectra, one.solutions, found[-1].solutions)))
            ratios = errors / one.in_modes[1, :, k]
            if isinstance(viscosity, np.ndarray):  # at large viscosities some are ratios of rounding errors
                ratios = np.append(ratios[errors > OF_ROUNDING * accuracy], early[k - 1])
            early[k] = ratios.max()
        early[len(found) - 1 :] = early[len(found) - 2]
        in_modes = np.stack([one.in_modes[:, :, k] for k, one in enumerate(found)], axis=-1)
        needs = (
            first(_in_modes(in_modes, early[: len(found)]) <= accuracy / 2),
            first(found[-1].in_steps <= accuracy / 2),
        )
        return Pilot(
            cheapest(np.stack(needs, axis=1), lambda rungs: MODES[rungs[0]] * steps[rungs[1]]), early
        )

    @classmethod
    def solve_to(
        cls,
        accuracy: float,
        initial_coefficients: Complex[np.ndarray, "batch modes_in"],
        pilot: Pilot,
        viscosity: Viscosity,
        final_time: float = 1.0,
        length: float = 1.0,
    ) -> Solved:
        """Solve to a relative L² error of `accuracy`, with adaptive modes and steps for each sample.

        The rungs refer to `MODES` and `steps`. Results are bit-identical in any batch with the same pilot.

        Raises as `solve`, and `SolverError` if the accuracy cannot be reached.
        """
        check_input(initial_coefficients, cls.name)

        def attempt(rows: Int[np.ndarray, " some"], rungs: tuple[int, ...]) -> Attempt:
            of_rows = viscosity[rows] if isinstance(viscosity, np.ndarray) else viscosity
            found = cls.tried(initial_coefficients[rows], rungs, of_rows, final_time, length)
            return Attempt(list(found.solutions), (_in_modes(found.in_modes, pilot.early), found.in_steps))

        return solve_to_accuracy(
            accuracy,
            pilot.start,
            len(initial_coefficients),
            attempt,
            lambda rungs: MODES[rungs[0]] * cls.steps[rungs[1]],
            lambda rungs: _out_of_reach(MODES[rungs[0]], cls.steps[rungs[1]]),
            stride=2,
        )

    @classmethod
    def tried(
        cls,
        initial_coefficients: Complex[np.ndarray, "batch modes_in"],
        rungs: tuple[int, ...],
        viscosity: Viscosity,
        final_time: float,
        length: float,
    ) -> Tried:
        """Solve on these rungs without checks; a third run with half the steps measures the error in time."""
        one = cls(viscosity, final_time, MODES[rungs[0]], cls.steps[rungs[1]], length)
        with np.errstate(over="ignore", invalid="ignore"):  # rungs may be too low
            coarse, fine, peaks = one._marched_twice(initial_coefficients)
            coarser, _ = one.march(initial_coefficients, cls.runs * one.num_steps // 4)
            solutions, before = one._extrapolated(coarse, fine), one._extrapolated(coarser, coarse)
            apart = np.array(list(map(difference_of_spectra, before, solutions)))
            powers = np.nan_to_num([abs(solutions) ** 2, peaks], nan=1.0, posinf=1.0)
        fall = (one.num_steps / np.array(cls.steps)) ** cls.order
        in_steps = cls.margin * apart[:, None] / (2**cls.order - 1) * fall
        return Tried(solutions, np.stack([tails(power, MODES) for power in powers]), in_steps)

    def _marched_twice(self, initial_coefficients):
        steps = self.runs * self.num_steps
        coarse, _ = self.march(initial_coefficients, steps // 2)
        return coarse, *self.march(initial_coefficients, steps)

    def _extrapolated(self, coarse, fine):
        return (self.error_ratio * fine - coarse) / (self.error_ratio - 1)

    @abstractmethod
    def march(
        self, initial_coefficients: Complex[np.ndarray, "batch modes_in"], num_steps: int
    ) -> tuple[Complex[np.ndarray, "batch modes"], Float[np.ndarray, "batch modes"]]:
        """Return the unchecked result of one run of `num_steps` steps, and the largest |û|² of each mode."""

    def _blocks(self, batch: int) -> Iterator[tuple[slice, Viscosity]]:
        """Yield the samples that share a table of factors, and their viscosity: all, or one in each lane."""
        if not isinstance(self.viscosity, np.ndarray):
            yield slice(None), self.viscosity
            return
        from resolvent.solvers.common.vectors import LANES  # Numba is slow to import

        if len(self.viscosity) != batch:
            raise ValueError(f"{self.name} has {len(self.viscosity)} viscosities for {batch} samples")
        for start in range(0, max(batch, 1), LANES):
            some = slice(start, start + LANES)
            yield some, np.resize(self.viscosity[some], LANES)  # repeated in the lanes without a sample

    def _resized(
        self, coefficients: Complex[np.ndarray, "batch modes_in"]
    ) -> Complex[np.ndarray, "batch modes"]:
        """Return the modes up to K, padded with zeros."""
        modes = self.num_modes + 1
        return np.pad(coefficients[:, :modes], ((0, 0), (0, max(0, modes - coefficients.shape[1]))))


def _in_modes(
    both_tails: Float[np.ndarray, "2 samples rungs"], early: Float[np.ndarray, " rungs"]
) -> Float[np.ndarray, "samples rungs"]:
    """Estimate the truncation errors on each rung of modes."""
    return np.maximum(both_tails[0], SPACE_MARGIN * early * both_tails[1])


def _out_of_reach(modes: int, steps: int) -> str:
    return (
        f"with {modes} modes and {steps} steps it is not resolved; ask for a lower accuracy, or a larger "
        "viscosity"
    )


def difference_of_spectra(coarse: Complex[np.ndarray, " some"], fine: Complex[np.ndarray, " more"]) -> float:
    """Return the relative L² difference of two periodic functions; infinite if one is not finite."""
    apart = np.zeros(max(coarse.size, fine.size), fine.dtype)
    apart[: fine.size] = fine
    apart[: coarse.size] -= coarse
    apart[0] /= np.sqrt(2)  # all other modes count twice, for ±k
    norm = np.sqrt(np.vdot(fine, fine).real - abs(fine[0]) ** 2 / 2)
    found = np.sqrt(np.vdot(apart, apart).real) / norm if norm > 0 else float(apart.any())
    return found if np.isfinite(found) else np.inf


def check_input(initial_coefficients: Complex[np.ndarray, "batch modes"], name: str) -> None:
    """Check the input of the solver `name`.

    Raises `ValueError` if it is not an array of Fourier coefficients, and `SolverError` if a coefficient is
    not finite.
    """
    check_array(
        initial_coefficients,
        "c",
        ("batch", "modes"),
        f"initial_coefficients of {name}",
        hint="resolvent.solvers.common.fourier.coefficients_of turns values on a circle into coefficients",
    )
    check_initial(initial_coefficients, name)
