"""The Darcy task: coefficient → pressure (Cao 2021, section 5.2; Calvello 2024, section 6.2.2)."""

from __future__ import annotations

import numpy as np

from resolvent.datasets.storage.layout import Layout, Variable, group_name, space_group
from resolvent.datasets.tasks.common import SPLITS
from resolvent.datasets.tasks.settings import DarcyDataset
from resolvent.datasets.tasks.stored import Stored, against_computed_again, error_facts, relative_errors
from resolvent.solvers.common.cosine_series import observe_cosine
from resolvent.solvers.common.grid import Grid
from resolvent.solvers.common.sine_series import restrict_dirichlet
from resolvent.solvers.darcy.direct import solve_direct
from resolvent.solvers.darcy.five_point import DarcyFivePoint, default_method, refined_pressure
from resolvent.solvers.random_fields.push_forwards import level_set, lognormal
from resolvent.solvers.random_fields.square import NeumannGaussianField

INPUT, TARGET = "coefficient", "pressure"
DIRECT_SAMPLES = 16  # solved again by a sparse direct method: two seconds each at 421 points
REFINED_SAMPLES = 8  # solved on a finer grid, for the discretisation's own error
REFINEMENT = 4  # times finer


class Darcy:
    """Draws coefficients, solves for pressures, and knows both errors: the solver's and the grid's.

    A sample is a function of (seed, split, index): the coefficient on any grid is the push-forward of the
    same Gaussian field, evaluated at that grid's own points and never interpolated.
    """

    inputs, targets = (INPUT,), (TARGET,)
    input_answers = False
    batch = 8

    def __init__(self, settings: DarcyDataset):
        self.settings = settings
        self.draw = CoefficientDistribution(settings)
        self.solver = DarcyFivePoint(
            grid=settings.grid,
            face_mean=settings.face_mean,
            method=default_method(),
            tolerance=settings.tolerance,
        )
        variables = (Variable(INPUT, "permeability a"), Variable(TARGET, "pressure p"))
        self.layout = Layout(
            groups=tuple(
                space_group(Grid(settings.grid, n, dimension=2), *variables) for n in settings.resolutions
            ),
            samples=settings.samples.model_dump(),
            samples_per_shard=settings.samples_per_shard,
            dtype="float32",
        )

    def compute(self, samples: list[tuple[str, int]]) -> dict[str, np.ndarray]:
        """Every stored array of these samples, "n421/coefficient" → (len(samples), 421, 421), in float64."""
        settings, fields = self.settings, self.draw.fields(samples)
        arrays = {}
        if settings.pressure == "restricted":
            finest = self.solver.solve(self.draw.coefficient(fields, settings.finest, settings.grid))
        for points in settings.resolutions:
            coefficient = self.draw.coefficient(fields, points, settings.grid)
            arrays[f"{group_name(points)}/{INPUT}"] = coefficient
            arrays[f"{group_name(points)}/{TARGET}"] = (
                restrict_dirichlet(finest, points)
                if settings.pressure == "restricted"
                else self.solver.solve(coefficient)
            )
        return arrays

    def error_budget(self, stored: Stored) -> dict:
        """The solver's error and, apart from it, the discretisation's.

        Against a sparse direct solution of the same equations, in float64: samples are computed again, and
        the stored numbers are held to them up to the rounding to float32. Against the harmonic finite-volume
        solution on a grid four times finer, with the coefficient evaluated there: what no solver on this
        grid can avoid.
        """
        settings = self.settings
        points = settings.finest if settings.pressure == "restricted" else max(settings.resolutions)
        positions = stored.random_positions(DIRECT_SAMPLES)
        samples = stored.names(positions)
        fields = self.draw.fields(samples)
        coefficient = self.draw.coefficient(fields, points, settings.grid)
        pressure = self.solver.solve(coefficient)
        direct = solve_direct(coefficient, grid=settings.grid, face_mean=settings.face_mean)
        other = "harmonic" if settings.face_mean == "arithmetic" else "arithmetic"
        other_mean = DarcyFivePoint(grid=settings.grid, face_mean=other, tolerance=settings.tolerance).solve(
            coefficient
        )
        budget = {
            "solved_on": group_name(points),
            "against_direct_solve": error_facts(relative_errors(pressure, direct)),
            "stored_against_computed_again": against_computed_again(self, stored, positions),
            "rounding_to_float32": float(f"{np.finfo(np.float32).eps / 2:.1e}"),
            "moved_by_the_other_face_mean": error_facts(relative_errors(other_mean, pressure)),
        }
        if settings.grid == "nodes":
            refined = np.stack(
                [
                    refined_pressure(
                        lambda n, field=field: self.draw.coefficient(field[None], n, "nodes")[0],
                        points,
                        REFINEMENT,
                    )
                    for field in fields[:REFINED_SAMPLES]
                ]
            )
            budget["discretisation_error"] = {
                **error_facts(relative_errors(pressure[:REFINED_SAMPLES], refined)),
                "reference": f"harmonic finite volumes on {REFINEMENT * (points - 1) + 1} nodes",
            }
        return budget

    def solve_on_grid(self, coefficient: np.ndarray) -> np.ndarray:
        """The dataset's own solver given the coefficient on a grid, (batch, n, n): coarse and classical."""
        return self.solver.solve(coefficient.astype(np.float64))

    def solve_interpolated(self, coefficient: np.ndarray) -> np.ndarray:
        """The coefficient interpolated bilinearly to the finest grid, solved there, and observed again."""
        settings, points = self.settings, coefficient.shape[-1]
        coarse = Grid(settings.grid, points)
        fine = Grid(settings.grid, settings.finest)
        up, down = _linear_interpolation(coarse, fine), _linear_interpolation(fine, coarse)
        pressure = np.empty(coefficient.shape)
        for row, one in enumerate(coefficient):
            (finest,) = self.solver.solve((up @ one @ up.T)[None])
            pressure[row] = (
                restrict_dirichlet(finest, points) if settings.grid == "nodes" else down @ finest @ down.T
            )
        return pressure

    def solve_constant(self, coefficient: np.ndarray) -> np.ndarray:
        """Pressure of a constant coefficient, the geometric mean of the sample's values on its grid.

        In two dimensions that mean is the effective permeability of a medium that is statistically the same
        with its two materials exchanged.
        """
        (unit,) = self.solver.solve(np.ones((1, *coefficient.shape[1:])))
        return unit / np.exp(np.log(coefficient).mean(axis=(1, 2), keepdims=True, dtype=np.float64))

    def description(self) -> dict:
        """The part of the dataset card that says what the numbers mean."""
        settings = self.settings
        return {
            "equation": {
                "in_words": "steady flow through a porous medium in the unit square (Darcy)",
                "in_symbols": "-∇·(a∇p) = 1 in (0, 1)²,  p = 0 on the boundary",
                "operator": "a ↦ p",
                "source": "Cao 2021 (arXiv:2105.14995), eq. 20 and section C.3; Calvello et al. 2024 "
                "(arXiv:2406.06486), section 6.2.2",
            },
            "distribution_of_the_input": self.draw.description(),
            "solver": {
                **solver_facts(settings, self.solver),
                "pressure_on_coarser_grids": settings.pressure.replace("_", " "),
            },
        }


