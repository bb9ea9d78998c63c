"""Third-party Darcy data: `coeff` and `sol` in MAT files, as by Li et al. (2021).

Their files `piececonst_r421_N1024_smooth1.mat` and `..._smooth2.mat` have 1,024 samples on 421 × 421 points
each. Cao (2021) trains on the first file and tests on the last 100 samples of the second; both papers
restrict to coarser grids by taking every k-th value. The derivatives in the files are not read. Coefficients
and pressures are (samples, y, x).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from pydantic import Field

from resolvent.datasets.imported.labels import ImportedDataset, ImportedTask
from resolvent.datasets.tasks import darcy
from resolvent.datasets.tasks.settings import SidePoints, SquareGrids

# The public files are on cell centres; nodes, and other means on faces, are what others use.
CONVENTIONS = (("cell_centres", "arithmetic"), ("nodes", "arithmetic"), ("nodes", "harmonic"))
SHARED = (
    *("distribution", "push_forward", "above", "below", "finest", "resolutions", "grid", "face_mean"),
    "tolerance",
)  # settings of generated data, too


class ImportedDarcyDataset(ImportedDataset, darcy.DarcySettings):
    """Darcy data from files with coefficient and pressure, by default the variables `coeff` and `sol`.

    On a square of side L the pressure is L² times the pressure on the unit square with the coefficient at
    x/L.
    """

    version, checks_version = 1, 1
    variables = ("coeff", "sol")
    quantities = darcy.DarcyDataset.quantities

    equation: Literal["darcy"] = Field(description="the equation solved")
    finest: SidePoints = Field(421, description="points along each side in the file")
    resolutions: SquareGrids = Field(
        [421, 211, 141, 85], description="points along each side of the stored grids"
    )
    grid: Literal["nodes", "cell_centres"] = Field(
        "cell_centres", description="kind of the file's points; the public files have cell centres"
    )
    pressure: Literal["restricted"] = Field(
        "restricted", description="coefficient and pressure on coarser grids: every k-th value of the file"
    )
    face_mean: Literal["arithmetic", "harmonic"] = Field(
        "arithmetic", description="mean of neighbouring coefficients in the solver for comparison"
    )
    tolerance: float = Field(1e-8, gt=0, lt=1, description="relative residual of the solver for comparison")
    accuracy: float = Field(
        5e-3,
        gt=0,
        description="largest median relative L2 difference between the file's pressures and our solver's "
        "without a warning on the card, the page and the terminal",
    )

    def task(self) -> ImportedDarcy:
        return ImportedDarcy(self)


class ImportedDarcy(ImportedTask):
    """Read coefficients and pressures, and solve some again with every known convention."""

    settings: ImportedDarcyDataset

    inputs, targets = (darcy.COEFFICIENT,), (darcy.PRESSURE,)
    dtype = "float32"
    labels = "pressures"
    powers = (0, 2)
    checked = 64
    compared = 8

    def __init__(self, settings: ImportedDarcyDataset):
        super().__init__(settings)
        given: dict[str, Any] = {name: getattr(settings, name) for name in SHARED}
        self.generated = darcy.Darcy(darcy.DarcyDataset(equation="darcy", pressure="restricted", **given))
        self.conventions = {named(*convention): convention for convention in CONVENTIONS}
        stated = settings.grid, settings.face_mean
        self.stated = named(*stated), stated

    def solved(self, inputs: np.ndarray, *arguments: str) -> np.ndarray:
        """Solve (samples, n, n) on a kind of grid with a mean on faces."""
        from resolvent.solvers.darcy.five_point import DarcyFivePoint, default_method

        grid, face_mean = arguments
        return DarcyFivePoint(grid, face_mean, default_method(), self.settings.tolerance).solve(inputs)

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


def named(grid: str, face_mean: str) -> str:
    """Return the name of a convention of grid and mean on faces."""
    return f"{grid.replace('_', ' ')}, {face_mean} mean"
