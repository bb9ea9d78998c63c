"""Base class of all tasks: the methods that an equation defines, and defaults for the rest."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.storage.layout import SPLITS, Group, Layout
from resolvent.datasets.tasks.error_budget import against_computed_again, error_facts, stored_errors
from resolvent.datasets.tasks.settings import CHECKED_SAMPLES, DatasetSettings

if TYPE_CHECKING:
    from pathlib import Path

    from resolvent.datasets.storage.store import Stored

Arrays = dict[str, np.ndarray]  # (samples, ...) by name
# Maps input functions, (samples, ...space) or (samples, channels, ...space), on a grid to target functions.
Baseline = Callable[[np.ndarray, Any], np.ndarray]

FRAMES = 100  # frames of a film: four seconds at 25 frames per second


@dataclass(frozen=True)
class Motion:
    """A sample at many times, for the film on its dataset's page.

    kind         "curve" (function on a line), "field" (on a square), or "path" (moving point in a plane).
    times        (frames), in the time unit of the equation.
    values       curve: (frames, points); field: (frames, points, points), [y, x]; path: (frames, 2).
    names        names of the values: one, or two for a path.
    coordinates  coordinates of the points along an axis; empty for a path.
    """

    kind: Literal["curve", "field", "path"]
    times: np.ndarray
    values: np.ndarray
    names: tuple[str, ...]
    coordinates: np.ndarray = field(default_factory=lambda: np.zeros(0))


class Task(ABC):
    """Draw, solve and describe the samples of one dataset, and measure their errors.

    A sample is identified by split and index, and depends only on these and the seed, not on the batch or
    shard in which it is computed.

    Equations must define `groups`, `draw_one`, `solve`, `description`, and the names of their variables,
    `inputs` and `targets`. They should define `exact_solution`, `refined` or `error_budget`, since a dataset
    without a measured error is not finalised. Everything else has defaults.

    settings       settings of the dataset.
    inputs         names of the stored input variables; scalars, such as initial values, come last.
    targets        names of the stored target variables.
    input_answers  whether the input is a first guess of the target, and so a baseline.
    on_gpu         whether the solvers run on a GPU if JAX has one.
    batch          samples computed between two saves.
    dtype          precision of the stored numbers, "float64" or "float32". Computations are in float64.
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
        """Return the stored groups: the variables on each grid, or at each set of times."""

    @abstractmethod
    def draw_one(self, seed: int, split: int, index: int) -> np.ndarray:
        """Return the random numbers of sample `index` of split number `split`."""

    @abstractmethod
    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        """Return every stored array for the random numbers `drawn` (samples, ...).

        The arrays are in float64, by group and variable, "n512/final_velocity" → (samples, 512). Raises
        `SolverError` if a sample cannot be solved.
        """

    @abstractmethod
    def description(self) -> dict:
        """Return the description of the data for the card.

        The entry "equation" has `in_words`, `in_symbols`, `operator` and `source` for the dataset's page, and
        optionally `parameters`, `in_latex` and `operator_in_latex`, which the page then shows as mathematics.
        "solver" names the method. Entries "distribution_of_the_…" describe random inputs by the same keys.
        """

    def drawn_inputs(self, drawn: np.ndarray) -> Arrays | None:
        """Return the stored inputs for the random numbers `drawn`, or None if `solve` must find them.

        The arrays are named, shaped and rounded as those of `solve`.
        """
        return None

    def refined(self) -> Task | None:
        """Return a task that solves the same samples more finely, or None."""
        return None

    def exact_solution(self, drawn: np.ndarray) -> Arrays | None:
        """Return the solution for the random numbers `drawn` by a closed form, or None.

        The arrays are named and shaped as those of `solve`; some of them are enough. Do not share code with
        `solve`: then this check, unlike `refined`, also finds a mistake in the equation that `solve` solves.
        """
        return None

    def error_budget(self, stored: Stored) -> dict:
        """Measure the errors of the stored data; entries "against_…" must not exceed the stated accuracy.

        By default random samples are computed again, to distinguish damage from rounding, and compared with
        the closed form of `exact_solution` and the finer steps of `refined`, where they are defined. The
        largest error over all arrays counts.
        """
        positions = stored.random_positions(CHECKED_SAMPLES)
        total = stored.layout.num_samples
        budget = {"stored_against_computed_again": against_computed_again(self, stored, positions)}
        exact = self.exact_solution(self.draw(stored.names(positions)))
        if exact is not None:
            budget["against_exact_solution"] = {
                "reference": f"{type(self).__module__}.{type(self).exact_solution.__qualname__}",
                **error_facts(stored_errors(stored, positions, exact), total),
            }
        finer = self.refined()
        if finer is not None:
            reference = finer.compute(stored.names(positions))
            budget["against_refined_run"] = error_facts(stored_errors(stored, positions, reference), total)
        return budget

    def hold_to_accuracy(self, budget: dict, store: Path | str) -> dict:
        """Raise `DatasetError` unless errors "against_…" are within the accuracy; return card entries."""
        measured: dict[str, float] = {
            check: entry["largest_relative_l2"]
            for check, entry in budget.items()
            if check.startswith("against_") and "largest_relative_l2" in entry
        }
        if not measured:
            name = type(self).__name__
            raise DatasetError(
                f"{store} is not finalised: no error was measured; define {name}.exact_solution (a closed "
                f"form), {name}.refined (the same task, solved with finer steps), or {name}.error_budget "
                "with an entry 'against_…'"
            )
        worst, accuracy = max(measured, key=lambda check: measured[check]), self.settings.accuracy
        if not np.max(list(measured.values())) <= accuracy:  # also true if an error is NaN
            raise DatasetError(
                f"{store} is not finalised: its relative L2 error is {measured[worst]:.1e}, above the stated "
                f"accuracy {accuracy:.1e} ({worst.replace('_', ' ')}); solve more finely (more modes or "
                "steps, a smaller step or tolerance), or state a larger accuracy"
            )
        return {}

    def baselines(self) -> dict[str, Baseline]:
        """Return the classical baselines, which need only the input, by name.

        "coarse_solve" is the dataset's own solver on the grid of the input; without it, a linear operator is
        fitted to the training samples. `resolvent.evaluation.baselines.LABELS` has the names for tables.
        """
        return {}

    def classical_solvers(self) -> dict[str, Baseline]:
        """Return the classical solvers for timings, by their label in tables; by default "coarse_solve".

        Like `baselines`, they need only the input. They differ in cost and accuracy: an operator is compared
        with the fastest solver that is as accurate. Answers may be NaN if a cheap solver fails.
        """
        answers = self.baselines()
        return {"on the same grid": answers["coarse_solve"]} if "coarse_solve" in answers else {}

    def motion(self, sample: tuple[str, int]) -> Motion:
        """Solve `sample` again at many times, for a film, if `settings.moves`; may raise `SolverError`."""
        raise NotImplementedError(f"define {type(self).__name__}.motion, since its settings have `moves`")

    @property
    def precision(self) -> str:
        """Return the precision of computation and storage, for the card."""
        return f"computed in float64, stored as {self.dtype}"

    @cached_property
    def layout(self) -> Layout:
        return Layout(
            groups=self.groups(),
            samples=self.settings.samples.model_dump(),
            samples_per_shard=self.settings.samples_per_shard,
            dtype=self.dtype,
        )

    def draw(self, samples: list[tuple[str, int]]) -> np.ndarray:
        """Return the random numbers of `samples`, each (split, index): (len(samples), ...)."""
        seed = self.settings.seed
        return np.stack([self.draw_one(seed, SPLITS.index(split), index) for split, index in samples])

    def draw_first(self, count: int) -> np.ndarray:
        """Return the random numbers of the first `count` training samples, for a pilot run."""
        return self.draw([("train", index) for index in range(count)])

    def compute(self, samples: list[tuple[str, int]]) -> dict[str, np.ndarray]:
        """Return every stored array of `samples`, each (split, index)."""
        return self.solve(self.draw(samples))

    def inputs_of(self, samples: list[tuple[str, int]]) -> Arrays:
        """Return the stored inputs of `samples`, each (split, index), in the stored precision.

        The targets are not solved for, unless the inputs are a part of the solution.
        """
        parts: dict[str, list[np.ndarray]] = {}
        for start in range(0, len(samples), self.batch):
            drawn = self.draw(samples[start : start + self.batch])
            for name, values in (self.drawn_inputs(drawn) or self.solve(drawn)).items():
                if name.partition("/")[2] in self.inputs:
                    parts.setdefault(name, []).append(values.astype(self.layout.dtype))
        return {name: np.concatenate(values) for name, values in parts.items()}

    def compute_with_errors(self, samples: list[tuple[str, int]]) -> tuple[Arrays, Arrays]:
        """Return the arrays of `compute`, and error estimates (len(samples),) that are by-products, by name.

        `error_budget` finds them in `stored.errors`. By default there are none.
        """
        return self.compute(samples), {}
