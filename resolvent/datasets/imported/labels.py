"""Datasets of an equation made elsewhere: settings, and a task that solves the labels again."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from resolvent.common.errors import Words
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.axes import coordinates_of, spacing_of
from resolvent.datasets.imported.channels import Channel, parsed
from resolvent.datasets.imported.files import FilesDataset, FilesTask, as_list
from resolvent.datasets.imported.series import Series
from resolvent.datasets.imported.sources import ROLES, found_pools
from resolvent.datasets.storage.layout import SPACE, Group, group_name, stretched
from resolvent.datasets.tasks.error_budget import against_computed_again, error_facts
from resolvent.datasets.tasks.task import Baseline, Task
from resolvent.solvers.common.errors import SolverError

if TYPE_CHECKING:
    from resolvent.datasets.storage.stored import Stored

SAME_LENGTH = 1e-3  # relative, of the length stated and that of the coordinates in a file
PART = 256  # samples solved again at a time


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
        given, wanted = self.input or self.variables[0], self.target or self.variables[1]
        found, axes = [], self.axes or ["sample", *SPACE[-self.dimension :]]
        times = (*self.input_times, *self.target_times)
        for role, name, time in zip(ROLES, (parsed(given, axes), parsed(wanted, axes)), times, strict=True):
            found.append(Channel(role, name, time if "time" in name.axes else None, role))
        return found

    def series(self) -> Series:
        """Open the files, and hold the length against coordinates in them, of a periodic grid or of nodes."""
        opened = Series(found_pools(self.source), self.channels, self.finest, self.samples.model_dump())
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
        findings = self.findings(stored)
        again = against_computed_again(self, stored, stored.random_positions(16))
        return {**findings, "stored_against_the_file": again}

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
