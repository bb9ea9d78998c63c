"""The equations whose solutions move: the function that solves a sample again for the film of its page.

A function takes the task and the sample, (split, index), and returns a `Motion`. An equation without an entry
has no film.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resolvent.datasets.motion.motion import Motion
    from resolvent.datasets.tasks.task import Task

MOTIONS = {
    "burgers": "resolvent.datasets.motion.burgers:burgers_motion",
    "kolmogorov": "resolvent.datasets.motion.kolmogorov:kolmogorov_motion",
    "lorenz63": "resolvent.datasets.motion.lorenz63:lorenz63_motion",
    "controlled_ode": "resolvent.datasets.motion.controlled_ode:controlled_ode_motion",
}


def motion_of(task: Task, sample: tuple[str, int]) -> Motion:
    """Solve `sample`, (split, index), again, and observe it at many moments.

    Raises
    ------
    KeyError
        When the equation is not in `MOTIONS`.
    SolverError
        When the sample cannot be solved.
    """
    module, _, name = MOTIONS[task.settings.equation].partition(":")
    return getattr(importlib.import_module(module), name)(task, sample)
