"""What a dataset's configuration may say. Light to import: no array library."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from solvers.grid import check_restriction

SPLITS = ("train", "validation", "test")


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class InitialLaw(_Settings):
    """Periodic Gaussian random field N(0, σ²(-Δ + τ²I)^{-γ}); the defaults are Cao 2021, section C.2."""

    sigma: float = Field(25.0, gt=0, description="σ, the field's amplitude")
    tau: float = Field(5.0, gt=0, description="τ, the inverse correlation length")
    gamma: float = Field(2.0, gt=0.5, description="γ, the decay exponent of the covariance")
    zero_mean: bool = Field(True, description="whether the constant mode is absent rather than drawn")


class SplitSizes(_Settings):
    """Number of samples in each split."""

    train: int = Field(1024, ge=1, description="training samples")
    validation: int = Field(100, ge=1, description="validation samples, which choose the checkpoint")
    test: int = Field(100, ge=1, description="test samples, which no training job can read")

    @property
    def total(self) -> int:
        return self.train + self.validation + self.test


class BurgersDataset(_Settings):
    """Viscous Burgers on the unit circle: the map from u(·,0) to u(·,final_time) (Cao 2021, eq. 18)."""

    equation: Literal["burgers"] = Field(description="the equation solved")
    viscosity: float = Field(0.1 / (2 * math.pi), gt=0, description="ν")
    final_time: float = Field(1.0, gt=0, description="time at which the solution is observed")
    initial_law: InitialLaw = Field(InitialLaw(), description="law of the initial velocity")
    resolutions: Annotated[list[int], Field(min_length=1)] = Field(
        [512, 2048, 8192], description="points of the grids on which every sample is stored"
    )
    finest: int = Field(
        8192, ge=4, description="points of the grid that truncates the law: its modes stay below finest / 2"
    )
    restriction: Literal["spectral", "stride"] = Field(
        "spectral",
        description="how a stored grid sees the functions: without the modes it cannot carry, or, as the "
        "papers do, every k-th value of the finest grid (which aliases)",
    )
    samples: SplitSizes = Field(SplitSizes(), description="samples per split")
    samples_per_shard: int = Field(256, ge=1, description="samples that one generation job makes")
    seed: int = Field(1127802, ge=0, description="seed of the law")
    num_modes: int = Field(48, ge=4, description="Fourier modes integrated")
    num_steps: int = Field(240, ge=1, description="steps of the split-step method")
    accuracy: float = Field(
        1e-7, gt=0, description="largest relative L2 error allowed; a dataset that misses it is not sealed"
    )

    @model_validator(mode="after")
    def _resolutions_are_restrictions(self):
        for points in self.resolutions:
            check_restriction(self.finest, points, self.restriction)
        if len(set(self.resolutions)) < len(self.resolutions):
            raise ValueError(f"resolutions {self.resolutions} name a grid twice")
        return self

    @property
    def num_shards(self) -> int:
        return math.ceil(self.samples.total / self.samples_per_shard)


def settings_hash(settings: BaseModel | dict) -> str:
    """Twelve hexadecimal digits that name these settings: equal settings, equal name, on every machine."""
    content = settings.model_dump(mode="json") if isinstance(settings, BaseModel) else settings
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]
