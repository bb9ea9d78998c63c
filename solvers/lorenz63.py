"""Solve Lorenz's model of convection by Taylor series, at any times.

    dx/dt = σ(y - x),    dy/dt = x(ρ - z) - y,    dz/dt = xy - βz

x        intensity of the convection; y, z: horizontal and vertical temperature differences.
σ, ρ, β  Prandtl number, Rayleigh number over its critical value, geometric factor: 10, 28, 8/3.

Method: steps end at every observation time, and are at most `step`. In each step of size h the solution is a
Taylor polynomial, x(t_n + h) = Σ_k X_k, with terms from the recurrence

    X_{k+1} = h/(k+1) · σ(Y_k - X_k)
    Y_{k+1} = h/(k+1) · (ρX_k - Y_k - Σ_j X_j Z_{k-j})
    Z_{k+1} = h/(k+1) · (Σ_j X_j Y_{k-j} - βZ_k)

The error is of order h^K for K = `order`; the last terms, |X_K| and so on, summed over the steps, estimate
the truncation error.

Expect: with the defaults relative errors near 1e-9 on [0, 2], for initial states of the size of the
attractor. The model is chaotic: errors grow by e^{0.9t}, so that times beyond 30 cannot be computed in
float64.

Good values: longer steps need a higher order. Results are bit-identical in any batch.

`solve_to` needs only an accuracy: steps are as long as the times allow, and each sample has an adaptive
order, by `solvers.common.accuracy`. The truncation error is propagated: a disturbance d of the state,
initially zero, follows the equation linearised about the solution (by a series of degree 3), and in each step
the first truncated terms, X_{K+1}, are added. At every time d is the error up to second order, including
growth by chaos. These steps are compiled with Numba, for eight trajectories at once. Source: Lorenz 1963, J.
Atmos. Sci. 20, 130; the task: Calvello et al. 2024, arXiv:2406.06486, section 6.1.

The module also has the distribution of initial states, an independent integrator as a check, and the
reconstruction of y and z from an observed x.
"""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from scipy.interpolate import CubicSpline

from resolvent.solvers.common import vectors
from resolvent.solvers.common.accuracy import Attempt, Solved, solve_to_accuracy
from resolvent.solvers.common.checks import check_array, check_initial, refuse
from resolvent.solvers.common.compiled import compiled
from resolvent.solvers.common.grid import Nodes
from resolvent.solvers.common.lanes import in_lanes
from resolvent.solvers.common.vectors import larger, load, store
from resolvent.solvers.random_fields.streams import generator

NAME = "Lorenz-63"
LANES = 512  # fixed number of trajectories computed at once
ORDERS = (*range(4, 17), 18, 20, 22, 24, 27, 30)  # adaptive choices of the order
EIGHT = vectors.LANES
MARGIN = 3.0  # safety factor of the error relative to the propagated disturbance
BEGIN = 1.0  # start above the typical order, so that few trajectories are solved again
LINEAR = 3  # degree of the series of the disturbance
_GAUSS_NODES, _GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(3)


@dataclass(frozen=True)
class Lorenz63:
    """Initial states → trajectories. The module's docstring has the equation and the method.

    sigma, rho, beta  σ, ρ, β > 0.
    step              largest time step.
    order             K, the degree of the Taylor polynomials.
    tolerance         largest sum of last terms, relative to the largest state of the trajectory.

    Raises `ValueError` if a parameter is not positive, or the order is below 2.
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
        """Return the states (x, y, z) at `times`, from the initial states at time 0.

        Raises `ValueError` if a time is negative, or the initial states are not an array (batch, 3), and
        `SolverError` if an initial state is not finite, or the steps are too long for the tolerance.
        """
        _check(initial, times)
        sizes, counts = _steps(times, self.step)
        steps, ends = np.repeat(sizes, counts).astype(initial.dtype), np.cumsum(counts)
        parameters = np.array([self.sigma, self.rho, self.beta], initial.dtype)
        states, left_out, largest = in_lanes(
            lambda block: _integrate(block, steps, ends, parameters, self.order), LANES, initial
        )
        refuse(
            ~(left_out <= self.tolerance * largest),  # also true for NaN
            NAME,
            symptom=f"the last terms of the series exceed the tolerance {self.tolerance:.0e}",
            remedy=f"use a shorter step (now {self.step:g})",
        )
        return states


def solve_to(
    accuracy: float,
    initial: Float[np.ndarray, "batch 3"],
    times: Nodes,
    sigma: float = 10.0,
    rho: float = 28.0,
    beta: float = 8 / 3,
) -> Solved:
    """Solve for trajectories (3, times) to a relative L² error of `accuracy`, with adaptive orders.

    The rungs refer to `ORDERS`; steps are at most `longest_step`. Results are bit-identical in any batch.

    Raises as `Lorenz63` and its `solve`, and `SolverError` if the accuracy cannot be reached.
    """
    Lorenz63(sigma, rho, beta)
    _check(initial, times)
    sizes, counts = _steps(times, longest_step(sigma, rho, beta))
    start = int(np.searchsorted(ORDERS, expected_order(accuracy, times.positions[-1], sizes.max()) + BEGIN))

    def attempt(rows: Int[np.ndarray, " some"], rungs: tuple[int, ...]) -> Attempt:
        order = ORDERS[rungs[0]]
        states, errors, falls = _march(initial[rows], sizes, counts, order, (sigma, rho, beta))
        expected = errors[:, None] * falls[:, None] ** (np.array(ORDERS) - order)
        return Attempt(list(states), (MARGIN * expected,))

    def out_of_reach(rungs: tuple[int, ...]) -> str:
        return (
            f"with order {ORDERS[rungs[0]]} and steps of {sizes.max():.2g} it is not resolved; ask for a "
            "lower accuracy or an earlier final_time, or state a shorter step"
        )

    return solve_to_accuracy(
        accuracy,
        (min(start, len(ORDERS) - 2),),
        len(initial),
        attempt,
        lambda rungs: (ORDERS[rungs[0]] + 2) ** 2,
        out_of_reach,
    )


def expected_order(accuracy: float, final_time: float, step: float) -> float:
    """Return the typical order for Lorenz's parameters, measured, correct to about two."""
    return max(4.0, (0.35 * final_time - 0.9 - np.log10(accuracy)) / np.log10(0.16 / min(step, 0.08)))


