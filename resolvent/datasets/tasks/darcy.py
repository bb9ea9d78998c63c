"""Darcy flow: coefficient → pressure (Cao 2021, section 5.2; Calvello et al. 2024, section 6.2.2).

Also the inverse problem: pressure on a fine grid → coefficient on a coarse grid (Cao 2021, sections 5.3 and
C.4). The store has pressures without noise. Noise is added on reading (`resolvent.datasets.noise`), so that
one store serves any level and number of realisations.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from resolvent.common.norms import relative_l2
from resolvent.datasets.storage.layout import Group, Variable, group_name, space_group
from resolvent.datasets.tasks.distributions import OnSquare, named
from resolvent.datasets.tasks.error_budget import against_computed_again, error_facts
from resolvent.datasets.tasks.settings import (
    FEW_SAMPLES,
    LEAST_PRECISE,
    Known,
    SidePoints,
    SpaceDataset,
    SquareGrids,
    check_least_accuracy,
)
from resolvent.datasets.tasks.symmetries import Symmetry, of_the_square
from resolvent.datasets.tasks.task import Arrays, Baseline, Task
from resolvent.solvers.common.cosine_series import observe_cosine
from resolvent.solvers.common.grid import AnyGrid, Grid, restrict_dirichlet
from resolvent.solvers.random_fields.gaussian import NeumannGaussianField, level_set, lognormal

if TYPE_CHECKING:
    from resolvent.datasets.storage.store import Stored
    from resolvent.solvers.darcy.five_point import DarcyFivePoint

COEFFICIENT, PRESSURE = "coefficient", "pressure"
DIRECT_SAMPLES = 16  # samples solved again by a sparse direct method: two seconds each at 421 points
LEAST_ACCURACY = 1e-11  # best accuracy of the solver
REFINED_SAMPLES = 8  # samples solved on a finer grid, for the discretisation error
REFINEMENT = {"nodes": 4, "cell_centres": 5}  # of that grid; an odd factor keeps cell centres
LOOSE_TOLERANCE = 1e-4  # relative residual for timings, since operators are less accurate
CHEAP_STEPS = 3  # steps of conjugate gradients for an error estimate
FEWEST_POINTS = 5  # points along each side of the coarsest grid for timings
DARCY_IN_LATEX = r"-\nabla \cdot (a \nabla p) = 1\ \text{in}\ (0, 1)^2, \quad p = 0\ \text{on the boundary}"


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
    grid: Literal["nodes", "cell_centres"] = Field(
        "nodes", description="nodes include the boundary, cell centres do not"
    )
    face_mean: Literal["arithmetic", "harmonic"] = Field(
        "arithmetic", description="mean of two neighbouring coefficients on the face between them"
    )
    tolerance: float | None = Field(
        None,
        ge=1e-14,
        lt=1,
        description="relative residual at which conjugate gradients stop; none: they stop when the estimated "
        "error of the pressure is below `accuracy`",
    )
    accuracy: float = Field(
        1e-9,
        gt=0,
        le=LEAST_PRECISE,
        description="largest accepted relative L2 difference from a direct solution of the same equations; a "
        "dataset that misses it is not finalised",
    )

    @model_validator(mode="after")
    def _accuracy_is_in_reach(self):
        if self.tolerance is None:
            check_least_accuracy(self.accuracy, LEAST_ACCURACY)
        return self

    @property
    def grid_kind(self) -> str:  # type: ignore[override]
        return self.grid

    @property
    def same_ends(self) -> bool:
        return True

    def grid_of(self, points: int) -> Grid:
        """Return the grid with `points` along each side: of cell centres, every k-th of the finest grid's.

        Points that are not nested in the finest grid are plain cell centres.
        """
        finest = Grid(self.grid, self.finest, dimension=2)
        nested = points <= self.finest and (self.finest - 1) % (points - 1) == 0
        return finest.restricted(points) if nested and self.same_ends else replace(finest, points=points)

    @property
    def solved_on(self) -> list[int]:
        """Return the points along each side of the grids on which every sample is solved."""
        return [self.finest]

    def seconds_per_sample(self) -> float:
        return 6e-7 * sum(n**2 for n in self.solved_on)

    def seconds_of_checks(self) -> float:
        return 3e-4 * self.finest**2  # direct and refined solutions

    def bytes_of_checks(self) -> float:
        return (2600.0 if self.grid == "nodes" else 4000.0) * self.finest**2

    shifts: ClassVar = {
        "length_scale": lambda self, by: {"distribution": self.distribution.stretched(by, 2)},
        "contrast": lambda self, by: (
            {"above": by * self.above}
            if self.push_forward == "level_set"
            else {"distribution": self.distribution.louder(by)}
        ),
    }

    def symmetries(self) -> tuple[Symmetry, ...]:
        return of_the_square()


class DarcyDataset(DarcySettings):
    """Darcy flow: the map from the coefficient to the pressure (Cao 2021, eq. 20; Calvello 2024, 6.2.2)."""

    version, checks_version = 1, 1
    quantities = ("coefficient", "pressure")
    example: ClassVar = FEW_SAMPLES | {"finest": 33, "resolutions": [33, 17]}
    known = Known("coefficient", ("n", "n"), "observe_cosine")

    equation: Literal["darcy"] = Field(description="the equation solved")
    resolutions: SquareGrids = Field(
        [421, 211, 141, 85], description="points along each side of the grids stored"
    )
    pressure: Literal["restricted", "solved_on_each_grid"] = Field(
        "restricted",
        description="pressure on coarser grids: restricted from the finest grid (every k-th value if the "
        "grids are nested, as cell centres must be; else, on nodes, by its sine interpolant), or solved on "
        "each grid with the same coefficient",
    )

    @property
    def same_ends(self) -> bool:
        return self.grid == "nodes" or self.pressure == "restricted"

    @property
    def solved_on(self) -> list[int]:
        return self.resolutions if self.pressure == "solved_on_each_grid" else [self.finest]

    def task(self) -> Darcy:
        return Darcy(self)

    def five_point(self, points: int) -> tuple[str, str, int]:
        return self.grid, self.face_mean, self.grid_of(points).stride

    def error_bounds(self, inputs: np.ndarray, prediction: np.ndarray) -> dict[str, np.ndarray]:
        """Return bounds of ‖p - p̂‖/‖p‖ in the energy norm; p is the 5-point solution on the grid."""
        from resolvent.solvers.darcy.bounds import energy_error_bounds

        scheme = self.five_point(inputs.shape[-1])
        return {"energy_error": energy_error_bounds(inputs, prediction, 1.0, *scheme)[1]}

    def energy_error(self, inputs: np.ndarray, prediction: np.ndarray, targets: np.ndarray) -> np.ndarray:
        from resolvent.solvers.darcy.bounds import energy_norm

        scheme = self.five_point(inputs.shape[-1])
        return energy_norm(inputs, prediction - targets, *scheme) / energy_norm(inputs, targets, *scheme)

    def cheap_answer(self, inputs: np.ndarray, prediction: np.ndarray, grid: AnyGrid) -> np.ndarray:
        """Return the prediction after a few solver steps, which remove most of its error."""
        return self.corrected(inputs, prediction, CHEAP_STEPS)

    def corrected(self, inputs: np.ndarray, prediction: np.ndarray, steps: int) -> np.ndarray:
        """Return predictions after steps of preconditioned conjugate gradients for the 5-point equations."""
        return self.task().solver_on(inputs.shape[-1]).correct(inputs, prediction, steps)

    @staticmethod
    def solve_values(
        values: np.ndarray,
        *,
        source: float | np.ndarray = 1.0,
        grid: str = "nodes",
        face_mean: str = "arithmetic",
        tolerance: float = 1e-8,
    ) -> np.ndarray:
        """Solve -∇·(a∇p) = f on the unit square, p = 0 on its boundary: coefficient a → pressure p.

        Parameters
        ----------
        values
            (samples, n, n) or (n, n), axes (y, x), positive: a on `grid`.
        source
            f, a number or values on the grid.
        grid
            "nodes" x_j = j/(n - 1), which include the boundary, or "cell_centres" x_j = (j + 1/2)/n.
        face_mean
            Mean of neighbouring coefficients, "arithmetic" or "harmonic" (which conserves fluxes through
            layers).
        tolerance
            Tolerance of the residual, relative to the right-hand side.

        Raises
        ------
        ValueError, SolverError
            As `resolvent.solve`.

        Examples
        --------
        >>> import numpy as np
        >>> import resolvent
        >>> pressure = resolvent.solve("darcy", np.ones((65, 65)))
        >>> f"{pressure.max():.4f}"
        '0.0737'
        """
        from resolvent.solvers.darcy.five_point import DarcyFivePoint

        return DarcyFivePoint(grid=grid, face_mean=face_mean, tolerance=tolerance).solve(values, source)

    @model_validator(mode="after")
    def _grids_fit(self):
        if max(self.resolutions) > self.finest:
            raise ValueError(
                f"resolution {max(self.resolutions)} is above the finest grid, {self.finest} points"
            )
        if self.pressure == "restricted" and self.grid == "cell_centres":
            for points in self.resolutions:
                Grid(self.grid, self.finest).restricted(points)  # raises where cell centres are not nested
        return self


class DarcyInverseDataset(DarcySettings):
    """Inverse Darcy: the map from a fine pressure to a coarse coefficient (Cao 2021, eq. 23)."""

    version, checks_version = 1, 1
    inverse = True
    quantities = ("measured pressure", "coefficient")
    example: ClassVar = FEW_SAMPLES | {"finest": 25, "resolutions": [13], "coarse": [5]}

    equation: Literal["darcy_inverse"] = Field(description="the equation solved")
    resolutions: SquareGrids = Field(
        [141, 211], description="points along each side of the grids of the pressure; nested in the finest"
    )
    coarse: SquareGrids = Field(
        [36, 71],
        description="points along each side of the coefficient's grid, one for each entry of resolutions",
    )

    @model_validator(mode="after")
    def _grids_are_nested(self):
        if len(self.coarse) != len(self.resolutions):
            raise ValueError("coarse must have one grid for each entry of resolutions")
        for fine, coarse in zip(self.resolutions, self.coarse, strict=True):
            Grid(self.grid, self.finest).restricted(fine).restricted(coarse)  # raises if they are not nested
        grids = [*self.resolutions, *self.coarse]
        if len(set(grids)) < len(grids):
            raise ValueError(f"resolutions {self.resolutions} and coarse {self.coarse} contain a grid twice")
        return self

    def task(self) -> DarcyInverse:
        return DarcyInverse(self)

    def symmetries(self) -> tuple[Symmetry, ...]:
        """Return only x ↔ y: rotations do not map windows of points onto windows, as the last are smaller."""
        return of_the_square(rotated=False)

    def coarse_of(self, resolution: int) -> int:
        """Return the points along a side of the coefficient's grid for the pressure's `resolution`."""
        return dict(zip(self.resolutions, self.coarse, strict=True))[resolution]


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
        self.solver = DarcyFivePoint(
            settings.grid_kind,
            settings.face_mean,
            default_method(),
            **{stopping: getattr(settings, stopping)},
        )

    def draw_one(self, seed: int, split: int, index: int) -> np.ndarray:
        """Draw the cosine coefficients of a Gaussian field, (modes, modes)."""
        return self.field.coefficients(seed, split, index)

    def coefficient(self, fields: np.ndarray, points: int) -> np.ndarray:
        """Return the coefficient (samples, points, points) on a grid."""
        grid = self.settings.grid_of(points)
        values = observe_cosine(fields, grid.cells, grid.kind)
        values = values[..., :: grid.stride, :: grid.stride]
        if self.settings.push_forward == "lognormal":
            return lognormal(values)
        return level_set(values, above=self.settings.above, below=self.settings.below)

    def solver_on(self, points: int, loose: bool = False) -> DarcyFivePoint:
        """Return the solver on the grid with `points` along each side, `loose` for timings.

        On every k-th cell centre it is the scheme whose outer cells end at the boundary, not a restriction of
        the solution on the finest grid.
        """
        stopping: dict[str, Any] = {"tolerance": LOOSE_TOLERANCE, "accuracy": None} if loose else {}
        return replace(self.solver, stride=self.settings.grid_of(points).stride, **stopping)

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
            "face_coefficients": f"{settings.face_mean} mean of the two neighbours",
            "tolerance": "as the stated accuracy takes" if settings.tolerance is None else settings.tolerance,
        }


class Darcy(DarcyTask):
    """Draw coefficients, solve for pressures, and measure the errors of solver and discretisation."""

    settings: DarcyDataset
    inputs, targets = (COEFFICIENT,), (PRESSURE,)

    def groups(self) -> tuple[Group, ...]:
        variables = (Variable(COEFFICIENT, "permeability a"), Variable(PRESSURE, "pressure p"))
        return tuple(space_group(self.settings.grid_of(n), *variables) for n in self.settings.resolutions)

    def drawn_inputs(self, drawn: np.ndarray) -> Arrays:
        coefficients = self.coefficients(drawn)
        return {f"n{points}/{COEFFICIENT}": coefficients[points] for points in self.settings.resolutions}

    def coefficients(self, drawn: np.ndarray) -> dict[int, np.ndarray]:
        """Return the coefficient by points along a side: on all stored grids, and where it is solved."""
        coefficients: dict[int, np.ndarray] = {}
        if self.settings.pressure == "restricted":
            coefficients[self.settings.finest] = self.coefficient(drawn, self.settings.finest)
        for points in self.settings.resolutions:
            stride = self.settings.grid_of(points).stride
            if stride > 1:
                coefficients[points] = coefficients[self.settings.finest][:, ::stride, ::stride].copy()
            elif points not in coefficients:
                coefficients[points] = self.coefficient(drawn, points)
        return coefficients

    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        arrays, coefficients = Arrays(), self.coefficients(drawn)
        restricted = self.settings.pressure == "restricted"
        if restricted:
            finest = self.solver.solve(coefficients[self.settings.finest])
        for points in self.settings.resolutions:
            coefficient = coefficients[points]
            pressure = self.restricted(finest, points) if restricted else self.solver.solve(coefficient)
            arrays |= {f"n{points}/{COEFFICIENT}": coefficient, f"n{points}/{PRESSURE}": pressure}
        return arrays

    def restricted(self, finest: np.ndarray, points: int) -> np.ndarray:
        """Restrict the pressure (..., finest, finest) to the grid with `points` along each side."""
        if self.settings.grid == "nodes":
            return restrict_dirichlet(finest, points)
        stride = self.settings.grid_of(points).stride
        return finest[..., ::stride, ::stride].copy()

    def error_budget(self, stored: Stored) -> dict:
        """Measure the solver's error (`errors_of_the_solver`) and, separately, the discretisation error.

        The latter, which no solver on this grid can avoid, is the difference from the harmonic finite-volume
        solution on a grid four times finer, five times on cell centres, with the coefficient evaluated there.
        """
        from resolvent.solvers.darcy.five_point import DarcyFivePoint

        settings = self.settings
        points = settings.finest if settings.pressure == "restricted" else max(settings.resolutions)
        budget, fields, coefficient, pressure = self.errors_of_the_solver(stored, points)
        other = "harmonic" if settings.face_mean == "arithmetic" else "arithmetic"
        other_mean = replace(self.solver, face_mean=other).solve(coefficient)
        total = stored.layout.num_samples
        budget["moved_by_the_other_face_mean"] = error_facts(relative_l2(other_mean, pressure), total)
        factor, kind = REFINEMENT[settings.grid], settings.grid.replace("_", " ")
        many = factor * (points - 1) + 1 if settings.grid == "nodes" else factor * points
        every = slice(0 if settings.grid == "nodes" else factor // 2, None, factor)
        finer = DarcyFivePoint(settings.grid, face_mean="harmonic")
        refined = [
            finer.solve(self.coefficient(field[None], many))[0, every, every].copy()
            for field in fields[:REFINED_SAMPLES]
        ]
        budget["discretisation_error"] = {
            **error_facts(relative_l2(pressure[:REFINED_SAMPLES], np.stack(refined)), total),
            "reference": f"harmonic finite volumes on {many} {kind}",
        }
        return budget

    def baselines(self) -> dict[str, Baseline]:
        return {
            "constant_coefficient": self.solve_constant,
            "interpolation_oracle": self.solve_interpolated,
            "coarse_solve": self.solve_on_grid,
        }

    def classical_solvers(self) -> dict[str, Baseline]:
        """Return the 5-point solver on the input's grid, on coarser grids (loosely), and on the finest.

        Coarser grids of cell centres have cells of their own, from boundary to boundary.
        """
        solvers: dict[str, Baseline] = {"5-point, on the same grid": partial(self.solve_on_grid, loose=True)}
        for factor in (2, 3, 4):
            label = f"5-point, 1/{factor} of the points a side"
            solvers[label] = partial(self.solve_on_coarser, factor=factor)
        return solvers | {"5-point, on the finest grid": self.solve_interpolated}

    def solve_on_grid(
        self, coefficient: np.ndarray, grid: AnyGrid | None = None, loose: bool = False
    ) -> np.ndarray:
        """Return the pressure for the coefficient on its own grid, both (samples, n, n)."""
        return self.solver_on(coefficient.shape[-1], loose).solve(coefficient.astype(np.float64))

    def solve_on_coarser(self, coefficient: np.ndarray, grid: AnyGrid, factor: int) -> np.ndarray:
        """Solve loosely on a grid with a part of the points, from interpolated values; interpolate back."""
        fine = self.settings.grid_of(coefficient.shape[-1])
        coarse = Grid(self.settings.grid, max(FEWEST_POINTS, -(-fine.points // factor)))
        down, up = _linear_interpolation(fine, coarse), _linear_interpolation(coarse, fine, zero=True)
        solver = replace(self.solver, tolerance=LOOSE_TOLERANCE, accuracy=None)
        return up @ solver.solve(down @ coefficient.astype(np.float64) @ down.T) @ up.T

    def solve_interpolated(self, coefficient: np.ndarray, grid: AnyGrid | None = None) -> np.ndarray:
        """Interpolate the coefficient (samples, n, n) bilinearly to the finest grid, solve, and restrict."""
        points = coefficient.shape[-1]
        coarse, fine = self.settings.grid_of(points), Grid(self.settings.grid, self.settings.finest)
        up, down = _linear_interpolation(coarse, fine), _linear_interpolation(fine, coarse, zero=True)
        pressure = np.empty(coefficient.shape)
        for row, sample in enumerate(coefficient):
            (finest,) = self.solver.solve((up @ sample @ up.T)[None])
            pressure[row] = (
                self.restricted(finest, points) if self.settings.same_ends else down @ finest @ down.T
            )
        return pressure

    def solve_constant(self, coefficient: np.ndarray, grid: AnyGrid | None = None) -> np.ndarray:
        """Return the pressure for a constant coefficient, the geometric mean of each sample's values.

        In two dimensions this is the effective permeability of a medium whose statistics do not change when
        its two materials are exchanged.
        """
        (unit,) = self.solver_on(coefficient.shape[-1]).solve(np.ones((1, *coefficient.shape[1:])))
        return unit / np.exp(np.log(coefficient).mean(axis=(1, 2), keepdims=True, dtype=np.float64))

    def description(self) -> dict:
        return {
            "equation": {
                "in_words": "steady flow through a porous medium in the unit square (Darcy)",
                "in_symbols": "-∇·(a∇p) = 1 in (0, 1)²,  p = 0 on the boundary",
                "in_latex": DARCY_IN_LATEX,
                "operator": "a ↦ p",
                "operator_in_latex": r"a \mapsto p",
                "source": "Cao 2021 (arXiv:2105.14995), eq. 20 and section C.3; Calvello et al. 2024 "
                "(arXiv:2406.06486), section 6.2.2",
            },
            "distribution_of_the_input": self.distribution_facts(),
            "solver": self.solver_facts()
            | {"pressure_on_coarser_grids": self.settings.pressure.replace("_", " ")},
        }


class DarcyInverse(DarcyTask):
    """The inverse task: samples of the forward task with the same seed, with input and target exchanged."""

    settings: DarcyInverseDataset
    inputs, targets = (PRESSURE,), (COEFFICIENT,)

    @property
    def points(self) -> str:
        return self.settings.grid.replace("_", " ")

    def groups(self) -> tuple[Group, ...]:
        pressure = Variable(PRESSURE, "pressure p, without noise")
        coefficient = Variable(COEFFICIENT, f"mean permeability a over windows of {self.points}")
        grids = {n: self.settings.grid_of(n) for n in (*self.settings.resolutions, *self.settings.coarse)}
        return (
            *(space_group(grids[n], pressure, coefficient) for n in self.settings.resolutions),
            *(space_group(grids[n], coefficient) for n in self.settings.coarse),
        )

    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        coefficient = self.coefficient(drawn, self.settings.finest)
        return self.restricted(coefficient, self.solver.solve(coefficient))

    def restricted(self, coefficient: np.ndarray, pressure: np.ndarray) -> dict[str, np.ndarray]:
        """Restrict both (samples, finest, finest) to stored arrays "n141/pressure", "n36/coefficient", …"""
        settings, arrays = self.settings, {}
        for fine, coarse in zip(settings.resolutions, settings.coarse, strict=True):
            stride = (settings.finest - 1) // (fine - 1)
            arrays[f"n{fine}/{PRESSURE}"] = pressure[:, ::stride, ::stride].copy()
            on_fine = window_means(coefficient, stride)
            arrays[f"n{fine}/{COEFFICIENT}"] = on_fine
            arrays[f"n{coarse}/{COEFFICIENT}"] = window_means(on_fine, (fine - 1) // (coarse - 1))
        return arrays

    def error_budget(self, stored: Stored) -> dict:
        return self.errors_of_the_solver(stored, self.settings.finest)[0]

    def description(self) -> dict:
        pairs = zip(self.settings.resolutions, self.settings.coarse, strict=True)
        return {
            "equation": {
                "in_words": "recover the permeability of a porous medium from the pressure (inverse Darcy)",
                "in_symbols": "-∇·(a∇p) = 1 in (0, 1)²,  p = 0 on the boundary",
                "in_latex": DARCY_IN_LATEX,
                "operator": "p on a fine grid ↦ a on a coarse grid, "
                + ", ".join(f"{fine} to {coarse}" for fine, coarse in pairs),
                "operator_in_latex": r"p\ \text{on a fine grid} \mapsto a\ \text{on a coarse grid}",
                "source": "Cao 2021 (arXiv:2105.14995), eqs. 20 and 23, section C.4",
            },
            "distribution_of_the_coefficient": self.distribution_facts(),
            "coarse_coefficient": f"means over non-overlapping windows of {self.points}, from the finest "
            "grid to the fine one and on to the coarse one, fewer at the last rows: grey where a window "
            "meets both materials",
            "noise": "none in the store; added on reading, ε times the pointwise standard deviation of the "
            "training pressures times standard normal deviates keyed by seed, split, sample and realisation",
            "solver": self.solver_facts(),
        }


def _linear_interpolation(from_grid: Grid, to_grid: Grid, zero: bool = False) -> np.ndarray:
    """Return the matrix of linear interpolation along an axis.

    Beyond the outermost points functions are constant, or with `zero` linear to 0 at both ends.
    """
    points, rows = from_grid.coordinates, np.eye(from_grid.points)
    if zero and points[0] > 0:
        points = np.concatenate([[0.0], points, [from_grid.length]])
        rows = np.pad(rows, [(0, 0), (1, 1)])
    return np.stack([np.interp(to_grid.coordinates, points, row) for row in rows], axis=1)


def window_means(values: np.ndarray, width: int) -> np.ndarray:
    """Return means over windows of width × width points; the last may be smaller. (batch, n, n) → smaller."""
    edges = np.arange(0, values.shape[-1], width)
    counts = np.diff(np.append(edges, values.shape[-1]))
    sums = np.add.reduceat(np.add.reduceat(values, edges, axis=-1), edges, axis=-2)
    return sums / np.outer(counts, counts)
