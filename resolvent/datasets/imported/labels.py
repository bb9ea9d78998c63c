"""Third-party datasets of a known equation: solve labels again, and fit the equation's parameters to them.

A cheap solver may fail for some parameters; if a search leaves its range, the expensive solver takes over.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.axes import coordinates_of, line_of
from resolvent.datasets.imported.files import FilesDataset, FilesTask, as_list
from resolvent.datasets.imported.series import Channel, Series, parsed
from resolvent.datasets.imported.sources import ROLES, found_pools
from resolvent.datasets.storage.layout import SPACE, Group, stretched
from resolvent.datasets.tasks.error_budget import error_facts
from resolvent.datasets.tasks.task import Baseline, Task
from resolvent.solvers.common.errors import SolverError

if TYPE_CHECKING:
    from resolvent.datasets.storage.store import Stored

SAME_LENGTH = 1e-3  # relative tolerance between the stated length and coordinates in a file
PART = 256  # samples solved again at a time
EXPLAINED = 1e-4  # mean error below which a fit explains the labels
UNSOLVED = 1e9  # finite error for unsolved values, since the search subtracts errors
# Maps values by name, and whether only the cheap solver may be used, to the error of each sample. Raises
# `SolverError` if the solver fails.
Errors = Callable[[dict[str, float], bool], np.ndarray]


class ImportedDataset(FilesDataset):
    """A dataset read from one or two files; `variables` are the usual names of input and target there."""

    variables: ClassVar[tuple[str, str]]
    seconds_per_value: ClassVar[float] = 5e-8

    source: Annotated[list[str], BeforeValidator(as_list), Field(min_length=1, max_length=2)] = Field(
        description="the MAT file (version 5 or 7.3), or a list of two: training samples are the first of "
        "the first file, test samples the last of the last file, after the validation samples"
    )
    input: str | None = Field(
        None,
        description="name of the input in the file, `group/name` in a group, `name[0]` for a channel; "
        "default: as in the public files",
    )
    target: str | None = Field(None, description="name of the target, as for input")
    axes: list[str] | dict[str, list[str]] | None = Field(
        None,
        description="the axes of the arrays in their order in the file, of sample, time, channel, y, x; "
        "where variables differ, by their names; default: samples and space",
    )
    input_times: list[int] = Field(
        [0], min_length=1, max_length=1, description="index of the time of the input, if it has a time axis"
    )
    target_times: list[int] = Field(
        [-1], min_length=1, max_length=1, description="index for the target, from the end if negative"
    )
    length: float = Field(1.0, gt=0, description="length of the interval, or of a side")
    finest: int = Field(description="points along each axis in the file")
    seed: int = Field(1127802, ge=0, lt=2**63, description="seed for the choice of checked samples")

    @model_validator(mode="after")
    def _functions_make_sense(self) -> Self:
        for one in self.channels:
            if one.space != SPACE[-self.dimension :] or "sample" not in one.axes:
                expected = ", ".join(("sample", *SPACE[-self.dimension :]))
                raise ValueError(
                    f"axes of '{one.variable}', {', '.join(one.axes)}; accepted: {expected} in any order, "
                    "and time and channel"
                )
        return self

    @property
    def channels(self) -> list[Channel]:
        axes, found = self.axes or ["sample", *SPACE[-self.dimension :]], []
        entries, times = (self.input, self.target), (*self.input_times, *self.target_times)
        for role, entry, usual, time in zip(ROLES, entries, self.variables, times, strict=True):
            one = parsed(entry or usual, axes)
            found.append(replace(one, role=role, time=time if "time" in one.axes else None, stored=role))
        return found

    def series(self) -> Series:
        """Open the files, and check the length against their coordinates (periodic grid or nodes)."""
        channels, finest = self.channels, self.along("finest")
        opened = Series(found_pools(self.source), channels, finest, self.samples.model_dump())
        taken = {one.variable for one in channels}
        for file, variable in product(opened.files.values(), sorted(taken)):
            name = coordinates_of(file, "x", self.finest, taken, variable)
            if name is None:
                continue
            values = line_of(file, name, even=True)
            reach = abs(float(values[-1] - values[0]))
            around = reach * len(values) / (len(values) - 1)
            if min(abs(reach - self.length), abs(around - self.length)) > SAME_LENGTH * self.length:
                raise DatasetError(
                    f"{file.path}: length {self.length:g} does not fit the coordinates '{name}', which go "
                    f"from {values[0]:g} to {values[-1]:g}; set length: {around:.6g}, or {reach:.6g} on nodes"
                )
        return opened


class ImportedTask(FilesTask):
    """Read the samples of a dataset from its files, and check them against the settings.

    Differences from our solver above the dataset's `accuracy` are warnings, not errors, since users may want
    the data as they are.

    generated  our own task with these settings, on a domain of length 1.
    powers     powers of the length by which input and target are divided to rescale them to that domain.
    checked    number of random samples whose labels are solved again; None: all.
    """

    settings: ImportedDataset
    generated: Task
    powers: ClassVar[tuple[int, int]] = (0, 0)
    checked: int | None = None

    def groups(self) -> tuple[Group, ...]:
        return tuple(stretched(group, self.settings.length) for group in self.generated.groups())

    def of_length_1(self, drawn: np.ndarray) -> np.ndarray:
        """Return input and target, (2, samples, ...), rescaled to the domain of length 1."""
        given, wanted = (self.settings.length**power for power in self.powers)
        return np.stack([drawn[:, 0] / given, drawn[:, 1] / wanted])

    def baselines(self) -> dict[str, Baseline]:
        given, wanted = (self.settings.length**power for power in self.powers)

        def on_domain(answer: Baseline) -> Baseline:
            return lambda values, grid: wanted * answer(values / given, grid)

        return {name: on_domain(answer) for name, answer in self.generated.baselines().items()}

    @abstractmethod
    def label_errors(self, drawn: np.ndarray) -> np.ndarray:
        """Return the relative L2 errors of (samples, 2, ...) solved again; raises `SolverError`."""

    @abstractmethod
    def warnings(self, findings: dict) -> list[str]:
        """Return a sentence for each contradiction between data and settings."""

    def labels_again(self, stored: Stored, look: Callable[[np.ndarray], None]) -> dict:
        """Return the errors of labels, or why they are "not_available"; call `look` with these samples."""
        every, errors, reason = stored.all_positions, [], ""
        positions = every if self.checked is None else stored.random_positions(self.checked)
        for start in range(0, len(positions), PART):
            drawn = self.draw(stored.names(positions[start : start + PART]))
            look(drawn)
            try:
                errors.append(self.label_errors(drawn))
            except SolverError as error:
                reason = str(error)
        if reason:
            return {"not_available": reason}
        return error_facts(np.concatenate(errors), stored.layout.num_samples)

    def hold_to_accuracy(self, budget: dict, store: Path | str) -> dict:
        labels, warnings = budget["labels_against_our_solver"], self.warnings(budget)
        if why := labels.get("not_available"):
            warnings = [f"The solutions could not be checked: {why}", *warnings]
            summary = f"labels not checked against our solver: {why}"
        else:
            summary = (
                "labels checked against our solver: relative L² difference "
                f"{labels['median_relative_l2']:.1e} in the median, {labels['largest_relative_l2']:.1e} at "
                f"most, over {labels['samples']} samples"
            )
        return {
            "imported": {
                "summary": f"imported; {summary}",
                "tolerance": self.settings.accuracy,
                "warnings": [*warnings, *self.notes()],
                **self.file_facts(),
            }
        }


@dataclass(frozen=True)
class Searched:
    """A parameter to search on a logarithmic scale around the stated value; results are multiplied by `unit`.

    reach      largest factor by which the value may be smaller or larger; `scanned` values are tried first.
    tolerance  tolerance of its logarithm.
    most       largest numbers of further evaluations with the cheap and the expensive solver.
    """

    name: str
    around: float
    unit: float = 1.0
    reach: float = 16.0
    scanned: int = 17
    tolerance: float = 1e-8
    most: tuple[int, int] = (100, 20)


def best_fits(errors: Errors, searched: list[Searched]) -> dict[str, dict]:
    """Find the best value of each parameter with the others as stated, and of both together.

    Each entry has the values and the errors there. Parameters that are expensive to search come first in
    `searched` and are searched last, only by the cheap solver if another parameter explains the solutions.
    """
    from scipy.optimize import minimize

    stated, widest = np.log([(one.around, one.reach) for one in searched]).T
    names, count = [one.name for one in searched], len(searched)

    def at(logarithms: np.ndarray, cheaply: bool = False) -> np.ndarray:
        values = np.exp(np.clip(logarithms, stated - widest, stated + widest))
        try:
            return errors(dict(zip(names, values.tolist(), strict=True)), cheaply)
        except SolverError:
            return np.array([np.inf])

    starts, explained, found = [stated] * count, False, {}
    for number in reversed(range(count)):
        along = np.eye(count)[number]

        def error(shift: float, cheaply: bool, along: np.ndarray = along) -> float:
            return float(at(stated + shift * along, cheaply).mean())

        starts[number] = stated + least(error, searched[number], costly=not explained) * along
        explained = explained or bool(at(starts[number]).mean() <= EXPLAINED)
    for number, one in enumerate(searched):
        value = {one.name: np.exp(starts[number][number]) * one.unit}
        found[f"{one.name}_that_fits_best"] = fitted(at(starts[number]), value)
    start = min(starts, key=lambda start: at(start).mean())
    simplex = start + np.vstack([np.zeros(count), 0.1 * np.eye(count)])
    both = minimize(
        lambda logarithms: min(at(logarithms).mean(), UNSOLVED),
        start,
        method="Nelder-Mead",
        options={"initial_simplex": simplex, "maxfev": 150, "xatol": 1e-7, "fatol": 1e-14},
    ).x
    both = np.clip(both, stated - widest, stated + widest)
    values = {one.name: np.exp(both[number]) * one.unit for number, one in enumerate(searched)}
    return found | {"both_that_fit_best_together": fitted(at(both), values)}


def least(error: Callable[[float, bool], float], one: Searched, costly: bool = True) -> float:
    """Return the shift of a parameter's logarithm, within its reach, that minimises `error`.

    Uses only the cheap solver, unless the error decreases to the end of its range and `costly` allows the
    expensive solver.
    """
    from scipy.optimize import minimize_scalar

    scanned = np.linspace(-np.log(one.reach), np.log(one.reach), one.scanned)
    found = np.array([error(shift, True) for shift in scanned])
    first = int(np.argmax(np.isfinite(found)))
    cheaply = bool(np.isfinite(found).any() and (np.argmin(found) > first or not costly))
    if not cheaply:
        found = np.array(
            [each if np.isfinite(each) else error(s, False) for each, s in zip(found, scanned, strict=True)]
        )
    best = int(np.argmin(found))
    refined = minimize_scalar(
        lambda shift: min(error(shift, cheaply), UNSOLVED),
        bounds=(scanned[max(0, best - 1)], scanned[min(one.scanned - 1, best + 1)]),
        method="bounded",
        options={"xatol": one.tolerance, "maxiter": one.most[0 if cheaply else 1]},
    ).x
    return min((float(refined), float(scanned[best]), 0.0), key=lambda shift: error(shift, False))


def fitted(errors: np.ndarray, values: dict[str, float], digits: int = 5) -> dict:
    numbers = {name: float(f"{value:.{digits}g}") for name, value in values.items()}
    return numbers | (error_facts(errors) if np.isfinite(errors).all() else {"not_available": "not solved"})


def label_warnings(
    labels: dict, what: str, stated: str, tolerance: float, fits: dict[str, dict], names: str
) -> list[str]:
    """Return a warning if the median error of labels exceeds `tolerance`, or the largest ten times as much.

    what   name of the labels; `stated`: name of the reference.
    fits   fits by their description, the simplest first; `names`: names of the parameters.
    """
    explained, errors = "", {words: fit.get("median_relative_l2", np.inf) for words, fit in fits.items()}
    if fitting := [words for words, error in errors.items() if error <= tolerance]:
        error = f"{errors[fitting[0]]:.1e}"
        explained = f"They fit {fitting[0]}, with an error of {error}: set this, or choose another file."
    elif fits:
        last = list(fits)[-1]
        explained = f"No {names} fit them; the best are {last}, with an error of {errors[last]:.1e}."
    if "not_available" in labels:
        return [explained] if explained else []
    median, largest = labels["median_relative_l2"], labels["largest_relative_l2"]
    if median > tolerance:
        return [
            f"The {what} in the file differ from {stated} by {median:.1e} in the median (relative L²), above "
            f"the tolerance {tolerance:.0e}. {explained}".rstrip()
        ]
    if largest > 10 * tolerance:
        return [
            f"Some {what} in the file differ from {stated} by up to {largest:.1e} (relative L²), and by "
            f"{median:.1e} in the median; the tolerance is {tolerance:.0e}."
        ]
    return []
