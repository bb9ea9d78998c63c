"""Both integrators. Order for rough fields, bits and single precision: see `test_registry.py`."""

from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pytest
from burgers_problem import (
    CAO_FIELD,
    CAO_VISCOSITY,
    errors_against_cole_hopf,
    initial_fields,
    relative_errors,
)
from scipy.integrate import solve_ivp

from resolvent.solvers.burgers import equation
from resolvent.solvers.burgers.cole_hopf import cole_hopf
from resolvent.solvers.burgers.etdrk4 import BurgersEtdrk4
from resolvent.solvers.burgers.split_step import BurgersSplitStep
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.exponential_integrator import Etdrk4, etdrk4
from resolvent.solvers.common.fourier import observe
from resolvent.solvers.common.grid import Grid
from resolvent.solvers.random_fields.distributions import DISTRIBUTIONS

BOTH = pytest.mark.parametrize("solver", [BurgersSplitStep, BurgersEtdrk4])


@pytest.fixture(scope="module")
def initial():
    return initial_fields(64)


@pytest.fixture(scope="module")
def solutions(initial):
    return {solver: solver(CAO_VISCOSITY).solve(initial) for solver in (BurgersSplitStep, BurgersEtdrk4)}


def test_default_accuracy(initial, solutions):
    for solver, bound in ((BurgersSplitStep, 2e-8), (BurgersEtdrk4, 1e-7)):
        assert errors_against_cole_hopf(solutions[solver], initial, CAO_VISCOSITY).max() < bound
    few = initial[:32]
    assert errors_against_cole_hopf(BurgersSplitStep(0.1).solve(few), few, 0.1).max() < 1e-8


# Of the first 2048 samples, those with the largest errors at the two viscosities.
@pytest.mark.parametrize(("viscosity", "index", "bound"), [(CAO_VISCOSITY, 413, 1e-7), (0.1, 1317, 2e-5)])
def test_default_accuracy_of_the_hardest_sample(viscosity, index, bound):
    field = CAO_FIELD.coefficients(0, 0, index)[None]
    assert errors_against_cole_hopf(BurgersEtdrk4(viscosity).solve(field), field, viscosity).max() < bound


def test_accuracy_of_the_hardest_sample_of_the_public_files_operator():
    """The largest error of the first 4096 samples. A front stands at the end, where steps must be short."""
    distribution = DISTRIBUTIONS["cao_burgers"]
    field = replace(CAO_FIELD, num_modes=distribution.num_modes).coefficients(0, 0, 62)[None]
    final_time = 1 / (2 * np.pi)
    solution = BurgersEtdrk4(CAO_VISCOSITY, final_time, num_modes=160, num_steps=160).solve(field)
    exact = observe(cole_hopf(field, CAO_VISCOSITY, final_time), 8192)
    assert relative_errors(observe(solution, 8192), exact).max() < 1e-7


def test_the_two_agree_and_so_does_an_independent_discretisation(initial, solutions):
    """Method of lines: skew-symmetric collocation on 128 points, an explicit adaptive integrator."""
    assert 0 < relative_errors(*solutions.values()).max() < 1e-6
    grid = Grid("periodic", 128)

    def rate(time, values):
        advection = (values * grid.derivative(values) + grid.derivative(values**2)) / 3
        return CAO_VISCOSITY * grid.derivative(grid.derivative(values)) - advection

    start = observe(initial[3], 128)
    independent = solve_ivp(rate, (0, 1), start, method="RK45", rtol=1e-8, atol=1e-9).y[:, -1]
    # Collocation on these points aliases the rough initial field: the difference is its own error.
    assert relative_errors(observe(solutions[BurgersSplitStep][3], 128), independent) < 5e-6


@BOTH
def test_symmetries(solver, initial, solutions):
    """Translations; units: x = Lx', t = Tt', u = (L/T)u' turns ν into ν'L²/T."""
    few, solution, solve = initial[:4], solutions[solver][:4], solver(CAO_VISCOSITY).solve
    shift = np.exp(-2j * np.pi * 0.37 * np.arange(few.shape[1]))
    assert relative_errors(solve(few * shift), solution * shift[: solution.shape[1]]).max() < 1e-12
    scaled = solver(CAO_VISCOSITY * 9 / 2, final_time=2.0, length=3.0).solve(1.5 * few)
    assert relative_errors(scaled, 1.5 * solution).max() < 1e-12


