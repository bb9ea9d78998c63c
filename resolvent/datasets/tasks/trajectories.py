"""Datasets of trajectories, observed at sets of times."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from resolvent.common.settings import Settings
from resolvent.datasets.storage.layout import resolution_of
from resolvent.datasets.tasks.settings import FEW_SAMPLES, DatasetSettings
from resolvent.datasets.tasks.task import FRAMES, Task
from resolvent.solvers.common.grid import Nodes
from resolvent.solvers.common.observation_times import (
    explicit,
    normal_times,
    random_times,
    two_rates,
    uniform,
)

MOST_TIMES = 100_000  # limit for a trajectory
MOMENTS_OF_A_PATH = 5 * FRAMES  # times of a film, enough for a smooth path


class ObservationTimes(Settings):
    """A set of observation times."""

    kind: Literal["uniform", "two_rates", "random", "normal", "explicit"] = Field(
        "uniform",
        description="uniform: equal steps; two_rates: steps twice as long in the second half (Calvello 2024, "
        "eq. 41); random: uniform random times; normal: sorted normal deviates, rescaled to [0, T] with both "
        "ends (public code of Calvello 2024); explicit: listed times",
    )
    step: float | None = Field(None, gt=0, description="time step (uniform, two_rates)")
    count: int | None = Field(None, ge=2, le=MOST_TIMES, description="number of times (random, normal)")
    times: list[float] | None = Field(None, description="the times (explicit)")

    @model_validator(mode="after")
    def _has_what_its_kind_needs(self):
        needs = {"random": "count", "normal": "count", "explicit": "times"}.get(self.kind, "step")
        for key in ("step", "count", "times"):
            if (getattr(self, key) is None) == (key == needs):
                raise ValueError(f"times of kind {self.kind} need the key {needs}, and no other key")
        return self

    def nodes(self, final_time: float, seed: int) -> Nodes:
        """Return the times, all at most `final_time`."""
        if self.step is not None:
            steps = final_time / self.step
            if steps > MOST_TIMES:
                raise ValueError(f"step {self.step:g} gives {steps:g} times; accepted: at most {MOST_TIMES}")
            return (uniform if self.kind == "uniform" else two_rates)(self.step, final_time)
        if self.count is not None:
            return (random_times if self.kind == "random" else normal_times)(self.count, final_time, seed)
        return explicit(tuple(self.times or ()))


class TrajectoryDataset(DatasetSettings):
    """A dataset of trajectories; its resolutions are named sets of times."""

    grid_kind = "explicit"
    example: ClassVar = FEW_SAMPLES | {
        "final_time": 0.4,
        "observations": {"dt0.02": {"step": 0.02}, "random": {"kind": "random", "count": 30}},
    }

    final_time: float = Field(2.0, gt=0, description="T")
    observations: Annotated[dict[str, ObservationTimes], Field(min_length=1)] = Field(
        {"dt0.01": ObservationTimes(step=0.01)},
        description="sets of times by name; each sample is stored at all sets",
    )
    samples_per_shard: int = Field(2000, ge=1, le=10**6, description="samples per generation job")

    @property
    def resolutions(self) -> list[str]:
        return list(self.observations)

    def times_of(self, name: str) -> Nodes:
        return self.observations[name].nodes(self.final_time, self.seed)

    def num_points(self, resolution: int | str) -> int:
        return self.times_of(str(resolution)).points

    @model_validator(mode="after")
    def _times_fit(self):
        for name in self.observations:
            if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.]{0,63}", name):
                raise ValueError(
                    f"observations.{name}: a name starts with a letter, and has only letters, digits, '.' "
                    "and '_', at most 64 characters"
                )
            if isinstance(resolution_of(name), int):
                raise ValueError(f"observations.{name}: names like n512 are reserved for grids of space")
            try:
                last = self.times_of(name).positions[-1]
            except ValueError as error:
                raise ValueError(f"observations.{name}: {error}") from None
            if last > self.final_time:
                raise ValueError(
                    f"observations.{name}: time {last:g} is after final_time {self.final_time:g}"
                )
        return self


class TrajectoryTask(Task):
    """Base class of tasks of trajectories, with the times of every set."""

    settings: TrajectoryDataset
    batch = 1000

    def __init__(self, settings: TrajectoryDataset):
        super().__init__(settings)
        self.times = {name: settings.times_of(name) for name in settings.resolutions}

    def moments(self) -> Nodes:
        """Return the times of a film."""
        return Nodes(tuple(map(float, np.linspace(0, self.settings.final_time, MOMENTS_OF_A_PATH))))
