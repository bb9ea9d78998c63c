"""Order of convergence, bits and single precision are the registry's: see `test_registry.py`."""

import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.stats import kstest

from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.grid import Nodes
from resolvent.solvers.common.observation_times import explicit, random_times, two_rates, uniform
from resolvent.solvers.lorenz63 import Lorenz63, initial_condition, solve_diffrax

INITIAL = np.stack([initial_condition(0, 0, index) for index in range(6)])
OBSERVATIONS = {
    "uniform": uniform(0.01, 2.0),
    "two rates": two_rates(0.01, 2.0),
    "random": random_times(60, 2.0, 0),
    "explicit": explicit((0.0, 0.123, 0.7, 1.999, 2.0)),
}
EVERY_TIME = Nodes(tuple(sorted({time for times in OBSERVATIONS.values() for time in times.positions})))
FEW_TIMES = explicit((0.0, 0.1, 0.4))


def by_scipy(initial, times, sigma=10.0, rho=28.0, beta=8 / 3):
    def rate(time, state):
        x, y, z = state
        return sigma * (y - x), x * (rho - z) - y, x * y - beta * z

    span, at = (0.0, times.positions[-1]), times.coordinates
    return np.stack(
        [
            solve_ivp(rate, span, start, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=at).y
            for start in initial
        ]
    )


@pytest.fixture(scope="module")
def references():
    return {
        "diffrax": solve_diffrax(INITIAL, EVERY_TIME),
        "scipy": by_scipy(INITIAL, EVERY_TIME),
    }


@pytest.fixture(scope="module")
def solutions():
    return {kind: Lorenz63().solve(INITIAL, times) for kind, times in OBSERVATIONS.items()}


@pytest.mark.parametrize("integrator", ["diffrax", "scipy"])
@pytest.mark.parametrize("kind", OBSERVATIONS)
def test_default_accuracy_at_every_time_against_two_adaptive_integrators(
    kind, integrator, solutions, references
):
    at = np.searchsorted(EVERY_TIME.coordinates, OBSERVATIONS[kind].coordinates)
    np.testing.assert_allclose(solutions[kind], references[integrator][..., at], rtol=0, atol=1e-8)


def test_other_parameters():
    parameters = {"sigma": 4.0, "rho": 45.0, "beta": 1.5}
    states = Lorenz63(**parameters).solve(INITIAL, FEW_TIMES)
    np.testing.assert_allclose(states, by_scipy(INITIAL, FEW_TIMES, **parameters), rtol=0, atol=1e-8)


def test_the_state_at_time_zero_is_the_initial_one():
    np.testing.assert_array_equal(Lorenz63().solve(INITIAL, FEW_TIMES)[..., 0], INITIAL)


def test_fixed_points_stay_fixed():
    """±(√(β(ρ - 1)), √(β(ρ - 1))), ρ - 1, the two convection rolls, and rest."""
    roll = np.sqrt(8 / 3 * 27)
    points = np.array([[roll, roll, 27.0], [-roll, -roll, 27.0], [0.0, 0.0, 0.0]])
    states = Lorenz63().solve(points, uniform(0.01, 2.0))
    np.testing.assert_allclose(states[:2], np.broadcast_to(points[:2, :, None], (2, 3, 200)), rtol=1e-13)
    np.testing.assert_array_equal(states[2], 0)


def test_without_convection_temperature_differences_decay():
    """x = y = 0 is invariant, and there z = z₀ e^{-βt}."""
    initial = np.array([[0.0, 0.0, 40.0], [0.0, 0.0, -3.0]])
    times = uniform(0.01, 2.0)
    states = Lorenz63().solve(initial, times)
    np.testing.assert_array_equal(states[:, :2], 0)
    np.testing.assert_allclose(states[:, 2], initial[:, 2:] * np.exp(-8 / 3 * times.coordinates), rtol=1e-13)


def test_reversed_convection():
    """(x, y, z) → (-x, -y, z), the symmetry of the equation, to the last bit."""
    mirror = np.array([-1.0, -1.0, 1.0])
    states = Lorenz63().solve(INITIAL, FEW_TIMES)
    np.testing.assert_array_equal(Lorenz63().solve(mirror * INITIAL, FEW_TIMES), mirror[:, None] * states)


