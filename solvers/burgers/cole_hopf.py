"""Solve Burgers' equation on the circle exactly, by the Cole-Hopf transformation.

    u_t + u u_x = ν u_xx,    u(x + L, t) = u(x, t)

    u = -2ν φ_x / φ,    φ_t = ν φ_xx,    φ(x, 0) = exp(-U₀(x) / 2ν),    U₀' = u₀

u(x, t)  velocity; x in [0, L), L = 1; t in [0, final_time], final_time = 1.
ν        viscosity > 0.
U₀       antiderivative of the initial field, periodic if the mean m of u₀ is zero; otherwise the mean is
         removed and restored by Galilean invariance: u(x, t) = m + w(x - mt, t), with w solved from u₀ - m.

Convention: initial field and solution are Fourier coefficients (see `solvers.common.fourier`). φ is computed
on a periodic work grid, left end included and right end excluded, on which U₀ is evaluated spectrally.

Expect: four FFTs and one exponential. The only approximations are the work grid and the rounding of φ, whose
values span a factor exp((max U₀ - min U₀)/2ν) at first, and less later. The error is about the rounding unit
times that factor at the final time: 1e-14 (relative) at time 1 for Cao's distribution, and at most about 1e-8
at time 1/(2π).

Limits: exponents beyond 45 are refused, and so is a φ that still spans too large a factor at the final time.
Small viscosities need a time stepper (`solvers.burgers.split_step`). Source: Hopf 1950, Comm. Pure Appl.
Math. 3, 201; Cole 1951, Quart. Appl. Math. 9, 225.
"""

import numpy as np
from jaxtyping import Complex

from resolvent.solvers.burgers.equation import Viscosity, check_input
from resolvent.solvers.common.checks import check_tail, refuse
from resolvent.solvers.common.fourier import coefficients_of, observe

NAME = "Cole-Hopf"

LARGEST_EXPONENT = 45.0  # exp(45) = 3e19 times the rounding unit 1e-16: measured error 1e-12 at time 1
# Diffusion raises the smallest values of φ, but slowly. The measured error is at most twice the rounding unit
# over (smallest φ)/(largest φ) at the final time; most such samples are refused earlier for their tail.
LEAST_POTENTIAL = 1e-10


def cole_hopf(
    initial_coefficients: Complex[np.ndarray, "batch modes"],
    viscosity: Viscosity,
    final_time: float = 1.0,
    length: float = 1.0,
    work_points: int = 1024,
) -> Complex[np.ndarray, "batch work_modes"]:
    """Return the coefficients k = 0, …, work_points/2 - 1 of u(·, final_time), one row per sample.

    viscosity    ν > 0, in the unit of x² over that of t: a number, or one for each sample.
    final_time   time of the solution, > 0.
    length       L, the period, > 0.
    work_points  points of the work grid, even.

    Raises `ValueError` if a number is not positive, or the input is not an array of coefficients, and
    `SolverError` if the exponent exceeds LARGEST_EXPONENT, φ falls below LEAST_POTENTIAL of its largest
    value, the input is not finite, or the work grid is too coarse.
    """
    for name, value in (("viscosity", viscosity), ("final_time", final_time), ("length", length)):
        if not (least := np.min(value)) > 0:
            raise ValueError(f"{name} must be positive, got {least}")
    check_input(initial_coefficients, NAME)
    viscosity = np.asarray(viscosity)[..., None]
    mean = initial_coefficients[:, :1].real
    wavenumbers = 2j * np.pi / length * np.arange(initial_coefficients.shape[1])  # of ∂x
    antiderivative = initial_coefficients.copy()
    antiderivative[:, 0] = 0
    antiderivative[:, 1:] /= wavenumbers[1:]
    exponent = observe(antiderivative, work_points) / (2 * viscosity)
    exponent -= exponent.min(axis=1, keepdims=True)  # φ ≤ 1: no overflow; u does not depend on a factor in φ
    largest = exponent.max(axis=1)
    refuse(
        largest > LARGEST_EXPONENT,
        NAME,
        symptom=f"(max U0 - min U0) / (2 viscosity) reaches {largest.max(initial=0):.1f}, "
        f"above {LARGEST_EXPONENT:.0f}, where rounding spoils the solution",
        remedy="use the time stepper BurgersSplitStep",
    )

    wavenumbers = 2j * np.pi / length * np.arange(work_points // 2)
    potential = coefficients_of(np.exp(-exponent)) * np.exp(viscosity * final_time * (wavenumbers**2).real)
    gradient = observe(wavenumbers * potential, work_points)
    at_end = observe(potential, work_points)
    refuse(
        at_end.min(axis=1) <= LEAST_POTENTIAL * at_end.max(axis=1),
        NAME,
        symptom=f"the potential falls below {LEAST_POTENTIAL:.0e} of its largest value, where rounding "
        "spoils the solution",
        remedy="use the time stepper BurgersSplitStep",
    )
    solution = coefficients_of(-2 * viscosity * gradient / at_end)
    solution *= np.exp(-wavenumbers * final_time * mean)
    solution[:, :1] = mean
    check_tail(solution, NAME, remedy=f"use more work_points (now {work_points})")
    return solution
