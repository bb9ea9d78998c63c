"""What the tests of this folder share: Cao's Burgers problem and the measure of error."""

import numpy as np

from resolvent.solvers.burgers.cole_hopf import cole_hopf
from resolvent.solvers.common.fourier import observe
from resolvent.solvers.random_fields.gaussian import PeriodicGaussianField

CAO_FIELD = PeriodicGaussianField(sigma=25.0, tau=5.0, gamma=2.0)
CAO_VISCOSITY = 0.1 / (2 * np.pi)


def initial_fields(count):
    return np.stack([CAO_FIELD.coefficients(seed=0, split=0, index=index) for index in range(count)])


def relative_errors(values, truth):
    return np.linalg.norm(values - truth, axis=-1) / np.linalg.norm(truth, axis=-1)


def errors_against_cole_hopf(solution, initial, viscosity):
    return relative_errors(observe(solution, 8192), observe(cole_hopf(initial, viscosity), 8192))
