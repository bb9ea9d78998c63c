"""The controlled ODE task: control → state (Calvello et al. 2024, section 6.1)."""

from __future__ import annotations

import numpy as np

from resolvent.datasets.storage.layout import Layout, Variable, time_group
from resolvent.datasets.tasks.common import SPLITS
from resolvent.datasets.tasks.stored import Stored, error_facts, relative_errors
from resolvent.datasets.tasks.trajectory_settings import ControlledOdeDataset
from resolvent.solvers.controlled_ode import ControlledOde, draw_control

INPUT, TARGET = "control", "state"
CHECKED_SAMPLES = 32  # integrated in time, to check the closed form


class ControlledOdeTask:
    """Draws controls and gives states by the closed form, at every set of observation times."""

    inputs, targets = (INPUT,), (TARGET,)
    input_answers = False
    batch = 1000

    def __init__(self, settings: ControlledOdeDataset):
        self.settings = settings
        self.times = {
            name: observation.nodes(settings.final_time, settings.seed)
            for name, observation in settings.observations.items()
        }
        variables = (Variable(INPUT, "control u"), Variable(TARGET, "state z"))
        self.layout = Layout(
            groups=tuple(time_group(name, times, variables) for name, times in self.times.items()),
            samples=settings.samples.model_dump(),
            samples_per_shard=settings.samples_per_shard,
        )
        self.solver = ControlledOde(initial_value=settings.initial_value)

    def controls(self, samples: list[tuple[str, int]]):
        """Amplitudes and frequencies of the controls, each (len(samples), J)."""
        settings = self.settings
        drawn = [
            draw_control(
                settings.seed,
                SPLITS.index(split),
                index,
                num_terms=settings.num_terms,
                decay=settings.control_decay,
            )
            for split, index in samples
        ]
        amplitudes, frequencies = zip(*drawn, strict=True)
        return np.stack(amplitudes), np.stack(frequencies)

    def compute(self, samples: list[tuple[str, int]]) -> dict[str, np.ndarray]:
        """Every stored array of these samples: "dt0.01/control" → (len(samples), times), and so on."""
        controls = self.controls(samples)
        arrays = {}
        for name, times in self.times.items():
            arrays[f"{name}/{INPUT}"], arrays[f"{name}/{TARGET}"] = self.solver.solve(*controls, times)
        return arrays

    def solve_on_grid(self, control: np.ndarray) -> np.ndarray:
        """The state that goes with the control's values: the closed form needs no more."""
        return self.solver.state(control)

    def error_budget(self, stored: Stored) -> dict:
        """Errors of the stored states at the first set of times against an integration in time (SciPy)."""
        name, times = next(iter(self.times.items()))
        positions = stored.random_positions(CHECKED_SAMPLES)
        integrated = self.solver.integrate(*self.controls(stored.names(positions)), times)
        values = stored.values(f"{name}/{TARGET}", positions)
        return {
            "observed_at": name,
            "against_scipy_dop853": error_facts(relative_errors(values, integrated)),
        }

    def description(self) -> dict:
        """The part of the dataset card that says what the numbers mean."""
        settings = self.settings
        amplitude = "ξ_j/j" if settings.control_decay == "inverse" else "ξ_j"
        return {
            "equation": {
                "in_words": "scalar differential equation driven by a control",
                "in_symbols": "dz = sin(z) du,  z(0) = z₀",
                "parameters": {"z₀": settings.initial_value},
                "final_time": settings.final_time,
                "operator": "u on [0, T] ↦ z on [0, T]",
                "source": "Calvello et al. 2024 (arXiv:2406.06486), eq. CDE, section 6.1",
            },
            "distribution_of_the_input": {
                "in_symbols": f"u(t) = Σ_j {amplitude} sin(π η_j t),  ξ_j ~ N(0, 1),  η_j ~ U(0, J),  "
                f"j = 1, …, J = {settings.num_terms}",
                "source": "public code of Calvello et al. has the factor 1/j, the paper does not",
            },
            "solver": {"method": "closed form z = 2 arctan(tan(z₀/2) exp(u(t) - u(0))), exact to rounding"},
        }
