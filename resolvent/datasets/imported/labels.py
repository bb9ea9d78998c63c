"""Third-party datasets of a known equation: compare their labels with our solutions."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from resolvent.common.norms import relative_l2
from resolvent.datasets.imported.files import FilesDataset, FilesTask, as_list
from resolvent.datasets.imported.series import Channel, Series, parsed
from resolvent.datasets.imported.sources import ROLES, found_pools
from resolvent.datasets.storage.layout import SPACE, Group, group_name, stretched
from resolvent.datasets.tasks.error_budget import error_facts
from resolvent.datasets.tasks.task import Baseline, Task
from resolvent.solvers.common.errors import SolverError

if TYPE_CHECKING:
    from resolvent.datasets.storage.store import Stored

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
        space = SPACE[-self.dimension :]
        for one in self.channels:
            if one.space != space or "sample" not in one.axes:
                raise ValueError(
                    f"axes of '{one.variable}', {', '.join(one.axes)}; accepted: sample, {', '.join(space)} "
                    "in any order, and time and channel"
                )
        return self

    @property
    def channels(self) -> list[Channel]:
        axes, channels = self.axes or ["sample", *SPACE[-self.dimension :]], []
        entries, times = (self.input, self.target), (*self.input_times, *self.target_times)
        for role, entry, usual, time in zip(ROLES, entries, self.variables, times, strict=True):
            one = parsed(entry or usual, axes)
            channels.append(replace(one, role=role, time=time if "time" in one.axes else None, stored=role))
        return channels

    def series(self) -> Series:
        sizes = self.samples.model_dump()
        return Series(found_pools(self.source), self.channels, self.along("finest"), sizes)


class ImportedTask(FilesTask):
    """Read the samples of a dataset from its files, and check them against the settings.

    Differences from our solver above the dataset's `accuracy` are warnings, not errors, since users may want
    the data as they are.

    generated    task that solves such samples on the domain of length 1: groups, baselines, description.
    labels       name of the labels, in the plural.
    powers       powers of the length that input and target have as factors on a longer domain.
    checked      number of random samples whose labels are solved again; None: all.
    compared     number of samples that are solved with every convention.
    conventions  arguments of `solved` by the name of a convention.
    stated       name and arguments of the stated convention.
    """

    settings: ImportedDataset
    generated: Task
    labels: ClassVar[str]
    powers: ClassVar[tuple[int, int]]
    checked: ClassVar[int | None] = None
    compared: ClassVar[int]
    conventions: dict[str, tuple[Any, ...]]
    stated: tuple[str, tuple[Any, ...]]

    @abstractmethod
    def solved(self, inputs: np.ndarray, *arguments: Any) -> np.ndarray:
        """Solve (samples, ...) on the domain of length 1 with a convention; raises `SolverError`."""

    def groups(self) -> tuple[Group, ...]:
        groups = self.generated.groups()
        return tuple(self.placed(stretched(group, self.settings.length)) for group in groups)

    def baselines(self) -> dict[str, Baseline]:
        of_input, of_target = (self.settings.length**power for power in self.powers)

        def on_domain(answer: Baseline) -> Baseline:
            return lambda values, grid: of_target * answer(values / of_input, grid)

        return {name: on_domain(answer) for name, answer in self.generated.baselines().items()}

    def label_errors(self, drawn: np.ndarray, arguments: tuple[Any, ...]) -> np.ndarray:
        """Return the errors of (samples, 2, ...) against our solutions; raises `SolverError`.

        The error is relative to our solution. If that is zero, it is 1, or 0 if the label is zero, too.
        """
        of_input, of_target = (self.settings.length**power for power in self.powers)
        labels = drawn[:, 1] / of_target
        errors = relative_l2(labels, self.solved(drawn[:, 0] / of_input, *arguments))
        return np.where(np.isfinite(errors), errors, labels.reshape(len(labels), -1).any(axis=1))

    def findings(self, stored: Stored) -> dict:
        every, total = stored.all_positions, stored.layout.num_samples
        positions = every if self.checked is None else stored.random_positions(self.checked)
        few = stored.random_positions(self.compared) if self.checked is None else positions[: self.compared]
        errors, by_convention = [], {}
        try:
            for start in range(0, len(positions), PART):
                drawn = self.draw(stored.names(positions[start : start + PART]))
                errors.append(self.label_errors(drawn, self.stated[1]))
            labels: dict[str, Any] = error_facts(np.concatenate(errors), total)
        except SolverError as error:
            labels = {"not_available": str(error)}
        drawn = self.draw(stored.names(few))
        for name, arguments in self.conventions.items():
            with suppress(SolverError):
                by_convention[name] = error_facts(self.label_errors(drawn, arguments))
        return {
            "observed_on": group_name(self.settings.finest),
            "labels_against_our_solver": labels,
            "by_convention": by_convention,
        }

    def warnings(self, findings: dict) -> list[str]:
        """Return a sentence for each contradiction between data and settings."""
        labels, conventions = findings["labels_against_our_solver"], findings["by_convention"]
        return label_warnings(self.labels, labels, self.stated[0], conventions, self.settings.accuracy)

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
