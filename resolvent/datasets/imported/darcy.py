"""Darcy data made elsewhere: `coeff` and `sol` of MAT files, as Li et al. (2021) share.

Their files `piececonst_r421_N1024_smooth1.mat` and `..._smooth2.mat` have 1,024 samples on 421 × 421 points
each. Cao (2021) trains on the first file and tests on the last 100 samples of the second; both papers
restrict to coarser grids by taking every k-th value. The derivatives that the files have beside are not read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from resolvent.datasets.imported.settings import ImportedDataset
from resolvent.datasets.imported.task import ImportedTask
from resolvent.datasets.storage.layout import Group, group_name, stretched
from resolvent.datasets.tasks.darcy import INPUT, TARGET, Darcy, DarcyDataset, DarcySettings
from resolvent.datasets.tasks.settings import SidePoints
from resolvent.datasets.tasks.task import Baseline

if TYPE_CHECKING:
    from resolvent.datasets.storage.stored import Stored

CHECKED = 64  # random samples whose coefficients are looked at, and whose equations are solved again
COMPARED = 8  # of them, those solved with every convention
SHARED = ("distribution", "push_forward", "above", "below", "finest", "face_mean", "tolerance")


class ImportedDarcyDataset(ImportedDataset, DarcySettings):
    """Darcy data from files with a coefficient and a pressure, `coeff` and `sol` if no others are named.

    On a square of side L the pressure is L² times that on the unit square, for the same coefficient at x/L.
    """

    variables = ("coeff", "sol")
    quantities = DarcyDataset.quantities

    equation: Literal["darcy"] = Field(description="the equation solved")
    finest: SidePoints = Field(421, description="points along each side in the file")
    resolutions: Annotated[list[SidePoints], Field(min_length=1)] = Field(
        [421, 211, 141, 85], description="points along each side of the grids stored"
    )
    grid: Literal["nodes", "cell_centres"] = Field(
        "nodes", description="what the file's points are taken for; only nodes can be restricted"
    )
    pressure: Literal["restricted"] = Field(
        "restricted", description="coefficient and pressure on a coarser grid: every k-th value of the file"
    )
    face_mean: Literal["arithmetic", "harmonic"] = Field(
        "arithmetic", description="mean of two coefficients that the file's pressures are compared with"
    )
    accuracy: float = Field(
        5e-3,
        gt=0,
        description="median relative L2 difference of the file's pressures from our solver's above which the "
        "card, the page and the terminal warn",
    )

    @property
    def grid_kind(self) -> str:
        return self.grid

    @model_validator(mode="after")
    def _grids_are_nested(self):
        for points in self.resolutions:
            if points == self.finest:
                continue
            if self.grid == "cell_centres":
                raise ValueError(
                    f"resolution {points}: every k-th of {self.finest} cell centres is none of a coarser "
                    f"grid; accepted: {self.finest}, or grid: nodes"
                )
            if points > self.finest or (self.finest - 1) % (points - 1):
                raise ValueError(
                    f"{points} nodes are not nested in the file's {self.finest}: {self.finest - 1} "
                    f"intervals, {points - 1}"
                )
        return self

    def task(self) -> ImportedDarcy:
        return ImportedDarcy(self)

    def bytes_of_checks(self) -> float:
        return ImportedDataset.bytes_of_checks(self) + DarcySettings.bytes_of_checks(self)


class ImportedDarcy(ImportedTask):
    """Reads coefficients and pressures, and solves some again with every convention that they may have."""

    settings: ImportedDarcyDataset
    inputs, targets = (INPUT,), (TARGET,)
    dtype = "float32"

    def __init__(self, settings: ImportedDarcyDataset):
        super().__init__(settings)
        self.generated = forward_task(settings, settings.grid)

    def groups(self) -> tuple[Group, ...]:
        return tuple(stretched(group, self.settings.length) for group in self.generated.groups())

    def baselines(self) -> dict[str, Baseline]:
        found = self.generated.baselines()
        return {name: _times(self.settings.length**2, answer) for name, answer in found.items()}

    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        """Restrict what was read, (samples, 2, points, points), to the grids stored."""
        arrays = {}
        for points in self.settings.resolutions:
            stride = max(1, (self.settings.finest - 1) // (points - 1))
            for column, name in enumerate((INPUT, TARGET)):
                arrays[f"{group_name(points)}/{name}"] = drawn[:, column, ::stride, ::stride].copy()
        return arrays

    def findings(self, stored: Stored) -> dict:
        from resolvent.datasets.imported import darcy_checks as checks

        settings = self.settings
        drawn = self.draw(stored.names(stored.random_positions(CHECKED)))
        coefficient, pressure = drawn[:, 0], drawn[:, 1] / settings.length**2
        few, many = slice(0, COMPARED), len(drawn)
        fields = self.generated.draw([("train", index) for index in range(many)])
        drawn_by_us = self.generated.coefficients.on_grid(
            fields, settings.finest, self.generated.settings.grid
        )
        edges = np.concatenate([pressure[:, [0, -1]].ravel(), pressure[:, :, [0, -1]].ravel()])
        return {
            "observed_on": group_name(settings.finest),
            "labels_against_our_solver": checks.label_errors(
                self.generated.solver, coefficient, pressure, stored.layout.num_samples
            ),
            "by_convention": checks.by_convention(coefficient[few], pressure[few], settings.tolerance),
            **(
                checks.values_that_fit(self.generated.solver, coefficient[few], pressure[few])
                if settings.push_forward == "level_set"
                else {}
            ),
            "distribution_of_the_input": checks.coefficient_facts(
                coefficient, drawn_by_us, settings.push_forward
            ),
            "largest_on_the_boundary_over_largest": float(
                f"{np.abs(edges).max(initial=0) / np.abs(pressure).max():.2g}"
            ),
            "least_pressure_over_largest": float(f"{pressure.min() / np.abs(pressure).max():.2g}"),
        }

    def warnings(self, findings: dict) -> list[str]:
        from resolvent.datasets.imported import darcy_checks as checks

        return [
            *checks.label_warnings(findings, self.generated.settings, self.settings.accuracy),
            *checks.coefficient_warnings(findings["distribution_of_the_input"], self.generated.settings),
        ]

    def description(self) -> dict:
        facts = self.generated.description()
        facts["distribution_of_the_input"]["truncation"] = "as in the file"
        if self.settings.length != 1:
            facts["equation"]["in_words"] += f", of side {self.settings.length:.6g} in place of 1"
        facts["solver"] = {
            "method": "unknown: the pressures are the file's",
            "checked_by": f"5-point finite differences, {self.settings.face_mean} mean on faces",
        }
        return facts


def _times(factor: float, answer: Baseline) -> Baseline:
    return lambda values, grid: factor * answer(values, grid)


def forward_task(settings: DarcySettings, grid: str) -> Darcy:
    """Build our own task with what `settings` of imported data state, on their points taken for a `grid`."""
    given: dict[str, Any] = {name: getattr(settings, name) for name in (*SHARED, "resolutions")}
    given["pressure"] = "restricted" if grid == "nodes" else "solved_on_each_grid"
    return Darcy(DarcyDataset(equation="darcy", grid=grid, **given))  # type: ignore[arg-type]
