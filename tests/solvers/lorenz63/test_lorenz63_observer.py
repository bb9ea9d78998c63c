"""What follows for y and z from x alone, against the model's own trajectories."""

import numpy as np

from resolvent.solvers.common.grid import Nodes
from resolvent.solvers.common.observation_times import random_times, uniform
from resolvent.solvers.lorenz63 import Lorenz63, initial_condition, unobserved_y, unobserved_z

MODEL = Lorenz63()
INITIAL = np.stack([initial_condition(1127802, 2, index) for index in range(16)])


def relative_errors(times: Nodes) -> np.ndarray:
    """Return the errors of y and z, the worst over the samples."""
    x, y, z = np.moveaxis(MODEL.solve(INITIAL, times), 1, 0)
    guess_y = unobserved_y(x, times, MODEL.sigma)
    guess_z = unobserved_z(x, guess_y, INITIAL[:, 2], times, MODEL.beta)
    pairs = ((guess_y, y), (guess_z, z))
    return np.array([np.max(np.linalg.norm(a - b, axis=1) / np.linalg.norm(b, axis=1)) for a, b in pairs])


def test_observed_order():
    errors = np.array([relative_errors(uniform(step, 2.0)) for step in (0.01, 0.005, 0.0025)])
    orders = np.log2(errors[:-1] / errors[1:])
    assert np.all(orders > 2.8), (errors, orders)
    assert np.all(errors[-1] < 1e-4), errors


def test_uneven_times_will_do():
    assert np.all(relative_errors(random_times(800, 2.0, 1)) < 2e-2)
