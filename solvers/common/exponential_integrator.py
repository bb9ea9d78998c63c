"""The fourth-order exponential Runge-Kutta scheme ETDRK4: its coefficients and its step.

For u_t = Lu + N(u) with a diagonal L, one step of size h is (Cox and Matthews 2002, J. Comput. Phys. 176,
430)

    a = E₂u + Q N(u),    b = E₂u + Q N(a),    c = E₂a + Q (2N(b) - N(u)),    E = e^{hL},  E₂ = e^{hL/2}
    u ← Eu + f₁ N(u) + 2f₂ (N(a) + N(b)) + f₃ N(c)

The functions Q, f₁, f₂, f₃ of hL cancel badly near zero. They are means over a circle around hL (Kassam and
Trefethen 2005, SIAM J. Sci. Comput. 26, 1214), exact to rounding.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array, Complex, Float

_CIRCLE_POINTS = 64


class Etdrk4(NamedTuple):
    """The coefficients for one step size, each in the shape of L: E, E₂, Q, f₁, 2f₂, f₃.

    NumPy arrays, or JAX arrays inside compiled functions.
    """

    full: Float[Any, "*modes"]
    half: Float[Any, "*modes"]
    stage: Float[Any, "*modes"]
    first: Float[Any, "*modes"]
    middle: Float[Any, "*modes"]
    last: Float[Any, "*modes"]


def etdrk4(linear: Float[np.ndarray, "*modes"], step: float) -> Etdrk4:
    """Return the coefficients for the real diagonal operator L = `linear` and the step size h = `step`."""
    hl = step * linear
    # L is real, so half of the circle and the real part are enough; none of its points is real.
    circle = np.exp(1j * np.pi * (np.arange(1, _CIRCLE_POINTS + 1) - 0.5) / _CIRCLE_POINTS)
    z = hl[..., None] + circle

    def mean(values: Complex[np.ndarray, "*modes circle"]) -> Float[np.ndarray, "*modes"]:
        return step * values.mean(axis=-1).real

    return Etdrk4(
        full=np.exp(hl),
        half=np.exp(hl / 2),
        stage=mean((np.exp(z / 2) - 1) / z),
        first=mean((-4 - z + np.exp(z) * (4 - 3 * z + z**2)) / z**3),
        middle=2 * mean((2 + z + np.exp(z) * (z - 2)) / z**3),
        last=mean((-4 - 3 * z - z**2 + np.exp(z) * (4 - z)) / z**3),
    )


def etdrk4_step(
    u: Complex[Array, "..."],
    slope: Complex[Array, "..."],
    nonlinear: Callable[[Complex[Array, "..."]], Complex[Array, "..."]],
    scheme: Etdrk4,
) -> Complex[Array, "..."]:
    """Advance the spectrum `u` by one step; `slope` is N(u) = nonlinear(u), computed by the caller."""
    kept = scheme.half * u
    a = kept + scheme.stage * slope
    slope_a = nonlinear(a)
    slope_b = nonlinear(kept + scheme.stage * slope_a)
    slope_c = nonlinear(scheme.half * a + scheme.stage * (2 * slope_b - slope))
    return (
        scheme.full * u + scheme.first * slope + scheme.middle * (slope_a + slope_b) + scheme.last * slope_c
    )
