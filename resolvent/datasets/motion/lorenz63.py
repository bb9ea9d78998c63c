"""Lorenz's model in phase space: the path of (x, z)."""

from __future__ import annotations

import numpy as np

from resolvent.datasets.motion.motion import FRAMES, Motion
from resolvent.solvers.common.grid import Nodes

BETWEEN = 5  # moments for each frame, for a smooth path
SAMPLES = FRAMES * BETWEEN


def lorenz63_motion(task, sample: tuple[str, int]) -> Motion:
    """Solve from the drawn state of `sample` over the time of its trajectory."""
    times = Nodes(tuple(map(float, np.linspace(0, task.settings.final_time, SAMPLES))))
    (states,) = task.solver.solve(task.draw([sample]), times)
    return Motion(kind="path", times=times.coordinates, values=states[[0, 2]].T, names=("x", "z"))
