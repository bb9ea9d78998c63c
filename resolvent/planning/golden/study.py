"""A dataset and a network with numbers of their own, so that golden numbers of the rest depend on neither.

Functions are sums of a few waves on the circle, and targets their damped shift.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from resolvent.datasets.storage.layout import Group, Variable, group_name, space_group
from resolvent.datasets.tasks.settings import SpaceDataset
from resolvent.datasets.tasks.symmetries import Symmetry, shifts_and_reflection
from resolvent.datasets.tasks.task import Motion, Task
from resolvent.models.settings import Settings
from resolvent.solvers.common.grid import AnyGrid, Grid

WAVES = 2 * np.pi * np.arange(1, 4)


class WavesDataset(SpaceDataset):
    """Map a sum of three waves to its damped shift."""

    moves = True

    equation: Literal["resolvent.planning.golden.study:WavesDataset"] = Field(description="this class")
    resolutions: list[int] = Field([16, 32], description="points of the grids stored")
    shift: float = Field(0.1, description="distance by which the waves move")

    def task(self) -> Waves:
        return Waves(self)

    def symmetries(self) -> tuple[Symmetry, ...]:
        return shifts_and_reflection()

    def cheap_answer(self, inputs: np.ndarray, prediction: np.ndarray, grid: AnyGrid) -> np.ndarray:
        return 0.9 * prediction + 0.1 * inputs


class Waves(Task):
    """The task of `WavesDataset`, solved in closed form."""

    settings: WavesDataset
    inputs, targets = ("before",), ("after",)

    def groups(self) -> tuple[Group, ...]:
        variables = Variable("before", "sum of waves"), Variable("after", "damped and shifted")
        return tuple(space_group(Grid("periodic", n), *variables) for n in self.settings.resolutions)

    def draw_one(self, seed: int, split: int, index: int) -> np.ndarray:
        return np.random.default_rng([seed, split, index]).normal(size=(2, 3))

    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        arrays = {}
        for points in self.settings.resolutions:
            x = np.arange(points) / points
            arrays[f"{group_name(points)}/before"] = self._waves(drawn, x)
            arrays[f"{group_name(points)}/after"] = self._waves(
                drawn / np.arange(1, 4), x - self.settings.shift
            )
        return arrays

    @staticmethod
    def _waves(drawn: np.ndarray, x: np.ndarray) -> np.ndarray:
        angles = WAVES[:, None] * x
        return drawn[:, 0] @ np.cos(angles) + drawn[:, 1] @ np.sin(angles)

    def refined(self) -> Waves:
        return self

    def motion(self, sample: tuple[str, int]) -> Motion:
        times, x = np.arange(5) / 5, np.arange(16) / 16
        values = np.concatenate([self._waves(self.draw([sample]), x - time) for time in times])
        return Motion("curve", times, values, ("wave",), x)

    def description(self) -> dict:
        facts = {"in_words": "waves", "in_symbols": "u", "operator": "u ↦ v", "source": "golden numbers"}
        return {"equation": facts, "solver": {"method": "closed form"}}


class BumpsDataset(WavesDataset):
    """Map positive coefficients to functions that are zero on the boundary of the square."""

    dimension = 2
    grid_kind = "nodes"
    moves = False

    equation: Literal["resolvent.planning.golden.study:BumpsDataset"] = Field(  # type: ignore[assignment]
        description="this class"
    )
    resolutions: list[int] = Field([9, 17], description="points along each side of the grids stored")

    def task(self) -> Bumps:
        return Bumps(self)


class Bumps(Waves):
    """The task of `BumpsDataset`."""

    def groups(self) -> tuple[Group, ...]:
        variables = Variable("before", "coefficient"), Variable("after", "bump")
        grids = [Grid("nodes", n, dimension=2) for n in self.settings.resolutions]
        return tuple(space_group(grid, *variables) for grid in grids)

    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        arrays = {}
        for points in self.settings.resolutions:
            x = np.arange(points) / (points - 1)
            waves = np.cos(WAVES[:, None] * x / 2)
            field = np.einsum("sk,sl,ky,lx->syx", drawn[:, 0], drawn[:, 1], waves, waves)
            bump = np.sin(np.pi * x)
            bump[-1] = 0
            arrays[f"{group_name(points)}/before"] = 2 + np.tanh(field)
            arrays[f"{group_name(points)}/after"] = bump[:, None] * bump / (2 + np.tanh(field))
        return arrays


class NarrowSettings(Settings):
    """A network that acts at each point alone, of a line or a square."""

    operator = "resolvent.planning.golden.study:Narrow"
    dimension = 1

    width: int = Field(6, ge=1, description="hidden channels")


class Narrow(nn.Module):
    """An affine map, a tanh, and a quadratic map by complex weights; fixed initial weights."""

    def __init__(self, in_channels: int, out_channels: int, width: int):
        super().__init__()
        self.first = nn.Linear(in_channels, width)
        # As real pairs under the name by which `resolvent.models.build.real_pairs` finds them.
        self.complex_weights = nn.ParameterDict({"last": nn.Parameter(torch.empty(width, out_channels, 2))})
        with torch.no_grad():
            for parameter in self.parameters():
                entries = torch.arange(parameter.numel(), dtype=torch.float64)
                parameter.copy_(0.3 * torch.cos(1 + 2 * entries).reshape(parameter.shape))

    def forward(self, u: Tensor, x: Tensor) -> Tensor:
        hidden = torch.tanh(self.first(u) + x.sum(-1, keepdim=True))
        linear, quadratic = self.complex_weights["last"].unbind(-1)
        return hidden @ linear + hidden.square() @ quadratic
