"""What the two integrators of Burgers' equation share: parameters, lanes, and the checks around a run.

    u_t + u u_x = ν u_xx,    u(x + L, t) = u(x, t),    u(x, 0) = u₀(x)

u(x, t)  velocity, positive to the right; x in [0, L), L = 1; t in [0, final_time], final_time = 1.
ν        viscosity > 0; its wave steepens to a front of width about ν / max|u|, then decays.

Convention: initial field and solution are Fourier coefficients û₀, …, û_K (see `solvers.common.fourier`);
`num_modes` is K, the highest wavenumber integrated. It is counted *after* dealiasing: products are formed on
a periodic grid (left end included, right end excluded) of at least 3K + 1 points, the 2/3 rule, so that u² is
exact in the modes up to K. On a processor the steps are those of `solvers.burgers.lanes`, compiled with
Numba; on a GPU they are compiled with JAX.

Limits: num_modes must grow like max|u| L / ν. A run that overflows, or does not resolve the solution in time
or in space, ends in a SolverError.
Source of the problem: Cao 2021, arXiv:2105.14995, appendix C.2.
"""

import numpy as np
from jaxtyping import Complex

from resolvent.solvers.common.checks import check_array, check_finite, check_initial, refuse
from resolvent.solvers.common.errors import Words

LARGEST_CORRECTION = 1e-3  # of the norm: beyond, the step is not yet where the error follows its order
# Samples integrated together, always this many: a processor's vectors, and enough to fill a GPU.
LANES = {"cpu": 8, "gpu": 16}


def check_parameters(solver: object) -> None:
    """Raise a ValueError where an integrator of Burgers' equation has an impossible parameter."""
    for name in ("viscosity", "final_time", "length"):
        if not getattr(solver, name) > 0:
            raise ValueError(f"{name} must be positive, got {getattr(solver, name)}")
    for name in ("num_modes", "num_steps"):
        if getattr(solver, name) < 1:
            raise ValueError(f"{name} must be at least 1, got {getattr(solver, name)}")


def check_input(initial_coefficients: Complex[np.ndarray, "batch modes"], name: str) -> None:
    """Check what is to be solved, by the solver of this name.

    Raises
    ------
    ValueError
        Where it is not an array of Fourier coefficients.
    SolverError
        Where a coefficient is not finite.
    """
    check_array(
        initial_coefficients,
        "c",
        ("batch", "modes"),
        f"initial_coefficients of {name}",
        hint="resolvent.solvers.common.fourier.coefficients_of turns values on a circle into coefficients",
    )
    check_initial(initial_coefficients, name)


def check_convergence(
    coarse: Complex[np.ndarray, "batch modes"],
    fine: Complex[np.ndarray, "batch modes"],
    error_ratio: int,
    name: str,
    num_steps: int,
) -> None:
    """Check that the solution does not hang on the number of steps.

    coarse, fine  two runs, the second with twice as many steps.
    error_ratio   how many times smaller the error of the second should be.
    num_steps     the number of steps that the message recommends to raise.

    Raises
    ------
    SolverError
        Where a run is not finite, or the error estimated from the two exceeds LARGEST_CORRECTION of the norm.
    """
    more_steps: Words = f"use more num_steps (now {num_steps})"
    check_finite(coarse, name, remedy=more_steps)
    check_finite(fine, name, remedy=more_steps)
    correction = np.linalg.norm(fine - coarse, axis=1) / (error_ratio - 1)
    refuse(
        correction > LARGEST_CORRECTION * np.linalg.norm(fine, axis=1),
        name,
        symptom=f"halving the step moves the solution by more than {LARGEST_CORRECTION:.0e}",
        remedy=more_steps,
    )
