"""The scalar controlled differential equation, by its closed form.

    dz = sin(z) du,    z(0) = z₀,    u(t) = Σ_{j=1…J} a_j sin(π η_j t)

z    state;  u: control, with amplitudes a_j and frequencies η_j.

Since dz / sin z = d ln tan(z/2), the state depends only on the present value of the control:

    z(t) = 2 arctan( tan(z₀/2) · e^{u(t) - u(0)} )

between the multiples of π, which are fixed points: a state between two of them stays between them, and other
branches of the tangent are reached by adding the multiple of 2π next to z₀.

Expect: rounding errors (about 1e-15), at any times, without steps or tolerances.
Source: Calvello et al. 2024, arXiv:2406.06486, section 6.1 (J = 10, η_j ~ U(0, J), T = 2). There a_j ~ N(0,
1); the public code divides a_j by j, and its z₀ is 1. The reported numbers come from the code.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import scipy.integrate
from jaxtyping import Array, Float

from resolvent.solvers.common.checks import check_array, check_initial
from resolvent.solvers.common.grid import Nodes
from resolvent.solvers.common.lanes import in_lanes
from resolvent.solvers.random_fields.streams import generator

NAME = "controlled ODE"
DECAYS = ("inverse", "none")
LANES = 512  # fixed number of samples computed at once


@dataclass(frozen=True)
class ControlledOde:
    """Controls → states. The module's docstring has the equation.

    initial_value  z₀. Raises `ValueError` if it is not finite.
    """

    initial_value: float = 1.0

    def __post_init__(self) -> None:
        if not np.isfinite(self.initial_value):
            raise ValueError(f"initial_value must be finite, got {self.initial_value}")

    @property
    def _branch(self) -> tuple[float, float]:
        """Return the multiple of 2π next to z₀, and half their difference, where the tangent is finite."""
        turns = float(2 * np.pi * np.round(self.initial_value / (2 * np.pi)))
        return turns, (self.initial_value - turns) / 2

    def solve(
        self,
        amplitudes: Float[np.ndarray, "batch terms"],
        frequencies: Float[np.ndarray, "batch terms"],
        times: Nodes,
    ) -> tuple[Float[np.ndarray, "batch times"], Float[np.ndarray, "batch times"]]:
        """Return the control u and the state z at `times`.

        amplitudes, frequencies  a_j and η_j.

        Raises `ValueError` if these are not two arrays of equal shape (batch, terms), and `SolverError` if an
        amplitude or frequency is not finite.
        """
        check_array(amplitudes, "f", ("batch", "terms"), f"amplitudes of {NAME}")
        check_array(frequencies, "f", amplitudes.shape, f"frequencies of {NAME}")
        check_initial(amplitudes, NAME)
        check_initial(frequencies, NAME)
        real = amplitudes.dtype.type
        angles = np.pi * times.coordinates.astype(real)
        turns, half = self._branch
        tangent = real(np.tan(half))
        controls, states = in_lanes(
            lambda *block: _closed_form(*block, angles, tangent, real(turns)),
            LANES,
            amplitudes,
            frequencies.astype(real),
        )
        return controls, states

    def state(self, control: Float[np.ndarray, "batch times"]) -> Float[np.ndarray, "batch times"]:
        """Return the state z for values of a control that is zero at time 0, by the closed form."""
        turns, half = self._branch
        return turns + 2 * np.arctan(np.tan(half) * np.exp(control))

    def integrate(
        self,
        amplitudes: Float[np.ndarray, "batch terms"],
        frequencies: Float[np.ndarray, "batch terms"],
        times: Nodes,
        tolerance: float = 1e-13,
    ) -> Float[np.ndarray, "batch times"]:
        """Return the states by SciPy's DOP853, all samples at once, as an independent check.

        Integrates s = sin(z/2) and c = cos(z/2), ds = s c² du and dc = -s² c du, one of which is small near
        a fixed point and keeps its digits there, unlike z.
        """
        turns, half = self._branch
        start = np.array([[np.sin(half)], [np.cos(half)]]).repeat(len(amplitudes), axis=1)
        angles, slopes = np.pi * frequencies, np.pi * frequencies * amplitudes

        def rate(time, parts):
            sine, cosine = parts.reshape(start.shape)
            product = sine * cosine * (slopes * np.cos(angles * time)).sum(axis=1)
            return np.concatenate([cosine * product, -sine * product])

        sine, cosine = scipy.integrate.solve_ivp(
            rate,
            (0.0, times.positions[-1]),
            start.ravel(),
            method="DOP853",
            t_eval=times.coordinates,
            rtol=tolerance,
            atol=1e-300,  # so that the tolerance of the small part is relative, too
        ).y.reshape(*start.shape, times.points)
        return turns + 2 * np.arctan2(sine, cosine)


@jax.jit
def _closed_form(
    amplitudes: Float[Array, "lanes terms"],
    frequencies: Float[Array, "lanes terms"],
    angles: Float[Array, " times"],
    tangent: Float[Array, ""],
    turns: Float[Array, ""],
) -> tuple[Float[Array, "lanes times"], Float[Array, "lanes times"]]:
    control = sum(
        amplitude * jnp.sin(frequency * angles)
        for amplitude, frequency in zip(amplitudes.T[:, :, None], frequencies.T[:, :, None], strict=True)
    )
    return control, turns + 2 * jnp.arctan(tangent * jnp.exp(control))


def draw_control(
    seed: int, split: int, index: int, num_terms: int = 10, decay: str = "inverse"
) -> tuple[Float[np.ndarray, " terms"], Float[np.ndarray, " terms"]]:
    """Draw amplitudes a_j and frequencies η_j ~ U(0, J) of sample `index` of split number `split`.

    num_terms  J ≥ 1.
    decay      "inverse": a_j = ξ_j / j, as in the public code; "none": a_j = ξ_j, as in the paper's text;
               ξ_j ~ N(0, 1).

    Raises `ValueError` if num_terms is not positive, or the decay is unknown.
    """
    if num_terms < 1:
        raise ValueError(f"num_terms must be at least 1, got {num_terms}")
    if decay not in DECAYS:
        raise ValueError(f"unknown decay {decay!r}; accepted: {', '.join(map(repr, DECAYS))}")
    stream = generator(seed, split, index)
    amplitudes, frequencies = stream.standard_normal(num_terms), stream.uniform(0, num_terms, num_terms)
    if decay == "inverse":
        amplitudes /= np.arange(1, num_terms + 1)
    return amplitudes, frequencies
