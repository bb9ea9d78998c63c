"""What the tests of this folder share: Cao's Burgers problem and the measure of error."""

import numpy as np

from resolvent.solvers.random_fields.circle import PeriodicGaussianField

CAO_FIELD = PeriodicGaussianField(sigma=25.0, tau=5.0, gamma=2.0)
CAO_VISCOSITY = 0.1 / (2 * np.pi)


def initial_fields(count):
    return np.stack([CAO_FIELD.coefficients(seed=0, split=0, index=index) for index in range(count)])


def relative_errors(values, truth):
    return np.linalg.norm(values - truth, axis=-1) / np.linalg.norm(truth, axis=-1)


def slope(numbers_of_steps, errors):
    """Observed order of convergence: least-squares fit of log error against log step."""
    return -np.polyfit(np.log(numbers_of_steps), np.log(errors), 1)[0]
