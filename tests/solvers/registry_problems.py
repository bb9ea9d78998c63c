"""A small problem with a known solution for every registered solver."""

from functools import lru_cache

import exponax
import jax
import jax.numpy as jnp
import numpy as np
from burgers_problem import CAO_VISCOSITY, initial_fields
from darcy_problem import manufactured
from solver_problem import SolverProblem

from resolvent.solvers.burgers.cole_hopf import cole_hopf
from resolvent.solvers.burgers.etdrk4 import BurgersEtdrk4
from resolvent.solvers.burgers.split_step import BurgersSplitStep
from resolvent.solvers.common.fourier import coefficients_of_2d, observe_2d
from resolvent.solvers.common.observation_times import explicit
from resolvent.solvers.darcy.direct import solve_direct
from resolvent.solvers.darcy.five_point import DarcyFivePoint
from resolvent.solvers.kolmogorov.etdrk4 import KolmogorovEtdrk4
from resolvent.solvers.kolmogorov.split_step import KolmogorovSplitStep
from resolvent.solvers.lorenz63 import Lorenz63, initial_condition, solve_diffrax
from resolvent.solvers.random_fields.gaussian import PeriodicGaussianField2d


def burgers(solver, refinements):
    initial = initial_fields(5)
    exact = cole_hopf(initial, CAO_VISCOSITY)[:, :49]
    return SolverProblem(
        inputs=lambda n: initial,
        solve=lambda fields, n: solver(CAO_VISCOSITY, num_steps=n).solve(fields),
        reference=lambda n: exact,
        refinements=refinements,
        order=4,
        single=1e-4,
    )


@lru_cache
def darcy_reference():
    """Direct solutions on a grid four times finer than the finest."""
    return solve_direct(manufactured(257)[0])


def darcy():
    return SolverProblem(
        inputs=lambda n: manufactured(n)[0],
        solve=lambda coefficient, n: DarcyFivePoint(
            tolerance=1e-9 if coefficient.dtype == np.float64 else 1e-5
        ).solve(coefficient),
        reference=lambda n: darcy_reference()[:, :: 256 // (n - 1), :: 256 // (n - 1)],
        refinements=(17, 33, 65),
        order=2,
        single=1e-4,
    )


def lorenz63():
    initial = np.stack([initial_condition(0, 0, index) for index in range(5)])
    times = explicit((0.3, 0.6))
    exact = solve_diffrax(initial, times)
    return SolverProblem(
        inputs=lambda n: initial,
        solve=lambda states, n: Lorenz63(step=0.6 / n, order=6, tolerance=0.1).solve(states, times),
        reference=lambda n: exact,
        refinements=(20, 40, 80),
        order=6,
        single=1e-4,
    )


VORTICITY = PeriodicGaussianField2d(7**1.5, 7.0, 2.5, orthonormal=False, num_modes=10)
SOLVED_ON = 48  # points: both codes keep 15 modes there, by the 2/3 rule


@lru_cache
def vorticities():
    return np.stack([VORTICITY.coefficients(0, 0, index) for index in range(5)])


@lru_cache
def by_exponax(final_time, num_steps):
    """The same flow by an independent package; it keeps the modes below a third of the points."""
    with jax.enable_x64(True):
        stepper = exponax.stepper.KolmogorovFlowVorticity(
            2,
            2 * np.pi,
            SOLVED_ON,
            final_time / num_steps,
            diffusivity=1 / 70,
            convection_scale=-1.0,  # this version has the sign of advection the other way round
            drag=0.0,
            injection_mode=4,
            injection_scale=1.0,
            order=4,
        )
        march = exponax.repeat(stepper, num_steps)
        fields = [jnp.asarray(field.T[None]) for field in observe_2d(vorticities(), SOLVED_ON)]
        return coefficients_of_2d(np.stack([np.asarray(march(field))[0].T for field in fields]))


def kolmogorov(solver, keyword, refinements, order):
    final_time = 0.4

    def solve(fields, n):
        with_step = solver(num_modes=15, **{keyword: final_time / n})
        return with_step.solve(fields, (final_time,))[:, 0]

    def reference(n):
        rows = np.r_[:16, -15:0]
        return by_exponax(final_time, 200)[:, rows, :16]

    return SolverProblem(
        inputs=lambda n: vorticities(),
        solve=solve,
        reference=reference,
        refinements=refinements,
        order=order,
        single=1e-3,
    )


PROBLEMS = {
    "resolvent.solvers.burgers.split_step:BurgersSplitStep": lambda: burgers(BurgersSplitStep, (48, 96, 192)),
    "resolvent.solvers.burgers.etdrk4:BurgersEtdrk4": lambda: burgers(BurgersEtdrk4, (48, 96, 192)),
    "resolvent.solvers.darcy.five_point:DarcyFivePoint": darcy,
    "resolvent.solvers.kolmogorov.etdrk4:KolmogorovEtdrk4": lambda: kolmogorov(
        KolmogorovEtdrk4, "step", (4, 8, 16), 4
    ),
    "resolvent.solvers.kolmogorov.split_step:KolmogorovSplitStep": lambda: kolmogorov(
        KolmogorovSplitStep, "largest_step", (16, 32, 64), 2
    ),
    "resolvent.solvers.lorenz63:Lorenz63": lorenz63,
}
