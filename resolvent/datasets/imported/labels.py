"""Datasets of an equation made elsewhere: labels are solved again, and its own parameters fitted to them.

An equation says which of its parameters are searched, `Searched`, and gives the errors of labels solved again
with other values of them. Its cheap solver may not reach all of these: where a search has to leave its range,
the other one takes over.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from resolvent.common.errors import Words
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.arrays import FilesDataset, FilesTask, as_list
from resolvent.datasets.imported.axes import coordinates_of, spacing_of
from resolvent.datasets.imported.series import Channel, Series, parsed
from resolvent.datasets.imported.sources import ROLES, found_pools
from resolvent.datasets.storage.layout import SPACE, Group, group_name, stretched
from resolvent.datasets.tasks.error_budget import against_computed_again, error_facts
from resolvent.datasets.tasks.task import Baseline, Task
from resolvent.solvers.common.errors import SolverError

if TYPE_CHECKING:
    from resolvent.datasets.storage.store import Stored

SAME_LENGTH = 1e-3  # relative, of the length stated and that of the coordinates in a file
PART = 256  # samples solved again at a time
EXPLAINED = 1e-4  # mean error of a fit that needs no other
UNSOLVED = 1e9  # stands for the error where nothing is solved: the search would subtract infinities

# From values by name, and whether the cheap solver alone may be taken, to the error of each sample. Raises a
# SolverError where the solver cannot.
Errors = Callable[[dict[str, float], bool], np.ndarray]


class ImportedDataset(FilesDataset):
    """A dataset read from one file, or from two: training samples from the first, the others from the second.

    Training samples are the first rows of the first file, test samples the last rows of the last one, and
    validation samples the rows before those.

    variables  usual names in the file of the input and the target.
    """

    variables: ClassVar[tuple[str, str]]
    seconds_per_value: ClassVar[float] = 5e-8

    source: Annotated[list[str], BeforeValidator(as_list), Field(min_length=1, max_length=2)] = Field(
        description="the MAT file (of version 5 or 7.3), or a list of two: training samples are the first of "
        "the first file, test samples the last of the last file, validation samples those before them"
    )
    input: str | None = Field(
        None,
        description="name of the input in the file, `group/name` in a group, `name[0]` on an axis of "
        "channels; default: as in the public files",
    )
    target: str | None = Field(None, description="the same of the target")
    axes: list[str] | dict[str, list[str]] | None = Field(
        None,
        description="the axes of the arrays in their order in the file, of sample, time, channel, y, x; "
        "where variables differ, by their names; default: samples and space",
    )
    input_times: list[int] = Field(
        [0],
        min_length=1,
        max_length=1,
        description="which time of the input is taken, if it has such an axis",
    )
    target_times: list[int] = Field(
        [-1], min_length=1, max_length=1, description="the same of the target, from the end if negative"
    )
    length: float = Field(1.0, gt=0, description="length of the interval, or of a side")
    finest: int = Field(description="points along each axis in the file")
    seed: int = Field(1127802, ge=0, lt=2**63, description="seed of the choice of the samples checked")

    @model_validator(mode="after")
    def _functions_make_sense(self) -> Self:
        for one in self.channels:
            if one.space != SPACE[-self.dimension :] or "sample" not in one.name.axes:
                expected = ", ".join(("sample", *SPACE[-self.dimension :]))
                raise ValueError(
                    f"axes of '{one.name.variable}', {', '.join(one.name.axes)}; accepted: {expected} in any "
                    "order, and time and channel"
                )
        return self

    @property
    def channels(self) -> list[Channel]:
        """Return where the input and the target are in a file, each with its time."""
        entries = self.input or self.variables[0], self.target or self.variables[1]
        names = [parsed(entry, self.axes or ["sample", *SPACE[-self.dimension :]]) for entry in entries]
        times = (*self.input_times, *self.target_times)
        return [
            Channel(role, name, time if "time" in name.axes else None, role)
            for role, name, time in zip(ROLES, names, times, strict=True)
        ]

    def series(self) -> Series:
        """Open the files, and hold the length against coordinates in them, of a periodic grid or of nodes."""
        opened = Series(
            found_pools(self.source), self.channels, self.along("finest"), self.samples.model_dump()
        )
        taken = {one.name.variable for one in self.channels}
        for file, variable in product(opened.files.values(), sorted(taken)):
            line = coordinates_of(file, "x", self.finest, taken, variable)
            if line is None:
                continue
            values = spacing_of(file, line)
            reach = abs(float(values[-1] - values[0]))
            lengths = (reach, reach * len(values) / (len(values) - 1))
            if all(abs(one - self.length) > SAME_LENGTH * self.length for one in lengths):
                raise DatasetError(
                    f"{file.path}: set length: {lengths[1]:.6g}, or {lengths[0]:.6g} on nodes: the "
                    f"coordinates '{line}' go from {values[0]:g} to {values[-1]:g}; length is {self.length:g}"
                )
        return opened


class ImportedTask(FilesTask):
    """Reads the samples of a dataset from its files, and checks them against what the settings say they are.

    `draw` reads the input and the target of each sample, (samples, 2, ...); `solve` restricts them to the
    grids stored. Differences from our solver are stated, and above the dataset's `accuracy` they are
    warnings, no errors: who imports data may want them as they are.

    generated  our own task of these settings, on a domain of length 1.
    powers     of the length, by which input and target are divided to be those on that domain.
    checked    random samples whose labels are solved again; None: all.
    """

    settings: ImportedDataset
    generated: Task
    powers: ClassVar[tuple[int, int]] = (0, 0)
    checked: int | None = None

    def groups(self) -> tuple[Group, ...]:
        return tuple(stretched(group, self.settings.length) for group in self.generated.groups())

    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        """Restrict what was read, (samples, 2, ...space), to the grids stored."""
        return {
            f"{group_name(points)}/{name}": self.thinned(drawn[:, column], points)
            for points in self.settings.resolutions
            for column, name in enumerate((*self.inputs, *self.targets))
        }

    def of_length_1(self, drawn: np.ndarray) -> np.ndarray:
        """Return input and target, (2, samples, ...), as they are on the domain of length 1."""
        given, wanted = (self.settings.length**power for power in self.powers)
        return np.stack([drawn[:, 0] / given, drawn[:, 1] / wanted])

    def baselines(self) -> dict[str, Baseline]:
        given, wanted = (self.settings.length**power for power in self.powers)

        def on_domain(answer: Baseline) -> Baseline:
            return lambda values, grid: wanted * answer(values / given, grid)

        return {name: on_domain(answer) for name, answer in self.generated.baselines().items()}

    @abstractmethod
    def label_errors(self, drawn: np.ndarray) -> np.ndarray:
        """Solve the labels of samples again, (samples, 2, ...); returns the relative L2 error of each.

        Raises a SolverError when they cannot be solved.
        """

    @abstractmethod
    def findings(self, stored: Stored) -> dict:
        """Compare samples with our solver and with the distribution stated, for the card's error budget.

        The entry "labels_against_our_solver" is that of `labels_again`.
        """

    @abstractmethod
    def warnings(self, findings: dict) -> list[Words]:
        """Say in a sentence each what is not as the settings say."""

    def labels_again(self, stored: Stored, look: Callable[[np.ndarray], None]) -> dict:
        """Measure labels against ours, or say why that is "not_available"; `look` is shown the samples."""
        every, errors, reason = stored.all_positions, [], ""
        positions = every if self.checked is None else stored.random_positions(self.checked)
        for start in range(0, len(positions), PART):
            drawn = self.draw(stored.names(positions[start : start + PART]))
            try:
                errors.append(self.label_errors(drawn))
            except SolverError as error:
                reason = str(error)
            look(drawn)
        if reason:
            return {"not_available": reason}
        return error_facts(np.concatenate(errors), stored.layout.num_samples)

    def error_budget(self, stored: Stored) -> dict:
        again = against_computed_again(self, stored, stored.random_positions(16))
        return {**self.findings(stored), "stored_against_the_file": again}

    def hold_to_accuracy(self, budget: dict, store: Path | str) -> dict:
        """Say for the card what was imported and what the checks found."""
        labels, warnings = budget["labels_against_our_solver"], self.warnings(budget)
        if why := labels.get("not_available"):
            warnings = [f"The solutions could not be checked: {why}", *warnings]
            found = f"they could not be: {why}"
        else:
            found = (
                f"relative L² difference {labels['median_relative_l2']:.1e} in the median, "
                f"{labels['largest_relative_l2']:.1e} at most, over {labels['samples']} samples"
            )
        return {
            "imported": {
                "summary": f"imported; labels checked against our solver: {found}",
                "tolerance": self.settings.accuracy,
                "warnings": [*warnings, *self.notes()],
                **self.file_facts(),
            }
        }


@dataclass(frozen=True)
class Searched:
    """A parameter that is searched by factors.

    around     the value that is stated, or the middle of the search; `unit` multiplies it where it is said.
    reach      it is sought up to so many times smaller or larger, at `scanned` values first.
    tolerance  of its logarithm.
    most       evaluations after these, of the cheap solver and of the other.
    """

    name: str
    around: float
    unit: float = 1.0
    reach: float = 16.0
    scanned: int = 17
    tolerance: float = 1e-8
    most: tuple[int, int] = (100, 20)


def best_fits(errors: Errors, searched: list[Searched]) -> dict[str, dict]:
    """Find the best value of each parameter alone, at those stated of the others, and of both together.

    Each entry has the values and the errors of these samples' solutions there. The parameters that are
    costly to search come first: their other solver is no news where a later one explains the solutions.
    """
    from scipy.optimize import minimize

    stated, widest = np.log([(one.around, one.reach) for one in searched]).T

    def at(logarithms: np.ndarray, cheaply: bool = False) -> np.ndarray:
        values = np.exp(np.clip(logarithms, stated - widest, stated + widest))
        try:
            return errors(dict(zip((one.name for one in searched), values.tolist(), strict=True)), cheaply)
        except SolverError:
            return np.array([np.inf])

    starts, explained, found = [stated] * len(searched), False, {}
    for number in reversed(range(len(searched))):
        along = np.eye(len(searched))[number]

        def error(shift: float, cheaply: bool, along: np.ndarray = along) -> float:
            return float(at(stated + shift * along, cheaply).mean())

        starts[number] = stated + least(error, searched[number], costly=not explained) * along
        explained = explained or bool(at(starts[number]).mean() <= EXPLAINED)
    for number, one in enumerate(searched):
        value = {one.name: np.exp(starts[number][number]) * one.unit}
        found[f"{one.name}_that_fits_best"] = fitted(at(starts[number]), value)
    start = min(starts, key=lambda start: at(start).mean())
    simplex = start + np.vstack([np.zeros(len(searched)), 0.1 * np.eye(len(searched))])
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
    """Find the shift of a parameter's logarithm, within its reach, at which `error` is least.

    Where the cheap solver reaches it alone is tried, unless the error falls up to the end of its range, and
    the other may be taken.
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
    """Return values that fit best, for the card, with the errors there."""
    numbers = {name: float(f"{value:.{digits}g}") for name, value in values.items()}
    return numbers | (error_facts(errors) if np.isfinite(errors).all() else {"not_available": "not solved"})


