"""Third-party Darcy data: `coeff` and `sol` in MAT files, as by Li et al. (2021).

Their files `piececonst_r421_N1024_smooth1.mat` and `..._smooth2.mat` have 1,024 samples on 421 × 421 points
each. Cao (2021) trains on the first file and tests on the last 100 samples of the second; both papers
restrict to coarser grids by taking every k-th value. The derivatives in the files are not read. Coefficients
and pressures are (samples, y, x).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.fft
from pydantic import Field

from resolvent.common.norms import relative_l2
from resolvent.datasets.imported.labels import (
    ImportedDataset,
    ImportedTask,
    Searched,
    fitted,
    label_warnings,
    least,
)
from resolvent.datasets.imported.series import Channel
from resolvent.datasets.storage.layout import group_name
from resolvent.datasets.tasks import darcy
from resolvent.datasets.tasks.error_budget import error_facts
from resolvent.datasets.tasks.settings import SidePoints, SquareGrids
from resolvent.datasets.tasks.task import Baseline
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.grid import Grid

if TYPE_CHECKING:
    from resolvent.datasets.storage.store import Stored
    from resolvent.solvers.darcy.five_point import DarcyFivePoint

COMPARED = 8  # checked samples that are solved with every convention
SPLINED = 3  # samples solved directly, as by the public generator: two seconds each at 421 points
FITTED = 4  # samples for fitting the two values
# Scan of the ratio of the two values in 14 steps of a factor e.
RATIO = Searched("ratio", 1.0, reach=np.exp(7.0), scanned=15, tolerance=1e-6, most=(40, 40))
SAME_VALUE = 1e-6  # relative tolerance between the two values and the stated values
DISTANCE = 0.1  # distance for comparing the correlation of patterns
STANDARD_ERRORS = 5  # accepted deviation of a mean over samples
BETTER = 2.0  # another convention is reported if its error is smaller by this factor
TRANSPOSED = ", pressure transposed"
SPLINE = "cell centres, moved to nodes and back by splines, arithmetic mean (the public generator)"
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
        few = coefficient[:COMPARED], pressure[:COMPARED]
        fields = self.forward.draw([("train", index) for index in range(len(coefficient))])
        drawn_by_us = self.forward.coefficient(fields, settings.finest)
        edges = np.concatenate([pressure[:, [0, -1]].ravel(), pressure[:, :, [0, -1]].ravel()])
        largest = np.abs(pressure).max()
        return {
            "observed_on": group_name(settings.finest),
            "labels_against_our_solver": labels,
            "by_convention": by_convention(*few, settings.tolerance),
            **(values_that_fit(self.forward.solver, *few) if settings.push_forward == "level_set" else {}),
            "distribution_of_the_input": coefficient_facts(coefficient, drawn_by_us, settings.push_forward),
            "largest_on_the_boundary_over_largest": float(f"{np.abs(edges).max(initial=0) / largest:.2g}"),
            "least_pressure_over_largest": float(f"{pressure.min() / largest:.2g}"),
        }

    def warnings(self, findings: dict) -> list[str]:
        stated = self.forward.settings
        return [
            *pressure_warnings(findings, stated, self.settings.accuracy),
            *coefficient_warnings(findings["distribution_of_the_input"], stated),
        ]

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


def _convention(grid: str, face_mean: str) -> str:
    return f"{grid.replace('_', ' ')}, {face_mean} mean"


def by_convention(coefficient: np.ndarray, pressure: np.ndarray, tolerance: float) -> dict[str, dict]:
    """Compare the pressures with solutions for every convention: grid, mean on faces, orientation."""
    from resolvent.solvers.darcy.five_point import DarcyFivePoint, default_method

    points, found = coefficient.shape[-1], {}
    transposed = pressure.swapaxes(1, 2)

    def add(name: str, solution: np.ndarray) -> None:
        for ending, given in (("", pressure), (TRANSPOSED, transposed)):
            found[name + ending] = error_facts(relative_l2(given[: len(solution)], solution))

    try:
        for grid in ("nodes", "cell_centres"):
            for mean in ("arithmetic", "harmonic"):
                solver = DarcyFivePoint(grid, mean, default_method(), tolerance)
                solution = solver.solve(coefficient)
                add(_convention(grid, mean), solution)
                if (grid, mean) == ("nodes", "arithmetic"):  # the solver's spacing is 1/(n - 1) on nodes
                    add(f"nodes, {mean} mean, spacing 1/n", solution * ((points - 1) / points) ** 2)
        add(SPLINE, as_public_generator(coefficient[:SPLINED]))
    except SolverError as error:
        return {"not_available": {"reason": str(error)}}
    return found


def as_public_generator(coefficient: np.ndarray) -> np.ndarray:
    """Solve as the generator of Li et al. (solve_gwf.m), which treats the values as cell centres.

    The coefficient is interpolated (and extrapolated) to nodes by cubic splines, and the solution there is
    interpolated back.
    """
    from scipy.interpolate import CubicSpline

    from resolvent.solvers.darcy.direct import solve_direct

    points = coefficient.shape[-1]
    nodes, cells = (Grid(kind, points).coordinates for kind in ("nodes", "cell_centres"))
    to_nodes, to_cells = (
        CubicSpline(at, np.eye(points), bc_type="not-a-knot")(to)
        for at, to in ((cells, nodes), (nodes, cells))
    )
    return to_cells @ solve_direct(to_nodes @ coefficient @ to_nodes.T) @ to_cells.T


def values_that_fit(solver: DarcyFivePoint, coefficient: np.ndarray, pressure: np.ndarray) -> dict:
    """Return the two values of the coefficient, on its own pattern, for which the pressures fit best."""
    values = np.unique(coefficient)
    if len(values) != 2:
        return {}
    upper, pressure = (coefficient > values.mean())[:FITTED], pressure[:FITTED]

    # Only their ratio is searched: pressures are inversely proportional to both, which gives the factor.
    def scaled(log_ratio: float) -> tuple[np.ndarray, float]:
        """Solve with the values exp(log_ratio) and 1; return the errors and factor of the best multiple."""
        unit = solver.solve(np.where(upper, np.exp(log_ratio), 1.0))
        factor = float((pressure * unit).sum() / (unit**2).sum())
        return relative_l2(pressure, factor * unit), factor

    def error(log_ratio: float, cheaply: bool) -> float:
        try:
            return float(scaled(log_ratio)[0].mean())
        except SolverError:
            return np.inf

    ratio = least(error, RATIO)
    errors, factor = scaled(ratio)
    two = {"above": float(np.exp(ratio)) / factor, "below": 1 / factor}
    return {"values_that_fit_best": fitted(errors, two, digits=4)}


def coefficient_facts(coefficient: np.ndarray, generated: np.ndarray, push_forward: str) -> dict:
    """Return facts about the coefficients, and their pattern compared with the stated distribution."""
    values, facts = np.unique(coefficient), {}
    if push_forward == "level_set" and len(values) == 2:
        facts = {
            "values": [float(one) for one in values],
            "contrast": float(f"{values[1] / values[0]:.6g}") if values[0] else None,
            "share_of_the_larger": _mean_and_error((coefficient == values[1]).mean(axis=(1, 2))),
        }
    else:
        facts = {"distinct_values": len(values), "values": [float(values[0]), float(values[-1])]}
    if push_forward == "lognormal" and values[0] > 0:
        for name, one in (("", coefficient), ("_stated", generated)):
            facts[f"variance_of_the_logarithm{name}"] = _mean_and_error((np.log(one) ** 2).mean(axis=(1, 2)))
    for name, one in (("pattern", coefficient), ("pattern_of_the_distribution_stated", generated)):
        middle = 1.0 if push_forward == "lognormal" else (one.min() + one.max()) / 2
        facts[name] = _pattern(np.where(one > middle, 1.0, -1.0))
    return facts


def _pattern(signs: np.ndarray) -> dict:
    """Measure the size of patches by the correlation of signs (samples, n, n) along both axes."""
    points = signs.shape[-1]
    half, along = points // 2, []
    for turned in (signs, signs.swapaxes(1, 2)):
        rows = []  # means of s(x) s(x + lag) along the last axis, for lags up to half of it
        for one in turned:
            power = np.abs(scipy.fft.rfft(one, n=2 * points)) ** 2
            rows.append(scipy.fft.irfft(power.sum(axis=0), n=2 * points)[:half])
        along.append(np.array(rows) / (points * (points - np.arange(half))))
    correlation = np.mean(along, axis=0)
    mean = correlation.mean(axis=0)
    below = int(np.argmax(mean < 0.5)) if (mean < 0.5).any() else half - 1
    length = np.interp(0.5, mean[[below, below - 1]], [below, below - 1]) if below else 0.0
    near = round(DISTANCE * (points - 1))
    return {
        "distance_at_which_the_correlation_is_half": float(f"{length / (points - 1):.3g}"),
        f"correlation_at_distance_{DISTANCE:g}": _mean_and_error(correlation[:, near]),
    }


def _mean_and_error(values: np.ndarray) -> dict:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("inf")
    return {
        "mean": float(f"{values.mean():.4g}"),
        "standard_error": float(f"{error:.2g}") if error < np.inf else None,
    }


def _differ(one: dict, other: dict) -> bool:
    """Return whether two means differ significantly; false without standard errors."""
    if one["standard_error"] is None or other["standard_error"] is None:
        return False
    error = np.hypot(one["standard_error"], other["standard_error"])
    return abs(one["mean"] - other["mean"]) > STANDARD_ERRORS * error + 1e-12


def pressure_warnings(findings: dict, settings: darcy.DarcyDataset, tolerance: float) -> list[str]:
    """Return warnings for pressures that do not fit the stated convention or values."""
    labels, least_pressure = findings["labels_against_our_solver"], findings["least_pressure_over_largest"]
    stated, fits = _convention(settings.grid, settings.face_mean), {}
    # The public generator's splines are how it comes to the cell centres, no convention that could be stated.
    same = [SPLINE] if stated == _convention("cell_centres", "arithmetic") else []
    if fit := findings.get("values_that_fit_best"):
        words = f"the values {fit['above']:g} and {fit['below']:g} (stated: {settings.above:g} and "
        fits[f"{words}{settings.below:g})"] = fit
    ours = f"our solver's ({stated})"
    found = label_warnings(labels, "pressures", ours, tolerance, fits, "two values")
    errors = {
        name: one["median_relative_l2"]
        for name, one in findings["by_convention"].items()
        if "median_relative_l2" in one and name not in same
    }
    closest = min(errors, key=errors.__getitem__, default=stated)
    if closest != stated and errors[stated] > BETTER * errors[closest]:
        found.append(
            f"Another convention fits the pressures better than the stated one ({stated}, "
            f"{errors[stated]:.1e}): {closest}, {errors[closest]:.1e}."
        )
    if least_pressure < -tolerance:
        found.append(
            f"Some pressures are negative, down to {least_pressure:g} of the largest: a positive source and "
            "zero boundary values do not allow this."
        )
    return found


def coefficient_warnings(facts: dict, settings: darcy.DarcyDataset) -> list[str]:
    found, values = [], facts["values"]
    if settings.push_forward == "level_set":
        stated = f"{settings.below:g} and {settings.above:g}"
        if "distinct_values" in facts:
            found.append(
                f"The coefficient takes {facts['distinct_values']} values, from {values[0]:g} to "
                f"{values[-1]:g}; stated: the two values {stated}."
            )
        elif not np.allclose(sorted([settings.below, settings.above]), values, rtol=SAME_VALUE):
            taken = f"{values[0]:g} and {values[1]:g}"
            found.append(f"The coefficient takes the values {taken}; stated: {stated}.")
        share = facts.get("share_of_the_larger")
        if share and _differ(share, {"mean": 0.5, "standard_error": 0.0}):
            found.append(
                f"The larger value has a share of {share['mean']:g} (± {share['standard_error']:g}); in the "
                "stated distribution it has a share of 0.5."
            )
    elif values[0] <= 0:
        found.append(f"The coefficient is not positive: its least value is {values[0]:g}.")
    else:
        one, other = (facts[f"variance_of_the_logarithm{name}"] for name in ("", "_stated"))
        if _differ(one, other):
            variances = f"{one['mean']:g}; stated: {other['mean']:g}"
            found.append(f"The logarithm of the coefficient has the variance {variances}.")
    key, half = f"correlation_at_distance_{DISTANCE:g}", "distance_at_which_the_correlation_is_half"
    ours, theirs = facts["pattern_of_the_distribution_stated"], facts["pattern"]
    if _differ(theirs[key], ours[key]):
        found.append(
            "Patches of the coefficient differ in size from the stated distribution: their correlation falls "
            f"to a half at a distance of {theirs[half]:g}; stated: {ours[half]:g}."
        )
    return found
