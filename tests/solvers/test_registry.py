"""The tests that every registered solver passes: a new one inherits them with its line in the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import exponax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from burgers_problem import CAO_VISCOSITY, initial_fields
from darcy_problem import manufactured
from lorenz63_problem import integrated

from resolvent.solvers.burgers.cole_hopf import cole_hopf
from resolvent.solvers.burgers.etdrk4 import BurgersEtdrk4
from resolvent.solvers.burgers.split_step import BurgersSplitStep
from resolvent.solvers.common.fourier import coefficients_of_2d, observe_2d
from resolvent.solvers.common.observation_times import explicit
from resolvent.solvers.darcy.direct import solve_direct
from resolvent.solvers.darcy.five_point import DarcyFivePoint
from resolvent.solvers.kolmogorov.etdrk4 import KolmogorovEtdrk4
from resolvent.solvers.kolmogorov.split_step import KolmogorovSplitStep
from resolvent.solvers.lorenz63 import Lorenz63, initial_condition
from resolvent.solvers.random_fields.gaussian import PeriodicGaussianField2d
from resolvent.solvers.registry import SOLVERS


@dataclass(frozen=True)
class SolverProblem:
    """A small problem with a known solution.

    inputs       refinement → the solver's input, float64 or complex128, (batch, ...), five samples or more.
    solve        (input, refinement) → solutions (batch, ...); refinement is a number of steps or of points.
    reference    refinement → solutions that the solver did not make: closed form, manufactured, independent.
    refinements  three or more, growing, in the regime where the error follows its order.
    order        the order of convergence promised: error ∝ refinement^-order.
    single       largest relative L2 difference between solutions in float32 and in float64, at the last
                 refinement; the precision of the computation follows that of the input.
    """

    inputs: Callable[[int], np.ndarray]
    solve: Callable[[np.ndarray, int], np.ndarray]
    reference: Callable[[int], np.ndarray]
    refinements: tuple[int, ...]
    order: float
    single: float


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
    exact = integrated(initial, times)
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


def relative_errors(values, reference):
    """Relative L2 error of each sample."""
    flat, expected = values.reshape(len(values), -1), reference.reshape(len(values), -1)
    return np.linalg.norm(flat - expected, axis=1) / np.linalg.norm(expected, axis=1)


def test_every_registered_solver_has_its_problem():
    assert set(PROBLEMS) == set(SOLVERS)


@pytest.fixture(scope="module", params=sorted(SOLVERS))
def problem(request):
    return PROBLEMS[request.param]()


def test_observed_order(problem):
    errors = [
        relative_errors(problem.solve(problem.inputs(n), n), problem.reference(n)).max()
        for n in problem.refinements
    ]
    slope = -np.polyfit(np.log(problem.refinements), np.log(errors), 1)[0]
    assert slope == pytest.approx(problem.order, abs=0.3), errors


def test_a_sample_has_the_same_bits_alone_in_a_batch_and_in_another_order(problem):
    coarsest = problem.refinements[0]
    inputs = problem.inputs(coarsest)
    together = problem.solve(inputs, coarsest)
    np.testing.assert_array_equal(problem.solve(inputs[3:4], coarsest)[0], together[3])
    np.testing.assert_array_equal(problem.solve(inputs[::-1].copy(), coarsest)[::-1], together)


def test_how_the_input_lies_in_memory_changes_no_bit(problem):
    coarsest = problem.refinements[0]
    inputs = problem.inputs(coarsest)
    expected = problem.solve(inputs, coarsest)
    np.testing.assert_array_equal(problem.solve(np.asfortranarray(inputs), coarsest), expected)
    np.testing.assert_array_equal(problem.solve(np.repeat(inputs, 2, axis=-1)[..., ::2], coarsest), expected)


def test_float32_agrees_with_float64(problem):
    finest = problem.refinements[-1]
    double = problem.inputs(finest)
    single = double.astype(np.complex64 if np.iscomplexobj(double) else np.float32)
    solution = problem.solve(single, finest)
    assert solution.real.dtype == np.float32
    difference = relative_errors(solution, problem.solve(double, finest)).max()
    assert 0 < difference < problem.single
