"""The Burgers task: initial velocity → velocity at the final time (Cao 2021, section 5.1 and C.2)."""

from __future__ import annotations

import numpy as np

from resolvent.datasets.storage.layout import Layout, Variable, group_name, space_group
from resolvent.datasets.tasks.common import SPLITS
from resolvent.datasets.tasks.settings import BurgersDataset
from resolvent.datasets.tasks.stored import Stored, error_facts, relative_errors
from resolvent.solvers.burgers.cole_hopf import cole_hopf
from resolvent.solvers.burgers.etdrk4 import BurgersEtdrk4
from resolvent.solvers.burgers.split_step import BurgersSplitStep
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.fourier import coefficients_of, observe
from resolvent.solvers.common.grid import Grid, restrict_by_stride
from resolvent.solvers.random_fields.circle import PeriodicGaussianField

INPUT, TARGET = "initial_velocity", "final_velocity"
STEPPERS = {"split-step": BurgersSplitStep, "etdrk4": BurgersEtdrk4}
METHODS = {
    "split-step": "Strang split-step: heat equation exactly in Fourier space, (u²/2)_x dealiased; "
    "one Richardson extrapolation in the step",
    "etdrk4": "exponential time differencing, fourth-order Runge-Kutta, dealiased",
    "cole-hopf": "closed form: Cole-Hopf transformation to the heat equation",
}
REFINED_SAMPLES = 64  # solved again with twice the modes and steps; the closed form checks every sample


