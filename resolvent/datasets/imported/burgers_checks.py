"""Whether imported Burgers data are what they are said to be: equation, viscosity, time, and the inputs.

Initial values and solutions are (samples, points) on the periodic grid of the unit circle.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import logsumexp

from resolvent.common.norms import relative_l2
from resolvent.datasets.tasks.error_budget import error_facts
from resolvent.solvers.burgers.cole_hopf import cole_hopf
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.fourier import coefficients_of, observe

if TYPE_CHECKING:
    from resolvent.datasets.tasks.distributions import CircleDistribution

REPEATED = 1e-12  # of the largest value: below it the last value repeats the first
RANGE, SCANNED = 16.0, 17  # viscosity and time are sought up to so many times smaller or larger, at so many
MOST_MODES, STEPS = 1024, 800  # of the stepper that takes the place of Cole-Hopf at small viscosities
EXPLAINED = 1e-4  # mean error of a fit that needs no other
UNSOLVED = 1e9  # stands for the error where nothing is solved: the search would subtract infinities
HIGHEST_MODE = 64  # of the spectra compared
# Of the variance: a mode with less holds no power. Rounding to single precision leaves below 1e-15 in a mode
# of a file, and the distribution of the paper has 1e-7 in mode 64. A mode of which 100 times as much is
# expected surely holds power.
RESOLVED, SURELY = 1e-12, 100
NO_CUT = "no cut"
SHAPES = np.log([[1e-3, 1e-2], [1e4, 30.0]])  # logarithms of the least τ and γ tried, and of the largest
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


def differences(final: np.ndarray, ours: np.ndarray) -> np.ndarray:
    """Return the relative L2 difference of each sample; where our solution is zero 1, or 0 if both are."""
    found = relative_l2(final, ours)
    return np.where(np.isfinite(found), found, final.any(axis=1))


def best_fits(initial: np.ndarray, final: np.ndarray, viscosity: float, final_time: float) -> dict:
    """Find the viscosity at the time stated, the time at the viscosity stated, and both together, that fit.

    Each entry has them and the errors of these samples' solutions there.
    """
    stated, widest = np.log([viscosity, final_time]), np.log(RANGE)

    def errors(log_viscosity: float, log_time: float, exactly: bool = False) -> np.ndarray:
        at = np.exp(np.clip([log_viscosity, log_time], stated - widest, stated + widest))
        try:
            return differences(final, solved(initial, float(at[0]), float(at[1]), exactly=exactly))
        except SolverError:
            return np.full(len(final), np.inf)

    other = _least(lambda shift, exactly: errors(stated[0], stated[1] + shift, exactly).mean())
    # Small viscosities take minutes of steps, and are no news where another time explains the solutions.
    steps = not errors(stated[0], stated[1] + other).mean() <= EXPLAINED
    one = _least(lambda shift, exactly: errors(stated[0] + shift, stated[1], exactly).mean(), steps)
    starts = [stated + np.array([one, 0.0]), stated + np.array([0.0, other])]
    start = min(starts, key=lambda at: errors(*at).mean())
    simplex = start + np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1]])
    both = minimize(
        lambda at: min(errors(*at).mean(), UNSOLVED),
        start,
        method="Nelder-Mead",
        options={"initial_simplex": simplex, "maxfev": 150, "xatol": 1e-7, "fatol": 1e-14},
    ).x
    both = np.clip(both, stated - widest, stated + widest)
    return {
        "viscosity_that_fits_best": _fit(errors(*starts[0]), viscosity=starts[0][0]),
        "final_time_that_fits_best": _fit(errors(*starts[1]), final_time=starts[1][1]),
        "both_that_fit_best_together": _fit(errors(*both), viscosity=both[0], final_time=both[1]),
    }


def _least(error: Callable[[float, bool], float], steps: bool = True) -> float:
    """Find the shift of a logarithm, within `RANGE`, at which `error` is least.

    Where the exact solution is available it alone is tried, unless the error falls up to its end, and steps
    may be taken.
    """
    scanned = np.linspace(-np.log(RANGE), np.log(RANGE), SCANNED)
    found = np.array([error(shift, True) for shift in scanned])
    first = int(np.argmax(np.isfinite(found)))
    exactly = bool(np.isfinite(found).any() and (np.argmin(found) > first or not steps))
    if not exactly:
        found = np.array(
            [one if np.isfinite(one) else error(s, False) for one, s in zip(found, scanned, strict=True)]
        )
    best = int(np.argmin(found))
    bounds = scanned[max(0, best - 1)], scanned[min(SCANNED - 1, best + 1)]
    options = {"xatol": 1e-8, "maxiter": 100 if exactly else 20}
    refined = minimize_scalar(
        lambda shift: min(error(shift, exactly), UNSOLVED), bounds=bounds, method="bounded", options=options
    ).x
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


def last_repeats_first(functions: np.ndarray) -> bool:
    """Say whether the last value repeats the first, and the one before it does not, as in constants."""
    first, before, last = (functions[..., index] for index in (0, -2, -1))
    least = REPEATED * np.abs(functions).max()
    return bool(np.abs(first - last).max() <= least < np.abs(first - before).max())


def norm_ratios(initial: np.ndarray, final: np.ndarray) -> np.ndarray:
    """Return the norm of each solution over that of its initial values, where these are not zero."""
    norms = np.linalg.norm(initial, axis=1)
    moving = norms > 0
    return np.linalg.norm(final[moving], axis=1) / norms[moving]


def powers(initial: np.ndarray) -> np.ndarray:
    """Return the power |û_k|² of the modes k = 0, … of each sample, (samples, modes)."""
    return np.abs(coefficients_of(initial)) ** 2


def spectrum_facts(power: np.ndarray, count: int, distribution: CircleDistribution) -> dict:
    """Compare the mean power of `count` samples, (modes,), with that of the distribution stated.

    Bands end at the highest mode that the file holds and the distribution states, and at a quarter of the
    points, because restriction by stride aliases. σ, τ and γ that fit best maximise the likelihood of the
    modes that hold power, where there are three. They say what is a cut and what a decay: above a cut, modes
    would hold power by the covariance that fits.
    """
    constant, mean = float(power[0]), power[1:]
    variance = constant + 2 * float(mean.sum())
    least, compared = RESOLVED * variance, min(HIGHEST_MODE, len(power) // 2)
    modes = np.arange(1, len(power))
    holding = modes[mean > least]
    highest = int(holding.max(initial=0))
    stated = _log_covariance(modes, distribution.sigma, distribution.tau, distribution.gamma)
    fitting, fit = holding[holding <= compared], {}
    covariance = stated
    if len(fitting) >= 3:
        found = _most_likely(fitting, mean[fitting - 1], distribution)
        fit = {name: float(f"{value:.4g}") for name, value in zip(("σ", "τ", "γ"), found, strict=True)}
        covariance = _log_covariance(modes, *found)
    reach = 0  # the highest mode that would surely hold power without a cut
    if highest:
        covariance = covariance - logsumexp(covariance[:highest]) + np.log(mean[:highest].sum())
        reach = int((covariance > np.log(variance) + np.log(SURELY * RESOLVED)).sum())
    cut = distribution.num_modes if distribution.num_modes and distribution.num_modes < reach else None
    return {
        "power_over_that_stated_by_modes": _bands(
            mean, stated, min(compared, highest, cut or highest), count
        ),
        "parameters_that_fit_best": fit,
        "highest_mode": {
            "with_power": highest,
            "stated": cut or NO_CUT,
            "that_fits": highest if highest < reach else NO_CUT,
        },
        "mean_mode": "absent" if constant <= ABSENT * variance else "present",
        "mean_mode_stated": "absent" if distribution.zero_mean else "present",
        "pointwise_variance_of_these_modes": float(f"{variance:.4g}"),
    }


def _bands(mean: np.ndarray, log_stated: np.ndarray, last: int, count: int) -> dict:
    """Return the mean ratio of the power of the modes 1 to `last` to that stated, in bands."""
    # In logarithms, and none above e^700: the power stated may be beyond the range of floats.
    log_mean = np.log(mean, out=np.full_like(mean, -np.inf), where=mean > 0)
    ratios = np.exp(np.minimum(log_mean - log_stated, 700.0))
    edges, bands = [*(2**n for n in range(7) if 2**n <= last), last + 1], {}
    for low, high in pairwise(edges):
        bands[f"{low} to {high - 1}" if high > low + 1 else f"{low}"] = {
            "ratio": float(f"{ratios[low - 1 : high - 1].mean():.4g}"),
            "standard_error": float(f"{1 / np.sqrt(count * (high - low)):.2g}"),
        }
    return bands


def _most_likely(
    modes: np.ndarray, mean: np.ndarray, distribution: CircleDistribution
) -> tuple[float, float, float]:
    """Find σ, τ and γ of the highest likelihood; of each τ and γ the best σ is known in closed form."""

    def log_variance(at: np.ndarray) -> tuple[float, np.ndarray]:
        shape = _log_covariance(modes, 1.0, *np.exp(np.clip(at, *SHAPES)))
        return float(logsumexp(np.log(mean) - shape) - np.log(len(modes))), shape

    def minus_log_likelihood(at: np.ndarray) -> float:
        best, shape = log_variance(at)
        return len(modes) * best + float(shape.sum())

    start = np.clip(np.log([max(distribution.tau, 1e-3), distribution.gamma]), *SHAPES)
    options = {"maxfev": 4000, "maxiter": 4000, "xatol": 1e-6, "fatol": 1e-10}
    found = minimize(minus_log_likelihood, start, method="Nelder-Mead", options=options).x
    tau, gamma = np.exp(np.clip(found, *SHAPES))
    return float(np.exp(log_variance(found)[0] / 2)), float(tau), float(gamma)


def _log_covariance(modes: np.ndarray, sigma: float, tau: float, gamma: float) -> np.ndarray:
    """Return the logarithm of the expected |û_k|² of N(0, σ²(-Δ + τ²)^{-γ}) on the unit circle."""
    return 2 * np.log(sigma) - gamma * np.log((2 * np.pi * modes) ** 2 + tau**2)


def distribution_warnings(facts: dict) -> list[str]:
    """Say where the inputs are not of the distribution stated."""
    highest = facts["highest_mode"]
    if not highest["with_power"]:
        return ["The initial values are constant: no mode but the mean holds power."]
    off = [
        f"{band['ratio']:g} (± {band['standard_error']:g}) times that stated in modes {modes}"
        for modes, band in facts["power_over_that_stated_by_modes"].items()
        if abs(band["ratio"] - 1) > max(DEVIATION, STANDARD_ERRORS * band["standard_error"])
    ]
    found = []
    if off:
        fit = ", ".join(f"{name} = {value:g}" for name, value in facts["parameters_that_fit_best"].items())
        found.append(
            f"The initial values are not of the distribution stated: their power is {'; '.join(off)}."
            + f" {fit} fit best." * bool(fit)
        )
    if highest["stated"] != highest["that_fits"]:
        found.append(_cut_in_words(highest))
    if facts["mean_mode"] != facts["mean_mode_stated"]:
        found.append(
            f"The mean of the initial values is {facts['mean_mode']}; stated: {facts['mean_mode_stated']} "
            "(zero_mean of the distribution)."
        )
    return found


def _cut_in_words(highest: dict) -> str:
    """Say where the power of the initial values ends, and which key states that."""
    last, stated, fits = highest["with_power"], highest["stated"], highest["that_fits"]
    key = "initial_distribution.num_modes"
    if fits != NO_CUT and (stated == NO_CUT or last < stated):
        said = NO_CUT if stated == NO_CUT else f"power up to mode {stated}"
        return f"The initial values hold no power above mode {last}; stated: {said}. State {key}: {fits}."
    value = "null, which is no cut" if fits == NO_CUT else fits
    return (
        f"The initial values hold power up to mode {last}; stated: none above mode {stated}. "
        f"State {key}: {value}."
    )
