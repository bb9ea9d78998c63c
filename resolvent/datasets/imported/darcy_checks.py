"""Whether imported Darcy data are what they are said to be: the coefficient, and the equations solved.

Coefficients and pressures are (samples, y, x) on points × points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.fft
from scipy.interpolate import CubicSpline

from resolvent.common.errors import Words
from resolvent.common.norms import relative_l2
from resolvent.datasets.imported.fits import Searched, explanation, fitted, label_warnings, least
from resolvent.datasets.tasks.error_budget import error_facts
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.grid import Grid
from resolvent.solvers.darcy.direct import solve_direct
from resolvent.solvers.darcy.five_point import DarcyFivePoint, default_method

if TYPE_CHECKING:
    from resolvent.datasets.tasks.darcy import DarcyDataset

SPLINED = 3  # samples solved as the public generator does, directly: two seconds each at 421 points
FITTED = 4  # samples to which the two values are fitted
# The ratio of the two values: 14 steps of a factor e, and no cheaper solver.
RATIO = Searched("ratio", 1.0, reach=np.exp(7.0), scanned=15, tolerance=1e-6, most=(40, 40))
SAME_VALUE = 1e-6  # relative, of the two values and those stated
DISTANCE = 0.1  # at which the pattern of the coefficient is compared
STANDARD_ERRORS = 5  # what a mean over samples may be off by
BETTER = 2.0  # times smaller is the error of a convention that is remarked on
TRANSPOSED = ", pressure transposed"
SPLINE = "cell centres, moved to nodes and back by splines, arithmetic mean (the public generator)"


def convention(grid: str, face_mean: str) -> str:
    """Name the convention of a grid, "nodes" or "cell_centres", and the mean on its faces."""
    return f"{grid.replace('_', ' ')}, {face_mean} mean"


def by_convention(coefficient: np.ndarray, pressure: np.ndarray, tolerance: float) -> dict[str, dict]:
    """Measure the pressures against solutions with every convention: grid, mean on faces, orientation.

    The keys begin with `convention`; the spacing is 1/(n - 1) on nodes, unless another is named, and 1/n on
    cell centres.
    """
    points, found = coefficient.shape[-1], {}
    transposed = pressure.swapaxes(1, 2)

    def add(name: str, solution: np.ndarray) -> None:
        for words, given in ((name, pressure), (name + TRANSPOSED, transposed)):
            found[words] = error_facts(relative_l2(given[: len(solution)], solution))

    try:
        for grid in ("nodes", "cell_centres"):
            for mean in ("arithmetic", "harmonic"):
                solver = DarcyFivePoint(grid, mean, default_method(), tolerance)
                solution = solver.solve(coefficient)
                add(convention(grid, mean), solution)
                if (grid, mean) == ("nodes", "arithmetic"):
                    add(f"nodes, {mean} mean, spacing 1/n", solution * ((points - 1) / points) ** 2)
        add(SPLINE, as_public_generator(coefficient[:SPLINED]))
    except SolverError as error:
        return {"not_available": {"reason": str(error)}}
    return found


def as_public_generator(coefficient: np.ndarray) -> np.ndarray:
    """Solve as the generator of Li et al. does (solve_gwf.m): the values are taken for those on cell centres.

    They are interpolated to nodes by splines, solved there, and the pressure is interpolated back.
    """
    points = coefficient.shape[-1]
    nodes, cells = (Grid(kind, points).coordinates for kind in ("nodes", "cell_centres"))
    to_nodes, to_cells = _splines(cells, nodes), _splines(nodes, cells)
    pressure = solve_direct(to_nodes @ coefficient @ to_nodes.T)
    return to_cells @ pressure @ to_cells.T


def _splines(at: np.ndarray, to: np.ndarray) -> np.ndarray:
    """Build the matrix of interpolation by cubic splines, not-a-knot, which extrapolate."""
    return CubicSpline(at, np.eye(len(at)), bc_type="not-a-knot")(to)


def values_that_fit(solver: DarcyFivePoint, coefficient: np.ndarray, pressure: np.ndarray) -> dict:
    """Find the two values of the coefficient, on its own pattern, with which the pressures fit best.

    Their ratio is searched. Pressures are in inverse proportion to both, which gives the factor.
    """
    values = np.unique(coefficient)
    if len(values) != 2:
        return {}
    upper, pressure = (coefficient > values.mean())[:FITTED], pressure[:FITTED]

    def scaled(log_ratio: float) -> tuple[np.ndarray, float]:
        """Solve with the values exp(log_ratio) and 1, and with what multiple of the solution fits."""
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
    """Describe the coefficients, and their pattern beside that of coefficients of the distribution stated."""
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
    """Measure how far patches reach: the correlation of signs (samples, n, n) along the axes."""
    points = signs.shape[-1]
    lags = np.arange(points // 2)
    correlation = np.mean([_correlation(one) for one in (signs, signs.swapaxes(1, 2))], axis=0)
    mean = correlation.mean(axis=0)
    below = int(np.argmax(mean < 0.5)) if (mean < 0.5).any() else len(lags) - 1
    length = np.interp(0.5, mean[[below, below - 1]], lags[[below, below - 1]]) if below else 0.0
    near = round(DISTANCE * (points - 1))
    return {
        "distance_at_which_the_correlation_is_half": float(f"{length / (points - 1):.3g}"),
        f"correlation_at_distance_{DISTANCE:g}": _mean_and_error(correlation[:, near]),
    }


def _correlation(signs: np.ndarray) -> np.ndarray:
    """Average s(x) s(x + lag) along the last axis, for lags below half of it: (samples, lags)."""
    points = signs.shape[-1]
    half, found = points // 2, []
    for one in signs:
        power = np.abs(scipy.fft.rfft(one, n=2 * points)) ** 2
        found.append(scipy.fft.irfft(power.sum(axis=0), n=2 * points)[:half])
    return np.array(found) / (points * (points - np.arange(half)))


def _mean_and_error(values: np.ndarray) -> dict:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("inf")
    return {
        "mean": float(f"{values.mean():.4g}"),
        "standard_error": float(f"{error:.2g}") if error < np.inf else None,
    }


def _differ(one: dict, other: dict | float) -> bool:
    """Say whether two means differ by more than chance; without standard errors nothing does."""
    if not isinstance(other, dict):
        other = {"mean": other, "standard_error": 0.0}
    if one["standard_error"] is None or other["standard_error"] is None:
        return False
    error = np.hypot(one["standard_error"], other["standard_error"])
    return abs(one["mean"] - other["mean"]) > STANDARD_ERRORS * error + 1e-12


def pressure_warnings(findings: dict, settings: DarcyDataset, tolerance: float) -> list[Words]:
    """Say where the pressures are not those of the convention or the values that `settings` state.

    An error above `tolerance` is remarked on, and so is one that another convention halves.
    """
    labels, explained = findings["labels_against_our_solver"], ""
    stated = convention(settings.grid, settings.face_mean)
    if fit := findings.get("values_that_fit_best"):
        words = f"the values {fit['above']:g} and {fit['below']:g} (stated: {settings.above:g} and "
        explained = explanation({f"{words}{settings.below:g})": fit}, "two values", tolerance)
    found = label_warnings(labels, "pressures", f"from our solver's ({stated})", tolerance, explained)
    errors = {
        name: one["median_relative_l2"]
        for name, one in findings["by_convention"].items()
        if "median_relative_l2" in one
    }
    closest = min(errors, key=errors.__getitem__, default=stated)
    if closest != stated and errors[stated] > BETTER * errors[closest]:
        found.append(
            f"Another convention fits the pressures better than the one stated ({stated}, "
            f"{errors[stated]:.1e}): {closest}, {errors[closest]:.1e}."
        )
    if findings["least_pressure_over_largest"] < -tolerance:
        found.append(
            "Some pressures are negative, which a positive source and a zero boundary do not allow: down to "
            f"{findings['least_pressure_over_largest']:g} of the largest."
        )
    return found


def coefficient_warnings(facts: dict, settings: DarcyDataset) -> list[Words]:
    """Say where the coefficients are not of the distribution stated."""
    found, values = [], facts["values"]
    if settings.push_forward == "level_set":
        stated = [settings.below, settings.above]
        if "distinct_values" in facts:
            found.append(
                f"The coefficient takes {facts['distinct_values']} values, from {values[0]:g} to "
                f"{values[-1]:g}; stated: the two values {settings.below:g} and {settings.above:g}."
            )
        elif not np.allclose(sorted(stated), values, rtol=SAME_VALUE):
            found.append(
                f"The coefficient takes the values {values[0]:g} and {values[1]:g}; stated: "
                f"{settings.below:g} and {settings.above:g}."
            )
        share = facts.get("share_of_the_larger")
        if share and _differ(share, 0.5):
            found.append(
                f"The larger value has a share of {share['mean']:g} (± {share['standard_error']:g}); of the "
                "distribution stated it has a half."
            )
    elif values[0] <= 0:
        found.append(f"The coefficient is not positive: its least value is {values[0]:g}.")
    elif _differ(*(facts[f"variance_of_the_logarithm{one}"] for one in ("", "_stated"))):
        one, other = (facts[f"variance_of_the_logarithm{name}"]["mean"] for name in ("", "_stated"))
        found.append(f"The logarithm of the coefficient has the variance {one:g}; stated: {other:g}.")
    key = f"correlation_at_distance_{DISTANCE:g}"
    ours, theirs = facts["pattern_of_the_distribution_stated"], facts["pattern"]
    if _differ(theirs[key], ours[key]):
        half = "distance_at_which_the_correlation_is_half"
        found.append(
            "Patches of the coefficient are of another size than of the distribution stated: their "
            f"correlation falls to a half at a distance of {theirs[half]:g}; stated: {ours[half]:g}."
        )
    return found
