"""Third-party Burgers data: initial velocity `a` and solution `u` in a MAT file, as by Li et al. (2021).

Their file `burgers_data_R10.mat` has 2,048 samples on 8,192 points of the unit circle; Cao (2021) trains on
the first 1,024 and tests on the last 100. Both papers restrict to coarser grids by taking every k-th value.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from math import pi
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from resolvent.common.norms import relative_l2
from resolvent.datasets.imported.arrays_checks import repeats_ends
from resolvent.datasets.imported.labels import ImportedDataset, ImportedTask, by_convention, label_warnings
from resolvent.datasets.storage.layout import group_name
from resolvent.datasets.tasks import burgers
from resolvent.datasets.tasks.settings import CirclePoints
from resolvent.datasets.tasks.task import Motion
from resolvent.solvers.common.fourier import coefficients_of, observe

if TYPE_CHECKING:
    from resolvent.datasets.storage.store import Stored
    from resolvent.datasets.tasks.distributions import CircleDistribution

# Viscosity and final time: the public file's, and as Cao (2021, section C.2) and Li et al. (2021) print them.
CONVENTIONS = {
    "the public file's": (0.1 / (2 * pi), 1 / (2 * pi)),
    "Cao's text": (0.1 / (2 * pi), 1.0),
    "Li et al.'s text": (0.1, 1.0),
}
COMPARED = 32  # random samples that are solved with every convention
HIGHEST_MODE = 64  # highest mode of the compared spectra
RESOLVED = 1e-12  # share of the variance of a mode above the stated ones that rounding cannot leave
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
        shared = ("resolutions", "restriction", "finest", "final_time")
        given: dict[str, Any] = {name: getattr(settings, name) for name in shared}
        carried = settings.finest // 2 - 1
        # A file may have fewer points than the distribution needs: truncate the distribution at the grid.
        cut = min(settings.initial_distribution.num_modes or carried, carried)
        given |= {"num_modes": min(burgers.NUM_MODES, carried), "num_steps": burgers.NUM_STEPS}
        given["initial_distribution"] = settings.initial_distribution.model_copy(update={"num_modes": cut})
        self.viscosity = settings.viscosity / settings.length**2  # on the unit circle
        self.generated = burgers.Burgers(
            burgers.BurgersDataset(equation="burgers", viscosity=self.viscosity, **given)
        )

    def solved(self, initial: np.ndarray, viscosity: float, final_time: float) -> np.ndarray:
        """Solve (samples, points) on the unit circle by Cole-Hopf; raises `SolverError`."""
        from resolvent.solvers.burgers.cole_hopf import cole_hopf

        return observe(cole_hopf(coefficients_of(initial), viscosity, final_time), initial.shape[1])

    def label_errors(self, drawn: np.ndarray) -> np.ndarray:
        """Return the errors against our solutions; if ours is zero, 1, or 0 if both are zero."""
        initial, final = self.of_length_1(drawn)
        errors = relative_l2(final, self.solved(initial, self.viscosity, self.settings.final_time))
        return np.where(np.isfinite(errors), errors, final.any(axis=1))

    def findings(self, stored: Stored) -> dict:
        total, power, closed = stored.layout.num_samples, list[np.ndarray](), list[bool]()

        def look(drawn: np.ndarray) -> None:
            power.append(powers(drawn[:, 0]).sum(axis=0))
            closed.append(repeats_ends(drawn, [2]))

        labels = self.labels_again(stored, look)
        initial, final = self.of_length_1(self.draw(stored.names(stored.random_positions(COMPARED))))
        conventions = {
            name: partial(self.solved, initial, *values)
            for name, values in CONVENTIONS.items()
            if not np.allclose(values, (self.viscosity, self.settings.final_time), rtol=1e-6)
        }
        spectrum = spectrum_facts(np.sum(power, axis=0) / total, total, self.settings.initial_distribution)
        return {
            "observed_on": group_name(self.settings.finest),
            "labels_against_our_solver": labels,
            "by_convention": by_convention(final, conventions),
            "distribution_of_the_input": spectrum,
            "both_ends_included": all(closed),
        }

    def warnings(self, findings: dict) -> list[str]:
        settings = self.settings
        stated = f"viscosity {settings.viscosity:.5g}, time {settings.final_time:.5g}"
        labels, conventions = findings["labels_against_our_solver"], findings["by_convention"]
        words = label_warnings("solutions", labels, stated, conventions, settings.accuracy)
        words += distribution_warnings(findings["distribution_of_the_input"])
        if findings["both_ends_included"]:
            words.append(
                f"In the file, the last of {settings.finest} values repeats the first: its points are "
                f"j/{settings.finest - 1}, but they are read as a periodic grid, j/{settings.finest}."
            )
        return words

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


def powers(initial: np.ndarray) -> np.ndarray:
    """Return the power |û_k|² of the modes k = 0, … of each sample, (samples, modes)."""
    return np.abs(coefficients_of(initial)) ** 2


def spectrum_facts(power: np.ndarray, count: int, distribution: CircleDistribution) -> dict:
    """Compare the mean power of `count` samples, (modes,), with N(0, σ²(-Δ + τ²)^{-γ}) in bands of modes.

    Bands end at a quarter of the points, because restriction by stride aliases.
    """
    modes, variance = np.arange(1, len(power)), float(power[0] + 2 * power[1:].sum())
    cut = min(distribution.num_modes or len(modes), len(modes))
    last, bands = min(HIGHEST_MODE, len(power) // 2, cut), {}
    stated = distribution.sigma**2 * ((2 * pi * modes) ** 2 + distribution.tau**2) ** -float(
        distribution.gamma
    )
    ratios = power[1:] / np.maximum(stated, 1e-300)
    for low, high in pairwise([*(2**n for n in range(7) if 2**n <= last), last + 1]):
        bands[f"{low} to {high - 1}" if high > low + 1 else f"{low}"] = {
            "ratio": float(f"{ratios[low - 1 : high - 1].mean():.4g}"),
            "standard_error": float(f"{1 / np.sqrt(count * (high - low)):.2g}"),
        }
    above = float(power[1 + cut :].max(initial=0.0))
    return {
        "power_over_that_stated_by_modes": bands,
        "power_above_the_stated_modes": bool(above > RESOLVED * variance),
        "mean": "present" if power[0] > 1e-6 * variance else "absent",
        "mean_stated": "absent" if distribution.zero_mean else "present",
    }


def distribution_warnings(facts: dict) -> list[str]:
    off = [
        f"{band['ratio']:g} (± {band['standard_error']:g}) times the stated power in modes {modes}"
        for modes, band in facts["power_over_that_stated_by_modes"].items()
        if abs(band["ratio"] - 1) > max(DEVIATION, STANDARD_ERRORS * band["standard_error"])
    ]
    off += ["power above the stated modes"] if facts["power_above_the_stated_modes"] else []
    if facts["mean"] != facts["mean_stated"]:
        off.append(f"a mean that is {facts['mean']} (zero_mean; stated: {facts['mean_stated']})")
    return (
        [f"The initial values do not fit the stated distribution: they have {'; '.join(off)}."] if off else []
    )
