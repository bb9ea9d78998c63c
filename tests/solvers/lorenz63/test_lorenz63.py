"""Order of convergence, bits and single precision are the registry's: see `test_registry.py`."""

import numpy as np
import pytest
from lorenz63_problem import integrated
from scipy.stats import kstest

from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.grid import Nodes
from resolvent.solvers.common.observation_times import explicit, random_times, two_rates, uniform
from resolvent.solvers.lorenz63 import Lorenz63, initial_condition, unobserved_y, unobserved_z

INITIAL = np.stack([initial_condition(0, 0, index) for index in range(6)])
OBSERVATIONS = {
    "uniform": uniform(0.01, 2.0),
    "two rates": two_rates(0.01, 2.0),
    "random": random_times(60, 2.0, 0),
    "explicit": explicit((0.0, 0.123, 0.7, 1.999, 2.0)),
}
EVERY_TIME = Nodes(tuple(sorted({time for times in OBSERVATIONS.values() for time in times.positions})))
FEW_TIMES = explicit((0.0, 0.1, 0.4))


def test_default_accuracy_at_every_time_against_an_adaptive_integrator():
    reference = integrated(INITIAL, EVERY_TIME)
    for times in OBSERVATIONS.values():
        at = np.searchsorted(EVERY_TIME.coordinates, times.coordinates)
        np.testing.assert_allclose(Lorenz63().solve(INITIAL, times), reference[..., at], rtol=0, atol=1e-8)
    parameters = {"sigma": 4.0, "rho": 45.0, "beta": 1.5}
    expected = integrated(INITIAL, FEW_TIMES, **parameters)
    np.testing.assert_allclose(Lorenz63(**parameters).solve(INITIAL, FEW_TIMES), expected, rtol=0, atol=1e-8)


def test_distribution_of_the_initial_state():
    """x, y ~ U(-15, 15), z ~ U(0, 40), by the Kolmogorov-Smirnov test; independent."""
    count = 2000
    states = np.stack([initial_condition(7, 1, index) for index in range(count)])
    uniform_on_unit_interval = (states - [-15, -15, 0]) / [30, 30, 40]
    for component in uniform_on_unit_interval.T:
        assert kstest(component, "uniform").pvalue > 1e-3
    correlations = np.corrcoef(states.T)
    assert np.abs(correlations - np.eye(3)).max() < 5 / np.sqrt(count)


@pytest.mark.parametrize(
    ("step", "states", "said"),
    [
        (0.05, [[0.0, 0.0, 1.0], [10.0, -10.0, 30.0]], r"exceed .* 1e-08 .* rows 1\); .* \(now 0.05\)"),
        (0.01, [[1e100, -1e100, 1e100], [1.0, 1.0, 1.0]], r"exceed .* 1e-08 .* rows 0\); .* \(now 0.01\)"),
        (0.01, [[1.0, 1.0, 1.0], [1.0, np.nan, 1.0]], r"initial field is not finite \(sample rows 1\)"),
        (0.01, [[1.0, 1.0, 1.0], [1.0, np.inf, 1.0]], r"initial field is not finite \(sample rows 1\)"),
    ],
)
def test_what_it_cannot_solve_is_refused(step, states, said):
    with pytest.raises(SolverError, match=f"^Lorenz-63: .*{said}"):
        Lorenz63(step=step).solve(np.array(states), explicit((0.0, 0.5, 2.0)))


# What follows for y and z from x alone, against the model's own trajectories.


def observer_errors(times: Nodes) -> np.ndarray:
    """Return the errors of y and z, the worst over the samples."""
    initial = np.stack([initial_condition(1127802, 2, index) for index in range(16)])
    x, y, z = np.moveaxis(Lorenz63().solve(initial, times), 1, 0)
    guess_y = unobserved_y(x, times, Lorenz63.sigma)
    guess_z = unobserved_z(x, guess_y, initial[:, 2], times, Lorenz63.beta)
    pairs = ((guess_y, y), (guess_z, z))
    return np.array([np.max(np.linalg.norm(a - b, axis=1) / np.linalg.norm(b, axis=1)) for a, b in pairs])


def test_order_of_the_observer():
    errors = np.array([observer_errors(uniform(step, 2.0)) for step in (0.01, 0.005, 0.0025)])
    orders = np.log2(errors[:-1] / errors[1:])
    assert np.all(orders > 2.8), (errors, orders)
    assert np.all(errors[-1] < 1e-4), errors
    assert np.all(observer_errors(random_times(800, 2.0, 1)) < 2e-2)  # uneven times will do