def longest_step(sigma: float = 10.0, rho: float = 28.0, beta: float = 8 / 3) -> float:
    """Return the longest step of `solve_to`: the most efficient step for Lorenz's parameters."""
    return 0.56 / max(28, sigma, rho, beta)


def _check(initial: Float[np.ndarray, "batch 3"], times: Nodes) -> None:
    if times.positions[0] < 0:
        raise ValueError(f"times must not be negative, got {times.positions[0]:g}")
    check_array(initial, "f", ("batch", 3), f"initial of {NAME}")
    check_initial(initial, NAME)


def _steps(times: Nodes, largest: float) -> tuple[Float[np.ndarray, " times"], Int[np.ndarray, " times"]]:
    """Return size (at most `largest`) and number of the steps up to each time."""
    intervals = np.diff(times.coordinates, prepend=0.0)
    counts = np.ceil(intervals / largest - 1e-9).astype(int)
    return intervals / np.maximum(counts, 1), counts


def _march(
    initial: Float[np.ndarray, "batch 3"],
    sizes: Float[np.ndarray, " times"],
    counts: Int[np.ndarray, " times"],
    order: int,
    parameters: tuple[float, float, float],
) -> tuple[Float[np.ndarray, "batch 3 times"], Float[np.ndarray, " batch"], Float[np.ndarray, " batch"]]:
    """Return the states, their estimated relative errors, and the error reduction per order.

    The reduction is estimated from the last terms. States may be not finite if the order is too low.
    """
    batch, blocks = len(initial), -(-len(initial) // EIGHT)
    padded = np.pad(initial, ((0, blocks * EIGHT - batch), (0, 0))).reshape(blocks, EIGHT, 3)
    terms, sums = np.zeros((6, (order + 2) * EIGHT)), np.zeros((blocks, 4, EIGHT))
    states = np.empty((blocks, len(sizes), 3, EIGHT))
    starts = np.ascontiguousarray(padded.transpose(0, 2, 1)).reshape(blocks, -1)
    flat = states.reshape(blocks, -1), sums.reshape(blocks, -1)
    _series(starts, terms, sizes, counts, order, *parameters, *flat)
    result = np.ascontiguousarray(states.transpose(0, 3, 2, 1)).reshape(-1, 3, len(sizes))[:batch]
    square, norm, before, last = sums.transpose(1, 0, 2).reshape(4, -1)[:, :batch]
    with np.errstate(invalid="ignore", divide="ignore"):
        errors, falls = np.sqrt(square / norm), np.sqrt(last / before)
    # Zero states have no error and lost states an infinite one; both need finite numbers for ratios.
    errors = np.nan_to_num(np.where(square == 0, 0, errors), nan=1e100).clip(1e-100, 1e100)
    return result, errors, np.nan_to_num(falls, nan=0.5).clip(1e-3, 0.5)


@compiled
def _series(starts, terms, sizes, counts, order, sigma, rho, beta, all_states, all_sums):
    """Advance blocks of eight states; `terms` is work space for x, y, z and their disturbances.

    Accumulates in the sums, eight numbers each, the squares of disturbance and state at the times, and of the
    terms one degree below and above the order.
    """
    x, y, z, a, b, c = terms[0], terms[1], terms[2], terms[3], terms[4], terms[5]
    last = (order + 1) * EIGHT
    for block in range(len(starts)):
        states, sums = all_states[block], all_sums[block]
        for part in range(3):
            start = load(starts[block], part * EIGHT)
            store(terms[part], 0, start)
            store(terms[3 + part], 0, 0.0 * start)
        for time in range(counts.size):
            for _ in range(counts[time]):
                for at in range(0, last, EIGHT):
                    xz, xy = load(x, 0) * load(z, at), load(x, 0) * load(y, at)
                    for j in range(EIGHT, at + EIGHT, EIGHT):
                        xz = xz + load(x, j) * load(z, at - j)
                        xy = xy + load(x, j) * load(y, at - j)
                    factor = sizes[time] / (at // EIGHT + 1)
                    x_k, y_k = load(x, at), load(y, at)
                    store(x, at + EIGHT, factor * (sigma * (y_k - x_k)))
                    store(y, at + EIGHT, factor * (rho * x_k - y_k - xz))
                    store(z, at + EIGHT, factor * (xy - beta * load(z, at)))
                for at in range(0, LINEAR * EIGHT, EIGHT):
                    xz = load(x, 0) * load(c, at) + load(a, 0) * load(z, at)
                    xy = load(x, 0) * load(b, at) + load(a, 0) * load(y, at)
                    for j in range(EIGHT, at + EIGHT, EIGHT):
                        xz = xz + load(x, j) * load(c, at - j) + load(a, j) * load(z, at - j)
                        xy = xy + load(x, j) * load(b, at - j) + load(a, j) * load(y, at - j)
                    factor = sizes[time] / (at // EIGHT + 1)
                    a_k, b_k = load(a, at), load(b, at)
                    store(a, at + EIGHT, factor * (sigma * (b_k - a_k)))
                    store(b, at + EIGHT, factor * (rho * a_k - b_k - xz))
                    store(c, at + EIGHT, factor * (xy - beta * load(c, at)))
                for part in range(3):
                    values, disturbance = terms[part], terms[3 + part]
                    low, high = load(values, last - 2 * EIGHT), load(values, last)
                    store(sums, 2 * EIGHT, load(sums, 2 * EIGHT) + larger(low, 0.0 - low))
                    store(sums, 3 * EIGHT, load(sums, 3 * EIGHT) + larger(high, 0.0 - high))
                    for at in range(LINEAR * EIGHT, -1, -EIGHT):
                        high = high + load(disturbance, at)
                    store(disturbance, 0, high)
                    total = load(values, last - EIGHT)
                    for at in range(last - 2 * EIGHT, -1, -EIGHT):  # small terms first, for less rounding
                        total = total + load(values, at)
                    store(values, 0, total)
            for part in range(3):
                state, error = load(terms[part], 0), load(terms[3 + part], 0)
                store(states, (3 * time + part) * EIGHT, state)
                store(sums, 0, load(sums, 0) + error * error)
                store(sums, EIGHT, load(sums, EIGHT) + state * state)


@partial(jax.jit, static_argnames="order")
def _integrate(
    initial: Float[Array, "lanes 3"],
    steps: Float[Array, " steps"],
    ends: Int[Array, " times"],
    parameters: Float[Array, "3"],
    order: int,
) -> tuple[Float[Array, "lanes 3 times"], Float[Array, " lanes"], Float[Array, " lanes"]]:
    """Return the states after `ends` steps, the sum of last terms over all steps, and the largest state."""
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
        # Small terms first, for less rounding.
        state = jnp.stack([sum(reversed(terms)) for terms in (x, y, z)])
        return (state, left_out + abs(x[-1]) + abs(y[-1]) + abs(z[-1])), state

    (_, left_out), states = jax.lax.scan(step, (initial.T, jnp.zeros_like(initial[:, 0])), steps)
    at_ends = jnp.where((ends > 0)[:, None, None], states[ends - 1], initial.T)
    return at_ends.transpose(2, 1, 0), left_out, jnp.maximum(abs(states).max(axis=(0, 1)), 1)


def initial_condition(seed: int, split: int, index: int) -> Float[np.ndarray, "3"]:
    """Draw the initial state of sample `index` of split number `split`: x, y ~ U(-15, 15), z ~ U(0, 40).

    As in the public code of Calvello et al. 2024 (arXiv:2406.06486); section 6.1 does not state the
    distribution.
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
    """Return the states (x, y, z) at `times` by diffrax's Dopri8 with this `tolerance`, as a check."""
    import diffrax  # slow to import, and only needed for this check

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

    dx/dt is the derivative of a not-a-knot cubic spline. Expect errors of order h³ for times h apart, largest
    near the first and last time.
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

    x and y are interpolated by cubic splines, with three Gauss points in each interval. Expect errors as in
    `unobserved_y`.
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