class Burgers:
    """Draws, solves and observes samples of the Burgers task, and knows their truth.

    A sample is named by (split, index) and computed from these and the seed alone.
    """

    inputs, targets = (INPUT,), (TARGET,)
    input_answers = True
    batch = 32

    def __init__(self, settings: BurgersDataset):
        self.settings = settings
        distribution = settings.initial_distribution
        self.field = PeriodicGaussianField(
            sigma=distribution.sigma,
            tau=distribution.tau,
            gamma=distribution.gamma,
            zero_mean=distribution.zero_mean,
            num_modes=settings.finest // 2 - 1,
        )
        variables = (
            Variable(INPUT, "velocity at time 0"),
            Variable(TARGET, f"velocity at time {settings.final_time:g}"),
        )
        self.layout = Layout(
            groups=tuple(space_group(Grid("periodic", n), *variables) for n in settings.resolutions),
            samples=settings.samples.model_dump(),
            samples_per_shard=settings.samples_per_shard,
        )

    def _solve(self, initial: np.ndarray, finer: int = 1, method: str | None = None) -> np.ndarray:
        """Final coefficients, with `finer` times the modes and steps (Cole-Hopf has neither)."""
        settings, method = self.settings, method or self.settings.method
        if method == "cole-hopf":
            return cole_hopf(initial, settings.viscosity, settings.final_time)
        return STEPPERS[method](
            viscosity=settings.viscosity,
            final_time=settings.final_time,
            num_modes=finer * settings.num_modes,
            num_steps=finer * settings.num_steps,
        ).solve(initial)

    def initial_coefficients(self, samples: list[tuple[str, int]]) -> np.ndarray:
        """Fourier coefficients (len(samples), modes) of the initial velocities."""
        seed = self.settings.seed
        return np.stack(
            [self.field.coefficients(seed, SPLITS.index(split), index) for split, index in samples]
        )

    def compute(self, samples: list[tuple[str, int]]) -> dict[str, np.ndarray]:
        """Every stored array of these samples: "n512/initial_velocity" → (len(samples), 512), and so on."""
        initial = self.initial_coefficients(samples)
        final = self._solve(initial)
        arrays = {}
        for points in self.settings.resolutions:
            arrays[f"{group_name(points)}/{INPUT}"] = self._observe(initial, points)
            arrays[f"{group_name(points)}/{TARGET}"] = self._observe(final, points)
        return arrays

    def _observe(self, coefficients: np.ndarray, points: int) -> np.ndarray:
        if self.settings.restriction == "spectral":
            return observe(coefficients, points)
        return restrict_by_stride(observe(coefficients, self.settings.finest), points)

    def error_budget(self, stored: Stored) -> dict:
        """Measured errors of the stored final velocities on the finest stored grid.

        The refined run doubles the modes and the steps of a random subset; Cole-Hopf is the closed form,
        exact to rounding, of every sample. Data made by Cole-Hopf are held to the split-step method.
        """
        points = max(self.settings.resolutions)
        name = f"{group_name(points)}/{TARGET}"

        def errors(positions, **how):
            initial = self.initial_coefficients(stored.names(positions))
            solution = self._observe(self._solve(initial, **how), points)
            return relative_errors(stored.values(name, positions), solution)

        subset = stored.random_positions(REFINED_SAMPLES)
        budget = {"observed_on": group_name(points)}
        if self.settings.method == "cole-hopf":
            budget["against_split_step"] = error_facts(errors(subset, finer=2, method="split-step"))
        else:
            budget["against_refined_run"] = error_facts(errors(subset, finer=2))
            try:
                exact = [errors(part, method="cole-hopf") for part in _parts(stored.all_positions)]
                budget["against_cole_hopf"] = error_facts(np.concatenate(exact))
            except SolverError as error:
                budget["against_cole_hopf"] = {"not_available": str(error)}
        start = self._observe(self.initial_coefficients(stored.names(subset)), points)
        ratio = np.linalg.norm(stored.values(name, subset), axis=-1) / np.linalg.norm(start, axis=-1)
        budget["norm_ratio_final_to_initial"] = float(f"{np.mean(ratio):.3g}")
        return budget

    def solve_on_grid(self, values: np.ndarray) -> np.ndarray:
        """The dataset's own solver given only the input's values on a grid: the coarse classical solve.

        It keeps the modes that the grid carries, so coarse grids cost less and see less.
        """
        settings, points = self.settings, values.shape[-1]
        coarse = BurgersSplitStep(
            viscosity=settings.viscosity,
            final_time=settings.final_time,
            num_modes=min(settings.num_modes, points // 2 - 1),
            num_steps=settings.num_steps,
        )
        return observe(coarse.solve(coefficients_of(values)), points)

    def solve_interpolated(self, values: np.ndarray) -> np.ndarray:
        """Interpolation oracle: the input interpolated linearly to the finest grid, solved, restricted."""
        fine, coarse = Grid("periodic", self.settings.finest), Grid("periodic", values.shape[-1])
        upsampled = np.stack(
            [np.interp(fine.coordinates, coarse.coordinates, row, period=coarse.length) for row in values]
        )
        return self._observe(self._solve(coefficients_of(upsampled)), coarse.points)

    def description(self) -> dict:
        """The part of the dataset card that says what the numbers mean."""
        settings, distribution = self.settings, self.settings.initial_distribution
        return {
            "equation": {
                "in_words": "viscous Burgers' equation on the circle of length 1",
                "in_symbols": "∂u/∂t + u ∂u/∂x = ν ∂²u/∂x²,  x in (0, 1) periodic,  0 < t ≤ T",
                "parameters": {"viscosity ν": settings.viscosity, "final time T": settings.final_time},
                "operator": "u(·, 0) ↦ u(·, T)",
                "source": "Cao 2021 (arXiv:2105.14995), eq. 18 and section C.2",
            },
            "distribution_of_the_input": {
                "in_symbols": "N(0, σ²(-Δ + τ²I)^{-γ})",
                "parameters": {"σ": distribution.sigma, "τ": distribution.tau, "γ": distribution.gamma},
                "mean_mode": "absent" if distribution.zero_mean else "drawn",
                "truncation": f"modes up to {settings.finest // 2 - 1}",
                "pointwise_variance": float(f"{self.field.variance():.6g}"),
            },
            "restriction": settings.restriction,
            "solver": {
                "method": METHODS[settings.method],
                **(
                    {"modes": settings.num_modes, "steps": settings.num_steps}
                    if settings.method in STEPPERS
                    else {}
                ),
            },
        }


def _parts(positions: range, size: int = 256) -> list[range]:
    """`positions` in pieces that fit into memory on a fine grid."""
    return [positions[start : start + size] for start in range(0, len(positions), size)]
