"""Whether inputs on a circle are of the Gaussian distribution stated: power in bands of modes, and its cut.

Initial values are (samples, points) on the periodic grid of the unit circle.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from resolvent.common.errors import Words
from resolvent.solvers.common.fourier import coefficients_of

if TYPE_CHECKING:
    from resolvent.datasets.tasks.distributions import CircleDistribution

HIGHEST_MODE = 64  # of the spectra compared
# Of the variance: a mode with less holds no power. Rounding to single precision leaves below 1e-15 in a mode
# of a file, and the distribution of the paper has 1e-7 in mode 64. A mode of which 100 times as much is
# expected surely holds power.
RESOLVED, SURELY = 1e-12, 100
NO_CUT = "no cut"
SHAPES = np.log([[1e-3, 1e-2], [1e4, 30.0]])  # logarithms of the least τ and γ tried, and of the largest
ABSENT = 1e-6  # of the variance: a constant mode with less is absent
DEVIATION, STANDARD_ERRORS = 0.05, 5  # what a band's power may be off by: the larger of the two


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
    from scipy.special import logsumexp

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
    from scipy.optimize import minimize
    from scipy.special import logsumexp

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


def distribution_warnings(facts: dict) -> list[Words]:
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
        last, stated, fits = highest["with_power"], highest["stated"], highest["that_fits"]
        key = "initial_distribution.num_modes"
        if fits != NO_CUT and (stated == NO_CUT or last < stated):
            said = NO_CUT if stated == NO_CUT else f"power up to mode {stated}"
            words = f"no power above mode {last}; stated: {said}. State {key}: {fits}."
        else:
            value = "null, which is no cut" if fits == NO_CUT else fits
            words = f"power up to mode {last}; stated: none above mode {stated}. State {key}: {value}."
        found.append(f"The initial values hold {words}")
    if facts["mean_mode"] != facts["mean_mode_stated"]:
        found.append(
            f"The mean of the initial values is {facts['mean_mode']}; stated: {facts['mean_mode_stated']} "
            "(zero_mean of the distribution)."
        )
    return found
