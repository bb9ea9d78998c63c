"""What the settings of every dataset have. Light to import: no solver, no store."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field, model_validator

from resolvent.common.settings import Seed, Settings

SPLITS = ("train", "validation", "test")
MOST_JOBS = 100_000  # that one dataset may be cut into: each is a file name in the plan


class SplitSizes(Settings):
    """Number of samples in each split."""

    train: int = Field(1024, ge=0, description="training samples")
    validation: int = Field(100, ge=0, description="validation samples, which choose the checkpoint")
    test: int = Field(100, ge=0, description="test samples, which no training job can read")

    @model_validator(mode="after")
    def _not_empty(self):
        if not self.total:
            raise ValueError("a dataset has at least one sample")
        return self

    @property
    def total(self) -> int:
        return self.train + self.validation + self.test


class Dataset(Settings):
    """What every dataset has.

    inverse       whether the input is a measurement, which may have noise, and the target a coefficient that
                  jumps, on a coarser grid.
    in_channels   functions that the operator takes, `initial_channels` of them constants: initial values.
    out_channels  functions that it gives.
    """

    inverse: ClassVar[bool] = False
    in_channels: ClassVar[int] = 1
    initial_channels: ClassVar[int] = 0
    out_channels: ClassVar[int] = 1

    samples: SplitSizes = Field(SplitSizes(), description="samples per split")
    samples_per_shard: int = Field(256, ge=1, le=10**6, description="samples that one generation job makes")
    seed: Seed = Field(1127802, description="seed of every random draw")

    @property
    def num_shards(self) -> int:
        return -(-self.samples.total // self.samples_per_shard)

    @model_validator(mode="after")
    def _jobs_can_be_planned(self):
        if self.num_shards > MOST_JOBS:
            raise ValueError(
                f"samples_per_shard {self.samples_per_shard} cuts {self.samples.total} samples into "
                f"{self.num_shards} jobs; accepted: at most {MOST_JOBS}"
            )
        return self
