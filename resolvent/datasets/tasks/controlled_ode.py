"""The controlled ODE: control → state (Calvello et al. 2024, section 6.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from resolvent.common.norms import relative_l2
from resolvent.datasets.storage.layout import Group, Variable, time_group
from resolvent.datasets.tasks.error_budget import error_facts
from resolvent.datasets.tasks.settings import ACCURACY, LEAST_PRECISE, Known
from resolvent.datasets.tasks.task import Baseline, Motion
from resolvent.datasets.tasks.trajectories import TrajectoryDataset, TrajectoryTask

if TYPE_CHECKING:
    from resolvent.datasets.storage.store import Stored
    from resolvent.solvers.common.grid import AnyGrid

INPUT, TARGET = "control", "state"
CHECK_SECONDS = 4e-3  # to integrate one sample over a unit of time, for each sine: the j-th is as fast as j
CHECKED_SAMPLES = 32  # samples integrated in time to check the closed form


class ControlledOdeDataset(TrajectoryDataset):
    """Controlled ODE dz = sin(z) du: from the control u to z (Calvello 2024, section 6.1)."""

    version, checks_version = 1, 1
    quantities = ("control", "state")
    moves = True
    film_caption = (
        "The first test sample in the plane of control and state (left), and both in time (right). The state "
        "depends only on the current control, so the point moves back and forth on one curve."
    )
    known = Known("control", ("times",))

    equation: Literal["controlled_ode"] = Field(description="the equation solved")
    initial_value: float = Field(1.0, description="z(0)")
    num_terms: int = Field(10, ge=1, description="J, the number of sines in the control")
    control_decay: Literal["inverse", "none"] = Field(
        "inverse", description="amplitude of the j-th sine: 1/j, as in the public code, or 1, as in the paper"
    )
    accuracy: float = Field(
        1e-9,
        ge=1e-11,
        le=LEAST_PRECISE,
        description=f"{ACCURACY}; the minimum is the accuracy of the integrator that checks",
    )

    def task(self) -> ControlledOdeTask:
        return ControlledOdeTask(self)

    def seconds_per_sample(self) -> float:
        return 6e-4 * len(self.observations)

    def longest_wait(self) -> float:
        return CHECK_SECONDS * CHECKED_SAMPLES * self.num_terms * self.final_time

    def cheap_answer(self, inputs: np.ndarray, prediction: np.ndarray, grid: AnyGrid) -> np.ndarray:
        return self.task().solver.state(inputs)

    @staticmethod
    def solve_values(values: np.ndarray, *, initial_value: float = 1.0) -> np.ndarray:
        """Solve dz = sin(z) du: control u → state z at the same times, by the closed form.

        Parameters
        ----------
        values
            (samples, times) or (times,): the control, starting at time 0. The state depends only on
            u(t) - u(0), so that the times themselves do not matter.
        initial_value
            z at time 0.

        Raises
        ------
        ValueError
            As `resolvent.solve`.
        """
        from resolvent.solvers.controlled_ode import ControlledOde

        return ControlledOde(initial_value).state(values - values[:, :1])


class ControlledOdeTask(TrajectoryTask):
    """Draw controls and compute states by the closed form, at every set of observation times."""

    settings: ControlledOdeDataset
    inputs, targets = (INPUT,), (TARGET,)

    def __init__(self, settings: ControlledOdeDataset):
        from resolvent.solvers.controlled_ode import ControlledOde

        super().__init__(settings)
        self.solver = ControlledOde(initial_value=settings.initial_value)

    def groups(self) -> tuple[Group, ...]:
        variables = (Variable(INPUT, "control u"), Variable(TARGET, "state z"))
        return tuple(time_group(name, times, variables) for name, times in self.times.items())

    def draw_one(self, seed: int, split: int, index: int) -> np.ndarray:
        """Draw the amplitudes and the frequencies of a control, (2, J)."""
        from resolvent.solvers.controlled_ode import draw_control

        given = self.settings.num_terms, self.settings.control_decay
        return np.stack(draw_control(seed, split, index, *given))

    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        arrays: dict[str, np.ndarray] = {}
        for name, times in self.times.items():
            control, state = self.solver.solve(*_parts(drawn), times)
            arrays |= {f"{name}/{INPUT}": control, f"{name}/{TARGET}": state}
        return arrays

    def baselines(self) -> dict[str, Baseline]:
        return {"coarse_solve": lambda control, times: self.solver.state(control)}

    def error_budget(self, stored: Stored) -> dict:
        """Measure the stored states at the first set of times against an integration in time (SciPy)."""
        name, times = next(iter(self.times.items()))
        positions = stored.random_positions(CHECKED_SAMPLES)
        integrated = self.solver.integrate(*_parts(self.draw(stored.names(positions))), times)
        values = stored.values(f"{name}/{TARGET}", positions)
        return {
            "observed_at": name,
            "against_scipy_dop853": error_facts(relative_l2(values, integrated), stored.layout.num_samples),
        }

    def motion(self, sample: tuple[str, int]) -> Motion:
        """Return the path of control and state, which moves back and forth on one curve."""
        times = self.moments()
        control, state = self.solver.solve(*_parts(self.draw([sample])), times)
        values = np.stack([control[0], state[0]], axis=1)
        return Motion("path", times.coordinates, values, names=("control u", "state z"))

    def description(self) -> dict:
        settings = self.settings
        amplitude = "ξ_j/j" if settings.control_decay == "inverse" else "ξ_j"
        in_latex = r"\frac{\xi_j}{j}" if settings.control_decay == "inverse" else r"\xi_j"
        return {
            "equation": {
                "in_words": "scalar differential equation driven by a control",
                "in_symbols": "dz = sin(z) du,  z(0) = z₀",
                "in_latex": r"dz = \sin(z)\,du, \quad z(0) = z_0",
                "parameters": {"z₀": settings.initial_value},
                "final_time": settings.final_time,
                "operator": "u on [0, T] ↦ z on [0, T]",
                "operator_in_latex": r"u|_{[0, T]} \mapsto z|_{[0, T]}",
                "source": "Calvello et al. 2024 (arXiv:2406.06486), eq. CDE, section 6.1",
            },
            "distribution_of_the_input": {
                "in_symbols": f"u(t) = Σ_j {amplitude} sin(π η_j t),  ξ_j ~ N(0, 1),  η_j ~ U(0, J),  "
                f"j = 1, …, J = {settings.num_terms}",
                "in_latex": rf"u(t) = \sum_{{j=1}}^{{{settings.num_terms}}} {in_latex} \sin(\pi\eta_j t), "
                rf"\quad \xi_j \sim N(0, 1), \quad \eta_j \sim U(0, {settings.num_terms})",
                "source": "public code of Calvello et al. has the factor 1/j, the paper does not",
            },
            "solver": {"method": "closed form z = 2 arctan(tan(z₀/2) exp(u(t) - u(0))), exact to rounding"},
        }


def _parts(drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return amplitudes and frequencies, (samples, 2, J) → (samples, J) each."""
    return np.ascontiguousarray(drawn[:, 0]), np.ascontiguousarray(drawn[:, 1])
