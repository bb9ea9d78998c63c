"""Third-party Darcy data: `coeff` and `sol` in MAT files, as by Li et al. (2021).

Their files `piececonst_r421_N1024_smooth1.mat` and `..._smooth2.mat` have 1,024 samples on 421 × 421 points
each. Cao (2021) trains on the first file and tests on the last 100 samples of the second; both papers
restrict to coarser grids by taking every k-th value. The derivatives in the files are not read. Coefficients
and pressures are (samples, y, x).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field

from resolvent.common.norms import relative_l2
from resolvent.datasets.imported.labels import ImportedDataset, ImportedTask, by_convention, label_warnings
from resolvent.datasets.imported.series import Channel
from resolvent.datasets.storage.layout import group_name
from resolvent.datasets.tasks import darcy
from resolvent.datasets.tasks.settings import SidePoints, SquareGrids
from resolvent.datasets.tasks.task import Baseline

if TYPE_CHECKING:
    from resolvent.datasets.storage.store import Stored

# The public files are on cell centres; nodes, and other means on faces, are what others use.
CONVENTIONS = (("cell_centres", "arithmetic"), ("nodes", "arithmetic"), ("nodes", "harmonic"))
COMPARED = 8  # checked samples that are solved with every convention
SAME_VALUE = 1e-6  # relative tolerance between the two values and the stated values
DISTANCE = 0.1  # distance for comparing the correlation of patterns
SAME_PATTERN, STANDARD_ERRORS = 0.02, 5  # accepted deviation of the correlation: the larger of the two
SHARED = ("distribution", "push_forward", "above", "below", "finest", "grid", "face_mean", "tolerance")
FILE_GRID: Any = Field(
    "cell_centres", description="kind of the file's points; the public files have cell centres"
)


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
    grid: Literal["nodes", "cell_centres"] = FILE_GRID
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
    powers = (0, 2)
    checked = 64

    def __init__(self, settings: ImportedDarcyDataset):
        super().__init__(settings)
        self.generated = self.forward = forward_task(settings)

    def label_errors(self, drawn: np.ndarray) -> np.ndarray:
        coefficient, pressure = self.of_length_1(drawn)
        return relative_l2(pressure, self.forward.solver.solve(coefficient))

    def findings(self, stored: Stored) -> dict:
        settings, parts = self.settings, list[np.ndarray]()
        labels = self.labels_again(stored, parts.append)
        coefficient, pressure = self.of_length_1(np.concatenate(parts))
        fields = self.forward.draw([("train", index) for index in range(len(coefficient))])
        drawn_by_us = self.forward.coefficient(fields, settings.finest)
        conventions = solutions_by_convention(coefficient[:COMPARED], settings.tolerance)
        return {
            "observed_on": group_name(settings.finest),
            "labels_against_our_solver": labels,
            "by_convention": by_convention(pressure[:COMPARED], conventions),
            "distribution_of_the_input": coefficient_facts(coefficient, drawn_by_us),
        }

    def warnings(self, findings: dict) -> list[str]:
        stated = self.forward.settings
        labels, conventions = findings["labels_against_our_solver"], findings["by_convention"]
        named = convention(stated.grid, stated.face_mean)
        words = label_warnings("pressures", labels, named, conventions, self.settings.accuracy)
        return words + coefficient_warnings(findings["distribution_of_the_input"], stated)

    def description(self) -> dict:
        facts, inverse = self.generated.description(), self.settings.inverse
        drawn = "distribution_of_the_coefficient" if inverse else "distribution_of_the_input"
        facts[drawn]["truncation"] = "as in the file"
        if self.settings.length != 1 and not inverse:
            facts["equation"]["in_words"] += f", of side {self.settings.length:.6g} in place of 1"
        facts["solver"] = {
            "method": "unknown: the pressures are the file's",
            "checked_by": f"5-point finite differences, {self.settings.face_mean} mean on faces",
        }
        return facts


def forward_task(settings: darcy.DarcySettings) -> darcy.Darcy:
    """Return the generated dataset's task with the imported data's settings."""
    given: dict[str, Any] = {name: getattr(settings, name) for name in (*SHARED, "resolutions")}
    return darcy.Darcy(darcy.DarcyDataset(equation="darcy", pressure="restricted", **given))


class ImportedDarcyInverseDataset(ImportedDataset, darcy.DarcyInverseDataset):
    """Darcy data from files with a coefficient and a pressure: the pressure is the input."""

    version, checks_version = 1, 1
    variables = ("sol", "coeff")

    equation: Literal["darcy_inverse"] = Field(description="the equation solved")
    resolutions: SquareGrids = darcy.DarcyInverseDataset.model_fields["resolutions"]  # type: ignore[assignment]
    finest: SidePoints = Field(421, description="points along each side in the file")
    grid: Literal["nodes", "cell_centres"] = FILE_GRID
    tolerance: float = ImportedDarcyDataset.model_fields["tolerance"]  # type: ignore[assignment]
    accuracy: float = ImportedDarcyDataset.model_fields["accuracy"]  # type: ignore[assignment]

    @property
    def channels(self) -> list[Channel]:
        return super().channels[::-1]  # coefficient, then pressure

    def task(self) -> ImportedDarcyInverse:  # type: ignore[override]
        return ImportedDarcyInverse(self)


class ImportedDarcyInverse(ImportedDarcy):
    """Read coefficients and pressures, and average the coefficients over windows of points."""

    settings: ImportedDarcyInverseDataset  # type: ignore[assignment]
    generated: darcy.DarcyInverse
    inputs, targets = (darcy.PRESSURE,), (darcy.COEFFICIENT,)

    def __init__(self, settings: ImportedDarcyInverseDataset):
        ImportedTask.__init__(self, settings)
        self.forward = forward_task(settings)
        given: dict[str, Any] = {name: getattr(settings, name) for name in (*SHARED, "resolutions", "coarse")}
        self.generated = darcy.DarcyInverse(darcy.DarcyInverseDataset(equation="darcy_inverse", **given))

    def baselines(self) -> dict[str, Baseline]:
        return self.generated.baselines()

    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        """Restrict the samples, (samples, 2, points, points), as `DarcyInverse`."""
        return self.generated.restricted(drawn[:, 0], drawn[:, 1])


def convention(grid: str, face_mean: str) -> str:
    return f"{grid.replace('_', ' ')}, {face_mean} mean"


def solutions_by_convention(coefficient: np.ndarray, tolerance: float) -> dict[str, Callable[[], np.ndarray]]:
    """Return functions that solve (samples, n, n) under each named convention of grid and mean on faces."""
    from resolvent.solvers.darcy.five_point import DarcyFivePoint, default_method

    def solve(grid: str, face_mean: str) -> np.ndarray:
        return DarcyFivePoint(grid, face_mean, default_method(), tolerance).solve(coefficient)

    return {convention(*one): partial(solve, *one) for one in CONVENTIONS}


def coefficient_warnings(facts: dict, settings: darcy.DarcyDataset) -> list[str]:
    """Return a warning if the coefficients cannot be of the stated distribution."""
    count, least, largest = facts["distinct_values"], facts["least"], facts["largest"]
    if settings.push_forward == "level_set":
        stated = sorted((settings.below, settings.above))
        if count != 2 or not np.allclose([least, largest], stated, rtol=SAME_VALUE):
            return [
                f"The coefficient takes {count} values, from {least:g} to {largest:g}; stated: the two "
                f"values {stated[0]:g} and {stated[1]:g} (below and above)."
            ]
    elif least <= 0:
        return [f"The coefficient is not positive: its least value is {least:g}."]
    off = abs(facts["correlation"] - facts["correlation_stated"])
    if off > max(SAME_PATTERN, STANDARD_ERRORS * facts["standard_error"]):
        return [
            f"The patches of the coefficient differ from the stated distribution: their correlation at a "
            f"distance of {DISTANCE:g} is {facts['correlation']:g}, not {facts['correlation_stated']:g}."
        ]
    return []


def coefficient_facts(coefficient: np.ndarray, generated: np.ndarray) -> dict:
    """Return the values of coefficients (samples, n, n), and the correlation of values at a distance."""
    values = np.unique(coefficient)
    ours, its = _correlations(generated), _correlations(coefficient)
    return {
        "distinct_values": len(values),
        "least": float(values[0]),
        "largest": float(values[-1]),
        "correlation": float(f"{its.mean():.4g}"),
        "correlation_stated": float(f"{ours.mean():.4g}"),
        "standard_error": float(f"{np.hypot(its.std(), ours.std()) / len(its) ** 0.5:.2g}"),
    }


def _correlations(values: np.ndarray) -> np.ndarray:
    """Return the mean of s(x) s(x + DISTANCE), s being the sign of values less their middle, by sample."""
    middle = (values.min() + values.max()) / 2 if len(np.unique(values)) == 2 else np.median(values)
    signs, near = np.where(values > middle, 1.0, -1.0), max(1, round(DISTANCE * (values.shape[-1] - 1)))
    along_y = (signs[:, near:] * signs[:, :-near]).mean(axis=(1, 2))
    return (along_y + (signs[..., near:] * signs[..., :-near]).mean(axis=(1, 2))) / 2
