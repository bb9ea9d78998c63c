"""The components y and z of Lorenz-63 that an observed x determines, from its values at a few times.

    y = x + (dx/dt)/σ,    z(t) = e^{-βt} z(0) + ∫₀ᵗ e^{-β(t-s)} x(s) y(s) ds

Both follow from the model's equations (`solvers.lorenz63.taylor_series`), without its chaos. x between the
times is a cubic spline, not-a-knot, and dx/dt the spline's derivative; the integral is by three Gauss points
in each interval.

Expect: for times h apart errors of order h³, the largest near the first and the last time.
"""

import numpy as np
from jaxtyping import Float
from scipy.interpolate import CubicSpline

from resolvent.solvers.common.grid import Nodes

_GAUSS_NODES, _GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(3)


def unobserved_y(
    x: Float[np.ndarray, "batch times"], times: Nodes, sigma: float
) -> Float[np.ndarray, "batch times"]:
    """Return y at the times, from x there; `sigma` is σ."""
    return x + CubicSpline(times.coordinates, x, axis=-1)(times.coordinates, 1) / sigma


def unobserved_z(
    x: Float[np.ndarray, "batch times"],
    y: Float[np.ndarray, "batch times"],
    initial_z: Float[np.ndarray, " batch"],
    times: Nodes,
    beta: float,
) -> Float[np.ndarray, "batch times"]:
    """Return z at the times, from x, y and the value of z at the first time; `beta` is β."""
    t = times.coordinates
    lengths = np.diff(t)
    inside = t[:-1, None] + lengths[:, None] * (1 + _GAUSS_NODES) / 2  # (intervals, 3)
    product = np.prod([CubicSpline(t, values, axis=-1)(inside) for values in (x, y)], axis=0)
    decay = np.exp(-beta * (t[1:, None] - inside))
    forcing = np.sum(product * decay * _GAUSS_WEIGHTS, axis=-1) * lengths / 2
    z = np.empty_like(x)
    z[:, 0] = initial_z
    for step, length in enumerate(lengths):
        z[:, step + 1] = np.exp(-beta * length) * z[:, step] + forcing[:, step]
    return z
