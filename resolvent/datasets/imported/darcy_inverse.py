"""The inverse problem on Darcy data made elsewhere: the same files, read the other way (Cao 2021, 5.3)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from resolvent.datasets.imported.channels import Name
from resolvent.datasets.imported.darcy import (
    SHARED,
    ImportedDarcy,
    ImportedDarcyDataset,
    forward_task,
)
from resolvent.datasets.imported.settings import ImportedDataset
from resolvent.datasets.imported.task import ImportedTask
from resolvent.datasets.storage.layout import Group, stretched
from resolvent.datasets.tasks.darcy_inverse import INPUT, TARGET, DarcyInverse, DarcyInverseDataset
from resolvent.datasets.tasks.settings import SidePoints
from resolvent.datasets.tasks.task import Baseline


class ImportedDarcyInverseDataset(ImportedDataset, DarcyInverseDataset):
    """Darcy data from files with a coefficient and a pressure: the pressure is the input."""

    variables = ("sol", "coeff")

    equation: Literal["darcy_inverse"] = Field(description="the equation solved")
    resolutions: Annotated[list[SidePoints], Field(min_length=1)] = DarcyInverseDataset.model_fields[
        "resolutions"
    ]  # type: ignore[assignment]
    finest: SidePoints = Field(421, description="points along each side in the file, taken for nodes")
    accuracy: float = ImportedDarcyDataset.model_fields["accuracy"]  # type: ignore[assignment]

    def functions(self) -> list[tuple[Name, int]]:
        """Return where the coefficient and the pressure are in a file, in this order, each with its time."""
        return ImportedDataset.functions(self)[::-1]

    def task(self) -> ImportedDarcyInverse:  # type: ignore[override]
        return ImportedDarcyInverse(self)

    def bytes_of_checks(self) -> float:
        return ImportedDataset.bytes_of_checks(self) + DarcyInverseDataset.bytes_of_checks(self)


class ImportedDarcyInverse(ImportedDarcy):
    """Reads coefficients and pressures, and averages the coefficients over windows of nodes."""

    settings: ImportedDarcyInverseDataset  # type: ignore[assignment]
    inputs, targets = (INPUT,), (TARGET,)

    def __init__(self, settings: ImportedDarcyInverseDataset):
        ImportedTask.__init__(self, settings)
        self.generated = forward_task(settings, "nodes")
        given: dict[str, Any] = {name: getattr(settings, name) for name in (*SHARED, "resolutions", "coarse")}
        self.inverse = DarcyInverse(DarcyInverseDataset(equation="darcy_inverse", **given))

    def groups(self) -> tuple[Group, ...]:
        return tuple(stretched(group, self.settings.length) for group in self.inverse.groups())

    def baselines(self) -> dict[str, Baseline]:
        return self.inverse.baselines()

    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        """Restrict what was read, (samples, 2, points, points), as `DarcyInverse` does."""
        return self.inverse.restricted(drawn[:, 0], drawn[:, 1])

    def description(self) -> dict:
        facts = self.inverse.description()
        facts["distribution_of_the_coefficient"]["truncation"] = "as in the file"
        return facts | {"solver": super().description()["solver"]}
