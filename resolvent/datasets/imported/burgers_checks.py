"""Whether imported Burgers data are what they are said to be: equation, viscosity, time, and the inputs.

Initial values and solutions are (samples, points) on the periodic grid of the unit circle.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from resolvent.common.norms import relative_l2
from resolvent.datasets.tasks.error_budget import error_facts
from resolvent.solvers.burgers.cole_hopf import cole_hopf
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.fourier import coefficients_of, observe

if TYPE_CHECKING:
    from resolvent.datasets.tasks.distributions import GaussianDistribution

RANGE, SCANNED = 16.0, 17  # viscosity and time are sought up to so many times smaller or larger, at so many
MOST_MODES, STEPS = 1024, 800  # of the stepper that takes the place of Cole-Hopf at small viscosities
HIGHEST_MODE = 64  # of the spectra compared
ABSENT = 1e-6  # of the variance: a constant mode with less is absent
DEVIATION, STANDARD_ERRORS = 0.05, 5  # what a band's power may be off by: the larger of the two


def solved(initial: np.ndarray, viscosity: float, final_time: float, exactly: bool = False) -> np.ndarray:
    """Solve from initial values (samples, points) by Cole-Hopf, or by ETDRK4 where that loses its digits.

    Raises
    ------
    SolverError
        When neither can; `exactly`: when the first cannot.
    """
    coefficients, points = coefficients_of(initial), initial.shape[1]
    try:
        return observe(cole_hopf(coefficients, viscosity, final_time), points)
    except SolverError:
        if exactly:
            raise
        from resolvent.solvers.burgers.etdrk4 import BurgersEtdrk4

        modes = min(MOST_MODES, points // 2 - 1)
        stepper = BurgersEtdrk4(viscosity, final_time, num_modes=modes, num_steps=STEPS)
        return observe(stepper.solve(coefficients), points)


def best_fits(initial: np.ndarray, final: np.ndarray, viscosity: float, final_time: float) -> dict:
    """Find the viscosity at the time stated, the time at the viscosity stated, and both together, that fit.

    Each entry has them and the errors of these samples' solutions there.
    """

    def errors(log_viscosity: float, log_time: float, exactly: bool = False) -> np.ndarray:
        try:
            at = float(np.exp(log_viscosity)), float(np.exp(log_time))
            return relative_l2(final, solved(initial, *at, exactly=exactly))
        except SolverError:
            return np.full(len(final), np.inf)

    stated = np.log([viscosity, final_time])
    one = _least(lambda shift, exactly: errors(stated[0] + shift, stated[1], exactly).mean())
    other = _least(lambda shift, exactly: errors(stated[0], stated[1] + shift, exactly).mean())
    starts = [stated + np.array([one, 0.0]), stated + np.array([0.0, other])]
    start = min(starts, key=lambda at: errors(*at).mean())
    simplex = start + np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1]])
    both = minimize(
        lambda at: errors(*at).mean(),
        start,
        method="Nelder-Mead",
        options={"initial_simplex": simplex, "maxfev": 150, "xatol": 1e-7, "fatol": 1e-14},
    ).x
    return {
        "viscosity_that_fits_best": _fit(errors(*starts[0]), viscosity=starts[0][0]),
        "final_time_that_fits_best": _fit(errors(*starts[1]), final_time=starts[1][1]),
        "both_that_fit_best_together": _fit(errors(*both), viscosity=both[0], final_time=both[1]),
    }


def _least(error: Callable[[float, bool], float]) -> float:
    """Find the shift of a logarithm, within `RANGE`, at which `error` is least.

    Where the exact solution is available it alone is tried, unless the error falls up to its end.
    """
    scanned = np.linspace(-np.log(RANGE), np.log(RANGE), SCANNED)
    found = np.array([error(shift, True) for shift in scanned])
    first = int(np.argmax(np.isfinite(found)))
    exactly = bool(np.isfinite(found).any() and np.argmin(found) > first)
    if not exactly:
        found = np.array(
            [one if np.isfinite(one) else error(s, False) for one, s in zip(found, scanned, strict=True)]
        )
    best = int(np.argmin(found))
    bounds = scanned[max(0, best - 1)], scanned[min(SCANNED - 1, best + 1)]
    options = {"xatol": 1e-8, "maxiter": 100 if exactly else 20}
    refined = minimize_scalar(error, bounds=bounds, args=(exactly,), method="bounded", options=options).x
    return min((float(refined), float(scanned[best]), 0.0), key=lambda shift: error(shift, False))


def _fit(errors: np.ndarray, **logarithms: float) -> dict:
    numbers = {name: float(f"{np.exp(value):.5g}") for name, value in logarithms.items()}
    return numbers | (error_facts(errors) if np.isfinite(errors).all() else {"not_available": "not solved"})


def label_warnings(findings: dict, viscosity: float, final_time: float, tolerance: float) -> list[str]:
    """Say how the solutions differ from ours, where their median error exceeds `tolerance`, and what fits.

    Where the median does not but the largest error exceeds ten times as much, that is said.
    """
    labels = findings["labels_against_our_solver"]
    if "not_available" in labels:
        return []
    median, largest = labels["median_relative_l2"], labels["largest_relative_l2"]
    stated = f"from our solver's at the viscosity {viscosity:.5g} and the time {final_time:.5g} stated"
    if not median > tolerance:
        if not largest > 10 * tolerance:
            return []
        return [
            f"Some solutions in the file differ {stated}: by {largest:.1e} at most (relative L²), though by "
            f"{median:.1e} in the median; the tolerance is {tolerance:.0e}."
        ]
    fits = {
        "the viscosity {viscosity:g} at that time": findings["viscosity_that_fits_best"],
        "the time {final_time:g} at that viscosity": findings["final_time_that_fits_best"],
        "the viscosity {viscosity:g} and the time {final_time:g}": findings["both_that_fit_best_together"],
    }
    fitting = [words for words, fit in fits.items() if fit.get("median_relative_l2", np.inf) <= tolerance]
    best = fitting[0] if fitting else list(fits)[-1]
    error = fits[best].get("median_relative_l2", np.inf)
    remedy = f"They fit {best.format(**fits[best])}, to {error:.1e}: state that, or choose another file."
    if not fitting:
        remedy = f"No viscosity and time fit them: {best.format(**fits[best])} come closest, to {error:.1e}."
    return [
        f"The solutions in the file differ {stated}, by {median:.1e} in the median (relative L²), above the "
        f"tolerance {tolerance:.0e}. {remedy}"
    ]


def powers(initial: np.ndarray) -> np.ndarray:
    """Return the power |û_k|² of the modes k = 0, … of each sample, (samples, modes)."""
    highest = min(HIGHEST_MODE, initial.shape[1] // 4)
    return np.abs(coefficients_of(initial)[:, : highest + 1]) ** 2


def spectrum_facts(power: np.ndarray, distribution: GaussianDistribution) -> dict:
    """Compare the mean power of the samples, in bands of modes, with that of the distribution stated.

    σ, τ and γ that fit best maximise the likelihood of Gaussian modes.
    """
    count, modes = len(power), np.arange(1, power.shape[1])
    mean = power[:, 1:].mean(axis=0)
    stated = _covariance(modes, distribution.sigma, distribution.tau, distribution.gamma)
    bands = {}
    edges = [1, *(2**n for n in range(1, 7) if 2**n <= modes[-1]), modes[-1] + 1]
    for low, high in pairwise(edges):
        if low < high:
            ratio = float((mean / stated)[low - 1 : high - 1].mean())
            bands[f"{low} to {high - 1}" if high > low + 1 else f"{low}"] = {
                "ratio": float(f"{ratio:.4g}"),
                "standard_error": float(f"{1 / np.sqrt(count * (high - low)):.2g}"),
            }
    start = np.log([distribution.sigma, max(distribution.tau, 1e-3), distribution.gamma])

    def minus_log_likelihood(at: np.ndarray) -> float:
        expected = _covariance(modes, *np.exp(np.clip(at, -20, 20)))
        return float(np.sum(np.log(expected) + mean / expected))

    options = {"maxfev": 4000, "maxiter": 4000, "xatol": 1e-6, "fatol": 1e-10}
    found = np.exp(minimize(minus_log_likelihood, start, method="Nelder-Mead", options=options).x)
    constant = float(power[:, 0].mean())
    variance = constant + 2 * float(mean.sum())
    return {
        "power_over_that_stated_by_modes": bands,
        "parameters_that_fit_best": {
            name: float(f"{value:.4g}") for name, value in zip(("σ", "τ", "γ"), found, strict=True)
        },
        "mean_mode": "absent" if constant <= ABSENT * variance else "present",
        "mean_mode_stated": "absent" if distribution.zero_mean else "present",
        "pointwise_variance_of_these_modes": float(f"{variance:.4g}"),
    }


def _covariance(modes: np.ndarray, sigma: float, tau: float, gamma: float) -> np.ndarray:
    """Return the expected |û_k|² of N(0, σ²(-Δ + τ²)^{-γ}) on the unit circle."""
    return sigma**2 * ((2 * np.pi * modes) ** 2 + tau**2) ** -gamma


def distribution_warnings(facts: dict) -> list[str]:
    """Say where the inputs are not of the distribution stated."""
    off = [
        f"{band['ratio']:g} (± {band['standard_error']:g}) times that stated in modes {modes}"
        for modes, band in facts["power_over_that_stated_by_modes"].items()
        if abs(band["ratio"] - 1) > max(DEVIATION, STANDARD_ERRORS * band["standard_error"])
    ]
    found = []
    if off:
        fit = ", ".join(f"{name} = {value:g}" for name, value in facts["parameters_that_fit_best"].items())
        found.append(
            f"The initial values are not of the distribution stated: their power is {'; '.join(off)}. "
            f"{fit} fit best."
        )
    if facts["mean_mode"] != facts["mean_mode_stated"]:
        found.append(
            f"The mean of the initial values is {facts['mean_mode']}; stated: {facts['mean_mode_stated']} "
            "(zero_mean of the distribution)."
        )
    return found
