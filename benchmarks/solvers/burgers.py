"""Burgers' equation on the circle: the operator of the public file, from t = 0 to 1/2π, on 8192 points."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import exponax
import jax
import jax.numpy as jnp
import numpy as np
from ducc0 import fft as ducc
from scipy.integrate import solve_ivp

from benchmarks.solvers.race import Contestant, Race, error_against, field_of
from resolvent.solvers.burgers.cole_hopf import cole_hopf
from resolvent.solvers.burgers.etdrk4 import BurgersEtdrk4
from resolvent.solvers.burgers.split_step import BurgersSplitStep
from resolvent.solvers.common.fourier import coefficients_of, observe, product_points

REMARK = (
    "The operator of Cao's data (20 modes, t = 1/2π), observed on 8192 points. Peers use the smallest grid "
    "and the fewest steps, or the loosest tolerance, that reach the error; exponax also runs without "
    "dealiasing, which suffices here. exponax integrates once. Our `solve` integrates a second time with "
    "another step, extrapolates, and rejects unresolved samples, which no peer does. Reference: the "
    "Cole-Hopf formula as integrals over the line. Limit: in each step of each integration, two transforms "
    "for each of the four evaluations of (u²/2)_x."
)
VISCOSITY = 0.1 / (2 * np.pi)
FINAL_TIME = 1 / (2 * np.pi)
POINTS = 8192
COMPARED = 8  # every eighth point: enough for a solution with two hundred modes
BATCH = 128
FEW = 4  # samples for slower peers
FEWEST = 2


def races() -> list[Race]:
    field = field_of("cao_burgers")
    initial = np.stack([field.coefficients(0, 0, index) for index in range(BATCH)])
    # The largest fields, which are the hardest, come first: slower peers solve only these.
    initial = initial[np.argsort(-np.abs(observe(initial, POINTS)).max(axis=1))]
    compare = error_against(quadrature(initial))

    def march(modes: int, steps: int) -> Contestant:
        solver = BurgersEtdrk4(VISCOSITY, FINAL_TIME, modes, steps)
        return ours(
            "ETDRK4, one integration", lambda fields: solver.march(fields, steps)[0], modes, steps, 4 * steps
        )

    def checked(modes: int, steps: int) -> Contestant:
        solver = BurgersEtdrk4(VISCOSITY, FINAL_TIME, modes, steps)
        return ours("ETDRK4, `solve`", solver.solve, modes, steps, 4 * 3 * steps // 2)

    def split_step(modes: int, steps: int) -> Contestant:
        solver = BurgersSplitStep(VISCOSITY, FINAL_TIME, modes, steps)
        return ours("split-step, `solve`", solver.solve, modes, steps, 4 * 3 * steps)

    def ours(name: str, solve: Callable, modes: int, steps: int, evaluations: int) -> Contestant:
        note, limit = f"{modes} modes, {steps} steps", transforms(modes, evaluations)
        return Contestant(name, lambda: observe(solve(initial), POINTS), BATCH, note, ours=True, limit=limit)

    def by_cole_hopf() -> np.ndarray:
        return observe(cole_hopf(initial, VISCOSITY, FINAL_TIME), POINTS)

    by_exponax_, by_scipy_ = partial(by_exponax, initial), partial(by_scipy, initial)
    by_goal = {
        "errors below 2e-8": [
            march(127, 288),
            checked(127, 216),
            split_step(128, 520),
            by_exponax_(POINTS, 248, FEWEST),
            by_exponax_(360, 248, BATCH),
            by_exponax_(240, 248, BATCH, dealiased=False),
            by_scipy_("DOP853", 120, 1e-7),
        ],
        "errors below 1e-6": [
            march(90, 104),
            checked(127, 88),
            by_exponax_(POINTS, 96, FEW),
            by_exponax_(256, 96, BATCH),
            by_exponax_(180, 88, BATCH, dealiased=False),
            by_scipy_("DOP853", 90, 1e-5),
        ],
        "the smallest error": [
            Contestant("Cole-Hopf", by_cole_hopf, BATCH, "work grid of 1024 points", ours=True),
            by_exponax_(288, 860, BATCH, dealiased=False),
            by_exponax_(384, 2400, FEW, dealiased=False),
            by_scipy_("DOP853", 190, 1e-12),
        ],
    }
    return [
        Race(f"Burgers, {goal}", contestants, lambda solutions: compare(solutions[:, ::COMPARED]))
        for goal, contestants in by_goal.items()
    ]


def transforms(modes: int, evaluations: int) -> Callable[[], object]:
    """Do the two transforms of each evaluation of (u²/2)_x and the final transforms, for all samples."""
    points = product_points(modes)
    spectrum = np.zeros((BATCH, points // 2 + 1), complex)
    fine = np.zeros((BATCH, POINTS // 2 + 1), complex)
    to_values = partial(ducc.c2r, axes=(1,), forward=False)

    def run() -> None:
        for _ in range(evaluations):
            ducc.r2c(to_values(spectrum, lastsize=points), axes=(1,))
        to_values(fine, lastsize=POINTS)

    return run


def by_exponax(
    initial: np.ndarray, points: int, steps: int, samples: int, dealiased: bool = True
) -> Contestant:
    """Solve by exponax's ETDRK4, vectorised over the samples."""
    stepper = exponax.stepper.Burgers(
        1, 1.0, points, FINAL_TIME / steps, diffusivity=VISCOSITY, order=4, conservative=True,
        dealiasing_fraction=2 / 3 if dealiased else 1,
    )  # fmt: skip
    march = jax.jit(jax.vmap(exponax.repeat(stepper, steps)))
    fields = jnp.asarray(observe(initial[:samples], points)[:, None])

    def run() -> np.ndarray:
        values = np.asarray(march(fields))[:, 0]
        return values if points == POINTS else observe(coefficients_of(values), POINTS)

    note = f"{points} points{'' if dealiased else ', not dealiased'}, {steps} steps"
    return Contestant("exponax ETDRK4", run, samples, note)


