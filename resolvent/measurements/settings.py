"""Settings of the measurements without a dataset. Does not import torch."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from resolvent.common.settings import Settings


class CostSettings(Settings):
    """Sizes of the measured training step, as in Table 1 of Cao 2021. No dataset is needed."""

    points: int = Field(2048, ge=32, description="grid points (paper: 8192)")
    batch_size: int = Field(4, ge=1, description="samples per step")
    rounds: int = Field(3, ge=1, description="timings; the median is used")


class ArchitectureCostSettings(Settings):
    """Sizes for counting parameters and operations, for Tables 2, 4 and 5 of Calvello et al. 2024.

    Counting computes no values, so the defaults are the paper's sizes; forward passes are timed only up to
    `timed_flop` operations.
    """

    points: list[Annotated[int, Field(ge=2)]] = Field(
        [64, 312, 416],
        min_length=2,
        description="points per side of the grids; patched operators use only multiples of patches that "
        "resolve smoother_modes, and need two",
    )
    widths: list[Annotated[int, Field(ge=8, multiple_of=8)]] = Field(
        [32, 64, 96, 128], min_length=2, description="channels, also of the feed-forward networks"
    )
    modes: int = Field(12, ge=1, description="Fourier modes of FNO, counted as in the package, and of ViT-NO")
    fano_modes: int = Field(9, ge=1, description="Fourier modes of FANO")
    patches: int = Field(13, ge=1, description="patches along each side")
    smoother_modes: int = Field(64, ge=1, description="Fourier modes of the learned smoother")
    timed_flop: float = Field(
        1e10, ge=0, description="largest number of counted operations of a timed forward pass"
    )
    rounds: int = Field(3, ge=1, description="timings; the median is used")

    @property
    def patched_points(self) -> list[int]:
        """Grid sizes usable by patched operators."""
        return [n for n in self.points if n % self.patches == 0 and n >= 2 * self.smoother_modes]

    @model_validator(mode="after")
    def _growth_can_be_measured(self) -> ArchitectureCostSettings:
        if len(set(self.patched_points)) < 2 or len(set(self.widths)) < 2:
            raise ValueError(
                "growth needs at least two widths, and two grids for patched operators: multiples of "
                f"{self.patches} patches, from {2 * self.smoother_modes} points on; got widths {self.widths} "
                f"and grids {self.patched_points}"
            )
        if min(self.points) < self.modes:
            raise ValueError(f"modes is {self.modes}, more than the {min(self.points)} points of a grid")
        return self
