"""Lorenz's model of convection by Taylor series, at any times.

    dx/dt = σ(y - x),    dy/dt = x(ρ - z) - y,    dz/dt = xy - βz

x        intensity of the convection; y, z: the temperature differences it makes, across and upwards.
σ, ρ, β  Prandtl number, Rayleigh number over its critical value, geometric factor: 10, 28, 8/3.

Method: steps end at every observation time, and are no longer than `step`. In each, of size h, the solution
is its own Taylor polynomial, x(t_n + h) = Σ_k X_k, whose terms follow from the equation one after the other:

    X_{k+1} = h/(k+1) · σ(Y_k - X_k)
    Y_{k+1} = h/(k+1) · (ρX_k - Y_k - Σ_j X_j Z_{k-j})
    Z_{k+1} = h/(k+1) · (Σ_j X_j Y_{k-j} - βZ_k)

The error is of order h^K for K = `order`; the last terms, |X_K| and so on, summed over the steps, estimate
what the polynomials leave out.

Expect: with the defaults relative errors near 1e-9 on [0, 2], for initial states of the size of the
attractor. The model is chaotic: what is left out grows by e^{0.9t}, so that t beyond 30 is out of reach of
float64.
Good values: a longer step wants a higher order. A sample has the same bits in any batch.
Source: Lorenz 1963, J. Atmos. Sci. 20, 130; the task: Calvello et al. 2024, arXiv:2406.06486, section 6.1.

Beside the solver: the distribution of initial states, an independent integrator as a check, and what an
observed x says of y and z.
"""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from scipy.interpolate import CubicSpline

from resolvent.solvers.common.checks import check_array, check_initial, refuse
from resolvent.solvers.common.grid import Nodes
from resolvent.solvers.common.lanes import in_lanes
from resolvent.solvers.random_fields.streams import generator

NAME = "Lorenz-63"
LANES = 512  # trajectories advanced together, always this many
_GAUSS_NODES, _GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(3)


@dataclass(frozen=True)
class Lorenz63:
    """Initial states → trajectories. The module's docstring has the equation and the method.

    sigma, rho, beta  σ, ρ, β > 0.
    step              the largest step in time.
    order             K, the degree of the Taylor polynomials.
    tolerance         largest sum of last terms, relative to the largest state of the trajectory.

    Raises a ValueError where a parameter is not positive, or the order is below 2.
    """

    sigma: float = 10.0
    rho: float = 28.0
    beta: float = 8 / 3
    step: float = 0.01
    order: int = 12
    tolerance: float = 1e-8

    def __post_init__(self) -> None:
        for name in ("sigma", "rho", "beta", "step", "tolerance"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)}")
        if self.order < 2:
            raise ValueError(f"order must be at least 2, got {self.order}")

    def solve(
        self, initial: Float[np.ndarray, "batch 3"], times: Nodes
    ) -> Float[np.ndarray, "batch 3 times"]:
        """Return the states (x, y, z) at `times`, from the initial states, those at time 0.

        Raises a ValueError where a time is negative, or the initial states are not an array (batch, 3); a
        SolverError where an initial state is not finite, or the steps are too long for the tolerance.
        """
        if times.positions[0] < 0:
            raise ValueError(f"times must not be negative, got {times.positions[0]:g}")
        check_array(initial, "f", ("batch", 3), f"initial of {NAME}")
        check_initial(initial, NAME)
        steps, ends = self._steps(times)
        steps = steps.astype(initial.dtype)
        parameters = np.array([self.sigma, self.rho, self.beta], initial.dtype)
        states, left_out, largest = in_lanes(
            lambda block: _integrate(block, steps, ends, parameters, self.order), LANES, initial
        )
        refuse(
            ~(left_out <= self.tolerance * largest),  # also true of numbers that are not finite
            NAME,
            symptom=f"the last terms of the series exceed the tolerance {self.tolerance:.0e}",
            remedy=f"use a shorter step (now {self.step:g})",
        )
        return states

    def _steps(self, times: Nodes) -> tuple[np.ndarray, np.ndarray]:
        """Return the sizes of all steps, and after how many of them each time is reached."""
        intervals = np.diff(times.coordinates, prepend=0.0)
        counts = np.ceil(intervals / self.step - 1e-9).astype(int)
        sizes = np.repeat(intervals / np.maximum(counts, 1), counts)
        return sizes, np.cumsum(counts)


