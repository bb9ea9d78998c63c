"""What the two integrators of Burgers' equation share: parameters, lanes, checks and extrapolation.

    u_t + u u_x = ν u_xx,    u(x + L, t) = u(x, t),    u(x, 0) = u₀(x)

u(x, t)  velocity, positive to the right; x in [0, L), L = 1; t in [0, final_time], final_time = 1.
ν        viscosity > 0; its wave steepens to a front of width about ν / max|u|, then decays.

Convention: initial field and solution are Fourier coefficients û₀, …, û_K (see `solvers.common.fourier`);
`num_modes` is K, the highest wavenumber integrated. It is counted *after* dealiasing: products are formed on
a periodic grid (left end included, right end excluded) of at least 3K + 1 points, the 2/3 rule, so that u² is
exact in the modes up to K. The steps are taken in `solvers.burgers.lanes`, eight samples at a time.

Limits: num_modes must grow like max|u| L / ν. A run that overflows, or does not resolve the solution in time
or in space, ends in a SolverError.
Source of the problem: Cao 2021, arXiv:2105.14995, appendix C.2.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Complex, Float, Int

from resolvent.solvers.common.accuracy import (
    MODES,
    STEPS,
    TAIL_GUESS,
    Attempt,
    Solved,
    of_order,
    solve_to_accuracy,
    tails,
)
from resolvent.solvers.common.checks import check_array, check_finite, check_initial, check_tail, refuse
from resolvent.solvers.common.errors import Words

FIRST_MODES = 42  # of the first solution, where more are given
LARGEST_CORRECTION = 1e-3  # of the norm: beyond, the step is not yet where the error follows its order


@dataclass(frozen=True)
class BurgersSolver(ABC):
    """u₀ → u(·, final_time), by two runs in time and one Richardson extrapolation.

    viscosity   ν > 0.
    final_time  > 0.
    num_modes   K, highest wavenumber integrated; more for a smaller viscosity or a shorter time.
    num_steps   N, steps in time.
    length      L.

    Raises a ValueError where a parameter is not positive.
    """

    name: ClassVar[str]
    order: ClassVar[int]  # of the extrapolated solution, in the step
    runs: ClassVar[int]  # the two take half of `runs` · N steps, and as many
    error_ratio: ClassVar[int]  # how many times smaller the error of the second is

    viscosity: float
    final_time: float = 1.0
    num_modes: int = 48
    num_steps: int = 240
    length: float = 1.0

    def __post_init__(self) -> None:
        for name in ("viscosity", "final_time", "length"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)}")
        for name in ("num_modes", "num_steps"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")

    def solve(
        self, initial_coefficients: Complex[np.ndarray, "batch modes_in"]
    ) -> Complex[np.ndarray, "batch modes"]:
        """Return the coefficients û₀, …, û_K of u(·, final_time), one row a sample.

        A sample has the same bits in any batch. The input may have any number of modes: those beyond K are
        dropped, absent ones are zero.

        Raises a ValueError where the input is not an array of coefficients; a SolverError where the input is
        not finite, or the solution not resolved: a run or its spectrum's tail says so, or the error estimated
        from the two runs exceeds LARGEST_CORRECTION of the norm.
        """
        check_input(initial_coefficients, self.name)
        coarse, fine, _ = self._marched_twice(initial_coefficients)
        more_steps: Words = f"use more num_steps (now {self.num_steps})"
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
        """Return what `solve` does, whether or not it is resolved."""
        coarse, fine, _ = self._marched_twice(initial_coefficients)
        return self._extrapolated(coarse, fine)

    @classmethod
    def solve_to(
        cls,
        accuracy: float,
        initial_coefficients: Complex[np.ndarray, "batch modes_in"],
        viscosity: float,
        final_time: float = 1.0,
        length: float = 1.0,
    ) -> Solved:
        """Solve to a relative L² error of `accuracy`: each sample with modes and steps of its own.

        The rungs found are those of `MODES` and `STEPS`. The same bits in any batch.

        Raises as `solve`; a SolverError where the accuracy cannot be reached.
        """
        check_input(initial_coefficients, cls.name)

        def solver(rungs: tuple[int, ...]) -> BurgersSolver:
            return cls(viscosity, final_time, MODES[rungs[0]], STEPS[rungs[1]], length)

        # A sample begins with the modes that it starts from, or with FIRST_MODES of them.
        squares = np.cumsum(abs(initial_coefficients[:, ::-1]) ** 2, axis=1)[:, ::-1]
        beyond = np.pad(squares, ((0, 0), (0, 1)))[:, np.minimum(np.array(MODES) + 1, squares.shape[1])]
        start = np.zeros((len(squares), 2), int)
        start[:, 0] = (beyond <= accuracy**2 * squares[:, :1]).argmax(axis=1)
        start[:, 0] = np.minimum(start[:, 0], MODES.index(FIRST_MODES))

        def attempt(rows: Int[np.ndarray, " some"], rungs: tuple[int, ...]) -> Attempt:
            with np.errstate(over="ignore", invalid="ignore"):  # where the rungs are too low
                one = solver(rungs)
                coarse, fine, peaks = one._marched_twice(initial_coefficients[rows])
                solution = one._extrapolated(coarse, fine)
                power = np.nan_to_num([abs(solution) ** 2, peaks], nan=1.0, posinf=1.0)
                pairs = zip(coarse, fine, strict=True)
                correction = np.array([difference_of_spectra(*both) for both in pairs])
            correction /= cls.error_ratio - 1
            tail = tails(power[0], MODES)[:, rungs[0]]
            return Attempt(
                list(solution),
                measures=(tails(power[1], MODES), of_order(cls.order, STEPS, len(rows))),
                guesses=(TAIL_GUESS * tail, cls.guess(correction)),
            )

        def out_of_reach(rungs: tuple[int, ...]) -> Words:
            return (
                f"with {MODES[rungs[0]]} modes and {STEPS[rungs[1]]} steps it is not resolved; ask for a "
                "lower accuracy, or a larger viscosity"
            )

        return solve_to_accuracy(
            accuracy,
            start,
            (len(MODES), len(STEPS)),
            attempt,
            difference_of_spectra,
            lambda rungs: MODES[rungs[0]] * STEPS[rungs[1]],
            out_of_reach,
        )

    def _marched_twice(self, initial_coefficients):
        steps = self.runs * self.num_steps
        coarse, _ = self.march(initial_coefficients, steps // 2)
        return coarse, *self.march(initial_coefficients, steps)

    def _extrapolated(self, coarse, fine):
        return (self.error_ratio * fine - coarse) / (self.error_ratio - 1)

    @staticmethod
    @abstractmethod
    def guess(correction: Float[np.ndarray, " batch"]) -> Float[np.ndarray, " batch"]:
        """Guess the error of the extrapolated solution from how far it is from the finer run."""

    @abstractmethod
    def march(
        self, initial_coefficients: Complex[np.ndarray, "batch modes_in"], num_steps: int
    ) -> tuple[Complex[np.ndarray, "batch modes"], Float[np.ndarray, "batch modes"]]:
        """Return the result of one run of `num_steps` steps, not checked, and each mode's largest |û|²."""

    def _resized(
        self, coefficients: Complex[np.ndarray, "batch modes_in"]
    ) -> Complex[np.ndarray, "batch modes"]:
        """Return the modes up to K, zero where there are fewer."""
        modes = self.num_modes + 1
        return np.pad(coefficients[:, :modes], ((0, 0), (0, max(0, modes - coefficients.shape[1]))))


def difference_of_spectra(coarse: Complex[np.ndarray, " some"], fine: Complex[np.ndarray, " more"]) -> float:
    """Return the relative L² difference of two functions of a circle; infinite where one is not finite."""
    apart = np.zeros(max(coarse.size, fine.size), fine.dtype)
    apart[: fine.size] = fine
    apart[: coarse.size] -= coarse
    apart[0] /= np.sqrt(2)  # the other modes stand for two
    norm = np.sqrt(np.vdot(fine, fine).real - abs(fine[0]) ** 2 / 2)
    found = np.sqrt(np.vdot(apart, apart).real) / norm if norm > 0 else float(apart.any())
    return found if np.isfinite(found) else np.inf


def check_input(initial_coefficients: Complex[np.ndarray, "batch modes"], name: str) -> None:
    """Check what is to be solved, by the solver of this name.

    Raises a ValueError where it is not an array of Fourier coefficients; a SolverError where a coefficient is
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