def test_volumes_contract_at_the_rate_of_the_divergence():
    """det ∂x(t)/∂x(0) = e^{-(σ + 1 + β)t}: the divergence of the flow is the same everywhere."""
    step = 1e-3
    offsets = step * np.concatenate([shift * np.eye(3) for shift in (-2, -1, 1, 2)])
    around = (INITIAL[:, None] + offsets).reshape(-1, 3)
    states = Lorenz63().solve(around, FEW_TIMES).reshape(len(INITIAL), 4, 3, 3, FEW_TIMES.points)
    # Fourth-order central difference along each axis of the initial state: (sample, axis, component, time).
    jacobians = np.tensordot([1, -8, 8, -1], states, axes=(0, 1)) / (12 * step)
    volumes = np.linalg.det(np.moveaxis(jacobians, -1, 1))
    expected = np.exp(-(10 + 1 + 8 / 3) * FEW_TIMES.coordinates)
    np.testing.assert_allclose(volumes, np.broadcast_to(expected, volumes.shape), rtol=1e-6)


@pytest.mark.parametrize(("kind", "other"), [("uniform", "explicit"), ("two rates", "uniform")])
def test_a_state_does_not_depend_on_the_other_times_asked_for(kind, other, solutions):
    times, other_times = OBSERVATIONS[kind].coordinates, OBSERVATIONS[other].coordinates
    at, other_at = np.nonzero(abs(times[:, None] - other_times) < 1e-12)
    assert len(at) >= 2
    np.testing.assert_allclose(solutions[kind][..., at], solutions[other][..., other_at], rtol=0, atol=1e-9)


def test_distribution_of_the_initial_state():
    """x, y ~ U(-15, 15), z ~ U(0, 40), by the Kolmogorov-Smirnov test; independent."""
    count = 2000
    states = np.stack([initial_condition(7, 1, index) for index in range(count)])
    uniform_on_unit_interval = (states - [-15, -15, 0]) / [30, 30, 40]
    for component in uniform_on_unit_interval.T:
        assert kstest(component, "uniform").pvalue > 1e-3
    correlations = np.corrcoef(states.T)
    assert np.abs(correlations - np.eye(3)).max() < 5 / np.sqrt(count)


def test_an_initial_state_depends_on_its_key_alone():
    forwards = [initial_condition(3, 1, index) for index in range(4)]
    backwards = [initial_condition(3, 1, index) for index in reversed(range(4))][::-1]
    np.testing.assert_array_equal(forwards, backwards)
    keys = [(3, 1, 2), (1, 3, 2), (3, 2, 1), (4, 1, 2), (3, 1, 3)]
    assert len({initial_condition(*key)[0] for key in keys}) == len(keys)


def refused(error, message):
    return pytest.raises(error, match=f"^{re.escape(message)}$")


def test_steps_too_long_are_refused():
    message = (
        "Lorenz-63: the last terms of the series exceed the tolerance 1e-08 (sample rows 1); "
        "use a shorter step (now 0.05)"
    )
    states = np.array([[0.0, 0.0, 1.0], [10.0, -10.0, 30.0]])
    with refused(SolverError, message):
        Lorenz63(step=0.05).solve(states, explicit((0.0, 0.5, 2.0)))


def test_a_diverging_run_is_refused():
    message = (
        "Lorenz-63: the last terms of the series exceed the tolerance 1e-08 (sample rows 0); "
        "use a shorter step (now 0.01)"
    )
    with refused(SolverError, message):
        Lorenz63().solve(np.array([[1e100, -1e100, 1e100], [1.0, 1.0, 1.0]]), FEW_TIMES)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_initial_state_that_is_not_finite_is_refused(value):
    message = "Lorenz-63: the initial field is not finite (sample rows 1); check where it comes from"
    with refused(SolverError, message):
        Lorenz63().solve(np.array([[1.0, 1.0, 1.0], [1.0, value, 1.0]]), FEW_TIMES)


def test_negative_times_are_refused():
    with refused(ValueError, "times must not be negative, got -0.1"):
        Lorenz63().solve(INITIAL, Nodes((-0.1, 1.0)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sigma": 0.0}, "sigma must be positive, got 0.0"),
        ({"rho": -1.0}, "rho must be positive, got -1.0"),
        ({"beta": 0.0}, "beta must be positive, got 0.0"),
        ({"step": 0.0}, "step must be positive, got 0.0"),
        ({"tolerance": -1e-8}, "tolerance must be positive, got -1e-08"),
        ({"order": 1}, "order must be at least 2, got 1"),
        ({"step": float("nan")}, "step must be positive, got nan"),
    ],
)
def test_impossible_parameters_are_refused(changes, message):
    with refused(ValueError, message):
        Lorenz63(**changes)
