"""Burgers' equation on the circle: Cao's distribution, ν = 0.1/2π, t from 0 to 1, observed on 8192 points."""

from __future__ import annotations

from collections.abc import Callable

import exponax
import jax
import jax.numpy as jnp
import numpy as np
import scipy.fft
from scipy.integrate import solve_ivp

from benchmarks.solvers.race import Contestant, Race, error_against
from resolvent.solvers.burgers.cole_hopf import cole_hopf
from resolvent.solvers.burgers.etdrk4 import BurgersEtdrk4
from resolvent.solvers.burgers.split_step import BurgersSplitStep
from resolvent.solvers.common.fourier import coefficients_of, observe, product_points
from resolvent.solvers.random_fields.circle import PeriodicGaussianField
from resolvent.solvers.random_fields.distributions import DISTRIBUTIONS

REMARK = (
    "All observe on 8192 points. Peers have the fewest steps, or the loosest tolerance, of a few tried "
    "that reach the error; on fewer points than the observation's they are given what we use ourselves, "
    "that the solution is smooth. Reference: the Cole-Hopf formula as integrals over the line, by the "
    "trapezoidal rule, without a Fourier transform of φ. Limit: both marches, of which one "
    "has twice the steps of the other, evaluate (u²/2)_x four times a step, by two transforms."
)
PACKAGES = ("exponax", "jax", "numpy", "scipy")
VISCOSITY = 0.1 / (2 * np.pi)
POINTS = 8192
COMPARED = 8  # every eighth point: enough for a solution of fifty modes
BATCH = 128
FEW = 4  # samples of the slower peers
FEWEST = 2


def races() -> list[Race]:
    distribution = DISTRIBUTIONS["cao_burgers"]
    field = PeriodicGaussianField(distribution.sigma, distribution.tau, distribution.gamma)
    initial = np.stack([field.coefficients(0, 0, index) for index in range(BATCH)])
    # The largest fields first, which are the hardest: peers that solve few of the samples get these.
    initial = initial[np.argsort(-np.abs(observe(initial, POINTS)).max(axis=1))]
    compare = error_against(quadrature(initial))
    split_step, etdrk4 = BurgersSplitStep(VISCOSITY), BurgersEtdrk4(VISCOSITY)

    def ours(name: str, solve: Callable, note: str, evaluations: int = 0) -> Contestant:
        limit = transforms(48, evaluations) if evaluations else None
        return Contestant(name, lambda: observe(solve(initial), POINTS), BATCH, note, ours=True, limit=limit)

    def race(title: str, contestants: list[Contestant]) -> Race:
        return Race(title, contestants, lambda solutions: compare(solutions[:, ::COMPARED]))

    return [
        race(
            "Burgers, errors below 2e-8",
            [
                ours(
                    "split-step",
                    split_step.solve,
                    f"{split_step.num_modes} modes, {split_step.num_steps} steps",
                    4 * 3 * split_step.num_steps,
                ),
                by_exponax(initial, POINTS, 360, FEWEST),
                by_exponax(initial, 150, 360, BATCH),
                by_scipy(initial, "LSODA", 1e-8),
            ],
        ),
        race(
            "Burgers, errors below 1e-6",
            [
                ours(
                    "ETDRK4",
                    etdrk4.solve,
                    f"{etdrk4.num_modes} modes, {etdrk4.num_steps} steps",
                    4 * 3 * etdrk4.num_steps // 2,
                ),
                by_exponax(initial, POINTS, 128, FEW),
                by_exponax(initial, 150, 128, BATCH),
                by_scipy(initial, "LSODA", 1e-6),
            ],
        ),
        race(
            "Burgers, the smallest error",
            [
                ours("Cole-Hopf", lambda fields: cole_hopf(fields, VISCOSITY), "work grid of 1024 points"),
                by_exponax(initial, 256, 1600, FEW),
                by_scipy(initial, "DOP853", 1e-12),
            ],
        ),
    ]


def transforms(modes: int, evaluations: int) -> Callable[[], object]:
    """Do the two transforms of each evaluation of (u²/2)_x, and those of the observation, for all samples."""
    points = product_points(modes)
    spectrum, fine = np.ones((BATCH, modes + 1), complex), np.ones((BATCH, modes + 1), complex)

    def run() -> None:
        for _ in range(evaluations):
            scipy.fft.rfft(scipy.fft.irfft(spectrum, points))
        scipy.fft.irfft(fine, POINTS)

    return run


def by_exponax(initial: np.ndarray, points: int, steps: int, samples: int) -> Contestant:
    """exponax's ETDRK4, vectorised over the samples."""
    stepper = exponax.stepper.Burgers(
        1, 1.0, points, 1 / steps, diffusivity=VISCOSITY, order=4, conservative=True
    )
    march = jax.jit(jax.vmap(exponax.repeat(stepper, steps)))
    fields = jnp.asarray(observe(initial[:samples], points)[:, None])

    def run() -> np.ndarray:
        values = np.asarray(march(fields))[:, 0]
        return values if points == POINTS else observe(coefficients_of(values), POINTS)

    return Contestant("exponax ETDRK4", run, samples, f"{points} points, {steps} steps")


def by_scipy(initial: np.ndarray, method: str, tolerance: float) -> Contestant:
    """SciPy's integrators on the spectral right-hand side."""
    modes = 65
    points = product_points(modes - 1)
    wavenumbers = 2 * np.pi * np.arange(modes)
    diffusion = -VISCOSITY * wavenumbers**2

    def rate(time: float, state: np.ndarray) -> np.ndarray:
        spectrum = state.view(complex)
        values = np.fft.irfft(spectrum, points, norm="forward")
        flux = np.fft.rfft(values * values, norm="forward")[:modes] / 2
        return (diffusion * spectrum - 1j * wavenumbers * flux).view(float)

    def solve(coefficients: np.ndarray) -> np.ndarray:
        state = coefficients[:modes].copy().view(float)
        solution = solve_ivp(rate, (0.0, 1.0), state, method, [1.0], rtol=tolerance, atol=tolerance / 100)
        return solution.y[:, -1].copy().view(complex)

    return Contestant(
        f"SciPy {method}",
        lambda: observe(np.stack([solve(field) for field in initial[:FEWEST]]), POINTS),
        FEWEST,
        f"{modes - 1} modes, tolerance {tolerance:.0e}",
    )


def quadrature(initial: np.ndarray) -> np.ndarray:
    """u(x, 1) = ∫ (x - y) G(x - y) φ(y) dy / ∫ G(x - y) φ(y) dy, on the points compared; G: heat kernel."""
    wavenumbers = 2j * np.pi * np.arange(initial.shape[1])
    wavenumbers[0] = np.inf  # the mean is zero
    antiderivative = observe(initial / wavenumbers, POINTS)
    antiderivative -= antiderivative.min(axis=1, keepdims=True)
    phi = np.exp(-antiderivative / (2 * VISCOSITY))
    points = np.arange(POINTS) / POINTS
    distances = points[::COMPARED, None] - points
    kernel, moment = np.zeros((2, *distances.shape))
    for period in range(-4, 5):  # the kernel is e^{-250} beyond
        shifted = distances + period
        heat = np.exp(-(shifted**2) / (4 * VISCOSITY))
        kernel += heat
        moment += shifted * heat
    return (phi @ moment.T) / (phi @ kernel.T)