def label_warnings(
    labels: dict, what: Words, stated: Words, tolerance: float, fits: dict[Words, dict], names: Words
) -> list[Words]:
    """Say how labels differ from ours, where their median error exceeds `tolerance`, and what explains them.

    Where the median does not but the largest error exceeds ten times as much, that is said.

    what  labels are; `stated`: what they differ from.
    fits  by their words, the simplest first: which explains the labels, or comes closest, is said; `names`
          are the parameters' where none does.
    """
    explained, errors = "", {words: fit.get("median_relative_l2", np.inf) for words, fit in fits.items()}
    if fitting := [words for words, error in errors.items() if error <= tolerance]:
        explained = f"They fit {fitting[0]}, to {errors[fitting[0]]:.1e}: state that, or choose another file."
    elif fits:
        last = list(fits)[-1]
        explained = f"No {names} fit them: {last} come closest, to {errors[last]:.1e}."
    if "not_available" in labels:
        return [explained] if explained else []
    median, largest = labels["median_relative_l2"], labels["largest_relative_l2"]
    if median > tolerance:
        return [
            f"The {what} in the file differ {stated}, by {median:.1e} in the median (relative L²), above the "
            f"tolerance {tolerance:.0e}. {explained}".rstrip()
        ]
    if largest > 10 * tolerance:
        return [
            f"Some {what} in the file differ {stated}: by {largest:.1e} at most (relative L²), though by "
            f"{median:.1e} in the median; the tolerance is {tolerance:.0e}."
        ]
    return []
