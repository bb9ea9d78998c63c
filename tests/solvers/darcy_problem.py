"""What the tests of Darcy flow share: a manufactured solution, and coefficients of the distributions."""

from functools import lru_cache

import numpy as np

from resolvent.solvers.common.cosine_series import observe_cosine
from resolvent.solvers.common.grid import Grid
from resolvent.solvers.random_fields.distributions import DISTRIBUTIONS
from resolvent.solvers.random_fields.gaussian import NeumannGaussianField, level_set, lognormal


@lru_cache
def manufactured(points, kind="nodes", stride=1):
    """Coefficient, source, pressure: p = sin(πx) sin(2πy), a = 1 + s x y + (1 - s) cos²(πy/2), five s."""
    axis = Grid(kind, points, stride=stride).coordinates
    y, x = np.meshgrid(axis, axis, indexing="ij")
    coefficients, sources, pressures = [], [], []
    for s in (0.0, 0.25, 0.5, 0.75, 1.0):
        a = 1 + s * x * y + (1 - s) * np.cos(np.pi * y / 2) ** 2
        a_x, a_y = s * y, s * x - (1 - s) * np.pi / 2 * np.sin(np.pi * y)
        p = np.sin(np.pi * x) * np.sin(2 * np.pi * y)
        p_x = np.pi * np.cos(np.pi * x) * np.sin(2 * np.pi * y)
        p_y = 2 * np.pi * np.sin(np.pi * x) * np.cos(2 * np.pi * y)
        coefficients.append(a)
        sources.append(-(a_x * p_x + a_y * p_y - 5 * np.pi**2 * a * p))
        pressures.append(p)
    return np.stack(coefficients), np.stack(sources), np.stack(pressures)


def coefficients(distribution, points, count, kind="nodes", num_modes=None):
    """The first samples of a named distribution, pushed forward as its paper does."""
    named = DISTRIBUTIONS[distribution]
    field = NeumannGaussianField(named.sigma, named.tau, named.gamma, num_modes=num_modes or points - 1)
    values = np.stack([observe_cosine(field.coefficients(0, 0, i), points, kind) for i in range(count)])
    return level_set(values) if distribution == "cao_darcy" else lognormal(values)
