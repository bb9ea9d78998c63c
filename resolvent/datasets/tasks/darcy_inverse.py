"""The inverse Darcy task: pressure on a fine grid → coefficient on a coarse one (Cao 2021, section 5.3, C.4).

The store holds clean pressures. Noise is added when they are read (`resolvent.datasets.noise`), so that any
level and any number of realisations come from one store.
"""

from __future__ import annotations

import numpy as np

from resolvent.datasets.storage.layout import Group, Layout, Variable, space_group
from resolvent.datasets.tasks.darcy import CoefficientDistribution, solver_facts
from resolvent.datasets.tasks.settings import DarcyInverseDataset
from resolvent.datasets.tasks.stored import Stored, against_computed_again, error_facts, relative_errors
from resolvent.solvers.common.grid import Grid
from resolvent.solvers.darcy.direct import solve_direct
from resolvent.solvers.darcy.five_point import DarcyFivePoint, default_method

INPUT, TARGET = "pressure", "coefficient"
DIRECT_SAMPLES = 16  # solved again by a sparse direct method


class DarcyInverse:
    """The samples of the forward task with the same seed, read the other way round."""

    inputs, targets = (INPUT,), (TARGET,)
    input_answers = False
    batch = 8

    def __init__(self, settings: DarcyInverseDataset):
        self.settings = settings
        self.draw = CoefficientDistribution(settings)
        self.solver = DarcyFivePoint(
            grid="nodes",
            face_mean=settings.face_mean,
            method=default_method(),
            tolerance=settings.tolerance,
        )
        pressure = Variable(INPUT, "pressure p, without noise")
        coefficient = Variable(TARGET, "mean permeability a over windows of nodes")
        self.layout = Layout(
            groups=(
                *(self._group(n, pressure, coefficient) for n in settings.resolutions),
                *(self._group(n, coefficient) for n in settings.coarse),
            ),
            samples=settings.samples.model_dump(),
            samples_per_shard=settings.samples_per_shard,
            dtype="float32",
        )

    def _group(self, points: int, *variables: Variable) -> Group:
        return space_group(Grid("nodes", points, dimension=2), *variables)

    def compute(self, samples: list[tuple[str, int]]) -> dict[str, np.ndarray]:
        """Every stored array of these samples: "n141/pressure", "n141/coefficient", "n36/coefficient", …"""
        settings = self.settings
        coefficient = self.draw.coefficient(self.draw.fields(samples), settings.finest, "nodes")
        pressure = self.solver.solve(coefficient)
        arrays = {}
        for fine, coarse in zip(settings.resolutions, settings.coarse, strict=True):
            stride = (settings.finest - 1) // (fine - 1)
            arrays[f"n{fine}/{INPUT}"] = pressure[:, ::stride, ::stride].copy()
            on_fine = window_means(coefficient, stride)
            arrays[f"n{fine}/{TARGET}"] = on_fine
            arrays[f"n{coarse}/{TARGET}"] = window_means(on_fine, (fine - 1) // (coarse - 1))
        return arrays

    def error_budget(self, stored: Stored) -> dict:
        """The solver's error against a sparse direct solution, in float64."""
        positions = stored.random_positions(DIRECT_SAMPLES)
        samples = stored.names(positions)
        coefficient = self.draw.coefficient(self.draw.fields(samples), self.settings.finest, "nodes")
        direct = solve_direct(coefficient, face_mean=self.settings.face_mean)
        return {
            "solved_on": f"n{self.settings.finest}",
            "against_direct_solve": error_facts(relative_errors(self.solver.solve(coefficient), direct)),
            "stored_against_computed_again": against_computed_again(self, stored, positions),
            "rounding_to_float32": float(f"{np.finfo(np.float32).eps / 2:.1e}"),
        }

    def description(self) -> dict:
        """The part of the dataset card that says what the numbers mean."""
        settings = self.settings
        return {
            "equation": {
                "in_words": "recover the permeability of a porous medium from the pressure (inverse Darcy)",
                "in_symbols": "-∇·(a∇p) = 1 in (0, 1)²,  p = 0 on the boundary",
                "operator": "p on a fine grid ↦ a on a coarse grid, "
                + ", ".join(
                    f"{f} to {c}" for f, c in zip(settings.resolutions, settings.coarse, strict=True)
                ),
                "source": "Cao 2021 (arXiv:2105.14995), eqs. 20 and 23, section C.4",
            },
            "distribution_of_the_coefficient": self.draw.description(),
            "coarse_coefficient": "means over non-overlapping windows of nodes, from the finest grid to the "
            "fine one and on to the coarse one, fewer nodes at the last rows: grey where a window meets both "
            "materials",
            "noise": "none in the store; added on reading, ε times the pointwise standard deviation of the "
            "training pressures times standard normal deviates keyed by seed, split, sample and realisation",
            "solver": solver_facts(settings, self.solver),
        }


def window_means(values: np.ndarray, width: int) -> np.ndarray:
    """Means over windows of width × width points; the last may hold fewer. (batch, n, n) → smaller."""
    edges = np.arange(0, values.shape[-1], width)
    counts = np.diff(np.append(edges, values.shape[-1]))
    sums = np.add.reduceat(np.add.reduceat(values, edges, axis=-1), edges, axis=-2)
    return sums / np.outer(counts, counts)
