"""Coefficients of the fourth-order exponential Runge-Kutta scheme ETDRK4.

For u_t = Lu + N(u) with a diagonal L, one step of size h is (Cox and Matthews 2002, J. Comput. Phys. 176,
430)

    a = E₂u + Q N(u),    b = E₂u + Q N(a),    c = E₂a + Q (2N(b) - N(u)),    E = e^{hL},  E₂ = e^{hL/2}
    u ← Eu + f₁ N(u) + 2f₂ (N(a) + N(b)) + f₃ N(c)

The functions Q, f₁, f₂, f₃ of hL cancel badly near zero. They are means over a circle around hL (Kassam and
Trefethen 2005, SIAM J. Sci. Comput. 26, 1214), exact to rounding.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

_CIRCLE_POINTS = 64


class Etdrk4(NamedTuple):
    """The coefficients of one step size, each of the shape of L: E, E₂, Q, f₁, 2f₂, f₃."""

    full: Float[np.ndarray, "*modes"]
    half: Float[np.ndarray, "*modes"]
    stage: Float[np.ndarray, "*modes"]
    first: Float[np.ndarray, "*modes"]
    middle: Float[np.ndarray, "*modes"]
    last: Float[np.ndarray, "*modes"]


def etdrk4(linear: Float[np.ndarray, "*modes"], step: float) -> Etdrk4:
    """Coefficients for the real diagonal operator `linear` and the step size `step`."""
    hl = step * linear
    # L is real, so half of the circle and the real part do; none of its points is real.
    circle = np.exp(1j * np.pi * (np.arange(1, _CIRCLE_POINTS + 1) - 0.5) / _CIRCLE_POINTS)
    z = hl[..., None] + circle

    def mean(values):
        return step * values.mean(axis=-1).real

    return Etdrk4(
        full=np.exp(hl),
        half=np.exp(hl / 2),
        stage=mean((np.exp(z / 2) - 1) / z),
        first=mean((-4 - z + np.exp(z) * (4 - 3 * z + z**2)) / z**3),
        middle=2 * mean((2 + z + np.exp(z) * (z - 2)) / z**3),
        last=mean((-4 - 3 * z - z**2 + np.exp(z) * (4 - z)) / z**3),
    )
