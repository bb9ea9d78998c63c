"""Third-party datasets of a known equation: compare their labels with our solutions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from resolvent.common.norms import relative_l2
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
BETTER = 2.0  # another convention is reported if its error is smaller by this factor


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
        labels = budget["labels_against_our_solver"]
        if why := labels.get("not_available"):
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
                "warnings": [*self.warnings(budget), *self.notes()],
                **self.file_facts(),
            }
        }


def by_convention(
    target: np.ndarray, solutions: Mapping[str, Callable[[], np.ndarray]]
) -> dict[str, dict[str, float]]:
    """Return the errors of labels (samples, ...) under each named convention, if it can be solved.

    solutions  functions that solve the first samples, or all, under a convention; may raise `SolverError`.
    """
    errors = {}
    for name, solution in solutions.items():
        with suppress(SolverError):
            ours = solution()
            errors[name] = error_facts(relative_l2(target[: len(ours)], ours))
    return errors


def label_warnings(
    what: str, labels: dict, stated: str, conventions: dict[str, dict], tolerance: float
) -> list[str]:
    """Return a line if the labels (`what`) differ from ours as `stated`, with the errors by convention.

    That is a median above `tolerance`, or above twice that of another convention, or the largest error above
    ten times the tolerance.
    """
    errors = {name: facts["median_relative_l2"] for name, facts in conventions.items()}
    others = "; ".join(f"{name}: {error:.1e}" for name, error in errors.items() if name != stated)
    others = f" With other conventions: {others}." if others else ""
    if "not_available" in labels:
        return [f"The {what} could not be checked: {labels['not_available']}.{others}"]
    median, largest = labels["median_relative_l2"], labels["largest_relative_l2"]
    better = BETTER * min(errors.values(), default=np.inf) < errors.get(stated, median)
    if median <= tolerance and largest <= 10 * tolerance and not better:
        return []
    return [
        f"The {what} in the file differ from our solver's ({stated}) by {median:.1e} in the median and "
        f"{largest:.1e} at most (relative L²; tolerance {tolerance:.0e}).{others}"
    ]
