"""Third-party Burgers data: initial velocity `a` and solution `u` in a MAT file, as by Li et al. (2021).

Their file `burgers_data_R10.mat` has 2,048 samples on 8,192 points of the unit circle; Cao (2021) trains on
the first 1,024 and tests on the last 100. Both papers restrict to coarser grids by taking every k-th value.
Initial values (samples, points) are compared with the stated Gaussian distribution by their power in bands of
modes, and by the highest mode.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from resolvent.common.norms import relative_l2
from resolvent.datasets.imported.labels import (
    ImportedDataset,
    ImportedTask,
    Searched,
    best_fits,
    label_warnings,
)
from resolvent.datasets.storage.layout import group_name
from resolvent.datasets.tasks import burgers
from resolvent.datasets.tasks.settings import CirclePoints
from resolvent.datasets.tasks.task import Motion
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.fourier import coefficients_of, observe

if TYPE_CHECKING:
    from resolvent.datasets.storage.store import Stored
    from resolvent.datasets.tasks.distributions import CircleDistribution

FITTED = 32  # random samples for fitting viscosity and time
REPEATED = 1e-12  # difference relative to the largest value, below which the last value repeats the first
MOST_MODES, STEPS = 1024, 800  # of ETDRK4, which replaces Cole-Hopf at small viscosities
BOTH_ENDS = "the last value repeats the first: both ends are included"
HIGHEST_MODE = 64  # highest mode of the compared spectra
# Share of the variance below which a mode counts as empty. Rounding to single precision leaves less than
# 1e-15 in a mode, and the paper's distribution has 1e-7 in mode 64. Modes expected to hold 100 times as much
# surely have power.
RESOLVED, SURELY = 1e-12, 100
NO_CUT = "no cut"
SHAPES = np.log([[1e-3, 1e-2], [1e4, 30.0]])  # logarithms of the bounds of τ and γ, lower then upper
ABSENT = 1e-6  # share of the variance below which the constant mode counts as absent
DEVIATION, STANDARD_ERRORS = 0.05, 5  # accepted deviation of a band's power: the larger of the two


class ImportedBurgersDataset(ImportedDataset, burgers.BurgersSettings):
    """Burgers data from a file with initial velocity and solution, by default the variables `a` and `u`.

    For a circle of length L, u(x, t)/L at x/L is a solution on the unit circle with viscosity ν/L².
    """

    version, checks_version = 1, 1
    variables = ("a", "u")

    equation: Literal["burgers"] = Field(description="the equation solved")
    finest: CirclePoints = Field(8192, description="points in the file, x = 0, 1/n, …, (n - 1)/n")
    resolutions: Annotated[list[CirclePoints], Field(min_length=1)] = Field(
        [512, 2048, 8192], description="points of the grids on which every sample is stored"
    )
    restriction: Literal["stride"] = Field(
        "stride", description="restriction to coarser grids: every k-th value of the file"
    )
    accuracy: float = Field(
        1e-3,
        gt=0,
        description="largest median relative L2 difference between the file's solutions and our solver's "
        "without a warning on the card, the page and the terminal",
    )

    def task(self) -> ImportedBurgers:
        return ImportedBurgers(self)


class ImportedBurgers(ImportedTask):
    """Read initial velocities and solutions, and solve some again by the Cole-Hopf transformation."""

    settings: ImportedBurgersDataset

    inputs, targets = (burgers.INPUT,), (burgers.TARGET,)
    input_answers = True
    on_gpu = False
    powers = (1, 1)

    def __init__(self, settings: ImportedBurgersDataset):
        super().__init__(settings)
        shared = ("resolutions", "restriction", "finest")
        given: dict[str, Any] = {name: getattr(settings, name) for name in shared}
        carried = settings.finest // 2 - 1
        # A file may have fewer points than the distribution needs: truncate the distribution at the grid.
        cut = min(settings.initial_distribution.num_modes or carried, carried)
        given |= {"num_modes": min(burgers.NUM_MODES, carried), "num_steps": burgers.NUM_STEPS}
        given["initial_distribution"] = settings.initial_distribution.model_copy(update={"num_modes": cut})
        viscosity = settings.viscosity / settings.length**2
        self.stated = {"viscosity": viscosity, "final_time": settings.final_time}
        self.generated = burgers.Burgers(burgers.BurgersDataset(equation="burgers", **given | self.stated))

    def label_errors(
        self, drawn: np.ndarray, values: dict[str, float] | None = None, cheaply: bool = False
    ) -> np.ndarray:
        """Return the errors against our solutions on the unit circle, with stated parameters or `values`."""
        initial, final = self.of_length_1(drawn)
        return differences(final, solved(initial, **self.stated | (values or {}), exactly=cheaply))

    def findings(self, stored: Stored) -> dict:
        settings, total = self.settings, stored.layout.num_samples
        power, closed, ratios = [], [], []

        def look(drawn: np.ndarray) -> None:
            power.append(powers(drawn[:, 0]).sum(axis=0))
            closed.append(last_repeats_first(drawn))
            initial, final = np.linalg.norm(drawn, axis=2).T
            ratios.append(final[initial > 0] / initial[initial > 0])

        labels = self.labels_again(stored, look)
        few = self.draw(stored.names(stored.random_positions(FITTED)))
        units = {"viscosity": settings.length**2, "final_time": 1.0}
        searched = [Searched(name, value, unit=units[name]) for name, value in self.stated.items()]
        findings: dict = {
            "observed_on": group_name(settings.finest),
            "labels_against_our_solver": labels,
            **best_fits(partial(self.label_errors, few), searched),
            "distribution_of_the_input": spectrum_facts(
                np.sum(power, axis=0) / total, total, settings.initial_distribution
            ),
            "grid": BOTH_ENDS if all(closed) else "the left end is included, the right end is not",
        }
        if np.concatenate(ratios).size:
            findings["norm_ratio_final_to_initial"] = float(f"{np.mean(np.concatenate(ratios)):.3g}")
        return findings

    def warnings(self, findings: dict) -> list[str]:
        settings = self.settings
        stated = settings.viscosity, settings.final_time, settings.accuracy
        found = viscous_label_warnings(findings, *stated)
        found += distribution_warnings(findings["distribution_of_the_input"])
        if findings["grid"] == BOTH_ENDS:
            found.append(
                f"In the file, the last of {settings.finest} values repeats the first: its points are "
                f"j/{settings.finest - 1}, but they are read as a periodic grid, j/{settings.finest}."
            )
        return found

    def motion(self, sample: tuple[str, int]) -> Motion:
        settings, initial = self.settings, coefficients_of(self.draw([sample])[:, 0])
        return burgers.velocity_in_time(initial, settings.viscosity, settings.final_time, settings.length)

    def description(self) -> dict:
        facts, length = self.generated.description(), self.settings.length
        facts["distribution_of_the_input"]["truncation"] = "as in the file"
        equation: dict = facts["equation"]
        equation["parameters"] |= {"viscosity ν": self.settings.viscosity}
        if length != 1:
            equation["in_words"] = f"viscous Burgers' equation on the circle of length L = {length:.6g}"
            for key in ("in_symbols", "in_latex"):
                equation[key] = equation[key].replace("(0, 1)", "(0, L)")
        facts["solver"] = {"method": "unknown: the solutions are the file's", "checked_by": "Cole-Hopf"}
        return facts


def solved(initial: np.ndarray, viscosity: float, final_time: float, exactly: bool = False) -> np.ndarray:
    """Solve (samples, points) by Cole-Hopf or, unless `exactly`, by ETDRK4; `SolverError` if it fails."""
    from resolvent.solvers.burgers.cole_hopf import cole_hopf

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
    """Return the relative L2 difference of each sample; if our solution is zero, 1, or 0 if both are zero."""
    found = relative_l2(final, ours)
    return np.where(np.isfinite(found), found, final.any(axis=1))


def last_repeats_first(functions: np.ndarray) -> bool:
    """Return whether the last value repeats the first, but the second last does not (as for constants)."""
    first, before, last = (functions[..., index] for index in (0, -2, -1))
    least = REPEATED * np.abs(functions).max()
    return bool(np.abs(first - last).max() <= least < np.abs(first - before).max())


def viscous_label_warnings(
    findings: dict, viscosity: float, final_time: float, tolerance: float
) -> list[str]:
    fits = {
        "the viscosity {viscosity:g} at the stated time": findings["viscosity_that_fits_best"],
        "the time {final_time:g} at the stated viscosity": findings["final_time_that_fits_best"],
        "the viscosity {viscosity:g} and the time {final_time:g}": findings["both_that_fit_best_together"],
    }
    labels = findings["labels_against_our_solver"]
    named = {} if "not_available" in labels else {words.format(**fit): fit for words, fit in fits.items()}
    stated = f"our solver's at the stated viscosity {viscosity:.5g} and time {final_time:.5g}"
    return label_warnings(labels, "solutions", stated, tolerance, named, "viscosity and time")


def powers(initial: np.ndarray) -> np.ndarray:
    """Return the power |û_k|² of the modes k = 0, … of each sample, (samples, modes)."""
    return np.abs(coefficients_of(initial)) ** 2


def spectrum_facts(power: np.ndarray, count: int, distribution: CircleDistribution) -> dict:
    """Compare the mean power of `count` samples, (modes,), with the stated distribution.

    Bands end at the highest mode in file and distribution, and at a quarter of the points, because
    restriction by stride aliases. The best fit of σ, τ and γ maximises the likelihood of the modes with
    power, if there are at least three. It distinguishes truncation from decay: above a truncation, the fitted
    covariance predicts power that is missing.
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
    reach = 0  # highest mode that would surely have power without truncation
    if highest:
        covariance = covariance - logsumexp(covariance[:highest]) + np.log(mean[:highest].sum())
        reach = int((covariance > np.log(variance) + np.log(SURELY * RESOLVED)).sum())
    cut = distribution.num_modes if distribution.num_modes and distribution.num_modes < reach else None
    last, bands = min(compared, highest, cut or highest), {}
    # In logarithms, limited to e^700, since the stated power may exceed the range of floats.
    log_mean = np.log(mean, out=np.full_like(mean, -np.inf), where=mean > 0)
    ratios = np.exp(np.minimum(log_mean - stated, 700.0))
    for low, high in pairwise([*(2**n for n in range(7) if 2**n <= last), last + 1]):
        bands[f"{low} to {high - 1}" if high > low + 1 else f"{low}"] = {
            "ratio": float(f"{ratios[low - 1 : high - 1].mean():.4g}"),
            "standard_error": float(f"{1 / np.sqrt(count * (high - low)):.2g}"),
        }
    return {
        "power_over_that_stated_by_modes": bands,
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


def _most_likely(
    modes: np.ndarray, mean: np.ndarray, distribution: CircleDistribution
) -> tuple[float, float, float]:
    """Return σ, τ and γ of maximum likelihood; for given τ and γ, the best σ has a closed form."""
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


def distribution_warnings(facts: dict) -> list[str]:
    highest = facts["highest_mode"]
    if not highest["with_power"]:
        return ["The initial values are constant: only their mean has power."]
    off = [
        f"{band['ratio']:g} (± {band['standard_error']:g}) times the stated power in modes {modes}"
        for modes, band in facts["power_over_that_stated_by_modes"].items()
        if abs(band["ratio"] - 1) > max(DEVIATION, STANDARD_ERRORS * band["standard_error"])
    ]
    found = []
    if off:
        fit = ", ".join(f"{name} = {value:g}" for name, value in facts["parameters_that_fit_best"].items())
        found.append(
            f"The initial values do not fit the stated distribution: they have {'; '.join(off)}."
            + f" The best fit is {fit}." * bool(fit)
        )
    if highest["stated"] != highest["that_fits"]:
        last, stated, fits = highest["with_power"], highest["stated"], highest["that_fits"]
        words, value = f"power up to mode {last}; stated: none above mode {stated}", fits
        if fits == NO_CUT:
            value = "null (no cut)"
        elif stated == NO_CUT or last < stated:
            said = NO_CUT if stated == NO_CUT else f"power up to mode {stated}"
            words = f"no power above mode {last}; stated: {said}"
        found.append(f"The initial values have {words}. Set initial_distribution.num_modes: {value}.")
    if facts["mean_mode"] != facts["mean_mode_stated"]:
        found.append(
            f"The mean of the initial values is {facts['mean_mode']}; stated: {facts['mean_mode_stated']} "
            "(zero_mean of the distribution)."
        )
    return found
