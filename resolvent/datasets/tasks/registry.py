"""The tasks by equation. A new equation adds its settings, its module, and one line here."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Protocol

from pydantic import TypeAdapter

from resolvent.datasets.tasks.settings import DatasetSettings

if TYPE_CHECKING:  # planning a workflow needs no array library
    import numpy as np

    from resolvent.datasets.storage.layout import Layout
    from resolvent.datasets.tasks.stored import Stored

TASKS = {
    "burgers": "resolvent.datasets.tasks.burgers:Burgers",
    "darcy": "resolvent.datasets.tasks.darcy:Darcy",
    "darcy_inverse": "resolvent.datasets.tasks.darcy_inverse:DarcyInverse",
    "lorenz63": "resolvent.datasets.tasks.lorenz63:Lorenz63Task",
    "controlled_ode": "resolvent.datasets.tasks.controlled_ode:ControlledOdeTask",
    "kolmogorov": "resolvent.datasets.tasks.kolmogorov:Kolmogorov",
}


class Task(Protocol):
    """What generation, finalising and reading need of a task.

    layout         what its store holds; inputs and targets name the variables of the operator.
    input_answers  whether the input is a first guess of the target.
    batch          samples computed between two saves.

    Where there are classical answers from the input's values alone they are `solve_on_grid`,
    `solve_interpolated`, `solve_constant` or, from values at given times, `solve_on_times`.
    """

    settings: DatasetSettings
    layout: Layout
    inputs: tuple[str, ...]
    targets: tuple[str, ...]
    input_answers: bool
    batch: int

    def compute(self, samples: list[tuple[str, int]]) -> dict[str, np.ndarray]:
        """Every stored array of these samples (split, index), the same numbers in any batch."""

    def error_budget(self, stored: Stored) -> dict:
        """Measured errors. Entries "against_…" are the solver's, and are held to the stated accuracy."""

    def description(self) -> dict:
        """The part of the dataset card that says what the numbers mean."""


def build_task(settings: DatasetSettings) -> Task:
    """The task that `settings` describe, ready to compute samples. Imports its solver now, not before."""
    module, _, name = TASKS[settings.equation].partition(":")
    return getattr(importlib.import_module(module), name)(settings)


def settings_of(content: dict) -> DatasetSettings:
    """The settings that `content`, a card's or a rule's block, describes."""
    return TypeAdapter(DatasetSettings).validate_python(content)