def _linear_interpolation(from_grid: Grid, to_grid: Grid) -> np.ndarray:
    """Matrix from values along an axis to linear interpolants; constant beyond the outermost points."""
    rows = np.eye(from_grid.points)
    return np.stack([np.interp(to_grid.coordinates, from_grid.coordinates, row) for row in rows], axis=1)


class CoefficientDistribution:
    """The random coefficient: a Gaussian field on the square, pushed forward on the grid in use."""

    def __init__(self, settings):
        self.settings = settings
        distribution = settings.distribution
        self.field = NeumannGaussianField(
            sigma=distribution.sigma,
            tau=distribution.tau,
            gamma=distribution.gamma,
            zero_mean=distribution.zero_mean,
            num_modes=settings.finest - 1,
        )

    def fields(self, samples: list[tuple[str, int]]) -> np.ndarray:
        """Cosine coefficients of the Gaussian fields."""
        seed = self.settings.seed
        return np.stack(
            [self.field.coefficients(seed, SPLITS.index(split), index) for split, index in samples]
        )

    def coefficient(self, fields: np.ndarray, points: int, kind: str) -> np.ndarray:
        """The coefficient (batch, points, points) on a grid of this kind."""
        values = observe_cosine(fields, points, kind)
        if self.settings.push_forward == "lognormal":
            return lognormal(values)
        return level_set(values, above=self.settings.above, below=self.settings.below)

    def description(self) -> dict:
        """What the card says of the distribution."""
        settings, distribution = self.settings, self.settings.distribution
        pushed = (
            f"{settings.above:g} where the field is positive, {settings.below:g} elsewhere"
            if settings.push_forward == "level_set"
            else "the exponential of the field"
        )
        return {
            "in_symbols": "a = ψ(g),  g ~ N(0, σ²(-Δ + τ²I)^{-γ}),  Neumann Laplacian on (0, 1)²",
            "parameters": {"σ": distribution.sigma, "τ": distribution.tau, "γ": distribution.gamma},
            "push_forward_ψ": f"{pushed}; applied on the grid in use, never interpolated",
            "mean_mode": "absent" if distribution.zero_mean else "drawn",
            "truncation": f"modes up to {settings.finest - 1} along each axis",
            "mean_variance_of_the_field": float(f"{self.field.variance():.6g}"),
        }


def solver_facts(settings, solver: DarcyFivePoint) -> dict:
    """What the card says of the solver."""
    return {
        "method": "5-point finite differences; conjugate gradients preconditioned by "
        + {"multigrid": "multigrid", "sine": "fast sine transforms"}[solver.method],
        "face_coefficients": f"{settings.face_mean} mean of the two neighbours"
        + (", as in the papers' recipe" if settings.face_mean == "arithmetic" else ""),
        "tolerance": settings.tolerance,
    }
