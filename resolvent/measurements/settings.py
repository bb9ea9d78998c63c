"""Settings of the measurements without a dataset. Does not import torch."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from resolvent.common.settings import Seed, Settings


class TheorySettings(Settings):
    """Sizes of the tests of theory: Cao 2021 and, from `continuum_points` on, Calvello et al. 2024.

    They need no dataset and no training.
    """

    projection_points: list[Annotated[int, Field(ge=32)]] = Field(
        [64, 128, 256, 512, 1024], min_length=1, description="grids of the projections (float64)"
    )
    convergence_points: list[Annotated[int, Field(ge=16, multiple_of=16)]] = Field(
        [16, 32, 64, 128, 256, 512, 1024],
        min_length=2,
        description="grids of the convergence to the integral operator (float64)",
    )
    cost_points: list[Annotated[int, Field(ge=1)]] = Field(
        [256, 512, 1024, 2048, 4096, 8192], min_length=2, description="grids of the timings (float32)"
    )
    cost_features: int = Field(97, ge=1, description="features of the timed head (Example 1: 96 and x)")
    cost_repetitions: int = Field(
        7, ge=1, description="timings of each attention and size; the median is used"
    )
    continuum_points: list[Annotated[int, Field(ge=2)]] = Field(
        [16, 64, 256, 1024, 4096],
        min_length=2,
        description="random points of attention and cross-attention (float64, as are all below)",
    )
    continuum_draws: int = Field(100, ge=1, description="draws of random points")
    quadrature_intervals: list[Annotated[int, Field(ge=4, multiple_of=4)]] = Field(
        [16, 32, 64, 128, 256, 512, 1024],
        min_length=2,
        description="intervals between the nodes of the quadratures; the two-rate nodes have 3/4 as many",
    )
    average_sides: list[Annotated[int, Field(ge=2)]] = Field(
        [4, 6, 8, 12, 16, 24],
        min_length=2,
        description="points per side for the layer of universal approximation; in 1D their squares",
    )
    invariance_points_1d: list[Annotated[int, Field(ge=16, multiple_of=2)]] = Field(
        [32, 64, 128, 256],
        min_length=2,
        description="grids in one dimension, each compared with a grid twice as fine",
    )
    invariance_points_2d: list[Annotated[int, Field(ge=16, multiple_of=2)]] = Field(
        [16, 32, 64],
        min_length=2,
        description="the same in two dimensions, points per side; half as many for full attention",
    )
    seed: Seed = Field(1127802, description="seed of random bases, weights and nodes")


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
