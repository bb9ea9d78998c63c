"""Third-party Burgers data: initial velocity `a` and solution `u` in a MAT file, as by Li et al. (2021).

Their file `burgers_data_R10.mat` has 2,048 samples on 8,192 points of the unit circle; Cao (2021) trains on
the first 1,024 and tests on the last 100. Both papers restrict to coarser grids by taking every k-th value.
"""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from resolvent.datasets.imported.arrays_checks import repeats_ends
from resolvent.datasets.imported.labels import ImportedDataset, ImportedTask
from resolvent.datasets.tasks import burgers
from resolvent.datasets.tasks.settings import CirclePoints
from resolvent.datasets.tasks.task import Motion
from resolvent.solvers.common.fourier import coefficients_of, observe

if TYPE_CHECKING:
    from resolvent.datasets.storage.store import Stored

# Viscosity and final time: the public file's, and as Cao (2021, section C.2) and Li et al. (2021) print them.
CONVENTIONS = {
    "the public file's": (0.1 / (2 * pi), 1 / (2 * pi)),
    "Cao's text": (0.1 / (2 * pi), 1.0),
    "Li et al.'s text": (0.1, 1.0),
}


class ImportedBurgersDataset(ImportedDataset, burgers.BurgersSettings):
    """Burgers data from a file with initial velocity and solution, by default the variables `a` and `u`.

    For a circle of length L, u(x, t)/L at x/L is a solution on the unit circle with viscosity ν/L².
    """

    version, checks_version = 1, 1
    variables = ("a", "u")

    equation: Literal["burgers"] = Field(description="the equation solved")
    finest: CirclePoints = Field(8192, description="points in the file, x = 0, 1/n, …, (n - 1)/n")
    resolutions: Annotated[list[CirclePoints], Field(min_length=1)] = Field(
        [512, 2048, 8192], description="points of the grids on which every sample is stored"
    )
    restriction: Literal["stride"] = Field(
        "stride", description="restriction to coarser grids: every k-th value of the file"
    )
    accuracy: float = Field(
        1e-3,
        gt=0,
        description="largest median relative L2 difference between the file's solutions and our solver's "
        "without a warning on the card, the page and the terminal",
    )

    def task(self) -> ImportedBurgers:
        return ImportedBurgers(self)


class ImportedBurgers(ImportedTask):
    """Read initial velocities and solutions, and solve all again by the Cole-Hopf transformation."""

    settings: ImportedBurgersDataset

    inputs, targets = (burgers.INPUT,), (burgers.TARGET,)
    input_answers = True
    on_gpu = False
    labels = "solutions"
    powers = (1, 1)
    compared = 32

    def __init__(self, settings: ImportedBurgersDataset):
        super().__init__(settings)
        shared = ("resolutions", "restriction", "finest", "final_time")
        given: dict[str, Any] = {name: getattr(settings, name) for name in shared}
        carried = settings.finest // 2 - 1
        # A file may have fewer points than the distribution needs: truncate the distribution at the grid.
        cut = min(settings.initial_distribution.num_modes or carried, carried)
        given |= {"num_modes": min(burgers.NUM_MODES, carried), "num_steps": burgers.NUM_STEPS}
        given["initial_distribution"] = settings.initial_distribution.model_copy(update={"num_modes": cut})
        stated = settings.viscosity / settings.length**2, settings.final_time  # on the unit circle
        self.generated = burgers.Burgers(
            burgers.BurgersDataset(equation="burgers", viscosity=stated[0], **given)
        )
        self.stated = f"viscosity {settings.viscosity:.5g}, time {settings.final_time:.5g}", stated
        self.conventions = {
            name: values for name, values in CONVENTIONS.items() if not np.allclose(values, stated, rtol=1e-6)
        }

    def solved(self, inputs: np.ndarray, *arguments: float) -> np.ndarray:
        """Solve (samples, points) for a viscosity and a final time."""
        from resolvent.solvers.burgers.cole_hopf import cole_hopf

        viscosity, final_time = arguments
        return observe(cole_hopf(coefficients_of(inputs), viscosity, final_time), inputs.shape[1])

    def findings(self, stored: Stored) -> dict:
        few = self.draw(stored.names(stored.random_positions(self.compared)))
        return super().findings(stored) | {"both_ends_included": repeats_ends(few, [2])}

    def warnings(self, findings: dict) -> list[str]:
        words, points = super().warnings(findings), self.settings.finest
        if findings["both_ends_included"]:
            words.append(
                f"In the file, the last of {points} values repeats the first: its points are "
                f"j/{points - 1}, but they are read as a periodic grid, j/{points}."
            )
        return words

    def motion(self, sample: tuple[str, int]) -> Motion:
        settings, initial = self.settings, coefficients_of(self.draw([sample])[:, 0])
        return burgers.velocity_in_time(initial, settings.viscosity, settings.final_time, settings.length)

    def description(self) -> dict:
        facts, length = self.generated.description(), self.settings.length
        facts["distribution_of_the_input"]["truncation"] = "as in the file"
        equation: dict = facts["equation"]
        equation["parameters"] |= {"viscosity ν": self.settings.viscosity}
        if length != 1:
            equation["in_words"] = f"viscous Burgers' equation on the circle of length L = {length:.6g}"
            for key in ("in_symbols", "in_latex"):
                equation[key] = equation[key].replace("(0, 1)", "(0, L)")
        facts["solver"] = {"method": "unknown: the solutions are the file's", "checked_by": "Cole-Hopf"}
        return facts
