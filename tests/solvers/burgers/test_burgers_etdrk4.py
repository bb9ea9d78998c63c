"""Order of convergence, bits and single precision are the registry's: see `test_registry.py`."""

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

from resolvent.solvers.burgers.cole_hopf import cole_hopf
from resolvent.solvers.burgers.etdrk4 import BurgersEtdrk4
from resolvent.solvers.burgers.split_step import BurgersSplitStep
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.exponential_integrator import Etdrk4, etdrk4
from resolvent.solvers.common.fourier import observe
from resolvent.solvers.random_fields.distributions import DISTRIBUTIONS


@pytest.fixture(scope="module")
def initial():
    return initial_fields(64)


@pytest.fixture(scope="module")
def solution(initial):
    return BurgersEtdrk4(CAO_VISCOSITY).solve(initial)


def test_default_accuracy_at_caos_viscosity(initial, solution):
    assert errors_against_cole_hopf(solution, initial, CAO_VISCOSITY).max() < 1e-7


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


@pytest.mark.parametrize(("extrapolated", "order"), [(False, 4), (True, 5)])
def test_observed_order(extrapolated, order):
    smooth = np.array([[0, -0.25j, 0.1 + 0.05j, 0.02j]])

    def march(num_steps):
        solver = BurgersEtdrk4(CAO_VISCOSITY, num_steps=num_steps)
        return solver.solve(smooth) if extrapolated else solver.march(smooth, num_steps)

    assert observed_order(march, (32, 64, 128), smooth) == pytest.approx(order, abs=0.3)


def test_small_viscosity_where_cole_hopf_still_holds(initial):
    few = initial[:1]
    solution = BurgersEtdrk4(0.006, num_modes=150, num_steps=384).solve(few)
    exact = observe(cole_hopf(few, 0.006, work_points=2048), 8192)
    assert relative_errors(observe(solution, 8192), exact).max() < 1e-7


def test_split_step_agrees(initial, solution):
    """The two integrators share the dealiased product and nothing of the stepping in time."""
    other = BurgersSplitStep(CAO_VISCOSITY).solve(initial)
    differences = relative_errors(solution, other)
    assert 0 < differences.max() < 1e-6


def test_a_run_without_advection_is_the_heat_equation():
    """The product is lost in rounding at an amplitude of 1e-9, and each mode decays by itself."""
    initial = 1e-9 * initial_fields(4)
    solution = BurgersEtdrk4(CAO_VISCOSITY, final_time=0.1).solve(initial)
    wavenumbers = 2 * np.pi * np.arange(solution.shape[1])
    expected = initial[:, : len(wavenumbers)] * np.exp(-CAO_VISCOSITY * wavenumbers**2 * 0.1)
    assert relative_errors(solution, expected).max() < 1e-8


def test_energy_law(initial):
    """d‖u‖²/dt = -2ν‖u_x‖² at times along the run, by a fourth-order central difference."""
    few, step = initial[:4], 1e-3

    def energy_and_dissipation(time):
        solution = BurgersEtdrk4(CAO_VISCOSITY, time, num_modes=96, num_steps=384).solve(few)
        squares = 2 * np.abs(solution[:, 1:]) ** 2
        wavenumbers = 2 * np.pi * np.arange(1, solution.shape[1])
        return squares.sum(axis=1), 2 * CAO_VISCOSITY * (wavenumbers**2 * squares).sum(axis=1)

    for time in (0.2, 0.8):
        before, after = (
            [energy_and_dissipation(time + sign * k * step)[0] for k in (1, 2)] for sign in (-1, 1)
        )
        rate = (8 * (after[0] - before[0]) - (after[1] - before[1])) / (12 * step)
        np.testing.assert_allclose(rate, -energy_and_dissipation(time)[1], rtol=1e-5)


def test_mean_is_conserved_exactly(initial):
    few = initial[:4].copy()
    few[:, 0] = [0.0, 0.3, -1.0, 2.0]
    solution = BurgersEtdrk4(0.1).solve(few)
    np.testing.assert_allclose(solution[:, 0], few[:, 0], rtol=1e-14)


