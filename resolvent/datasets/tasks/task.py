"""The base of every task: what an equation has to say, and what is the same for all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from resolvent.datasets.storage.layout import SPLITS, Group, Layout
from resolvent.datasets.tasks.error_budget import (
    against_computed_again,
    error_facts,
    hold_to_accuracy,
    stored_errors,
)
from resolvent.datasets.tasks.settings import CHECKED_SAMPLES, DatasetSettings

if TYPE_CHECKING:
    from pathlib import Path

    from resolvent.datasets.storage.store import Stored

# From input functions, (samples, ...space) or (samples, channels, ...space), on a grid to target functions.
Baseline = Callable[[np.ndarray, Any], np.ndarray]

FRAMES = 100  # of a film: four seconds at 25 frames a second


@dataclass(frozen=True)
class Motion:
    """A sample at many moments, from which the film of its dataset's page is drawn.

    kind         what is drawn: a function on a line, on a square, or a point that moves in a plane.
    times        (frames), in the unit of the equation.
    values       of a curve (frames, points), of a field (frames, points, points), [y, x], of a path
                 (frames, 2).
    names        of the values: one, or two of a path.
    coordinates  of the points along an axis; of a path empty.
    """

    kind: Literal["curve", "field", "path"]
    times: np.ndarray
    values: np.ndarray
    names: tuple[str, ...]
    coordinates: np.ndarray = field(default_factory=lambda: np.zeros(0))


class Task(ABC):
    """Draws, solves and describes the samples of one dataset, and measures their errors.

    A sample is named by its split and its index, and computed from these and the seed alone: it has the same
    numbers alone, in any batch and in any shard.

    An equation must define `groups`, `draw_one`, `solve` and `description`, and the names of its variables,
    `inputs` and `targets`. It should define `refined` or `error_budget`: a dataset without a measured error
    is not finalised. All else has defaults.

    settings       of the dataset.
    inputs         names of the stored variables that an operator takes; those of one number a sample, such
                   as initial values, come last.
    targets        names of the stored variables that it gives.
    input_answers  whether the input is a first guess of the target, which makes it a baseline.
    on_gpu         whether its solvers compute on a GPU where JAX has one.
    batch          samples computed between two saves.
    dtype          of the stored numbers: "float64" or "float32". They are computed in float64.
    """

    settings: DatasetSettings
    inputs: tuple[str, ...]
    targets: tuple[str, ...]
    input_answers: bool = False
    on_gpu: bool = True
    batch: int = 32
    dtype: str = "float64"

    def __init__(self, settings: DatasetSettings):
        self.settings = settings

    @abstractmethod
    def groups(self) -> tuple[Group, ...]:
        """Lay out what is stored: the variables on each grid, or at each set of times."""

    @abstractmethod
    def draw_one(self, seed: int, split: int, index: int) -> np.ndarray:
        """Draw the random numbers behind sample `index` of split number `split`, and no other's."""

    @abstractmethod
    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        """Compute every stored array of the samples drawn, (samples, ...).

        Each is named by its group and variable, "n512/final_velocity" → (samples, 512), and is in float64.

        Raises `SolverError` when a sample cannot be solved.
        """

    @abstractmethod
    def description(self) -> dict:
        """Say for the card what the numbers mean.

        Its entry "equation" has `in_words`, `in_symbols`, `operator` and `source`, which the dataset's page
        shows, and may have `parameters`, and `in_latex` and `operator_in_latex`, which the page then shows
        as mathematics instead; "solver" names the method. An entry "distribution_of_the_…" says what is
        drawn, in the same words.
        """

    def refined(self) -> Task | None:
        """Build the task with the same samples, solved more finely; None: there is nothing to refine."""
        return None

    def error_budget(self, stored: Stored) -> dict:
        """Measure the errors of what is stored; entries "against_…" are held to the stated accuracy.

        By default a random choice of samples is computed again, which distinguishes damage from rounding,
        and, where there is a `refined` task, solved more finely, of which the largest error over all arrays
        counts.
        """
        positions = stored.random_positions(CHECKED_SAMPLES)
        total = stored.layout.num_samples
        budget = {"stored_against_computed_again": against_computed_again(self, stored, positions)}
        finer = self.refined()
        if finer is not None:
            reference = finer.compute(stored.names(positions))
            budget["against_refined_run"] = error_facts(stored_errors(stored, positions, reference), total)
        return budget

    def hold_to_accuracy(self, budget: dict, store: Path | str) -> dict:
        """Hold the entries "against_…" of `budget` to the stated accuracy; returns what else the card says.

        Raises `DatasetError` when none was measured, or one is too large: the dataset is then not finalised.
        """
        hold_to_accuracy(budget, self, store)
        return {}

    def baselines(self) -> dict[str, Baseline]:
        """Give the classical answers from the input alone, by name.

        "coarse_solve" is the dataset's own solver on the grid of the input; where there is none, a linear
        operator is fitted to the training samples. Names that tables know are in
        `resolvent.evaluation.baselines.LABELS`.
        """
        return {}

    def classical_solvers(self) -> dict[str, Baseline]:
        """Give the classical solvers whose time is compared with that of an operator, by what tables say.

        They answer from the input alone, as `baselines` do, and differ in cost and accuracy: an operator is
        compared with the fastest that is as accurate. An answer may be NaN where a cheap one does not hold.
        By default it is the "coarse_solve" of `baselines`.
        """
        answers = self.baselines()
        return {"on the same grid": answers["coarse_solve"]} if "coarse_solve" in answers else {}

    def motion(self, sample: tuple[str, int]) -> Motion:
        """Solve `sample`, (split, index), again, and observe it at many moments: where `settings.moves`.

        Raises `SolverError` when the sample cannot be solved.
        """
        raise NotImplementedError(f"define {type(self).__name__}.motion: the settings say that it moves")

    @property
    def precision(self) -> str:
        """Say for the card in which precision the numbers were computed and are stored."""
        return f"computed in float64, stored as {self.dtype}"

    @cached_property
    def layout(self) -> Layout:
        """What the store holds, and how it is cut."""
        return Layout(
            groups=self.groups(),
            samples=self.settings.samples.model_dump(),
            samples_per_shard=self.settings.samples_per_shard,
            dtype=self.dtype,
        )

    def draw(self, samples: list[tuple[str, int]]) -> np.ndarray:
        """Draw the random numbers behind `samples`, (split, index) each: (len(samples), ...)."""
        seed = self.settings.seed
        return np.stack([self.draw_one(seed, SPLITS.index(split), index) for split, index in samples])

    def compute(self, samples: list[tuple[str, int]]) -> dict[str, np.ndarray]:
        """Compute every stored array of `samples`, (split, index) each."""
        return self.solve(self.draw(samples))

    def compute_with_errors(
        self, samples: list[tuple[str, int]]
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Compute what `compute` does, and errors of every sample that are cheap to estimate on the way.

        The errors are (len(samples),) by name; `error_budget` finds those of all samples in `stored.errors`.
        By default there are none.
        """
        return self.compute(samples), {}
