"""The controlled ODE: the path of control and state, which moves to and fro on one curve."""

from __future__ import annotations

import numpy as np

from resolvent.datasets.motion.motion import FRAMES, Motion
from resolvent.solvers.common.grid import Nodes

BETWEEN = 5  # moments for each frame, for a smooth path
SAMPLES = FRAMES * BETWEEN


def controlled_ode_motion(task, sample: tuple[str, int]) -> Motion:
    """Give control and state of `sample` over the time of its trajectory."""
    drawn = task.draw([sample])
    times = Nodes(tuple(map(float, np.linspace(0, task.settings.final_time, SAMPLES))))
    amplitudes, frequencies = (np.ascontiguousarray(drawn[:, row]) for row in (0, 1))
    control, state = task.solver.solve(amplitudes, frequencies, times)
    return Motion(
        kind="path",
        times=times.coordinates,
        values=np.stack([control[0], state[0]], axis=1),
        names=("control u", "state z"),
    )