def test_galilean_invariance(initial, solution):
    """A mean m added to u₀ adds m to u and carries it along: u(x, t) = m + w(x - mt, t)."""
    moving = initial[:4].copy()
    moving[:, 0] = 0.3
    moved = BurgersEtdrk4(CAO_VISCOSITY).solve(moving)
    expected = solution[:4] * np.exp(-2j * np.pi * 0.3 * np.arange(solution.shape[1]))
    expected[:, 0] = 0.3
    assert relative_errors(observe(moved, 512), observe(expected, 512)).max() < 1e-5


def test_units_of_length_and_time_scale_out(initial, solution):
    """x = Lx', t = Tt', u = (L/T)u' turns ν into ν'L²/T."""
    scaled = BurgersEtdrk4(CAO_VISCOSITY * 9 / 2, final_time=2.0, length=3.0).solve(1.5 * initial[:4])
    assert relative_errors(scaled, 1.5 * solution[:4]).max() < 1e-12


def test_reflection(initial, solution):
    """u → -u(-x, t), the symmetry of the equation."""
    reflected = BurgersEtdrk4(CAO_VISCOSITY).solve(-initial[:4].conj())
    assert relative_errors(reflected, -solution[:4].conj()).max() < 1e-12


def test_modes_beyond_those_integrated_are_dropped_and_absent_ones_are_zero(initial, solution):
    kept = initial[:4, : solution.shape[1]]
    np.testing.assert_array_equal(BurgersEtdrk4(CAO_VISCOSITY).solve(kept), solution[:4])
    two_modes = np.array([[0.1, -0.25j]])
    padded = np.pad(two_modes, ((0, 0), (0, 70)))
    np.testing.assert_array_equal(
        BurgersEtdrk4(CAO_VISCOSITY).solve(two_modes), BurgersEtdrk4(CAO_VISCOSITY).solve(padded)
    )


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


def refused(error, message):
    return pytest.raises(error, match=f"^{re.escape(message)}$")


def test_too_few_modes_are_refused(initial):
    message = (
        "Burgers ETDRK4: the highest eighth of the modes holds more than 1e-08 of the solution "
        "(sample rows 0, 1); use more num_modes (now 12)"
    )
    with refused(SolverError, message):
        BurgersEtdrk4(CAO_VISCOSITY, num_modes=12).solve(initial[:2])


def test_too_few_steps_are_refused(initial):
    message = (
        "Burgers ETDRK4: halving the step moves the solution by more than 1e-03 (sample rows 1); "
        "use more num_steps (now 8)"
    )
    fields = np.stack([0.1 * initial[0], 1.3 * initial[1]])
    with refused(SolverError, message):
        BurgersEtdrk4(CAO_VISCOSITY, num_steps=8).solve(fields)


def test_a_diverging_run_is_refused(initial):
    message = "Burgers ETDRK4: the solution is not finite (sample rows 1); use more num_steps (now 104)"
    fields = np.stack([initial[0], 1000 * initial[1]])
    with refused(SolverError, message):
        BurgersEtdrk4(CAO_VISCOSITY).solve(fields)


def test_an_initial_field_that_is_not_finite_is_refused(initial):
    message = "Burgers ETDRK4: the initial field is not finite (sample rows 1); check where it comes from"
    fields = initial[:3].copy()
    fields[1, 5] = np.nan
    with refused(SolverError, message):
        BurgersEtdrk4(0.1).solve(fields)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"viscosity": 0.0}, "viscosity must be positive, got 0.0"),
        ({"final_time": -1.0}, "final_time must be positive, got -1.0"),
        ({"length": 0.0}, "length must be positive, got 0.0"),
        ({"num_modes": 0}, "num_modes must be at least 1, got 0"),
        ({"num_steps": 0}, "num_steps must be at least 1, got 0"),
        ({"num_steps": 12}, "num_steps must be a multiple of 8, got 12"),
    ],
)
def test_impossible_parameters_are_refused(changes, message):
    with refused(ValueError, message):
        BurgersEtdrk4(**({"viscosity": 0.1} | changes))
