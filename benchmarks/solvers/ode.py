"""Trajectories observed at times 0.01 apart, up to 2: Lorenz-63 and the controlled equation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import diffrax
import jax
import jax.numpy as jnp
import numba
import numpy as np
import torch
import torchdiffeq
from scipy.integrate import solve_ivp

from benchmarks.solvers.race import Contestant, Race, error_against
from resolvent.solvers.common.observation_times import uniform
from resolvent.solvers.controlled_ode import ControlledOde, draw_control
from resolvent.solvers.lorenz63 import Lorenz63, initial_condition

REMARK = (
    "Trajectories are observed at 200 times; slow peers solve fewer of them. Peers use the loosest tolerance "
    "or the longest step that reaches the error; torchdiffeq's dopri5 runs as in the papers' public code "
    "(default tolerance, float32). Right-hand sides are compiled, by torch.compile for torchdiffeq and by "
    "Numba for SciPy. Reference: SciPy's DOP853 with its tightest tolerance and short steps, on some "
    "trajectories."
)
TIMES = uniform(0.01, 2.0)
BATCH = 8000
SOME = 2000  # trajectories for a slow peer, enough for its vector instructions
COMPARED = 32
FEW = 8
TIGHTEST = 2.3e-14  # SciPy's smallest relative tolerance


def races() -> list[Race]:
    return [lorenz(), controlled()]


def lorenz() -> Race:
    initial = np.stack([initial_condition(0, 0, index) for index in range(BATCH)])
    ours, columns = Lorenz63(), np.ascontiguousarray(initial.T)

    def rate(stack: Callable) -> Callable:
        """Return the right-hand side, with components joined by `stack`."""

        def right_hand_side(time, state, parameters=None):
            x, y, z = state
            return stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

        return right_hand_side

    def by_torch(method: str, threads: int, dtype: torch.dtype = torch.float64, **setting) -> Contestant:
        start = torch.tensor(columns, dtype=dtype)
        return torchdiffeq_contestant(rate(torch.stack), start, method, threads, **setting)

    @numba.njit
    def of_arrays(time, state):
        x, y, z = state[0], state[1], state[2]
        return np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    def by_scipy(samples: int, tolerance: float, largest_step: float = np.inf) -> np.ndarray:
        return dop853([(of_arrays, state) for state in initial[:samples]], tolerance, largest_step)

    note = f"order {ours.order}, step {ours.step}"
    contestants = [
        Contestant("Taylor series", lambda: ours.solve(initial, TIMES), BATCH, note, ours=True),
        diffrax_contestant(rate(jnp.stack), jnp.asarray(initial), None, tolerance=1e-10),
        by_torch("dopri8", 1, tolerance=1e-12),
        by_torch("rk4", 1, step=0.01 / 15),
        by_torch("dopri5", 1, torch.float32),
        by_torch("dopri5", 2, torch.float32),
        Contestant("SciPy DOP853", lambda: by_scipy(FEW, 1e-10), FEW, "tolerance 1e-10"),
    ]
    return Race("Lorenz-63", contestants, error_against(by_scipy(COMPARED, TIGHTEST, 0.005)))


def controlled() -> Race:
    draws = [draw_control(0, 0, index) for index in range(BATCH)]
    amplitudes, frequencies = (np.stack(part) for part in zip(*draws, strict=True))
    angular = np.pi * frequencies
    slopes, start = amplitudes * angular, 1.0
    ours = ControlledOde(start)

    def by_torch(method: str, threads: int, dtype: torch.dtype = torch.float64, **setting) -> Contestant:
        slope, omega = torch.tensor(slopes, dtype=dtype), torch.tensor(angular, dtype=dtype)

        def rate(time, state):
            return torch.sin(state) * (slope * torch.cos(omega * time)).sum(1)

        states = torch.full((BATCH,), start, dtype=dtype)
        return torchdiffeq_contestant(rate, states, method, threads, **setting)

    def jax_rate(time, state, parameters):
        slope, omega = parameters
        return jnp.sin(state) * jnp.sum(slope * jnp.cos(omega * time))

    @numba.njit
    def of_arrays(slope, omega, time, state):
        return np.sin(state) * np.dot(slope, np.cos(omega * time))

    def by_scipy(samples: int, tolerance: float, largest_step: float = np.inf) -> np.ndarray:
        pairs = zip(slopes[:samples], angular[:samples], strict=True)
        problems = [(partial(of_arrays, *pair), np.array([start])) for pair in pairs]
        return dop853(problems, tolerance, largest_step)[:, 0]

    def closed_form() -> np.ndarray:
        return ours.solve(amplitudes, frequencies, TIMES)[1]

    parameters = jnp.asarray(slopes[:SOME]), jnp.asarray(angular[:SOME])
    contestants = [
        Contestant("closed form", closed_form, BATCH, "any times", ours=True),
        diffrax_contestant(jax_rate, jnp.full(SOME, start), parameters, tolerance=5e-10),
        by_torch("dopri8", 1, tolerance=1e-11),
        by_torch("rk4", 1, step=0.001),
        by_torch("dopri5", 1, torch.float32),
        Contestant("SciPy DOP853", lambda: by_scipy(FEW, 1e-10), FEW, "tolerance 1e-10"),
    ]
    return Race("Controlled equation", contestants, error_against(by_scipy(COMPARED, TIGHTEST, 0.0025)))


def torchdiffeq_contestant(
    rate: Callable, start: torch.Tensor, method: str, threads: int, tolerance: float = 0.0, step: float = 0.0
) -> Contestant:
    """Use torchdiffeq's default tolerance if neither `tolerance` nor `step` is given."""
    times = torch.tensor(TIMES.coordinates, dtype=start.dtype)
    options, setting = {}, "default tolerance"
    compiled = torch.compile(rate)
    if step:
        options, setting = {"options": {"step_size": step}}, f"step {step:.2g}"
    elif tolerance:
        options, setting = {"rtol": tolerance, "atol": tolerance}, f"tolerance {tolerance:.2g}"

    def run() -> np.ndarray:
        torch.set_num_threads(threads)
        with torch.no_grad():
            states = torchdiffeq.odeint(compiled, start, times, method=method, **options)
        return states.transpose(0, -1).numpy()

    precision = str(start.dtype).removeprefix("torch.")
    note = f"{setting}, {precision}, {threads} thread{'s' * (threads > 1)}"
    return Contestant(f"torchdiffeq {method}", run, BATCH, note)


def diffrax_contestant(rate: Callable, start, parameters, tolerance: float) -> Contestant:
    """Return a contestant that is vectorised over the trajectories."""

    def trajectory(state, parameters):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(rate), diffrax.Dopri8(), t0=0.0, t1=TIMES.positions[-1], dt0=1e-3, y0=state,
            args=parameters, saveat=diffrax.SaveAt(ts=jnp.asarray(TIMES.coordinates)),
            stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance),
        ).ys.T  # fmt: skip

    solve = jax.jit(jax.vmap(trajectory))
    note = f"tolerance {tolerance:.0e}"
    return Contestant("diffrax Dopri8", lambda: np.asarray(solve(start, parameters)), len(start), note)


def dop853(problems: list[tuple[Callable, np.ndarray]], tolerance: float, largest_step: float) -> np.ndarray:
    """Solve with SciPy, one trajectory after another."""
    span, options = (
        (0.0, TIMES.positions[-1]),
        {"rtol": tolerance, "atol": tolerance, "max_step": largest_step},
    )
    return np.stack(
        [solve_ivp(rate, span, state, "DOP853", TIMES.coordinates, **options).y for rate, state in problems]
    )
