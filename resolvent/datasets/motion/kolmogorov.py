"""Kolmogorov flow from its random initial vorticity on: the spin-up, before anything is stored."""

from __future__ import annotations

import numpy as np

from resolvent.datasets.motion.motion import FRAMES, Motion
from resolvent.solvers.common.fourier import observe_2d

POINTS = 128  # along each side
FEWEST_MODES = 64  # integrated: the random field needs more at first than the developed flow


def kolmogorov_motion(task, sample: tuple[str, int]) -> Motion:
    """Solve from the drawn initial vorticity of `sample` to the time of its stored input, the last moment.

    With the solver of the dataset; where it has fewer than `FEWEST_MODES`, with these, for unlike a dataset a
    film is seen, and so is held to be resolved, at all times.
    """
    settings = task.settings
    drawn = task.draw([sample])
    times = np.linspace(0, settings.spin_up_time, FRAMES)
    modes = max(FEWEST_MODES, settings.num_modes)
    solver = task.integrator(settings.method, modes, settings.step)
    later = solver.solve(drawn, tuple(map(float, times[1:])))[0]
    values = np.concatenate([observe_2d(drawn, POINTS), observe_2d(later, POINTS)])
    return Motion(
        kind="field",
        times=times,
        values=values,
        names=("vorticity ω",),
        coordinates=2 * np.pi * np.arange(POINTS) / POINTS,
    )
