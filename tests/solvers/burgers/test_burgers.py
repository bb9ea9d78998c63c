"""The two integrators of Burgers' equation against the closed form, symmetries and each other.

Single precision and the bits of a sample in any memory are the registry's: see `test_registry.py`.
"""

import re
from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pytest
from burgers_problem import (
    CAO_FIELD,
    CAO_VISCOSITY,
    errors_against_cole_hopf,
    initial_fields,
    observed_order,
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

SMOOTH = np.array([[0, -0.25j, 0.1 + 0.05j, 0.02j]])  # 0.5 sin 2πx + 0.2 cos 4πx - ...
NAMES = {BurgersSplitStep: "Burgers split-step", BurgersEtdrk4: "Burgers ETDRK4"}


@pytest.fixture(scope="module", params=NAMES, ids=["split_step", "etdrk4"])
def integrator(request):
    return request.param


@pytest.fixture(scope="module")
def initial():
    return initial_fields(64)


@pytest.fixture(scope="module")
def solution(integrator, initial):
    return integrator(CAO_VISCOSITY).solve(initial)


def one_run(solver, fields, num_steps):
    """One run of a solver, before the extrapolation."""
    march = solver.strang if isinstance(solver, BurgersSplitStep) else solver.march
    return march(fields, num_steps)


def test_default_accuracy_at_caos_viscosity(integrator, initial, solution):
    bound = {BurgersSplitStep: 2e-8, BurgersEtdrk4: 1e-7}[integrator]
    assert errors_against_cole_hopf(solution, initial, CAO_VISCOSITY).max() < bound


def test_default_accuracy_of_the_split_step_at_a_larger_viscosity(initial):
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


def test_small_viscosity_where_cole_hopf_still_holds(integrator, initial):
    few, num_steps = initial[:1], {BurgersSplitStep: 480, BurgersEtdrk4: 384}[integrator]
    solution = integrator(0.006, num_modes=150, num_steps=num_steps).solve(few)
    exact = observe(cole_hopf(few, 0.006, work_points=2048), 8192)
    assert relative_errors(observe(solution, 8192), exact).max() < 1e-7


@pytest.mark.parametrize("extrapolated", [False, True])
@pytest.mark.parametrize("data", ["smooth", "cao"])
def test_observed_order(integrator, data, extrapolated, initial):
    split_step = integrator is BurgersSplitStep
    if data == "cao" and not split_step:
        pytest.skip("its error is at rounding before it follows its order")
    fields = SMOOTH if data == "smooth" else initial[:16]

    def march(num_steps):
        solver = integrator(CAO_VISCOSITY, num_steps=num_steps)
        return solver.solve(fields) if extrapolated else one_run(solver, fields, num_steps)

    found = observed_order(march, (48, 96, 192) if split_step else (32, 64, 128), fields)
    expected = {(True, False): 2, (True, True): 4, (False, False): 4, (False, True): 5}
    assert found == pytest.approx(expected[split_step, extrapolated], abs=0.15 if split_step else 0.3)


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


def test_the_two_agree(initial):
    """The two integrators share the dealiased product and nothing of the stepping in time."""
    one, other = (integrator(CAO_VISCOSITY).solve(initial) for integrator in NAMES)
    differences = relative_errors(one, other)
    assert 0 < differences.max() < 1e-6


def test_a_run_without_advection_is_the_heat_equation():
    """The product is lost in rounding at an amplitude of 1e-9, and each mode decays by itself."""
    initial = 1e-9 * initial_fields(4)
    solution = BurgersEtdrk4(CAO_VISCOSITY, final_time=0.1).solve(initial)
    wavenumbers = 2 * np.pi * np.arange(solution.shape[1])
    expected = initial[:, : len(wavenumbers)] * np.exp(-CAO_VISCOSITY * wavenumbers**2 * 0.1)
    assert relative_errors(solution, expected).max() < 1e-8


def test_energy_law(integrator, initial):
    """d‖u‖²/dt = -2ν‖u_x‖², integrated from 0.2 to 1 by Gauss-Legendre quadrature."""
    few = initial[:4]

    def energy_and_dissipation(time):
        solution = integrator(CAO_VISCOSITY, time, num_modes=96, num_steps=384).solve(few)
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


def test_mean_is_conserved_exactly(integrator, initial):
    few = initial[:4].copy()
    few[:, 0] = [0.0, 0.3, -1.0, 2.0]
    np.testing.assert_allclose(integrator(0.1).solve(few)[:, 0], few[:, 0], rtol=1e-14)


def test_galilean_invariance(integrator, initial, solution):
    """A mean m added to u₀ adds m to u and carries it along: u(x, t) = m + w(x - mt, t)."""
    moving = initial[:4].copy()
    moving[:, 0] = 0.3
    moved = integrator(CAO_VISCOSITY).solve(moving)
    expected = solution[:4] * np.exp(-2j * np.pi * 0.3 * np.arange(solution.shape[1]))
    expected[:, 0] = 0.3
    bound = {BurgersSplitStep: 1e-6, BurgersEtdrk4: 1e-5}[integrator]
    assert relative_errors(observe(moved, 512), observe(expected, 512)).max() < bound


def test_translation_reflection_and_units_are_symmetries(integrator, initial, solution):
    """Also x = Lx', t = Tt', u = (L/T)u', which turns ν into ν'L²/T."""
    few, solved, solver = initial[:4], solution[:4], integrator(CAO_VISCOSITY)
    shift = np.exp(-2j * np.pi * 0.37 * np.arange(initial.shape[1]))
    translated = solved * shift[: solution.shape[1]]
    assert relative_errors(observe(solver.solve(few * shift), 512), observe(translated, 512)).max() < 1e-12
    assert relative_errors(solver.solve(-few.conj()), -solved.conj()).max() < 1e-12
    scaled = integrator(CAO_VISCOSITY * 9 / 2, final_time=2.0, length=3.0).solve(1.5 * few)
    assert relative_errors(scaled, 1.5 * solved).max() < 1e-12


def test_a_constant_stays_constant(integrator):
    solution = integrator(0.1).solve(np.array([[0.3 + 0j], [0j]]))
    np.testing.assert_allclose(observe(solution, 16), [[0.3] * 16, [0.0] * 16], rtol=1e-14)


def test_modes_beyond_those_integrated_are_dropped_and_absent_ones_are_zero(integrator, initial, solution):
    solver = integrator(CAO_VISCOSITY)
    np.testing.assert_array_equal(solver.solve(initial[:4, : solution.shape[1]]), solution[:4])
    two_modes = np.array([[0.1, -0.25j]])
    padded = np.pad(two_modes, ((0, 0), (0, 70)))
    np.testing.assert_array_equal(solver.solve(two_modes), solver.solve(padded))


def test_a_sample_has_the_same_bits_in_any_batch(integrator, initial, solution):
    for start, stop in [(17, 18), (13, 21), (0, 18), (10, 33)]:
        part = integrator(CAO_VISCOSITY).solve(initial[start:stop])
        np.testing.assert_array_equal(part, solution[start:stop])


def closed_forms(z: float) -> Etdrk4:
    """The coefficients at hL = z for h = 1 (Cox and Matthews 2002, eqs. 26 to 29), in sixty digits."""
    if z == 0:
        return Etdrk4(1.0, 1.0, 1 / 2, 1 / 6, 1 / 3, 1 / 6)
    with localcontext() as context:
        context.prec = 60
        z = Decimal(z)
        full, half = z.exp(), (z / 2).exp()
        return Etdrk4(
            *map(
                float,
                (
                    full,
                    half,
                    (half - 1) / z,
                    (-4 - z + full * (4 - 3 * z + z**2)) / z**3,
                    2 * (2 + z + full * (z - 2)) / z**3,
                    (-4 - 3 * z - z**2 + full * (4 - z)) / z**3,
                ),
            )
        )


@pytest.mark.parametrize("name", Etdrk4._fields)
def test_coefficients_of_the_exponential_integrator(name):
    """Check 0, numbers where the closed forms cancel, and those where they do not."""
    z = -np.concatenate([[0.0, 0.5, 0.999, 1.0, 1.001, 2.0], np.logspace(-8, 3, 120)])
    expected = np.array([getattr(closed_forms(float(number)), name) for number in z])
    np.testing.assert_allclose(getattr(etdrk4(z, 1.0), name), expected, rtol=1e-12, atol=1e-300)


def test_coefficients_scale_with_the_step():
    linear = -np.array([[0.0, 1e-6, 0.3], [1.0, 20.0, 4e3]])
    for name, of_step, of_one in zip(
        Etdrk4._fields, etdrk4(linear, 0.25), etdrk4(0.25 * linear, 1.0), strict=True
    ):
        factor = 1 if name in ("full", "half") else 0.25
        np.testing.assert_allclose(of_step, factor * of_one, rtol=1e-14, err_msg=name)


def test_one_step_of_a_constant_tendency_is_exact():
    """u_t = Lu + c: the three weights of the last stage add up to those of the constant, (e^{hL} - 1)/L."""
    linear = -np.logspace(-3, 3, 30)
    scheme = etdrk4(linear, 0.1)
    total = scheme.first + 2 * scheme.middle + scheme.last
    np.testing.assert_allclose(total, np.expm1(0.1 * linear) / linear, rtol=1e-12)
    np.testing.assert_allclose(scheme.stage, np.expm1(0.05 * linear) / linear, rtol=1e-12)


@pytest.mark.parametrize(
    ("settings", "factors", "said"),
    [
        ({"num_modes": 12}, (1, 1), "modes .* than 1e-08 .* (sample rows 0, 1); use more num_modes (now 12)"),
        ({"num_steps": 8}, (0.1, 1.3), "step moves .* 1e-03 (sample rows 1); use more num_steps (now 8)"),
        ({}, (1, 1000), "the solution is not finite (sample rows 1); use more num_steps"),
        ({}, (1, np.nan), "the initial field is not finite (sample rows 1); check where it comes from"),
    ],
)
def test_what_is_not_resolved_is_refused(integrator, settings, factors, said, initial):
    fields = initial[:2] * np.array(factors)[:, None]
    said = re.escape(said).replace(r"\.\*", ".*")
    with pytest.raises(SolverError, match=f"^{NAMES[integrator]}: .*{said}"):
        integrator(CAO_VISCOSITY, **settings).solve(fields)


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
def test_impossible_parameters_are_refused(integrator, changes, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        integrator(**({"viscosity": 0.1} | changes))


def test_steps_are_shared_among_the_blocks_of_both_runs():
    with pytest.raises(ValueError, match=r"^num_steps must be a multiple of 8, got 12$"):
        BurgersEtdrk4(0.1, num_steps=12)


@pytest.mark.parametrize("allowed", [0.99, 1.01])
def test_the_error_is_estimated_by_the_order_of_the_scheme(integrator, allowed, initial, monkeypatch):
    """Halving the step divides an error of order p by 2ᵖ: of the difference 1/(2ᵖ - 1) is left."""
    solver, steps = integrator(CAO_VISCOSITY), {BurgersSplitStep: (1, 2), BurgersEtdrk4: (0.5, 1)}[integrator]
    coarse, fine = (one_run(solver, initial[:1], int(count * solver.num_steps)) for count in steps)
    left = {BurgersSplitStep: 3, BurgersEtdrk4: 15}[integrator]
    estimate = np.linalg.norm(fine - coarse) / left / np.linalg.norm(fine)
    monkeypatch.setattr(equation, "LARGEST_CORRECTION", allowed * estimate)
    if allowed > 1:
        solver.solve(initial[:1])
    else:
        with pytest.raises(SolverError, match="halving the step moves the solution"):
            solver.solve(initial[:1])
