"""The Lorenz-63 tasks: an observed trajectory → the unobserved ones (Calvello et al. 2024, section 6.1)."""

from __future__ import annotations

import numpy as np

from resolvent.datasets.storage.layout import Layout, Variable, time_group
from resolvent.datasets.tasks.common import SPLITS
from resolvent.datasets.tasks.stored import Stored, error_facts, relative_errors
from resolvent.datasets.tasks.trajectory_settings import Lorenz63Dataset
from resolvent.solvers.common.grid import Nodes
from resolvent.solvers.lorenz63.initial_states import initial_condition
from resolvent.solvers.lorenz63.observer import unobserved_y, unobserved_z
from resolvent.solvers.lorenz63.reference import solve_diffrax
from resolvent.solvers.lorenz63.taylor_series import Lorenz63

REFINED_SAMPLES = 256


class Lorenz63Task:
    """Draws initial conditions and solves for trajectories at every set of observation times."""

    inputs: tuple[str, ...]
    targets: tuple[str, ...]
    input_answers: bool
    batch = 1000

    def __init__(self, settings: Lorenz63Dataset):
        self.settings = settings
        with_initial = settings.targets == "yz"
        self.inputs = ("x", "y_initial", "z_initial") if with_initial else ("x",)
        self.targets = tuple(settings.targets)
        self.input_answers = settings.targets == "y"  # x and y are close
        self.times = {
            name: observation.nodes(settings.final_time, settings.seed)
            for name, observation in settings.observations.items()
        }
        trajectories = tuple(
            Variable(name, f"component {name} of the state") for name in ("x", *settings.targets)
        )
        numbers = (
            Variable("y_initial", "y at time 0"),
            Variable("z_initial", "z at time 0"),
        )
        self.layout = Layout(
            groups=tuple(
                time_group(name, times, trajectories, numbers if with_initial else ())
                for name, times in self.times.items()
            ),
            samples=settings.samples.model_dump(),
            samples_per_shard=settings.samples_per_shard,
        )
        self.solver = self._solver(settings.step)

    def _solver(self, step: float) -> Lorenz63:
        settings = self.settings
        return Lorenz63(sigma=settings.sigma, rho=settings.rho, beta=settings.beta, step=step)

    def initial_conditions(self, samples: list[tuple[str, int]]) -> np.ndarray:
        """States (len(samples), 3) at time 0."""
        seed = self.settings.seed
        return np.stack([initial_condition(seed, SPLITS.index(split), index) for split, index in samples])

    def compute(self, samples: list[tuple[str, int]]) -> dict[str, np.ndarray]:
        """Every stored array of these samples: "dt0.01/x" → (len(samples), times), and so on."""
        initial = self.initial_conditions(samples)
        arrays = {}
        for name, times in self.times.items():
            states = dict(zip("xyz", np.moveaxis(self.solver.solve(initial, times), 1, 0), strict=True))
            states |= {"y_initial": initial[:, 1], "z_initial": initial[:, 2]}
            arrays |= {f"{name}/{v}": states[v] for v in (*self.inputs, *self.targets)}
        return arrays

    def solve_on_times(self, inputs: np.ndarray, times: Nodes) -> np.ndarray:
        """The targets by the model's equations from the observed x, and from z(0) where z is one of them."""
        settings = self.settings
        if settings.targets == "y":
            return unobserved_y(inputs, times, settings.sigma)
        x, initial_y, initial_z = inputs[:, 0], inputs[:, 1, 0], inputs[:, 2, 0]
        y = unobserved_y(x, times, settings.sigma)
        if times.positions[0] == 0:
            y[:, 0] = initial_y
        return np.stack([y, unobserved_z(x, y, initial_z, times, settings.beta)], axis=1)

    def error_budget(self, stored: Stored) -> dict:
        """Errors of the stored trajectories, all of them together, at the first set of times.

        Against half the step, and against an independent adaptive integrator (diffrax, Dopri8).
        """
        name, times = next(iter(self.times.items()))
        positions = stored.random_positions(REFINED_SAMPLES)
        initial = self.initial_conditions(stored.names(positions))
        values = np.stack([stored.values(f"{name}/{v}", positions) for v in ("x", *self.targets)], axis=1)
        kept = ["xyz".index(v) for v in ("x", *self.targets)]
        settings = self.settings
        refined = self._solver(settings.step / 2).solve(initial, times)[:, kept]
        independent = solve_diffrax(
            initial, times, sigma=settings.sigma, rho=settings.rho, beta=settings.beta
        )[:, kept]
        return {
            "observed_at": name,
            "against_refined_run": error_facts(relative_errors(values, refined)),
            "against_diffrax_dopri8": error_facts(relative_errors(values, independent)),
        }

    def description(self) -> dict:
        """The part of the dataset card that says what the numbers mean."""
        settings = self.settings
        operator = {
            "yz": "(x on [0, T], y(0), z(0)) ↦ (y, z) on [0, T]",
            "y": "x on [0, T] ↦ y on [0, T]; y(0) and z(0) are not given, synchronisation stands in for them",
        }
        return {
            "equation": {
                "in_words": "Lorenz's model of convection (1963)",
                "in_symbols": "dx/dt = σ(y - x),  dy/dt = x(ρ - z) - y,  dz/dt = xy - βz",
                "parameters": {"σ": settings.sigma, "ρ": settings.rho, "β": settings.beta},
                "final_time": settings.final_time,
                "operator": operator[settings.targets],
                "source": "Calvello et al. 2024 (arXiv:2406.06486), eq. 40 and section 6.1",
            },
            "distribution_of_the_input": {
                "in_symbols": "x(0), y(0) ~ U(-15, 15),  z(0) ~ U(0, 40), independent",
                "source": "public code of Calvello et al.; the paper names no distribution",
            },
            "solver": {
                "method": f"Taylor series of order {self.solver.order}, steps ending at every observed time",
                "largest_step": settings.step,
                "tolerance_of_the_last_terms": self.solver.tolerance,
            },
        }
