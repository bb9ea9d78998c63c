"""The Burgers task: initial velocity → velocity at the final time (Cao 2021, section 5.1 and C.2)."""

from __future__ import annotations

import numpy as np

from datasets.settings import SPLITS, BurgersDataset
from datasets.store import Layout, Variable
from solvers.burgers import BurgersSplitStep
from solvers.cole_hopf import cole_hopf
from solvers.errors import SolverError
from solvers.fourier import coefficients_of, observe
from solvers.grid import Grid, restrict_by_stride
from solvers.random_fields import PeriodicGaussianField

INPUT, TARGET = "initial_velocity", "final_velocity"


class Burgers:
    """Draws, solves and observes samples of the Burgers task, and knows their truth.

    A sample is named by (split, index) and computed from these and the seed alone.
    """

    input_variable, target_variable = INPUT, TARGET

    def __init__(self, settings: BurgersDataset):
        self.settings = settings
        law = settings.initial_law
        self.field = PeriodicGaussianField(
            sigma=law.sigma,
            tau=law.tau,
            gamma=law.gamma,
            zero_mean=law.zero_mean,
            num_modes=settings.finest // 2 - 1,
        )
        self.solver = self._solver(settings.num_modes, settings.num_steps)
        self.layout = Layout(
            variables=(
                Variable(INPUT, "velocity at time 0", "1"),
                Variable(TARGET, f"velocity at time {settings.final_time:g}", "1"),
            ),
            grids=tuple(Grid("periodic", points) for points in settings.resolutions),
            samples=settings.samples.model_dump(),
            samples_per_shard=settings.samples_per_shard,
        )

    def _solver(self, num_modes: int, num_steps: int) -> BurgersSplitStep:
        return BurgersSplitStep(
            viscosity=self.settings.viscosity,
            final_time=self.settings.final_time,
            num_modes=num_modes,
            num_steps=num_steps,
        )

    def initial_coefficients(self, samples: list[tuple[str, int]]) -> np.ndarray:
        """Fourier coefficients (len(samples), modes) of the initial velocities."""
        seed = self.settings.seed
        return np.stack(
            [self.field.coefficients(seed, SPLITS.index(split), index) for split, index in samples]
        )

    def compute(self, samples: list[tuple[str, int]]) -> dict[str, np.ndarray]:
        """Every stored array of these samples: "n512/initial_velocity" → (len(samples), 512), and so on."""
        initial = self.initial_coefficients(samples)
        final = self.solver.solve(initial)
        arrays = {}
        for grid in self.layout.grids:
            arrays[f"n{grid.points}/{INPUT}"] = self._observe(initial, grid.points)
            arrays[f"n{grid.points}/{TARGET}"] = self._observe(final, grid.points)
        return arrays

    def _observe(self, coefficients: np.ndarray, points: int) -> np.ndarray:
        if self.settings.restriction == "spectral":
            return observe(coefficients, points)
        return restrict_by_stride(observe(coefficients, self.settings.finest), points)

    def truth_budget(self, samples: list[tuple[str, int]], stored: np.ndarray) -> dict:
        """Measured error of `stored` final velocities (len(samples), points) against two other computations.

        The refined run doubles the modes and the steps; Cole-Hopf is the closed form, exact to rounding.
        """
        initial, points = self.initial_coefficients(samples), stored.shape[-1]
        refined = self._solver(2 * self.settings.num_modes, 2 * self.settings.num_steps).solve(initial)
        budget = {
            "samples": len(samples),
            "observed_on": points,
            "against_refined_run": _errors(stored, self._observe(refined, points)),
        }
        try:
            exact = cole_hopf(initial, self.settings.viscosity, self.settings.final_time)
        except SolverError as error:
            budget["against_cole_hopf"] = {"not_available": str(error)}
        else:
            budget["against_cole_hopf"] = _errors(stored, self._observe(exact, points))
        start = np.linalg.norm(self._observe(initial, points), axis=-1)
        ratio = float(np.mean(np.linalg.norm(stored, axis=-1) / start))
        budget["norm_ratio_final_to_initial"] = float(f"{ratio:.3g}")
        return budget

    def solve_on_grid(self, values: np.ndarray) -> np.ndarray:
        """The dataset's own solver given only the input's values on a grid: the coarse classical solve.

        It keeps the modes that the grid carries, so coarse grids cost less and see less.
        """
        points = values.shape[-1]
        modes = min(self.settings.num_modes, points // 2 - 1)
        coarse = self._solver(modes, self.settings.num_steps)
        return observe(coarse.solve(coefficients_of(values)), points)

    def solve_interpolated(self, values: np.ndarray) -> np.ndarray:
        """Interpolation oracle: the input interpolated linearly to the finest grid, solved, restricted."""
        fine, coarse = Grid("periodic", self.settings.finest), Grid("periodic", values.shape[-1])
        upsampled = np.stack(
            [np.interp(fine.coordinates, coarse.coordinates, row, period=coarse.length) for row in values]
        )
        return self._observe(self.solver.solve(coefficients_of(upsampled)), coarse.points)

    def description(self) -> dict:
        """The part of the dataset card that says what the numbers mean."""
        settings, law = self.settings, self.settings.initial_law
        return {
            "equation": {
                "in_words": "viscous Burgers' equation on the circle of length 1",
                "in_symbols": "∂u/∂t + u ∂u/∂x = ν ∂²u/∂x²,  x in (0, 1) periodic,  0 < t ≤ T",
                "parameters": {"viscosity ν": settings.viscosity, "final time T": settings.final_time},
                "operator": "u(·, 0) ↦ u(·, T)",
                "source": "Cao 2021 (arXiv:2105.14995), eq. 18 and section C.2",
            },
            "law_of_the_input": {
                "in_symbols": "N(0, σ²(-Δ + τ²I)^{-γ})",
                "parameters": {"σ": law.sigma, "τ": law.tau, "γ": law.gamma},
                "mean_mode": "absent" if law.zero_mean else "drawn",
                "truncation": f"modes up to {settings.finest // 2 - 1}",
                "pointwise_variance": float(f"{self.field.variance():.6g}"),
            },
            "grids": {
                "kind": "periodic: x_i = i/n, i = 0, …, n-1; the right end is excluded",
                "points": list(settings.resolutions),
                "restriction": settings.restriction,
            },
            "solver": {
                "method": "Strang split-step: heat equation exactly in Fourier space, (u²/2)_x dealiased; "
                "one Richardson extrapolation in the step",
                "modes": settings.num_modes,
                "steps": settings.num_steps,
                "precision": "float64, stored as float64",
                "stated_accuracy": settings.accuracy,
            },
        }


def _errors(values: np.ndarray, reference: np.ndarray) -> dict[str, float]:
    """Relative L2 errors over samples, to three digits: the rest is the machine's rounding."""
    errors = np.linalg.norm(values - reference, axis=-1) / np.linalg.norm(reference, axis=-1)
    return {
        "median_relative_l2": float(f"{np.median(errors):.2e}"),
        "largest_relative_l2": float(f"{np.max(errors):.2e}"),
    }
