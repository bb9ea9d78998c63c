"""Burgers data made elsewhere: initial velocity `a` and solution `u` of a MAT file, as of Li et al. (2021).

Their file `burgers_data_R10.mat` has 2,048 samples on 8,192 points of the unit circle, of which Cao (2021)
trains on the first 1,024 and tests on the last 100. Both papers restrict to coarser grids by taking every
k-th value.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from resolvent.common.errors import Words
from resolvent.common.norms import relative_l2
from resolvent.datasets.imported import spectrum
from resolvent.datasets.imported.fits import Searched, best_fits, explanation, label_warnings
from resolvent.datasets.imported.labels import ImportedDataset, ImportedTask
from resolvent.datasets.storage.layout import group_name
from resolvent.datasets.tasks.burgers import (
    INPUT,
    TARGET,
    Burgers,
    BurgersDataset,
    BurgersSettings,
    velocity_in_time,
)
from resolvent.datasets.tasks.settings import CirclePoints
from resolvent.datasets.tasks.task import Motion
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.fourier import coefficients_of, observe

if TYPE_CHECKING:
    from resolvent.datasets.storage.stored import Stored

FITTED = 32  # random samples to which viscosity and time are fitted; all are solved again as stated
REPEATED = 1e-12  # of the largest value: below it the last value repeats the first
MOST_MODES, STEPS = 1024, 800  # of the stepper that takes the place of Cole-Hopf at small viscosities
BOTH_ENDS = "the last value repeats the first: both ends are included"


class ImportedBurgersDataset(ImportedDataset, BurgersSettings):
    """Burgers data from a file with an initial velocity and a solution, `a` and `u` if no others are named.

    On a circle of length L, u(x, t)/L is a solution on the unit circle, at x/L, with the viscosity ν/L².
    """

    variables = ("a", "u")

    equation: Literal["burgers"] = Field(description="the equation solved")
    finest: CirclePoints = Field(8192, description="points in the file, x = 0, 1/n, …, (n - 1)/n")
    resolutions: Annotated[list[CirclePoints], Field(min_length=1)] = Field(
        [512, 2048, 8192], description="points of the grids on which every sample is stored"
    )
    restriction: Literal["stride"] = Field(
        "stride", description="how a stored grid sees the functions: every k-th value of the file"
    )
    accuracy: float = Field(
        1e-3,
        gt=0,
        description="median relative L2 difference of the file's solutions from our solver's above which the "
        "card, the page and the terminal warn",
    )

    def task(self) -> ImportedBurgers:
        return ImportedBurgers(self)


class ImportedBurgers(ImportedTask):
    """Reads initial velocities and solutions, and solves some again by the Cole-Hopf transformation."""

    settings: ImportedBurgersDataset

    inputs, targets = (INPUT,), (TARGET,)
    input_answers = True
    on_gpu = False
    powers = (1, 1)

    def __init__(self, settings: ImportedBurgersDataset):
        super().__init__(settings)
        shared = ("viscosity", "final_time", "resolutions", "restriction", "finest")
        given: dict[str, Any] = {name: getattr(settings, name) for name in shared}
        carried = settings.finest // 2 - 1
        modes = min(BurgersDataset.model_fields["num_modes"].default, carried)
        # A file may have fewer points than the distribution needs: what is drawn then ends at the grid.
        cut = min(settings.initial_distribution.num_modes or carried, carried)
        given["initial_distribution"] = settings.initial_distribution.model_copy(update={"num_modes": cut})
        given["viscosity"] = settings.viscosity / settings.length**2
        self.generated = Burgers(BurgersDataset(equation="burgers", num_modes=modes, **given))

    def label_errors(self, drawn: np.ndarray) -> np.ndarray:
        return self._errors(drawn, {"viscosity": self.settings.viscosity / self.settings.length**2})

    def _errors(self, drawn: np.ndarray, values: dict[str, float], cheaply: bool = False) -> np.ndarray:
        """Solve again on the unit circle, with the viscosity there, and the final time where it is given."""
        initial, final = self.of_length_1(drawn)
        final_time = values.get("final_time", self.settings.final_time)
        return differences(final, solved(initial, values["viscosity"], final_time, exactly=cheaply))

    def findings(self, stored: Stored) -> dict:
        settings, area = self.settings, self.settings.length**2
        power, closed, ratios = [], [], []

        def look(drawn: np.ndarray) -> None:
            power.append(spectrum.powers(drawn[:, 0]).sum(axis=0))
            closed.append(last_repeats_first(drawn))
            ratios.append(norm_ratios(drawn[:, 0], drawn[:, 1]))

        labels, total = self.labels_again(stored, look), stored.layout.num_samples
        few = self.draw(stored.names(stored.random_positions(FITTED)))
        searched = [
            Searched("viscosity", settings.viscosity / area, unit=area),
            Searched("final_time", settings.final_time),
        ]
        findings: dict = {
            "observed_on": group_name(settings.finest),
            "labels_against_our_solver": labels,
            **best_fits(partial(self._errors, few), searched),
            "distribution_of_the_input": spectrum.spectrum_facts(
                np.sum(power, axis=0) / total, total, settings.initial_distribution
            ),
            "grid": BOTH_ENDS if all(closed) else "the left end is included, the right end is not",
        }
        if np.concatenate(ratios).size:
            findings["norm_ratio_final_to_initial"] = float(f"{np.mean(np.concatenate(ratios)):.3g}")
        return findings

    def warnings(self, findings: dict) -> list[Words]:
        settings = self.settings
        found = viscous_label_warnings(
            findings, settings.viscosity, settings.final_time, settings.accuracy
        ) + spectrum.distribution_warnings(findings["distribution_of_the_input"])
        if findings["grid"] == BOTH_ENDS:
            found.append(
                f"In the file the last of {settings.finest} values repeats the first, so its points are "
                f"j/{settings.finest - 1}; they are read as those of a periodic grid, j/{settings.finest}."
            )
        return found

    def motion(self, sample: tuple[str, int]) -> Motion:
        settings, initial = self.settings, coefficients_of(self.draw([sample])[:, 0])
        return velocity_in_time(initial, settings.viscosity, settings.final_time, settings.length)

    def description(self) -> dict:
        facts = self.generated.description()
        facts["distribution_of_the_input"]["truncation"] = "as in the file"
        equation: dict = facts["equation"]
        length = self.settings.length
        equation["parameters"] |= {"viscosity ν": self.settings.viscosity}
        if length != 1:
            equation["in_words"] = f"viscous Burgers' equation on the circle of length L = {length:.6g}"
            for key in ("in_symbols", "in_latex"):
                equation[key] = equation[key].replace("(0, 1)", "(0, L)")
        facts["solver"] = {"method": "unknown: the solutions are the file's", "checked_by": "Cole-Hopf"}
        return facts


def solved(initial: np.ndarray, viscosity: float, final_time: float, exactly: bool = False) -> np.ndarray:
    """Solve from initial values (samples, points) by Cole-Hopf, or by ETDRK4 where that loses its digits.

    Raises a SolverError when neither can; `exactly`: when the first cannot.
    """
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
    """Return the relative L2 difference of each sample; where our solution is zero 1, or 0 if both are."""
    found = relative_l2(final, ours)
    return np.where(np.isfinite(found), found, final.any(axis=1))


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


def viscous_label_warnings(
    findings: dict, viscosity: float, final_time: float, tolerance: float
) -> list[Words]:
    """Say how the solutions differ from ours at what is stated, and what other numbers explain them."""
    fits = {
        "the viscosity {viscosity:g} at that time": findings["viscosity_that_fits_best"],
        "the time {final_time:g} at that viscosity": findings["final_time_that_fits_best"],
        "the viscosity {viscosity:g} and the time {final_time:g}": findings["both_that_fit_best_together"],
    }
    labels, explained = findings["labels_against_our_solver"], ""
    if "not_available" not in labels:
        named = {words.format(**fit): fit for words, fit in fits.items()}
        explained = explanation(named, "viscosity and time", tolerance)
    stated = f"from our solver's at the viscosity {viscosity:.5g} and the time {final_time:.5g} stated"
    return label_warnings(labels, "solutions", stated, tolerance, explained)
