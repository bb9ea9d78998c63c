"""Inverse Darcy: pressure on a fine grid → coefficient on a coarse one (Cao 2021, section 5.3, C.4).

The store holds clean pressures. Noise is added when they are read (`resolvent.datasets.noise`), so that any
level and any number of realisations come from one store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from resolvent.datasets.storage.layout import Group, Variable, space_group
from resolvent.datasets.tasks.darcy import (
    DARCY_IN_LATEX,
    CoefficientDistribution,
    DarcySettings,
    errors_of_the_solver,
    five_point_solver,
    solver_facts,
)
from resolvent.datasets.tasks.settings import SidePoints
from resolvent.datasets.tasks.task import Task
from resolvent.solvers.common.grid import Grid

if TYPE_CHECKING:
    from resolvent.datasets.storage.stored import Stored

INPUT, TARGET = "pressure", "coefficient"


class DarcyInverseDataset(DarcySettings):
    """Inverse Darcy: from the pressure on a fine grid to the coefficient on a coarse (Cao 2021, eq. 23)."""

    inverse: ClassVar[bool] = True
    quantities: ClassVar[tuple[str, str]] = ("measured pressure", "coefficient")
    example: ClassVar[dict[str, Any]] = {
        "finest": 25,
        "resolutions": [13],
        "coarse": [5],
        "samples": {"train": 3, "validation": 1, "test": 2},
        "samples_per_shard": 4,
    }

    equation: Literal["darcy_inverse"] = Field(description="the equation solved")
    resolutions: Annotated[list[SidePoints], Field(min_length=1)] = Field(
        [141, 211], description="points along each side of the grids of the pressure; nested in the finest"
    )
    coarse: Annotated[list[SidePoints], Field(min_length=1)] = Field(
        [36, 71],
        description="points along each side of the grid of the coefficient, one for each of resolutions",
    )

    @model_validator(mode="after")
    def _grids_are_nested(self):
        if len(self.coarse) != len(self.resolutions):
            raise ValueError("coarse gives one grid for each of resolutions")
        for fine, coarse in zip(self.resolutions, self.coarse, strict=True):
            for many, few in ((self.finest, fine), (fine, coarse)):
                if (many - 1) % (few - 1):
                    raise ValueError(f"{few} nodes are not nested in {many}: {many - 1} intervals, {few - 1}")
        grids = [*self.resolutions, *self.coarse]
        if len(set(grids)) < len(grids):
            raise ValueError(f"resolutions {self.resolutions} and coarse {self.coarse} name a grid twice")
        return self

    @property
    def grid_kind(self) -> str:
        return "nodes"

    def task(self) -> DarcyInverse:
        return DarcyInverse(self)

    def coarse_of(self, resolution: int) -> int:
        """Give the points along a side of the coefficient's grid, for the pressure's of `resolution`."""
        return dict(zip(self.resolutions, self.coarse, strict=True))[resolution]


class DarcyInverse(Task):
    """The samples of the forward task with the same seed, read the other way round."""

    settings: DarcyInverseDataset
    inputs, targets = (INPUT,), (TARGET,)
    batch = 8
    dtype = "float32"

    def __init__(self, settings: DarcyInverseDataset):
        super().__init__(settings)
        self.coefficients = CoefficientDistribution(settings)
        self.solver = five_point_solver(settings, "nodes")

    def groups(self) -> tuple[Group, ...]:
        pressure = Variable(INPUT, "pressure p, without noise")
        coefficient = Variable(TARGET, "mean permeability a over windows of nodes")
        return (
            *(self._group(n, pressure, coefficient) for n in self.settings.resolutions),
            *(self._group(n, coefficient) for n in self.settings.coarse),
        )

    def draw_one(self, seed: int, split: int, index: int) -> np.ndarray:
        """Draw the cosine coefficients of a Gaussian field, (modes, modes)."""
        return self.coefficients.field.coefficients(seed, split, index)

    def _group(self, points: int, *variables: Variable) -> Group:
        return space_group(Grid("nodes", points, dimension=2), *variables)

    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        coefficient = self.coefficients.on_grid(drawn, self.settings.finest, "nodes")
        return self.restricted(coefficient, self.solver.solve(coefficient))

    def restricted(self, coefficient: np.ndarray, pressure: np.ndarray) -> dict[str, np.ndarray]:
        """Restrict both to "n141/pressure", "n141/coefficient", "n36/coefficient", and so on.

        They are (samples, finest, finest).
        """
        settings, arrays = self.settings, {}
        for fine, coarse in zip(settings.resolutions, settings.coarse, strict=True):
            stride = (settings.finest - 1) // (fine - 1)
            arrays[f"n{fine}/{INPUT}"] = pressure[:, ::stride, ::stride].copy()
            on_fine = window_means(coefficient, stride)
            arrays[f"n{fine}/{TARGET}"] = on_fine
            arrays[f"n{coarse}/{TARGET}"] = window_means(on_fine, (fine - 1) // (coarse - 1))
        return arrays

    def error_budget(self, stored: Stored) -> dict:
        """Measure the solver's error against a sparse direct solution, in float64."""
        return errors_of_the_solver(self, stored, self.settings.finest)[0]

    def description(self) -> dict:
        settings = self.settings
        return {
            "equation": {
                "in_words": "recover the permeability of a porous medium from the pressure (inverse Darcy)",
                "in_symbols": "-∇·(a∇p) = 1 in (0, 1)²,  p = 0 on the boundary",
                "in_latex": DARCY_IN_LATEX,
                "operator": "p on a fine grid ↦ a on a coarse grid, "
                + ", ".join(
                    f"{f} to {c}" for f, c in zip(settings.resolutions, settings.coarse, strict=True)
                ),
                "operator_in_latex": r"p\ \text{on a fine grid} \mapsto a\ \text{on a coarse grid}",
                "source": "Cao 2021 (arXiv:2105.14995), eqs. 20 and 23, section C.4",
            },
            "distribution_of_the_coefficient": self.coefficients.description(),
            "coarse_coefficient": "means over non-overlapping windows of nodes, from the finest grid to the "
            "fine one and on to the coarse one, fewer nodes at the last rows: grey where a window meets both "
            "materials",
            "noise": "none in the store; added on reading, ε times the pointwise standard deviation of the "
            "training pressures times standard normal deviates keyed by seed, split, sample and realisation",
            "solver": solver_facts(settings, self.solver),
        }


def window_means(values: np.ndarray, width: int) -> np.ndarray:
    """Average over windows of width × width points; the last may hold fewer. (batch, n, n) → smaller."""
    edges = np.arange(0, values.shape[-1], width)
    counts = np.diff(np.append(edges, values.shape[-1]))
    sums = np.add.reduceat(np.add.reduceat(values, edges, axis=-1), edges, axis=-2)
    return sums / np.outer(counts, counts)
