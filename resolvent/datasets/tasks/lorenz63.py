"""Lorenz-63: observed component → unobserved components (Calvello et al. 2024, section 6.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field, model_validator
from scipy.interpolate import CubicSpline

from resolvent.common.norms import relative_l2
from resolvent.datasets.storage.layout import Group, Variable, time_group
from resolvent.datasets.tasks.error_budget import chosen_facts, error_facts
from resolvent.datasets.tasks.settings import ACCURACY, LEAST_PRECISE, Known, check_least_accuracy
from resolvent.datasets.tasks.symmetries import Symmetry, of_signs
from resolvent.datasets.tasks.task import Arrays, Baseline, Motion
from resolvent.datasets.tasks.trajectories import TrajectoryDataset, TrajectoryTask
from resolvent.solvers.common.grid import AnyGrid, Nodes

if TYPE_CHECKING:
    from resolvent.datasets.storage.store import Stored
    from resolvent.solvers.lorenz63 import Lorenz63

REFINED_SAMPLES = 256
STEP_SECONDS = 3e-6  # of one sample
LONGEST_STEP = 0.02  # of `solvers.lorenz63.longest_step`, for the prediction of time
# Rounding errors of 24,000 trajectories at times t from 2 to 25 were below ROUNDING e^{GROWTH t}; GROWTH is
# the Lyapunov exponent for Lorenz's parameters.
ROUNDING, GROWTH = 2e-12, 0.9


class Lorenz63Dataset(TrajectoryDataset):
    """Lorenz-63: the map from x to the unobserved components (Calvello 2024, eq. 40 and section 6.1)."""

    version, checks_version = 1, 1
    quantities = ("observed component x", "unobserved components")
    moves = True
    film_caption = (
        "The first test sample in the plane of x and z (left), with the last quarter of its path, and both "
        "components in time (right). The state circles one wing of the attractor and switches to the other "
        "at irregular times."
    )
    known = Known("initial state", (3,))

    equation: Literal["lorenz63"] = Field(description="the equation solved")
    targets: Literal["yz", "y"] = Field(
        "yz", description="yz: from (x, y(0), z(0)) to y and z; y: from x to y, without initial values"
    )
    sigma: float = Field(10.0, gt=0, description="σ, the Prandtl number")
    rho: float = Field(28.0, gt=0, description="ρ, the Rayleigh number over its critical value")
    beta: float = Field(8 / 3, gt=0, description="β, a geometric factor")
    step: float | None = Field(
        None,
        gt=0,
        description="largest time step of a Taylor series of order 12; none: adaptive order for each sample "
        "to reach `accuracy`",
    )
    accuracy: float = Field(1e-8, ge=1e-15, le=LEAST_PRECISE, description=ACCURACY)

    @model_validator(mode="after")
    def _accuracy_is_in_reach(self):
        # For other parameters the growth of errors is not known in advance.
        growth = GROWTH * ((self.sigma, self.rho, self.beta) == (10.0, 28.0, 8 / 3))
        # With a step of one's own: the rounding of a single operation, which no step avoids.
        rounding = ROUNDING if self.step is None else 2.0**-53
        least, latest = rounding * math.exp(min(growth * self.final_time, 700)), self.final_time
        if growth and self.accuracy > rounding:
            latest = math.log(self.accuracy / rounding) / growth
        hint = f" at final_time {self.final_time:g}; or final_time {latest:.3g} or less" * (
            latest < self.final_time
        )
        check_least_accuracy(self.accuracy, least, hint)
        return self

    @property
    def in_channels(self) -> int:  # type: ignore[override]
        return 1 + self.initial_channels

    @property
    def initial_channels(self) -> int:  # type: ignore[override]
        return 2 if self.targets == "yz" else 0

    @property
    def out_channels(self) -> int:  # type: ignore[override]
        return len(self.targets)

    def task(self) -> Lorenz63Task:
        return Lorenz63Task(self)

    def cheap_answer(self, inputs: np.ndarray, prediction: np.ndarray, grid: AnyGrid) -> np.ndarray:
        """Return y from the first equation, and z from the third, for the observed x."""
        return self.task().solve_on_times(inputs, grid)

    def symmetries(self) -> tuple[Symmetry, ...]:
        """Return (x, y, z) → (-x, -y, z)."""
        return of_signs((-1, -1, 1)[: self.in_channels], (-1, 1)[: self.out_channels])

    def seconds_per_sample(self) -> float:
        steps = self.final_time / (self.step or LONGEST_STEP)
        return max(6e-4, STEP_SECONDS * steps) * len(self.observations)

    @staticmethod
    def solve_values(
        values: np.ndarray,
        *,
        times: Sequence[float],
        sigma: float = 10.0,
        rho: float = 28.0,
        beta: float = 8 / 3,
        step: float = 0.01,
    ) -> np.ndarray:
        """Solve Lorenz's model of 1963: states at time 0 → trajectories, (samples, 3, times) or (3, times).

        Parameters
        ----------
        values
            (samples, 3) or (3,): x, y and z at time 0.
        times
            Increasing, none negative: at least two.
        sigma, rho, beta
            σ, ρ, β > 0.
        step
            Largest time step.

        Raises
        ------
        ValueError, SolverError
            As `resolvent.solve`.

        Examples
        --------
        >>> import resolvent
        >>> resolvent.solve("lorenz63", [1.0, 1.0, 1.0], times=[0.0, 0.5, 1.0]).shape
        (3, 3)
        """
        from resolvent.solvers.lorenz63 import Lorenz63

        solver = Lorenz63(sigma=sigma, rho=rho, beta=beta, step=step)
        return solver.solve(values, Nodes(tuple(map(float, times))))


class Lorenz63Task(TrajectoryTask):
    """Draw initial conditions and solve for trajectories at every set of observation times."""

    settings: Lorenz63Dataset

    def __init__(self, settings: Lorenz63Dataset):
        super().__init__(settings)
        self.inputs = ("x", "y_initial", "z_initial") if settings.targets == "yz" else ("x",)
        self.targets = tuple(settings.targets)
        self.input_answers = settings.targets == "y"  # x and y are close

    def groups(self) -> tuple[Group, ...]:
        components = ("x", *self.targets)
        trajectories = tuple(Variable(name, f"component {name} of the state") for name in components)
        numbers = tuple(Variable(name, f"{name[0]} at time 0") for name in self.inputs[1:])
        return tuple(time_group(name, times, trajectories, numbers) for name, times in self.times.items())

    def _solver(self, step: float) -> Lorenz63:
        from resolvent.solvers.lorenz63 import Lorenz63

        return Lorenz63(**self._parameters(), step=step)

    def _parameters(self) -> dict[str, Any]:
        return self.settings.model_dump(include={"sigma", "rho", "beta"})

    def draw_one(self, seed: int, split: int, index: int) -> np.ndarray:
        """Draw a state (3,) at time 0."""
        from resolvent.solvers.lorenz63 import initial_condition

        return initial_condition(seed, split, index)

    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        return self._solved(drawn)[0]

    def compute_with_errors(self, samples: list[tuple[str, int]]) -> tuple[Arrays, Arrays]:
        return self._solved(self.draw(samples))

    def _solved(self, drawn: np.ndarray) -> tuple[Arrays, Arrays]:
        """Return every stored array, and the adaptive choices for each sample, if any."""
        arrays, chosen = Arrays(), Arrays()
        for name, times in self.times.items():
            trajectories, of_set = self._trajectories(drawn, times)
            states = dict(zip("xyz", np.moveaxis(trajectories, 1, 0), strict=True))
            states |= {"y_initial": drawn[:, 1], "z_initial": drawn[:, 2]}
            arrays |= {f"{name}/{v}": states[v] for v in (*self.inputs, *self.targets)}
            chosen |= {f"{name}/{key}": values for key, values in of_set.items()}
        return arrays, chosen

    def _trajectories(self, drawn: np.ndarray, times: Nodes) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        settings = self.settings
        if settings.step is not None:
            return self._solver(settings.step).solve(drawn, times), {}
        from resolvent.solvers.lorenz63 import ORDERS, solve_to

        solved = solve_to(settings.accuracy, drawn, times, **self._parameters())
        orders = np.array(ORDERS)[solved.rungs[:, 0]]
        return np.stack(solved.solutions), {"order": orders, "estimated": solved.errors, "work": solved.work}

    def baselines(self) -> dict[str, Baseline]:
        return {"coarse_solve": self.solve_on_times}

    def solve_on_times(self, inputs: np.ndarray, times: AnyGrid) -> np.ndarray:
        """Solve the equations from the observed x, and from y(0) and z(0) if z is a target.

        `inputs` is x (samples, times), or x with the constants y(0) and z(0), (samples, 3, times). If the
        first time is later than the longest interval between two times, y(0) and z(0) do not help.
        """
        from resolvent.solvers.lorenz63 import unobserved_y, unobserved_z

        assert isinstance(times, Nodes)  # trajectories are always at nodes in time
        settings = self.settings
        if settings.targets == "y":
            return unobserved_y(inputs, times, settings.sigma)
        x, initial_y, initial_z = inputs[:, 0], inputs[:, 1, 0], inputs[:, 2, 0]
        y, t = unobserved_y(x, times, settings.sigma), times.coordinates
        if t[0] > np.diff(t).max():
            return np.stack([y, self._fitted_z(x, y, times)], axis=1)
        if t[0] > 0:  # initial values are of time 0: extrapolate x to it
            start = CubicSpline(t, x, axis=-1)([0.0])
            x, y = np.concatenate([start, x], axis=1), np.concatenate([start, y], axis=1)
        y[:, 0] = initial_y
        whole = times if t[0] == 0 else Nodes((0.0, *times.positions))
        z = unobserved_z(x, y, initial_z, whole, settings.beta)
        return np.stack([y, z], axis=1)[..., -len(t) :]

    def _fitted_z(self, x: np.ndarray, y: np.ndarray, times: Nodes) -> np.ndarray:
        """Return z at times long after 0 without z(0): z₀ e^{-β(t - t₀)} is fitted to the second equation."""
        from resolvent.solvers.lorenz63 import unobserved_z

        t, settings = times.coordinates, self.settings
        decay = np.exp(-settings.beta * (t - t[0]))
        z = unobserved_z(x, y, np.zeros(len(x)), times, settings.beta)
        missing = x * (settings.rho - z) - y - CubicSpline(t, y, axis=-1)(t, 1)
        weights = times.weights * x * decay
        first = (weights * missing).sum(axis=1) / (weights * x * decay).sum(axis=1)
        return z + first[:, None] * decay

    def error_budget(self, stored: Stored) -> dict:
        """Measure errors over all components at the worst times, against half the step and diffrax."""
        from resolvent.solvers.lorenz63 import longest_step, solve_diffrax

        settings = self.settings
        every = sorted({time for times in self.times.values() for time in times.positions})
        positions = stored.random_positions(REFINED_SAMPLES)
        initial = self.draw(stored.names(positions))
        components = ("x", *self.targets)
        kept = ["xyz".index(component) for component in components]

        def facts(states: np.ndarray) -> dict:
            errors = []
            for name, times in self.times.items():
                values = [stored.values(f"{name}/{component}", positions) for component in components]
                expected = states[:, kept][..., np.searchsorted(every, times.positions)]
                errors.append(relative_l2(np.stack(values, axis=1), expected))
            return error_facts(np.max(errors, axis=0), stored.layout.num_samples)

        parameters = self._parameters()
        budget: dict = {"observed_at": ", ".join(self.times)}
        if settings.step is None:
            keys = ("order", "estimated", "work")
            chosen = {
                key: np.concatenate([stored.errors[f"{name}/{key}"] for name in self.times]) for key in keys
            }
            budget["chosen_for_each_sample"] = chosen_facts(chosen, ("order",))
        step = settings.step or longest_step(**parameters) / 2
        growth = math.exp(min(GROWTH * settings.final_time, 50))  # of the errors of the integrator
        tolerance = min(max(0.01 * settings.accuracy / growth, 1e-15), 1e-12)
        times = Nodes(tuple(every))
        independent = solve_diffrax(initial, times, **parameters, tolerance=tolerance)
        return budget | {
            "against_refined_run": facts(self._solver(step / 2).solve(initial, times)),
            "against_diffrax_dopri8": facts(independent),
        }

    def motion(self, sample: tuple[str, int]) -> Motion:
        """Solve from the initial state, and return the path in the plane of x and z."""
        times = self.moments()
        ((states,), _) = self._trajectories(self.draw([sample]), times)
        return Motion("path", times.coordinates, states[[0, 2]].T, names=("x", "z"))

    def description(self) -> dict:
        from resolvent.solvers.lorenz63 import Lorenz63, longest_step

        settings = self.settings
        solver = {
            "method": f"Taylor series of order {Lorenz63.order}, steps ending at every observed time",
            "largest_step": settings.step,
            "tolerance_of_the_last_terms": Lorenz63.tolerance,
        }
        if settings.step is None:
            solver = {
                "method": "Taylor series, steps ending at every observed time",
                "order": "as high for each sample as the stated accuracy takes",
                "largest_step": float(f"{longest_step(**self._parameters()):.3g}"),
            }
        operator = {
            "yz": "(x on [0, T], y(0), z(0)) ↦ (y, z) on [0, T]",
            "y": "x on [0, T] ↦ y on [0, T]; y(0) and z(0) are not given, synchronisation stands in for them",
        }
        in_latex = {
            "yz": r"\bigl(x|_{[0, T]},\, y(0),\, z(0)\bigr) \mapsto (y, z)|_{[0, T]}",
            "y": r"x|_{[0, T]} \mapsto y|_{[0, T]}",
        }
        return {
            "equation": {
                "in_words": "Lorenz's model of convection (1963)",
                "in_symbols": "dx/dt = σ(y - x),  dy/dt = x(ρ - z) - y,  dz/dt = xy - βz",
                "in_latex": r"\frac{dx}{dt} = \sigma(y - x), \quad \frac{dy}{dt} = x(\rho - z) - y,"
                r" \quad \frac{dz}{dt} = xy - \beta z",
                "parameters": {"σ": settings.sigma, "ρ": settings.rho, "β": settings.beta},
                "final_time": settings.final_time,
                "operator": operator[settings.targets],
                "operator_in_latex": in_latex[settings.targets],
                "source": "Calvello et al. 2024 (arXiv:2406.06486), eq. 40 and section 6.1",
            },
            "distribution_of_the_input": {
                "in_symbols": "x(0), y(0) ~ U(-15, 15),  z(0) ~ U(0, 40), independent",
                "in_latex": r"x(0),\, y(0) \sim U(-15, 15), \quad z(0) \sim U(0, 40),"
                r"\ \text{independent}",
                "source": "public code of Calvello et al.; the paper names no distribution",
            },
            "solver": solver,
        }