@partial(jax.jit, static_argnames="order")
def _integrate(
    initial: Float[Array, "lanes 3"],
    steps: Float[Array, " steps"],
    ends: Int[Array, " times"],
    parameters: Float[Array, "3"],
    order: int,
) -> tuple[Float[Array, "lanes 3 times"], Float[Array, " lanes"], Float[Array, " lanes"]]:
    """Return the states after `ends` steps, the sum of all steps' last terms, and the largest state."""
    sigma, rho, beta = parameters

    def step(carry, size):
        state, left_out = carry
        x, y, z = ([component] for component in state)
        for k in range(order):
            factor = size / (k + 1)
            product_xz = sum(x[j] * z[k - j] for j in range(k + 1))
            product_xy = sum(x[j] * y[k - j] for j in range(k + 1))
            x.append(factor * (sigma * (y[k] - x[k])))
            y.append(factor * (rho * x[k] - y[k] - product_xz))
            z.append(factor * (product_xy - beta * z[k]))
        # Small terms first: less rounding.
        state = jnp.stack([sum(reversed(terms)) for terms in (x, y, z)])
        return (state, left_out + abs(x[-1]) + abs(y[-1]) + abs(z[-1])), state

    (_, left_out), states = jax.lax.scan(step, (initial.T, jnp.zeros_like(initial[:, 0])), steps)
    at_ends = jnp.where((ends > 0)[:, None, None], states[ends - 1], initial.T)
    return at_ends.transpose(2, 1, 0), left_out, jnp.maximum(abs(states).max(axis=(0, 1)), 1)


def initial_condition(seed: int, split: int, index: int) -> Float[np.ndarray, "3"]:
    """Draw the initial state of sample `index` of split number `split`: x, y ~ U(-15, 15), z ~ U(0, 40).

    Calvello et al. 2024, arXiv:2406.06486, section 6.1, names no distribution; this is its public code's.
    """
    deviates = generator(seed, split, index).uniform(size=3)
    return np.array([-15.0, -15.0, 0.0]) + np.array([30.0, 30.0, 40.0]) * deviates


def solve_diffrax(
    initial: Float[np.ndarray, "batch 3"],
    times: Nodes,
    sigma: float = 10.0,
    rho: float = 28.0,
    beta: float = 8 / 3,
    tolerance: float = 1e-12,
) -> Float[np.ndarray, "batch 3 times"]:
    """Return the states (x, y, z) at `times` by diffrax's Dopri8, for this `tolerance`: a check."""
    import diffrax  # seconds to import, and needed for this check alone

    def rate(time, state, parameters):
        x, y, z = state
        return jnp.stack([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])

    def trajectory(state):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(rate),
            diffrax.Dopri8(),
            t0=0.0,
            t1=times.positions[-1],
            dt0=1e-3,
            y0=state,
            saveat=diffrax.SaveAt(ts=jnp.asarray(times.coordinates)),
            stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance),
            max_steps=100_000,
        ).ys.T

    with jax.enable_x64(True):
        return np.asarray(jax.jit(jax.vmap(trajectory))(jnp.asarray(initial)))


def unobserved_y(
    x: Float[np.ndarray, "batch times"], times: Nodes, sigma: float
) -> Float[np.ndarray, "batch times"]:
    """Return y = x + (dx/dt)/σ at the times, from x there; `sigma` is σ.

    Between the times x is a cubic spline, not-a-knot, and dx/dt its derivative. Expect errors of order h³ for
    times h apart, the largest near the first and the last time.
    """
    return x + CubicSpline(times.coordinates, x, axis=-1)(times.coordinates, 1) / sigma


def unobserved_z(
    x: Float[np.ndarray, "batch times"],
    y: Float[np.ndarray, "batch times"],
    initial_z: Float[np.ndarray, " batch"],
    times: Nodes,
    beta: float,
) -> Float[np.ndarray, "batch times"]:
    """Return z(t) = e^{-βt} z(0) + ∫₀ᵗ e^{-β(t-s)} x(s) y(s) ds at the times; `beta` is β.

    x and y are cubic splines between the times, the integral is by three Gauss points in each interval.
    Expect errors as of `unobserved_y`.
    """
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
