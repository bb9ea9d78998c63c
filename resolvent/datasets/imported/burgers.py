"""Burgers data made elsewhere: initial velocity `a` and solution `u` of a MAT file, as of Li et al. (2021).

Their file `burgers_data_R10.mat` has 2,048 samples on 8,192 points of the unit circle, of which Cao (2021)
trains on the first 1,024 and tests on the last 100. Both papers restrict to coarser grids by taking every
k-th value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from resolvent.datasets.imported.settings import ImportedDataset
from resolvent.datasets.imported.task import ImportedTask
from resolvent.datasets.storage.layout import Group, group_name, stretched
from resolvent.datasets.tasks.burgers import (
    INPUT,
    TARGET,
    Burgers,
    BurgersDataset,
    BurgersSettings,
    velocity_in_time,
)
from resolvent.datasets.tasks.error_budget import error_facts
from resolvent.datasets.tasks.settings import CirclePoints
from resolvent.datasets.tasks.task import Baseline, Motion
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.fourier import coefficients_of
from resolvent.solvers.common.grid import check_restriction, restrict_by_stride

if TYPE_CHECKING:
    from resolvent.datasets.storage.stored import Stored

FITTED = 32  # random samples to which viscosity and time are fitted; all are solved again as stated
PART = 256  # samples solved at a time
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

    @model_validator(mode="after")
    def _resolutions_are_restrictions(self):
        for points in self.resolutions:
            check_restriction(self.finest, points, self.restriction)
        return self

    def task(self) -> ImportedBurgers:
        return ImportedBurgers(self)


class ImportedBurgers(ImportedTask):
    """Reads initial velocities and solutions, and solves some again by the Cole-Hopf transformation."""

    settings: ImportedBurgersDataset

    inputs, targets = (INPUT,), (TARGET,)
    input_answers = True

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

    def groups(self) -> tuple[Group, ...]:
        return tuple(stretched(group, self.settings.length) for group in self.generated.groups())

    def baselines(self) -> dict[str, Baseline]:
        found = self.generated.baselines()
        return {name: _on_circle(answer, self.settings.length) for name, answer in found.items()}

    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        """Restrict what was read, (samples, 2, points), to the grids stored."""
        return {
            f"{group_name(points)}/{name}": restrict_by_stride(drawn[:, column], points)
            for points in self.settings.resolutions
            for column, name in enumerate((INPUT, TARGET))
        }

    def findings(self, stored: Stored) -> dict:
        from resolvent.datasets.imported import burgers_checks as checks

        settings, length = self.settings, self.settings.length
        stated = (settings.viscosity / length**2, settings.final_time)
        errors, powers, closed, ratios, reason = [], [], [], [], ""
        for start in range(0, len(stored.all_positions), PART):
            drawn = self.draw(stored.names(stored.all_positions[start : start + PART]))
            initial, final = drawn[:, 0], drawn[:, 1]
            try:
                ours = length * checks.solved(initial / length, *stated)
                errors.append(checks.differences(final, ours))
            except SolverError as error:
                reason = str(error)
            powers.append(checks.powers(initial).sum(axis=0))
            closed.append(checks.last_repeats_first(drawn))
            ratios.append(checks.norm_ratios(initial, final))
        total, few = stored.layout.num_samples, self.draw(stored.names(stored.random_positions(FITTED)))
        findings: dict = {
            "observed_on": group_name(settings.finest),
            "labels_against_our_solver": {"not_available": reason}
            if reason
            else error_facts(np.concatenate(errors), total),
            **_of_length(checks.best_fits(few[:, 0] / length, few[:, 1] / length, *stated), length),
            "distribution_of_the_input": checks.spectrum_facts(
                np.sum(powers, axis=0) / total, total, settings.initial_distribution
            ),
            "grid": BOTH_ENDS if all(closed) else "the left end is included, the right end is not",
        }
        if np.concatenate(ratios).size:
            findings["norm_ratio_final_to_initial"] = float(f"{np.mean(np.concatenate(ratios)):.3g}")
        return findings

    def warnings(self, findings: dict) -> list[str]:
        from resolvent.datasets.imported import burgers_checks as checks

        settings = self.settings
        found = checks.label_warnings(findings, settings.viscosity, settings.final_time, settings.accuracy)
        found += checks.distribution_warnings(findings["distribution_of_the_input"])
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


def _on_circle(answer: Baseline, length: float) -> Baseline:
    """Return the answer on a circle of this length of a baseline on the unit circle."""
    return lambda values, grid: length * answer(values / length, grid)


def _of_length(fits: dict[str, dict], length: float) -> dict[str, dict]:
    """Return fits on the unit circle with the viscosities of one of this length."""
    for fit in fits.values():
        if "viscosity" in fit:
            fit["viscosity"] = float(f"{fit['viscosity'] * length**2:.5g}")
    return fits