@BOTH
def test_a_mean_is_conserved_and_carries_the_solution_along(solver, initial, solutions):
    """u(x, t) = m + w(x - mt, t)."""
    moving = initial[:4].copy()
    moving[:, 0] = means = np.array([0.0, 0.3, -0.3, 0.1])
    moved = solver(CAO_VISCOSITY).solve(moving)
    np.testing.assert_allclose(moved[:, 0], means, rtol=1e-14)
    modes = np.arange(moved.shape[1])
    expected = solutions[solver][:4] * np.exp(-2j * np.pi * np.outer(means, modes))
    expected[:, 0] = means
    assert relative_errors(observe(moved, 512), observe(expected, 512)).max() < 1e-5


def closed_forms(z: float) -> Etdrk4:
    """The coefficients at hL = z for h = 1 (Cox and Matthews 2002, eqs. 26 to 29), in sixty digits."""
    if z == 0:
        return Etdrk4(1.0, 1.0, 1 / 2, 1 / 6, 1 / 3, 1 / 6)
    with localcontext() as context:
        context.prec = 60
        z = Decimal(z)
        full, half = z.exp(), (z / 2).exp()
        stage, first = (half - 1) / z, (-4 - z + full * (4 - 3 * z + z**2)) / z**3
        middle = 2 * (2 + z + full * (z - 2)) / z**3
        last = (-4 - 3 * z - z**2 + full * (4 - z)) / z**3
        return Etdrk4(*map(float, (full, half, stage, first, middle, last)))


def test_coefficients_of_the_exponential_integrator():
    """Check 0, numbers where the closed forms cancel, and those where they do not; and the scale of steps."""
    z = -np.concatenate([[0.0, 0.5, 0.999, 1.0, 1.001, 2.0], np.logspace(-8, 3, 120)])
    expected = np.array([closed_forms(float(number)) for number in z]).T
    linear = -np.array([[0.0, 1e-6, 0.3], [1.0, 20.0, 4e3]])
    scaled, of_one = etdrk4(linear, 0.25), etdrk4(0.25 * linear, 1.0)
    for name, found, wanted in zip(Etdrk4._fields, etdrk4(z, 1.0), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-300, err_msg=name)
        factor = 1 if name in ("full", "half") else 0.25
        np.testing.assert_allclose(
            getattr(scaled, name), factor * getattr(of_one, name), rtol=1e-14, err_msg=name
        )


@BOTH
def test_what_is_not_resolved_is_refused_with_the_samples_and_the_remedy(solver, initial):
    for given, factors, said in (
        ({"num_modes": 12}, (1, 1), r"highest eighth .* rows 0, 1\); use more num_modes \(now 12\)"),
        ({"num_steps": 8}, (0.1, 1.3), r"halving the step .* rows 1\); use more num_steps \(now 8\)"),
        ({}, (1, 1000), r"solution is not finite \(sample rows 1\); use more num_steps \(now \d+\)"),
        ({}, (1, np.nan), r"initial field is not finite \(sample rows 1\)"),
    ):
        with pytest.raises(SolverError, match=f"^{solver.name}: .*{said}"):
            solver(CAO_VISCOSITY, **given).solve(np.array(factors)[:, None] * initial[:2])


@pytest.mark.parametrize("allowed", [0.99, 1.01])
def test_the_error_is_estimated_by_the_order_of_the_scheme(allowed, initial, monkeypatch):
    """Halve the step, which divides an error of second order by four: a third of the difference is left."""
    solver = BurgersSplitStep(CAO_VISCOSITY)
    coarse, fine = (solver.march(initial[:1], count * solver.num_steps)[0] for count in (1, 2))
    estimate = np.linalg.norm(fine - coarse) / 3 / np.linalg.norm(fine)
    monkeypatch.setattr(equation, "LARGEST_CORRECTION", allowed * estimate)
    if allowed > 1:
        solver.solve(initial[:1])
    else:
        with pytest.raises(SolverError, match="halving the step moves the solution"):
            solver.solve(initial[:1])
