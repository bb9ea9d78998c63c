"""Darcy flow: coefficient → pressure (Cao 2021, section 5.2; Calvello et al. 2024, section 6.2.2).

Also the inverse problem: pressure on a fine grid → coefficient on a coarse grid (Cao 2021, sections 5.3 and
C.4). The store has pressures without noise. Noise is added on reading (`resolvent.datasets.noise`), so that
one store serves any level and number of realisations.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from resolvent.common.norms import relative_l2
from resolvent.datasets.storage.layout import Group, Variable, space_group
from resolvent.datasets.tasks.darcy_base import DarcySettings, DarcyTask
from resolvent.datasets.tasks.error_budget import error_facts
from resolvent.datasets.tasks.settings import FEW_SAMPLES, Known, SidePoints
from resolvent.datasets.tasks.symmetries import Symmetry, of_the_square
from resolvent.datasets.tasks.task import Baseline
from resolvent.solvers.common.grid import AnyGrid, Grid, Nodes, restrict_dirichlet

if TYPE_CHECKING:
    from resolvent.common.errors import Words
    from resolvent.datasets.storage.store import Stored

COEFFICIENT, PRESSURE = "coefficient", "pressure"
REFINED_SAMPLES = 8  # samples solved on a finer grid, for the discretisation error
REFINEMENT = 4  # refinement factor of that grid
LOOSE_TOLERANCE = 1e-4  # relative residual for timings, since operators are less accurate
CHEAP_STEPS = 3  # steps of conjugate gradients for an error estimate
FEWEST_POINTS = 5  # points along each side of the coarsest grid for timings
DARCY_IN_LATEX = r"-\nabla \cdot (a \nabla p) = 1\ \text{in}\ (0, 1)^2, \quad p = 0\ \text{on the boundary}"


class DarcyDataset(DarcySettings):
    """Darcy flow: the map from the coefficient to the pressure (Cao 2021, eq. 20; Calvello 2024, 6.2.2)."""

    quantities = ("coefficient", "pressure")
    example: ClassVar = FEW_SAMPLES | {"finest": 33, "resolutions": [33, 17]}
    known = Known("coefficient", ("n", "n"), "observe_cosine")
    accuracy_rows: ClassVar[dict[tuple[str, str], tuple[Words, Words]]] = {
        ("darcy_cao", "against direct solve"): (
            "[Darcy flow](equations/darcy.md), on its grid",
            "a sparse direct solver",
        ),
        ("darcy_cao", "discretisation error"): (
            "[Darcy flow](equations/darcy.md), the grid itself",
            "a grid four times finer",
        ),
    }

    equation: Literal["darcy"] = Field(description="the equation solved")
    resolutions: Annotated[list[SidePoints], Field(min_length=1)] = Field(
        [421, 211, 141, 85], description="points along each side of the grids stored"
    )
    grid: Literal["nodes", "cell_centres"] = Field(
        "nodes", description="nodes include the boundary, cell centres do not"
    )
    pressure: Literal["restricted", "solved_on_each_grid"] = Field(
        "restricted",
        description="pressure on coarser grids: restricted from the finest grid (by its sine interpolant; "
        "every k-th value if the grids are nested), or solved on each grid with the same coefficient",
    )

    @property
    def grid_kind(self) -> str:
        return self.grid

    @property
    def solved_on(self) -> list[int]:
        return self.resolutions if self.pressure == "solved_on_each_grid" else [self.finest]

    def task(self) -> Darcy:
        return Darcy(self)

    def error_bounds(self, inputs: np.ndarray, prediction: np.ndarray) -> dict[str, np.ndarray]:
        """Return bounds of ‖p - p̂‖/‖p‖ in the energy norm; p is the 5-point solution on the grid."""
        from resolvent.solvers.darcy.bounds import energy_error_bounds

        _, relative = energy_error_bounds(inputs, prediction, 1.0, self.grid, self.face_mean)
        return {"energy_error": relative}

    def energy_error(self, inputs: np.ndarray, prediction: np.ndarray, targets: np.ndarray) -> np.ndarray:
        from resolvent.solvers.darcy.bounds import energy_norm

        how = self.grid, self.face_mean
        return energy_norm(inputs, prediction - targets, *how) / energy_norm(inputs, targets, *how)

    def cheap_answer(self, inputs: np.ndarray, prediction: np.ndarray, grid: AnyGrid) -> np.ndarray:
        """Return the prediction after a few solver steps, which remove most of its error."""
        return self.corrected(inputs, prediction, CHEAP_STEPS)

    def corrected(self, inputs: np.ndarray, prediction: np.ndarray, steps: int) -> np.ndarray:
        """Return predictions after steps of preconditioned conjugate gradients for the 5-point equations."""
        return self.task().solver.correct(inputs, prediction, steps)

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
            raise ValueError(
                "pressure: restricted needs grid: nodes; accepted on cell_centres: solved_on_each_grid"
            )
        return self


class DarcyInverseDataset(DarcySettings):
    """Inverse Darcy: the map from a fine pressure to a coarse coefficient (Cao 2021, eq. 23)."""

    inverse = True
    quantities = ("measured pressure", "coefficient")
    example: ClassVar = FEW_SAMPLES | {"finest": 25, "resolutions": [13], "coarse": [5]}

    equation: Literal["darcy_inverse"] = Field(description="the equation solved")
    resolutions: Annotated[list[SidePoints], Field(min_length=1)] = Field(
        [141, 211], description="points along each side of the grids of the pressure; nested in the finest"
    )
    coarse: Annotated[list[SidePoints], Field(min_length=1)] = Field(
        [36, 71],
        description="points along each side of the coefficient's grid, one for each entry of resolutions",
    )

    @model_validator(mode="after")
    def _grids_are_nested(self):
        if len(self.coarse) != len(self.resolutions):
            raise ValueError("coarse must have one grid for each entry of resolutions")
        for fine, coarse in zip(self.resolutions, self.coarse, strict=True):
            for many, few in ((self.finest, fine), (fine, coarse)):
                if (many - 1) % (few - 1):
                    raise ValueError(
                        f"{few} nodes are not nested in {many}: {few - 1} intervals do not divide {many - 1}"
                    )
        grids = [*self.resolutions, *self.coarse]
        if len(set(grids)) < len(grids):
            raise ValueError(f"resolutions {self.resolutions} and coarse {self.coarse} contain a grid twice")
        return self

    @property
    def grid_kind(self) -> str:
        return "nodes"

    def task(self) -> DarcyInverse:
        return DarcyInverse(self)

    def symmetries(self) -> tuple[Symmetry, ...]:
        """Return only x ↔ y: rotations do not map windows of nodes onto windows, as the last are smaller."""
        return of_the_square(rotated=False)

    def coarse_of(self, resolution: int) -> int:
        """Return the points along a side of the coefficient's grid for the pressure's `resolution`."""
        return dict(zip(self.resolutions, self.coarse, strict=True))[resolution]


class Darcy(DarcyTask):
    """Draw coefficients, solve for pressures, and measure the errors of solver and discretisation."""

    settings: DarcyDataset
    inputs, targets = (COEFFICIENT,), (PRESSURE,)

    def groups(self) -> tuple[Group, ...]:
        kind = self.settings.grid
        variables = (Variable(COEFFICIENT, "permeability a"), Variable(PRESSURE, "pressure p"))
        return tuple(space_group(Grid(kind, n, dimension=2), *variables) for n in self.settings.resolutions)

    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        settings = self.settings
        arrays: dict[str, np.ndarray] = {}
        restricted = settings.pressure == "restricted"
        if restricted:
            finest = self.solver.solve(self.coefficient(drawn, settings.finest))
        for points in settings.resolutions:
            coefficient = self.coefficient(drawn, points)
            pressure = restrict_dirichlet(finest, points) if restricted else self.solver.solve(coefficient)
            arrays |= {f"n{points}/{COEFFICIENT}": coefficient, f"n{points}/{PRESSURE}": pressure}
        return arrays

    def error_budget(self, stored: Stored) -> dict:
        """Measure the solver's error (`errors_of_the_solver`) and, separately, the discretisation error.

        The latter, which no solver on this grid can avoid, is the difference from the harmonic finite-volume
        solution on a grid four times finer, with the coefficient evaluated there.
        """
        from resolvent.solvers.darcy.five_point import DarcyFivePoint

        settings = self.settings
        points = settings.finest if settings.pressure == "restricted" else max(settings.resolutions)
        budget, fields, coefficient, pressure = self.errors_of_the_solver(stored, points)
        other = "harmonic" if settings.face_mean == "arithmetic" else "arithmetic"
        other_mean = replace(self.solver, face_mean=other).solve(coefficient)
        total = stored.layout.num_samples
        budget["moved_by_the_other_face_mean"] = error_facts(relative_l2(other_mean, pressure), total)
        if settings.grid == "nodes":
            nodes = REFINEMENT * (points - 1) + 1
            finer = DarcyFivePoint(face_mean="harmonic")
            refined = [
                finer.solve(self.coefficient(field[None], nodes))[0, ::REFINEMENT, ::REFINEMENT].copy()
                for field in fields[:REFINED_SAMPLES]
            ]
            budget["discretisation_error"] = {
                **error_facts(relative_l2(pressure[:REFINED_SAMPLES], np.stack(refined)), total),
                "reference": f"harmonic finite volumes on {nodes} nodes",
            }
        return budget

    def baselines(self) -> dict[str, Baseline]:
        return {
            "constant_coefficient": self.solve_constant,
            "interpolation_oracle": self.solve_interpolated,
            "coarse_solve": self.solve_on_grid,
        }

    def classical_solvers(self) -> dict[str, Baseline]:
        """Return the 5-point solver on the input's grid, on coarser grids (loosely), and on the finest."""
        solver = replace(self.solver, tolerance=LOOSE_TOLERANCE, accuracy=None)

        def on_coarser(factor: int) -> Baseline:
            def answer(coefficient: np.ndarray, grid: Grid | Nodes) -> np.ndarray:
                fine = Grid(self.settings.grid, coefficient.shape[-1])
                coarse = Grid(self.settings.grid, max(FEWEST_POINTS, -(-fine.points // factor)))
                down, up = _linear_interpolation(fine, coarse), _linear_interpolation(coarse, fine)
                return up @ solver.solve(down @ coefficient.astype(np.float64) @ down.T) @ up.T

            return answer

        return {
            "5-point, on the same grid": lambda values, grid: solver.solve(values.astype(np.float64)),
            **{f"5-point, 1/{factor} of the points a side": on_coarser(factor) for factor in (2, 3, 4)},
            "5-point, on the finest grid": self.solve_interpolated,
        }

    def solve_on_grid(self, coefficient: np.ndarray, grid: Grid | Nodes | None = None) -> np.ndarray:
        """Return the pressure for the coefficient on its own grid, both (samples, n, n)."""
        return self.solver.solve(coefficient.astype(np.float64))

    def solve_interpolated(self, coefficient: np.ndarray, grid: Grid | Nodes | None = None) -> np.ndarray:
        """Interpolate the coefficient (samples, n, n) bilinearly to the finest grid, solve, and restrict."""
        kind, points = self.settings.grid, coefficient.shape[-1]
        coarse, fine = Grid(kind, points), Grid(kind, self.settings.finest)
        up, down = _linear_interpolation(coarse, fine), _linear_interpolation(fine, coarse)
        pressure = np.empty(coefficient.shape)
        for row, one in enumerate(coefficient):
            (finest,) = self.solver.solve((up @ one @ up.T)[None])
            pressure[row] = restrict_dirichlet(finest, points) if kind == "nodes" else down @ finest @ down.T
        return pressure

    def solve_constant(self, coefficient: np.ndarray, grid: Grid | Nodes | None = None) -> np.ndarray:
        """Return the pressure for a constant coefficient, the geometric mean of each sample's values.

        In two dimensions this is the effective permeability of a medium whose statistics do not change when
        its two materials are exchanged.
        """
        (unit,) = self.solver.solve(np.ones((1, *coefficient.shape[1:])))
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

    def groups(self) -> tuple[Group, ...]:
        pressure = Variable(PRESSURE, "pressure p, without noise")
        coefficient = Variable(COEFFICIENT, "mean permeability a over windows of nodes")
        grids = {
            n: Grid("nodes", n, dimension=2) for n in (*self.settings.resolutions, *self.settings.coarse)
        }
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
            "coarse_coefficient": "means over non-overlapping windows of nodes, from the finest grid to the "
            "fine one and on to the coarse one, fewer nodes at the last rows: grey where a window meets both "
            "materials",
            "noise": "none in the store; added on reading, ε times the pointwise standard deviation of the "
            "training pressures times standard normal deviates keyed by seed, split, sample and realisation",
            "solver": self.solver_facts(),
        }


def _linear_interpolation(from_grid: Grid, to_grid: Grid) -> np.ndarray:
    """Return the matrix of linear interpolation along an axis; constant beyond the outermost points."""
    rows = np.eye(from_grid.points)
    return np.stack([np.interp(to_grid.coordinates, from_grid.coordinates, row) for row in rows], axis=1)


def window_means(values: np.ndarray, width: int) -> np.ndarray:
    """Return means over windows of width × width points; the last may be smaller. (batch, n, n) → smaller."""
    edges = np.arange(0, values.shape[-1], width)
    counts = np.diff(np.append(edges, values.shape[-1]))
    sums = np.add.reduceat(np.add.reduceat(values, edges, axis=-1), edges, axis=-2)
    return sums / np.outer(counts, counts)
