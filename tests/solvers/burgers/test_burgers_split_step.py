import re

import numpy as np
import pytest
from burgers_problem import (
    CAO_VISCOSITY,
    errors_against_cole_hopf,
    initial_fields,
    observed_order,
    relative_errors,
)
from scipy.integrate import solve_ivp

from resolvent.solvers.burgers import equation
from resolvent.solvers.burgers.cole_hopf import cole_hopf
from resolvent.solvers.burgers.split_step import BurgersSplitStep
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.fourier import coefficients_of, observe
from resolvent.solvers.common.grid import Grid

SMOOTH = np.array([[0, -0.25j, 0.1 + 0.05j, 0.02j]])  # 0.5 sin 2πx + 0.2 cos 4πx - ...


@pytest.fixture(scope="module")
def initial():
    return initial_fields(64)


@pytest.fixture(scope="module")
def solution(initial):
    return BurgersSplitStep(CAO_VISCOSITY).solve(initial)


def test_default_accuracy_at_caos_viscosity(initial, solution):
    assert errors_against_cole_hopf(solution, initial, CAO_VISCOSITY).max() < 2e-8


def test_default_accuracy_at_a_larger_viscosity(initial):
    few = initial[:32]
    assert errors_against_cole_hopf(BurgersSplitStep(0.1).solve(few), few, 0.1).max() < 1e-8


def test_small_viscosity_where_cole_hopf_still_holds(initial):
    few = initial[:1]
    solution = BurgersSplitStep(0.006, num_modes=150, num_steps=480).solve(few)
    exact = observe(cole_hopf(few, 0.006, work_points=2048), 8192)
    assert relative_errors(observe(solution, 8192), exact).max() < 1e-7


@pytest.mark.parametrize(("extrapolated", "order"), [(False, 2), (True, 4)])
@pytest.mark.parametrize("data", ["smooth", "cao"])
def test_observed_order(data, extrapolated, order, initial):
    fields = SMOOTH if data == "smooth" else initial[:16]

    def march(num_steps):
        solver = BurgersSplitStep(CAO_VISCOSITY, num_steps=num_steps)
        return solver.solve(fields) if extrapolated else solver.strang(fields, num_steps)

    assert observed_order(march, (48, 96, 192), fields) == pytest.approx(order, abs=0.15)


def test_independent_discretisation(initial):
    """Method of lines: skew-symmetric collocation on 128 points, an explicit adaptive integrator."""
    grid = Grid("periodic", 128)

    def rate(time, values):
        advection = (values * grid.derivative(values) + grid.derivative(values**2)) / 3
        return CAO_VISCOSITY * grid.derivative(grid.derivative(values)) - advection

    start = observe(initial[3], 128)
    independent = solve_ivp(rate, (0, 1), start, method="RK45", rtol=1e-8, atol=1e-9).y[:, -1]
    ours = observe(BurgersSplitStep(CAO_VISCOSITY).solve(initial[3:4]), 128)
    # Collocation on these points aliases the rough initial field: the difference is its own error.
    assert relative_errors(ours[0], independent) < 5e-6


def test_energy_law(initial):
    """d‖u‖²/dt = -2ν‖u_x‖², integrated from 0.2 to 1 by Gauss-Legendre quadrature."""
    few = initial[:4]

    def energy_and_dissipation(time):
        solution = BurgersSplitStep(CAO_VISCOSITY, final_time=time, num_modes=96).solve(few)
        squares = 2 * np.abs(solution[:, 1:]) ** 2
        wavenumbers = 2 * np.pi * np.arange(1, solution.shape[1])
        return squares.sum(axis=1), 2 * CAO_VISCOSITY * (wavenumbers**2 * squares).sum(axis=1)

    nodes, weights = np.polynomial.legendre.leggauss(12)
    dissipated = sum(
        0.4 * weight * energy_and_dissipation(0.6 + 0.4 * node)[1]
        for node, weight in zip(nodes, weights, strict=True)
    )
    lost = energy_and_dissipation(0.2)[0] - energy_and_dissipation(1.0)[0]
    np.testing.assert_allclose(dissipated, lost, rtol=1e-6)


def test_mean_is_conserved_exactly(initial):
    few = initial[:4].copy()
    few[:, 0] = [0.0, 0.3, -1.0, 2.0]
    solution = BurgersSplitStep(0.1).solve(few)
    np.testing.assert_allclose(solution[:, 0], few[:, 0], rtol=1e-14)


def test_galilean_invariance(initial, solution):
    """A mean m added to u₀ adds m to u and carries it along: u(x, t) = m + w(x - mt, t)."""
    moving = initial[:4].copy()
    moving[:, 0] = 0.3
    moved = BurgersSplitStep(CAO_VISCOSITY).solve(moving)
    expected = solution[:4] * np.exp(-2j * np.pi * 0.3 * np.arange(solution.shape[1]))
    expected[:, 0] = 0.3
    assert relative_errors(observe(moved, 512), observe(expected, 512)).max() < 1e-6


