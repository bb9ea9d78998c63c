"""Settings common to all datasets, and the facts that planning needs. Light to import.

Reading, checking and planning need no solver, so modules of equations import their solvers only when a sample
is computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import Field, ValidationError, model_validator

from resolvent.common.settings import Seed, Settings, without_defaults

if TYPE_CHECKING:
    import numpy as np

    from resolvent.datasets.tasks.symmetries import Symmetry
    from resolvent.datasets.tasks.task import Task
    from resolvent.solvers.common.grid import AnyGrid

MOST_JOBS = 100_000  # limit for one dataset: each job is a file name in the plan
# Points of a circle and along a side of a square. The limits are far above any dataset, so that typing errors
# are reported at once instead of when memory is exhausted.
CirclePoints = Annotated[int, Field(ge=4, le=2**20)]
SidePoints = Annotated[int, Field(ge=4, le=2**14)]
SquareGrids = Annotated[list[SidePoints], Field(min_length=1)]  # grids of a square

CHECKED_SAMPLES = 16  # samples of the default error budget
REFINED_COST = 8  # cost of solving a sample more finely, relative to solving it
SECONDS_PER_VALUE = 1e-4  # guess for unknown solvers: a thousand steps of 100 ns for each stored value
CHEAP = 1e-3  # relative L2 error of `cheap_answer`

# For the `example` of an equation.
FEW_SAMPLES: dict[str, Any] = {"samples": {"train": 3, "validation": 1, "test": 2}, "samples_per_shard": 4}

LEAST_PRECISE = 0.1  # the largest accuracy: labels with a tenth of error are no labels
ACCURACY = "largest relative L2 error allowed; a dataset that misses it is not finalised"


class SplitSizes(Settings):
    """Number of samples in each split."""

    train: int = Field(1024, ge=0, description="training samples")
    validation: int = Field(100, ge=0, description="validation samples, which select the checkpoint")
    test: int = Field(
        100,
        ge=0,
        description="test samples; a training reads them only with record_test_error, and never "
        "selects by them",
    )

    @model_validator(mode="after")
    def _not_empty(self):
        if not self.total:
            raise ValueError("a dataset has at least one sample")
        return self

    @property
    def total(self) -> int:
        return self.train + self.validation + self.test


@dataclass(frozen=True)
class Known:
    """The input of `solve_values`: functions on a grid, or numbers.

    name          name of the input.
    axes          axes after the sample axis: names (equal names have equal sizes) or sizes.
    observe       function of `resolvent.solvers` that evaluates coefficients of such functions on a grid.
    fewest_modes  minimum number of modes for periodic functions, even if the grid has fewer.
    """

    name: str
    axes: tuple[str | int, ...]
    observe: str = ""
    fewest_modes: int = 0

    def num_modes(self, points: int) -> int:
        return max(self.fewest_modes, points // 2 - 1)


class DatasetSettings(Settings):
    """Base class of dataset settings; equations derive from `SpaceDataset` or `TrajectoryDataset`.

    version           version of the samples: raised by hand whenever their numbers change (docs/jobs.md).
    checks_version    the same of what is computed about samples: error budget, estimates of errors without
                      labels, timed solvers and film.
    dimension         dimension of the domain of the functions: 1, 2 or 3.
    grid_kind         kind of the stored grids (`solvers.common.grid.KINDS`); "explicit" for sets of times.
    uneven            axes of space with unevenly spaced points.
    in_channels       number of input functions, including constants.
    initial_channels  how many of the last `in_channels` are constants, such as initial values.
    out_channels      number of output functions.
    inverse           whether the input is a measurement, possibly with noise, and the target a discontinuous
                      coefficient on a coarser grid.
    quantities        names of input and target in captions.
    example           settings of a dataset that is generated in seconds, for tests of tasks.
    moves             whether the solution depends on time; then the page has a film of `Task.motion`.
    film_caption      caption of the film.
    shows_flux        whether the page shows the flux -a∇p of a coefficient and a pressure.
    known             input of `solve_values`; None if `resolvent.solve` does not solve this equation.
    solve_values      solves for values (samples, ...) as described by `known`, with parameters by keyword.
    shifts            functions (settings, factor) → changed settings, by name, for tests out of distribution.
    """

    version: ClassVar[int] = 1
    checks_version: ClassVar[int] = 1
    dimension: ClassVar[int] = 1
    grid_kind: ClassVar[str] = "periodic"
    uneven: ClassVar[tuple[str, ...]] = ()
    in_channels: ClassVar[int] = 1
    initial_channels: ClassVar[int] = 0
    out_channels: ClassVar[int] = 1
    inverse: ClassVar[bool] = False
    quantities: ClassVar[tuple[str, str]] = ("input", "target")
    example: ClassVar[dict[str, Any]] = {}
    moves: ClassVar[bool] = False
    film_caption: ClassVar[str] = "The first test sample in time."
    shows_flux: ClassVar[bool] = False
    known: ClassVar[Known | None] = None
    solve_values: ClassVar[Callable[..., np.ndarray] | None] = None
    shifts: ClassVar[dict[str, Callable[[Any, float], dict[str, Any]]]] = {}

    equation: str = Field(description="the equation solved: a registered name, or module:SettingsClass")
    samples: SplitSizes = Field(SplitSizes(), description="samples per split")
    samples_per_shard: int = Field(256, ge=1, le=10**6, description="samples per generation job")
    seed: Seed = Field(1127802, description="seed of all random draws")
    accuracy: float = Field(1e-6, ge=1e-15, le=LEAST_PRECISE, description=ACCURACY)

    def task(self) -> Task:
        raise NotImplementedError(
            f"define {type(self).__name__}.task, which returns the task of these settings"
        )

    @property
    def same_ends(self) -> bool:
        """Return whether the outermost points of all stored grids are the same, neither periodic."""
        return self.grid_kind == "nodes"

    def symmetries(self) -> tuple[Symmetry, ...]:
        """Return the maps, except the identity, from samples to equally likely samples."""
        return ()

    def error_bounds(self, inputs: np.ndarray, prediction: np.ndarray) -> dict[str, np.ndarray]:
        """Return rigorous bounds of the errors of predictions, (samples, 2) by name; by default none.

        Values are (samples, ...space) in float64, on a grid of `grid_kind`.
        """
        return {}

    def energy_error(self, inputs: np.ndarray, prediction: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the relative errors bounded by `error_bounds`, computed from the labels: (samples,)."""
        raise NotImplementedError(f"define {type(self).__name__}.energy_error, since it has error_bounds")

    def five_point(self, points: int) -> tuple[str, str, int] | None:
        """Return grid, face mean and stride of the 5-point equations of Darcy flow; by default None.

        `points` are those along each side. The task then has the baseline `constant_coefficient`.
        """
        return None

    def cheap_answer(self, inputs: np.ndarray, prediction: np.ndarray, grid: AnyGrid) -> np.ndarray | None:
        """Return answers of a cheap classical solver, which may start from the predictions; by default None.

        They estimate the errors of predictions up to their own error, which should be about `CHEAP`. Raises
        `SolverError` if the inputs cannot be solved.
        """
        return None

    def corrected(self, inputs: np.ndarray, prediction: np.ndarray, steps: int) -> np.ndarray:
        """Return predictions after `steps` of an iterative solver; `ValueError` if there is none."""
        raise ValueError(f"{self.equation} has no iterative solver that starts from a prediction")

    def shifted(self, shift: str, factor: float) -> Self:
        """Return these settings, shifted by a factor.

        Raises `ValueError` for a name not in `shifts`, and for a factor whose settings cannot be solved.
        """
        if shift not in self.shifts:
            accepted = ", ".join(self.shifts) or "none"
            raise ValueError(f"{self.equation} cannot be shifted in {shift}; accepted: {accepted}")
        changed = self.model_copy(update=self.shifts[shift](self, factor))
        try:
            return type(self).model_validate(changed.model_dump())
        except ValidationError as error:
            reasons = [problem["msg"].removeprefix("Value error, ") for problem in error.errors()]
            raise ValueError("; ".join(reasons)) from None

    def with_contents(self) -> Self:
        """Return the settings with facts of source files; `DatasetError` if a file contradicts them."""
        return self

    def identity(self, code_versions: dict) -> dict[str, dict]:
        """Return what determines the samples: settings that differ from their defaults, and versions."""
        return {"settings": without_defaults(self), "versions": code_versions}

    @property
    def num_shards(self) -> int:
        return -(-self.samples.total // self.samples_per_shard)

    if TYPE_CHECKING:

        @property
        def resolutions(self) -> list[int] | list[str]:
            """Return the stored resolutions: points along an axis, or names of sets of times."""

    def sides(self, resolution: int | str) -> tuple[int, ...]:
        """Return the points along each axis of the grid of `resolution`, or the times of a set."""
        return (self.num_points(resolution),)

    def num_points(self, resolution: int | str) -> int:
        """Return the number of points of the grid of `resolution`, or of times of a set."""
        raise NotImplementedError(
            f"define {type(self).__name__}.num_points, or derive from SpaceDataset or TrajectoryDataset"
        )

    @property
    def largest_array(self) -> int:
        """Return the number of values of the largest array of one sample."""
        return max(map(self.num_points, self.resolutions))

    def seconds_per_sample(self) -> float:
        """Predict the seconds to solve one sample on a core of 2.5 GHz, to a factor of three."""
        return SECONDS_PER_VALUE * self.out_channels * sum(map(self.num_points, self.resolutions))

    def longest_wait(self) -> float:
        """Predict the longest time in seconds that a job computes without reporting progress, at least.

        By default the time of one sample, which is saved with its batch.
        """
        return self.seconds_per_sample()

    def check_progress(self, stall_minutes: float) -> None:
        """Raise `ValueError` if jobs would be killed, since they report no progress for `stall_minutes`."""
        if (minutes := self.longest_wait() / 60) > stall_minutes:
            raise ValueError(
                f"a job would compute for {minutes / 60:.2g} hours without progress, and is killed after "
                f"{stall_minutes:g} minutes (stall_minutes); accepted: a shorter time, larger steps, fewer "
                "modes or a larger accuracy"
            )

    def bytes_of_solving(self) -> float:
        """Predict the bytes that a generation job needs in addition to the samples of its shard."""
        return 0.0

    def seconds_of_checks(self) -> float:
        """Predict the core seconds for the error budget."""
        return CHECKED_SAMPLES * (1 + REFINED_COST) * self.seconds_per_sample()

    def bytes_of_checks(self) -> float:
        """Predict the bytes that the error budget needs in addition to its samples."""
        return 0.0

    @model_validator(mode="after")
    def _jobs_can_be_planned(self):
        if self.num_shards > MOST_JOBS:
            raise ValueError(
                f"samples_per_shard {self.samples_per_shard} needs {self.num_shards} jobs for "
                f"{self.samples.total} samples; accepted: at most {MOST_JOBS} jobs"
            )
        return self


def check_least_accuracy(
    accuracy: float, least: float, hint: str = "", limit: str = "double precision"
) -> None:
    """Raise `ValueError` if rounding errors prevent an adaptive solver from reaching the accuracy."""
    if accuracy < least:
        enough = f"{least:.2g} or more" if least <= LEAST_PRECISE else "none"
        raise ValueError(f"accuracy {accuracy:g} is out of reach of {limit}; accepted: {enough}{hint}")


class SpaceDataset(DatasetSettings):
    """A dataset of functions of space, stored on several grids."""

    resolutions: list[int] = Field(description="points along each axis of the stored grids")

    def sides(self, resolution: int | str) -> tuple[int, ...]:
        return (int(resolution),) * self.dimension

    def num_points(self, resolution: int | str) -> int:
        return math.prod(self.sides(resolution))

    @model_validator(mode="after")
    def _grids_are_named_once(self):
        if len(set(self.resolutions)) < len(self.resolutions):
            raise ValueError(f"resolutions {self.resolutions} contain a grid twice; accepted: once each")
        return self