def by_scipy(initial: np.ndarray, method: str, modes: int, tolerance: float) -> Contestant:
    """Solve by one of SciPy's integrators with the spectral right-hand side."""
    points = product_points(modes)
    wavenumbers = 2 * np.pi * np.arange(modes + 1)
    diffusion = -VISCOSITY * wavenumbers**2

    def rate(time: float, state: np.ndarray) -> np.ndarray:
        spectrum = state.view(complex)
        values = np.fft.irfft(spectrum, points, norm="forward")
        flux = np.fft.rfft(values * values, norm="forward")[: modes + 1] / 2
        return (diffusion * spectrum - 1j * wavenumbers * flux).view(float)

    def solve(coefficients: np.ndarray) -> np.ndarray:
        state = np.pad(coefficients, (0, modes + 1 - len(coefficients))).view(float)
        span, tolerances = (0.0, FINAL_TIME), {"rtol": tolerance, "atol": tolerance / 100}
        solution = solve_ivp(rate, span, state, method, [FINAL_TIME], **tolerances)
        return solution.y[:, -1].copy().view(complex)

    def run() -> np.ndarray:
        return observe(np.stack([solve(field) for field in initial[:FEWEST]]), POINTS)

    return Contestant(f"SciPy {method}", run, FEWEST, f"{modes} modes, tolerance {tolerance:.0e}")


def quadrature(initial: np.ndarray) -> np.ndarray:
    """Integrate u(x, T) = ∫ (x - y)/T G(x - y) φ(y) dy / ∫ G(x - y) φ(y) dy on the points compared.

    G is the heat kernel.
    """
    wavenumbers = 2j * np.pi * np.arange(initial.shape[1])
    wavenumbers[0] = np.inf  # the mean is zero
    antiderivative = observe(initial / wavenumbers, POINTS)
    antiderivative -= antiderivative.min(axis=1, keepdims=True)
    phi = np.exp(-antiderivative / (2 * VISCOSITY))
    points = np.arange(POINTS) / POINTS
    distances = points[::COMPARED, None] - points
    kernel, moment = np.zeros((2, *distances.shape))
    for period in range(-2, 3):  # the kernel is e^{-390} beyond
        shifted = distances + period
        heat = np.exp(-(shifted**2) / (4 * VISCOSITY * FINAL_TIME))
        kernel += heat
        moment += shifted * heat
    return (phi @ moment.T) / (phi @ kernel.T) / FINAL_TIME