def test_translation_invariance(initial, solution):
    shift = np.exp(-2j * np.pi * 0.37 * np.arange(initial.shape[1]))
    translated = BurgersSplitStep(CAO_VISCOSITY).solve(initial[:4] * shift)
    expected = solution[:4] * shift[: solution.shape[1]]
    assert relative_errors(observe(translated, 512), observe(expected, 512)).max() < 1e-12


def test_units_of_length_and_time_scale_out(initial, solution):
    """x = Lx', t = Tt', u = (L/T)u' turns ν into ν'L²/T."""
    scaled = BurgersSplitStep(CAO_VISCOSITY * 9 / 2, final_time=2.0, length=3.0).solve(1.5 * initial[:4])
    assert relative_errors(scaled, 1.5 * solution[:4]).max() < 1e-12


def test_a_constant_stays_constant():
    solution = BurgersSplitStep(0.1).solve(np.array([[0.3 + 0j], [0j]]))
    np.testing.assert_allclose(observe(solution, 16), [[0.3] * 16, [0.0] * 16], rtol=1e-14)


def test_solving_at_512_is_restricting_8192_to_512(solution):
    restricted = observe(coefficients_of(observe(solution, 8192)), 512)
    assert relative_errors(restricted, observe(solution, 512)).max() < 1e-12


def test_a_field_drawn_with_fewer_modes_has_the_same_solution_bits(initial, solution):
    kept = initial[:4, : solution.shape[1]]
    np.testing.assert_array_equal(BurgersSplitStep(CAO_VISCOSITY).solve(kept), solution[:4])


def test_a_sample_has_the_same_bits_in_any_batch(initial, solution):
    solver = BurgersSplitStep(CAO_VISCOSITY)
    for start, stop in [(17, 18), (13, 21), (0, 18), (10, 33)]:
        part = solver.solve(initial[start:stop])
        np.testing.assert_array_equal(part, solution[start:stop])


def test_too_few_modes_are_refused(initial):
    message = (
        "Burgers split-step: the highest eighth of the modes holds more than 1e-08 of the solution "
        "(sample rows 0, 1); use more num_modes (now 12)"
    )
    with pytest.raises(SolverError, match=f"^{re.escape(message)}$"):
        BurgersSplitStep(CAO_VISCOSITY, num_modes=12).solve(initial[:2])


def test_too_few_steps_are_refused(initial):
    message = (
        "Burgers split-step: halving the step moves the solution by more than 1e-03 (sample rows 1); "
        "use more num_steps (now 8)"
    )
    fields = np.stack([0.1 * initial[0], 1.3 * initial[1]])
    with pytest.raises(SolverError, match=f"^{re.escape(message)}$"):
        BurgersSplitStep(CAO_VISCOSITY, num_steps=8).solve(fields)


def test_a_diverging_run_is_refused(initial):
    message = "Burgers split-step: the solution is not finite (sample rows 1); use more num_steps (now 240)"
    fields = np.stack([initial[0], 1000 * initial[1]])
    with pytest.raises(SolverError, match=f"^{re.escape(message)}$"):
        BurgersSplitStep(CAO_VISCOSITY).solve(fields)


def test_an_initial_field_that_is_not_finite_is_refused():
    message = "Burgers split-step: the initial field is not finite (sample rows 0); check where it comes from"
    with pytest.raises(SolverError, match=f"^{re.escape(message)}$"):
        BurgersSplitStep(0.1).solve(np.full((1, 4), np.nan + 0j))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"viscosity": -0.1}, "viscosity must be positive, got -0.1"),
        ({"viscosity": 0.0}, "viscosity must be positive, got 0.0"),
        ({"final_time": 0.0}, "final_time must be positive, got 0.0"),
        ({"length": -1.0}, "length must be positive, got -1.0"),
        ({"num_modes": 0}, "num_modes must be at least 1, got 0"),
        ({"num_steps": 0}, "num_steps must be at least 1, got 0"),
    ],
)
def test_impossible_parameters_are_refused(changes, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        BurgersSplitStep(**({"viscosity": 0.1} | changes))


@pytest.mark.parametrize("allowed", [0.99, 1.01])
def test_the_error_is_estimated_by_the_order_of_the_scheme(allowed, initial, monkeypatch):
    """Halve the step, which divides an error of second order by four: a third of the difference is left."""
    solver = BurgersSplitStep(CAO_VISCOSITY)
    coarse, fine = (solver.strang(initial[:1], count * solver.num_steps) for count in (1, 2))
    estimate = np.linalg.norm(fine - coarse) / 3 / np.linalg.norm(fine)
    monkeypatch.setattr(equation, "LARGEST_CORRECTION", allowed * estimate)
    if allowed > 1:
        solver.solve(initial[:1])
    else:
        with pytest.raises(SolverError, match="halving the step moves the solution"):
            solver.solve(initial[:1])
