"""What the configuration of every dataset may say, and what planning asks of it. Light to import.

Settings are read, checked and planned with on machines and in moments that have no use for a solver, so the
modules of the equations import theirs when a sample is computed, and not before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator

from resolvent.common.errors import Words
from resolvent.common.settings import Seed, Settings

if TYPE_CHECKING:
    import numpy as np

    from resolvent.datasets.tasks.symmetries import Symmetry
    from resolvent.datasets.tasks.task import Task
    from resolvent.solvers.common.grid import AnyGrid

MOST_JOBS = 100_000  # that one dataset may be cut into: each is a file name in the plan

# Points of a circle and along a side of a square: far above any dataset, so that a slip of the keyboard is
# reported at once instead of when memory is full.
CirclePoints = Annotated[int, Field(ge=4, le=2**20)]
SidePoints = Annotated[int, Field(ge=4, le=2**14)]

CHECKED_SAMPLES = 16  # behind the default error budget
REFINED_COST = 8  # of solving a sample more finely, in samples
SECONDS_PER_VALUE = 1e-4  # a guess at an unknown solver: a thousand steps of 100 ns for each stored value
CHEAP = 1e-3  # relative L2 error of `cheap_answer`

ACCURACY = "largest relative L2 error allowed; a dataset that misses it is not finalised"


class SplitSizes(Settings):
    """Number of samples in each split."""

    train: int = Field(1024, ge=0, description="training samples")
    validation: int = Field(100, ge=0, description="validation samples, which choose the checkpoint")
    test: int = Field(100, ge=0, description="test samples, which no training job can read")

    @model_validator(mode="after")
    def _not_empty(self):
        if not self.total:
            raise ValueError("a dataset has at least one sample")
        return self

    @property
    def total(self) -> int:
        """Samples of all splits."""
        return self.train + self.validation + self.test


@dataclass(frozen=True)
class Known:
    """Say what `solve_values` starts from: functions on a grid, or numbers.

    name          what the values are.
    axes          after that of samples: names, equal ones of equal sizes, and sizes.
    observe       the function of `resolvent.solvers` that evaluates coefficients of such functions on a grid.
    fewest_modes  of a periodic function, integrated also where the grid of the values carries fewer.
    """

    name: str
    axes: tuple[str | int, ...]
    observe: str = ""
    fewest_modes: int = 0

    def num_modes(self, points: int) -> int:
        """Return the modes integrated for values on so many points along an axis."""
        return max(self.fewest_modes, points // 2 - 1)


class DatasetSettings(Settings):
    """What every dataset has. An equation derives from `SpaceDataset` or `TrajectoryDataset`.

    dimension      of the domain of its functions: 1 or 2.
    inverse        whether the input is a measurement, which may have noise, and the target a coefficient that
                   jumps, on a coarser grid.
    quantities     what captions call the input and the target.
    example        keys of a dataset of this equation that is made in seconds: every test of tasks makes it.
    moves          whether the solution has time: the dataset's page then has a film, of `Task.motion`.
    shows_flux     whether the page shows the flux -a∇p of a coefficient and a pressure.
    known          what `solve_values` starts from; None: `resolvent.solve` does not solve this equation.
    solve_values   solves for values (samples, ...), as `known` has them, with parameters by keyword.
    shifts         by name, settings to settings that differ by a factor: on which trained models are tested.
    accuracy_rows  rows of the table of the first page: a dataset of config/full_resolution.yaml and a check
                   in its error budget, to the words for the data and for what they are compared with.
    """

    dimension: ClassVar[int] = 1
    inverse: ClassVar[bool] = False
    quantities: ClassVar[tuple[str, str]] = ("input", "target")
    example: ClassVar[dict[str, Any]] = {}
    moves: ClassVar[bool] = False
    shows_flux: ClassVar[bool] = False
    known: ClassVar[Known | None] = None
    solve_values: ClassVar[Callable[..., np.ndarray] | None] = None
    shifts: ClassVar[dict[str, Callable[[Any, float], dict[str, Any]]]] = {}
    accuracy_rows: ClassVar[dict[tuple[str, str], tuple[Words, Words]]] = {}

    equation: str = Field(description="the equation solved: a registered name, or module:SettingsClass")
    samples: SplitSizes = Field(SplitSizes(), description="samples per split")
    samples_per_shard: int = Field(256, ge=1, le=10**6, description="samples that one generation job makes")
    seed: Seed = Field(1127802, description="seed of every random draw")
    accuracy: float = Field(1e-6, ge=1e-15, le=1, description=ACCURACY)

    def task(self) -> Task:
        """Build the task that computes the samples."""
        raise NotImplementedError(
            f"define {type(self).__name__}.task, which builds the task of these settings"
        )

    def symmetries(self) -> tuple[Symmetry, ...]:
        """Return maps, the identity apart, that make of samples others that are as likely."""
        return ()

    def error_bounds(self, inputs: np.ndarray, prediction: np.ndarray) -> dict[str, np.ndarray]:
        """Return bounds of errors of predictions that hold whatever is predicted: (samples, 2) by name.

        Values are (samples, ...space) in float64, on a grid of `grid_kind`. By default none are known.
        """
        return {}

    def energy_error(self, inputs: np.ndarray, prediction: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the relative errors that `error_bounds` bounds, from the labels: (samples,)."""
        raise NotImplementedError(f"define {type(self).__name__}.energy_error: there are error_bounds")

    def cheap_answer(self, inputs: np.ndarray, prediction: np.ndarray, grid: AnyGrid) -> np.ndarray | None:
        """Answer inputs by a classical solver that costs little; it may start from the predictions.

        A prediction is as far from this answer as from the truth, up to what the answer is wrong by, which is
        to be about `CHEAP`. None where no such solver is known: by default.

        Raises a SolverError where the inputs cannot be solved.
        """
        return None

    def corrected(self, inputs: np.ndarray, prediction: np.ndarray, steps: int) -> np.ndarray:
        """Return predictions after steps of an iterative solver, which starts from them.

        Raises a ValueError where the equation has none: by default.
        """
        raise ValueError(f"no steps of a solver are known that start from a prediction of {self.equation}")

    def shifted(self, shift: str, factor: float) -> Self:
        """Return these settings with one of `shifts` by a factor. Raises a ValueError where there is none."""
        if shift not in self.shifts:
            accepted = ", ".join(self.shifts) or "none"
            raise ValueError(f"{self.equation} cannot be shifted in {shift}; accepted: {accepted}")
        return type(self).model_validate(self.model_dump() | self.shifts[shift](self, factor))

    def with_contents(self) -> Self:
        """Return the settings as the files have them that the dataset is made from: itself, if from none.

        Raises `DatasetError` when such a file is missing, or is not what the settings say.
        """
        return self

    @property
    def grid_kind(self) -> str:
        """Return the kind of every stored grid, of `solvers.common.grid.KINDS`; "explicit" for any times."""
        return "periodic"

    @property
    def in_channels(self) -> int:
        """Functions that the operator takes, those that are constants among them."""
        return 1

    @property
    def initial_channels(self) -> int:
        """How many of `in_channels`, the last ones, are constants: initial values."""
        return 0

    @property
    def out_channels(self) -> int:
        """Functions that the operator gives."""
        return 1

    @property
    def num_shards(self) -> int:
        """Generation jobs that the dataset is cut into."""
        return -(-self.samples.total // self.samples_per_shard)

    @property
    def uneven(self) -> tuple[str, ...]:
        """Axes of space along which points are unevenly spaced."""
        return ()

    if TYPE_CHECKING:

        @property
        def resolutions(self) -> list[int] | list[str]:
            """Where every sample is stored: points along an axis, or names of sets of times."""

    def sides(self, resolution: int | str) -> tuple[int, ...]:
        """Count the points along each axis of the grid of `resolution`, or the times of a set."""
        return (self.num_points(resolution),)

    def num_points(self, resolution: int | str) -> int:
        """Count the points of the whole grid of `resolution`, or the times of a set."""
        raise NotImplementedError(
            f"define {type(self).__name__}.num_points, or derive from SpaceDataset or TrajectoryDataset"
        )

    @property
    def largest_array(self) -> int:
        """Values of the largest array of one sample."""
        return max(map(self.num_points, self.resolutions))

    def seconds_per_sample(self) -> float:
        """Predict the seconds that one sample takes to solve on a core of 2.5 GHz, to a factor of three.

        By default, for a solver that nothing is known of, `SECONDS_PER_VALUE` for each stored value.
        """
        return SECONDS_PER_VALUE * self.out_channels * sum(map(self.num_points, self.resolutions))

    def bytes_of_solving(self) -> float:
        """Predict the bytes that a generation job needs beside the samples of its shard."""
        return 0.0

    def seconds_of_checks(self) -> float:
        """Predict the core seconds that the error budget takes."""
        return CHECKED_SAMPLES * (1 + REFINED_COST) * self.seconds_per_sample()

    def bytes_of_checks(self) -> float:
        """Predict the bytes that the error budget needs beside the samples it reads."""
        return 0.0

    @model_validator(mode="after")
    def _jobs_can_be_planned(self):
        if self.num_shards > MOST_JOBS:
            raise ValueError(
                f"samples_per_shard {self.samples_per_shard} cuts {self.samples.total} samples into "
                f"{self.num_shards} jobs; accepted: at most {MOST_JOBS}"
            )
        return self


def check_least_accuracy(
    accuracy: float, least: float, hint: str = "", limit: str = "double precision"
) -> None:
    """Raise a ValueError where a solver that is to reach an accuracy by itself would meet rounding errors."""
    if accuracy < least:
        raise ValueError(
            f"accuracy {accuracy:g} is out of reach of {limit}; accepted: {least:.2g} or more{hint}"
        )


class SpaceDataset(DatasetSettings):
    """A dataset of functions of space, stored on several grids."""

    resolutions: list[int] = Field(description="points along each axis of the grids stored")

    def sides(self, resolution: int | str) -> tuple[int, ...]:
        return (int(resolution),) * self.dimension

    def num_points(self, resolution: int | str) -> int:
        return math.prod(self.sides(resolution))

    @model_validator(mode="after")
    def _grids_are_named_once(self):
        if len(set(self.resolutions)) < len(self.resolutions):
            raise ValueError(f"resolutions {self.resolutions} name a grid twice")
        return self
