"""Darcy data made elsewhere: `coeff` and `sol` of MAT files, as Li et al. (2021) share.

Their files `piececonst_r421_N1024_smooth1.mat` and `..._smooth2.mat` have 1,024 samples on 421 × 421 points
each. Cao (2021) trains on the first file and tests on the last 100 samples of the second; both papers
restrict to coarser grids by taking every k-th value. The derivatives that the files have beside are not read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from resolvent.common.errors import Words
from resolvent.common.norms import relative_l2
from resolvent.datasets.imported.channels import Channel
from resolvent.datasets.imported.labels import ImportedDataset, ImportedTask
from resolvent.datasets.storage.layout import group_name
from resolvent.datasets.tasks.darcy import (
    COEFFICIENT,
    PRESSURE,
    Darcy,
    DarcyDataset,
    DarcyInverse,
    DarcyInverseDataset,
    DarcySettings,
)
from resolvent.datasets.tasks.settings import SidePoints
from resolvent.datasets.tasks.task import Baseline

if TYPE_CHECKING:
    from resolvent.datasets.storage.stored import Stored

COMPARED = 8  # of the samples checked, those solved with every convention
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

    def task(self) -> ImportedDarcy:
        return ImportedDarcy(self)


class ImportedDarcy(ImportedTask):
    """Reads coefficients and pressures, and solves some again with every convention that they may have."""

    settings: ImportedDarcyDataset
    inputs, targets = (COEFFICIENT,), (PRESSURE,)
    dtype = "float32"
    powers = (0, 2)
    checked = 64

    def __init__(self, settings: ImportedDarcyDataset):
        super().__init__(settings)
        self.generated = self.forward = forward_task(settings, settings.grid)

    def label_errors(self, drawn: np.ndarray) -> np.ndarray:
        coefficient, pressure = self.of_length_1(drawn)
        return relative_l2(pressure, self.forward.solver.solve(coefficient))

    def findings(self, stored: Stored) -> dict:
        from resolvent.datasets.imported import darcy_checks as checks

        settings, parts = self.settings, list[np.ndarray]()
        labels = self.labels_again(stored, parts.append)
        coefficient, pressure = self.of_length_1(np.concatenate(parts))
        few = coefficient[:COMPARED], pressure[:COMPARED]
        fields = self.forward.draw([("train", index) for index in range(len(coefficient))])
        drawn_by_us = self.forward.coefficient(fields, settings.finest)
        edges = np.concatenate([pressure[:, [0, -1]].ravel(), pressure[:, :, [0, -1]].ravel()])
        largest = np.abs(pressure).max()
        return {
            "observed_on": group_name(settings.finest),
            "labels_against_our_solver": labels,
            "by_convention": checks.by_convention(*few, settings.tolerance),
            **(
                checks.values_that_fit(self.forward.solver, *few)
                if settings.push_forward == "level_set"
                else {}
            ),
            "distribution_of_the_input": checks.coefficient_facts(
                coefficient, drawn_by_us, settings.push_forward
            ),
            "largest_on_the_boundary_over_largest": float(f"{np.abs(edges).max(initial=0) / largest:.2g}"),
            "least_pressure_over_largest": float(f"{pressure.min() / largest:.2g}"),
        }

    def warnings(self, findings: dict) -> list[Words]:
        from resolvent.datasets.imported import darcy_checks as checks

        stated = self.forward.settings
        return [
            *checks.pressure_warnings(findings, stated, self.settings.accuracy),
            *checks.coefficient_warnings(findings["distribution_of_the_input"], stated),
        ]

    def description(self) -> dict:
        facts = self.generated.description()
        facts["distribution_of_the_input"]["truncation"] = "as in the file"
        if self.settings.length != 1:
            facts["equation"]["in_words"] += f", of side {self.settings.length:.6g} in place of 1"
        return facts | {"solver": self._solver_facts()}

    def _solver_facts(self) -> dict:
        return {
            "method": "unknown: the pressures are the file's",
            "checked_by": f"5-point finite differences, {self.settings.face_mean} mean on faces",
        }


def forward_task(settings: DarcySettings, grid: str) -> Darcy:
    """Build our own task with what `settings` of imported data state, on their points taken for a `grid`."""
    given: dict[str, Any] = {name: getattr(settings, name) for name in (*SHARED, "resolutions")}
    given["pressure"] = "restricted" if grid == "nodes" else "solved_on_each_grid"
    return Darcy(DarcyDataset(equation="darcy", grid=grid, **given))  # type: ignore[arg-type]


class ImportedDarcyInverseDataset(ImportedDataset, DarcyInverseDataset):
    """Darcy data from files with a coefficient and a pressure: the pressure is the input."""

    variables = ("sol", "coeff")

    equation: Literal["darcy_inverse"] = Field(description="the equation solved")
    resolutions: Annotated[list[SidePoints], Field(min_length=1)] = DarcyInverseDataset.model_fields[
        "resolutions"
    ]  # type: ignore[assignment]
    finest: SidePoints = Field(421, description="points along each side in the file, taken for nodes")
    accuracy: float = ImportedDarcyDataset.model_fields["accuracy"]  # type: ignore[assignment]

    @property
    def channels(self) -> list[Channel]:
        """Return where the coefficient and the pressure are in a file, in this order, each with its time."""
        return super().channels[::-1]

    def task(self) -> ImportedDarcyInverse:  # type: ignore[override]
        return ImportedDarcyInverse(self)


class ImportedDarcyInverse(ImportedDarcy):
    """Reads coefficients and pressures, and averages the coefficients over windows of nodes."""

    settings: ImportedDarcyInverseDataset  # type: ignore[assignment]
    generated: DarcyInverse
    inputs, targets = (PRESSURE,), (COEFFICIENT,)

    def __init__(self, settings: ImportedDarcyInverseDataset):
        ImportedTask.__init__(self, settings)
        self.forward = forward_task(settings, "nodes")
        given: dict[str, Any] = {name: getattr(settings, name) for name in (*SHARED, "resolutions", "coarse")}
        self.generated = DarcyInverse(DarcyInverseDataset(equation="darcy_inverse", **given))

    def baselines(self) -> dict[str, Baseline]:
        return self.generated.baselines()

    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        """Restrict what was read, (samples, 2, points, points), as `DarcyInverse` does."""
        return self.generated.restricted(drawn[:, 0], drawn[:, 1])

    def description(self) -> dict:
        facts = self.generated.description()
        facts["distribution_of_the_coefficient"]["truncation"] = "as in the file"
        return facts | {"solver": self._solver_facts()}
