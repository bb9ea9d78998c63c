"""Base of both Darcy problems: settings, random coefficient, solver and its measured error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from resolvent.common.norms import relative_l2
from resolvent.datasets.storage.layout import group_name
from resolvent.datasets.tasks.distributions import OnSquare, named
from resolvent.datasets.tasks.error_budget import against_computed_again, error_facts
from resolvent.datasets.tasks.settings import SidePoints, SpaceDataset, check_least_accuracy
from resolvent.datasets.tasks.symmetries import Symmetry, of_the_square
from resolvent.datasets.tasks.task import Task
from resolvent.solvers.common.cosine_series import observe_cosine
from resolvent.solvers.random_fields.gaussian import NeumannGaussianField, level_set, lognormal

if TYPE_CHECKING:
    from resolvent.datasets.storage.store import Stored

DIRECT_SAMPLES = 16  # samples solved again by a sparse direct method: two seconds each at 421 points
LEAST_ACCURACY = 1e-11  # best accuracy of the solver


class DarcySettings(SpaceDataset):
    """Darcy flow -∇·(a∇p) = 1 on the unit square, p = 0 on its boundary."""

    dimension = 2
    shows_flux = True

    distribution: OnSquare = Field(
        named("cao_darcy"),
        description="distribution of the field behind the coefficient: a name, numbers, or both",
    )
    push_forward: Literal["level_set", "lognormal"] = Field(
        "level_set", description="coefficient from field: above or below zero, or the exponential"
    )
    above: float = Field(12.0, gt=0, description="coefficient where the field is positive (level_set)")
    below: float = Field(3.0, gt=0, description="coefficient where the field is negative (level_set)")
    finest: SidePoints = Field(
        421, description="points along each side of the finest grid, which truncates the distribution"
    )
    face_mean: Literal["arithmetic", "harmonic"] = Field(
        "arithmetic", description="mean of two neighbouring coefficients on the face between them"
    )
    tolerance: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="relative residual at which conjugate gradients stop; none: they stop when the estimated "
        "error of the pressure is below `accuracy`",
    )
    accuracy: float = Field(
        1e-9,
        gt=0,
        lt=1,
        description="largest accepted relative L2 difference from a direct solution of the same equations; a "
        "dataset that misses it is not finalised",
    )

    @model_validator(mode="after")
    def _accuracy_is_in_reach(self):
        if self.tolerance is None:
            check_least_accuracy(self.accuracy, LEAST_ACCURACY)
        return self

    @property
    def solved_on(self) -> list[int]:
        """Return the points along each side of the grids on which every sample is solved."""
        return [self.finest]

    def seconds_per_sample(self) -> float:
        return 6e-7 * sum(n**2 for n in self.solved_on)

    def seconds_of_checks(self) -> float:
        return 3e-4 * self.finest**2  # direct and refined solutions

    def bytes_of_checks(self) -> float:
        return 2600.0 * self.finest**2

    shifts: ClassVar = {
        "length_scale": lambda self, by: {"distribution": self.distribution.stretched(by, 2).model_dump()},
        "contrast": lambda self, by: (
            {"above": by * self.above}
            if self.push_forward == "level_set"
            else {"distribution": self.distribution.louder(by).model_dump()}
        ),
    }

    def symmetries(self) -> tuple[Symmetry, ...]:
        return of_the_square()


class DarcyTask(Task):
    """Base of both tasks: a coefficient made of a Gaussian field, its solver, and the solver's error."""

    settings: DarcySettings
    batch = 8
    dtype = "float32"

    def __init__(self, settings: DarcySettings):
        from resolvent.solvers.darcy.five_point import DarcyFivePoint, default_method

        super().__init__(settings)
        self.field = NeumannGaussianField(**settings.distribution.covariance, num_modes=settings.finest - 1)
        stopping = "accuracy" if settings.tolerance is None else "tolerance"
        how: dict[str, Any] = {stopping: getattr(settings, stopping)}
        self.solver = DarcyFivePoint(settings.grid_kind, settings.face_mean, default_method(), **how)

    def draw_one(self, seed: int, split: int, index: int) -> np.ndarray:
        """Draw the cosine coefficients of a Gaussian field, (modes, modes)."""
        return self.field.coefficients(seed, split, index)

    def coefficient(self, fields: np.ndarray, points: int) -> np.ndarray:
        """Return the coefficient (samples, points, points) on a grid."""
        values = observe_cosine(fields, points, self.settings.grid_kind)
        if self.settings.push_forward == "lognormal":
            return lognormal(values)
        return level_set(values, above=self.settings.above, below=self.settings.below)

    def errors_of_the_solver(
        self, stored: Stored, points: int
    ) -> tuple[dict, np.ndarray, np.ndarray, np.ndarray]:
        """Solve random samples again on a grid of `points`, also by a sparse direct method, in float64.

        Returns entries of the error budget, and fields, coefficients and pressures of these samples. The same
        samples are compared with the stored numbers, up to rounding to float32.
        """
        from resolvent.solvers.darcy.direct import solve_direct

        positions = stored.random_positions(DIRECT_SAMPLES)
        fields = self.draw(stored.names(positions))
        coefficient = self.coefficient(fields, points)
        pressure = self.solver.solve(coefficient)
        direct = solve_direct(coefficient, grid=self.settings.grid_kind, face_mean=self.settings.face_mean)
        budget = {
            "solved_on": group_name(points),
            "against_direct_solve": error_facts(relative_l2(pressure, direct), stored.layout.num_samples),
            "stored_against_computed_again": against_computed_again(self, stored, positions),
            "rounding_to_float32": float(f"{np.finfo(np.float32).eps / 2:.1e}"),
        }
        return budget, fields, coefficient, pressure

    def distribution_facts(self) -> dict:
        settings, distribution = self.settings, self.settings.distribution
        pushed = (
            f"{settings.above:g} where the field is positive, {settings.below:g} elsewhere"
            if settings.push_forward == "level_set"
            else "the exponential of the field"
        )
        return {
            "in_symbols": "a = ψ(g),  g ~ N(0, σ²(-Δ + τ²I)^{-γ}),  Neumann Laplacian on (0, 1)²",
            "in_latex": r"a = \psi(g), \quad g \sim N\bigl(0,\, \sigma^2(-\Delta + \tau^2 I)^{-\gamma}\bigr),"
            r" \quad \text{Neumann Laplacian on}\ (0, 1)^2",
            "parameters": {"σ": distribution.sigma, "τ": distribution.tau, "γ": distribution.gamma},
            "push_forward_ψ": f"{pushed}; applied on the grid in use, never interpolated",
            "mean_mode": "absent" if distribution.zero_mean else "drawn",
            "truncation": f"modes up to {settings.finest - 1} along each axis",
            "mean_variance_of_the_field": float(f"{self.field.variance():.6g}"),
        }

    def solver_facts(self) -> dict:
        settings = self.settings
        return {
            "method": "5-point finite differences; conjugate gradients preconditioned by "
            + {"multigrid": "multigrid", "sine": "fast sine transforms"}[self.solver.method],
            "face_coefficients": f"{settings.face_mean} mean of the two neighbours"
            + (", as in the papers' recipe" if settings.face_mean == "arithmetic" else ""),
            "tolerance": "as the stated accuracy takes" if settings.tolerance is None else settings.tolerance,
        }
