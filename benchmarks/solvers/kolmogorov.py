"""Kolmogorov flow from the distribution calvello_kolmogorov at ν = 1/70, observed on 416 × 416 points."""

from __future__ import annotations

import os
from collections.abc import Callable

import exponax
import jax
import jax.numpy as jnp
import jax_cfd.base as cfd
import jax_cfd.spectral as spectral
import numpy as np
from ducc0 import fft as ducc

from benchmarks.solvers.race import Contestant, Race, error_against, field_of
from resolvent.solvers.common.fourier import coefficients_of_2d, observe_2d, product_points
from resolvent.solvers.kolmogorov.etdrk4 import KolmogorovEtdrk4

REMARK = (
    "One sample. Ours runs on one core, peers on as many as XLA uses. The size of peers is stated in grid "
    "points; they keep the modes below a third of it. The flow is chaotic, so errors grow with time. "
    "Reference: exponax with a shorter step, for the long time also with more points. Limit: four transforms "
    "for each of the four evaluations of u·∇ω per step."
)
MISSING = ("the public PyTorch generator of such data, because we know of no package that contains it",)
VISCOSITY, FORCING_WAVENUMBER = 1 / 70, 4
OBSERVED = 416
SHORT, LONG = 0.5, 11.1  # final times


def races() -> list[Race]:
    os.environ["OMP_NUM_THREADS"] = "1"  # ours: one core, as in jobs
    initial = field_of("calvello_kolmogorov").coefficients(0, 0, 0)
    per_step = [
        ours(initial, 63, 0.005, SHORT),
        by_exponax(initial, 192, 0.005, SHORT),
        by_jax_cfd(initial, 192, 0.005, SHORT),
    ]
    whole = [
        ours(initial, 71, 0.01, LONG),
        ours(initial, 63, 0.01, LONG),
        by_exponax(initial, 216, 0.01, LONG),
        by_exponax(initial, OBSERVED, 0.0075, LONG),
    ]
    finer = by_exponax(initial, 192, 0.00125, SHORT).run()
    finest = by_exponax(initial, 256, 0.005, LONG).run()
    return [
        Race("Kolmogorov flow, 100 steps with equal modes", per_step, error_against(finer)),
        Race("Kolmogorov flow to t = 11.1", whole, error_against(finest), MISSING, most_rounds=1),
    ]


def ours(initial: np.ndarray, modes: int, step: float, time: float) -> Contestant:
    solver = KolmogorovEtdrk4(VISCOSITY, FORCING_WAVENUMBER, modes, step)
    points = product_points(modes)
    values = np.ones((points, points))

    def run() -> np.ndarray:
        return observe_2d(solver.solve(initial[None], (time,)), OBSERVED)

    def transforms() -> None:
        """Do the four transforms of each evaluation of u·∇ω: u and v, and uv and v² - u² back."""
        for _ in range(2 * 4 * round(time / step)):
            ducc.c2r(ducc.r2c(values), lastsize=points, forward=False)

    return Contestant("ETDRK4", run, 1, f"{modes} modes, step {step}", ours=True, limit=transforms)


def peer(name: str, advance: Callable, start, points: int, step: float, time: float, to_values: Callable):
    """Return a contestant that advances from `start` to `time` in equal steps."""
    march = jax.jit(lambda steps, state: jax.lax.fori_loop(0, steps, lambda _, one: advance(one), state))

    def run() -> np.ndarray:
        values = to_values(np.asarray(march(round(time / step), start)))
        return observe_2d(coefficients_of_2d(values[None, None]), OBSERVED)

    return Contestant(name, run, 1, f"{points} points, step {step}")


def by_exponax(initial: np.ndarray, points: int, step: float, time: float) -> Contestant:
    """Solve by ETDRK4; fields are (channel, x, y)."""
    stepper = exponax.stepper.KolmogorovFlowVorticity(
        2, 2 * np.pi, points, step, diffusivity=VISCOSITY, drag=0.0, order=4,
        convection_scale=-1.0,  # this version has the opposite sign of advection
        injection_mode=FORCING_WAVENUMBER, injection_scale=1.0,
    )  # fmt: skip
    start = jnp.asarray(observe_2d(initial, points).T[None])
    return peer("exponax ETDRK4", stepper, start, points, step, time, lambda field: field[0].T)


def by_jax_cfd(initial: np.ndarray, points: int, step: float, time: float) -> Contestant:
    """Solve by fourth-order Runge-Kutta with Crank-Nicolson for viscosity; spectra are (k_x, k_y)."""
    grid = cfd.grids.Grid((points, points), domain=((0, 2 * np.pi), (0, 2 * np.pi)))

    def forcing(grid):
        offsets = ((0, 0), (0, 0))
        return cfd.forcings.kolmogorov_forcing(grid, scale=1.0, k=FORCING_WAVENUMBER, offsets=offsets)

    equation = spectral.equations.NavierStokes2D(VISCOSITY, grid, drag=0.0, smooth=True, forcing_fn=forcing)
    stepper = spectral.time_stepping.crank_nicolson_rk4(equation, step)
    start = jnp.fft.rfftn(jnp.asarray(observe_2d(initial, points).T))
    return peer("jax-cfd CN-RK4", stepper, start, points, step, time, lambda field: np.fft.irfftn(field).T)
