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
from jaxtyping import Complex

from resolvent.solvers.common.checks import check_array, check_finite, check_initial, check_tail, refuse
from resolvent.solvers.common.errors import Words

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
        steps = self.runs * self.num_steps
        coarse, fine = (self.march(initial_coefficients, count) for count in (steps // 2, steps))
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
        solution = (self.error_ratio * fine - coarse) / (self.error_ratio - 1)
        check_tail(solution, self.name, remedy=f"use more num_modes (now {self.num_modes})")
        return solution

    @abstractmethod
    def march(
        self, initial_coefficients: Complex[np.ndarray, "batch modes_in"], num_steps: int
    ) -> Complex[np.ndarray, "batch modes"]:
        """Return the result of one run of `num_steps` steps, not checked."""

    def _resized(
        self, coefficients: Complex[np.ndarray, "batch modes_in"]
    ) -> Complex[np.ndarray, "batch modes"]:
        """Return the modes up to K, zero where there are fewer."""
        modes = self.num_modes + 1
        return np.pad(coefficients[:, :modes], ((0, 0), (0, max(0, modes - coefficients.shape[1]))))


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
