"""Burgers' equation in time: the velocity on the circle, from the initial one to the final time."""

from __future__ import annotations

import numpy as np

from resolvent.datasets.motion.motion import FRAMES, Motion
from resolvent.solvers.common.fourier import coefficients_of, observe

POINTS = 512
MODES, STEPS = 192, 8  # integrated; steps between two moments, which are a hundredth of the time apart


def burgers_motion(task, sample: tuple[str, int]) -> Motion:
    """March the initial velocity of `sample` from moment to moment, by the split-step method.

    The initial velocity is what was drawn, or, of data that were imported, the file's.
    """
    from resolvent.solvers.burgers.split_step import BurgersSplitStep

    settings = task.settings
    drawn = task.draw([sample])
    # Drawn are Fourier coefficients; an imported sample is read as values of its input and its target.
    state = coefficients_of(drawn[:, 0]) if hasattr(settings, "source") else drawn
    interval = settings.final_time / (FRAMES - 1)
    solver = BurgersSplitStep(
        viscosity=settings.viscosity, final_time=interval, num_modes=MODES, num_steps=STEPS
    )
    values = [observe(state, POINTS)[0]]
    for _ in range(FRAMES - 1):
        state = solver.solve(state)
        values.append(observe(state, POINTS)[0])
    return Motion(
        kind="curve",
        times=interval * np.arange(FRAMES),
        values=np.stack(values),
        names=("velocity u",),
        coordinates=np.arange(POINTS) / POINTS,
    )
