"""What the configuration of a dataset of trajectories may say. Light to import: no solver, no store."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from resolvent.common.settings import Settings
from resolvent.datasets.storage.layout import resolution_of
from resolvent.datasets.tasks.common import Dataset
from resolvent.solvers.common.grid import Nodes
from resolvent.solvers.common.observation_times import explicit, random_times, two_rates, uniform

MOST_TIMES = 100_000  # of a trajectory


class ObservationTimes(Settings):
    """When trajectories are observed."""

    kind: Literal["uniform", "two_rates", "random", "explicit"] = Field(
        "uniform",
        description="equal steps; equal steps, twice as long in the second half (Calvello 2024, eq. 41); "
        "random; listed",
    )
    step: float | None = Field(None, gt=0, description="time step (uniform, two_rates)")
    count: int | None = Field(None, ge=2, le=MOST_TIMES, description="number of times (random)")
    times: list[float] | None = Field(None, description="the times (explicit)")

    @model_validator(mode="after")
    def _has_what_its_kind_needs(self):
        needs = {"uniform": "step", "two_rates": "step", "random": "count", "explicit": "times"}[self.kind]
        for key in ("step", "count", "times"):
            if (getattr(self, key) is None) == (key == needs):
                raise ValueError(f"times of kind {self.kind} take {needs}, and no other key")
        return self

    def nodes(self, final_time: float, seed: int) -> Nodes:
        """The times, all below final_time or equal to it."""
        if self.step is not None and final_time / self.step > MOST_TIMES:
            raise ValueError(
                f"{final_time / self.step:g} steps of {self.step:g}; accepted: at most {MOST_TIMES}"
            )
        if self.kind == "uniform":
            return uniform(self.step, final_time)
        if self.kind == "two_rates":
            return two_rates(self.step, final_time)
        if self.kind == "random":
            return random_times(self.count, final_time, seed)
        return explicit(tuple(self.times))


class _TrajectoryDataset(Dataset):
    """A dataset of trajectories, stored at several sets of times: its resolutions, by name."""

    dimension: ClassVar[int] = 1
    grid_kind: ClassVar[str] = "explicit"

    final_time: float = Field(2.0, gt=0, description="T")
    observations: Annotated[dict[str, ObservationTimes], Field(min_length=1)] = Field(
        {"dt0.01": ObservationTimes(step=0.01)},
        description="sets of times by name; each sample is stored at all of them",
    )
    samples_per_shard: int = Field(2000, ge=1, le=10**6, description="samples that one generation job makes")

    @property
    def resolutions(self) -> list[str]:
        """Names of the sets of times."""
        return list(self.observations)

    @property
    def largest_array(self) -> int:
        """Values of the largest array of one sample."""
        return max(o.nodes(self.final_time, self.seed).points for o in self.observations.values())

    @model_validator(mode="after")
    def _times_fit(self):
        for name, observation in self.observations.items():
            if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.]{0,63}", name):
                raise ValueError(
                    f"observations.{name}: a name starts with a letter, and has letters, digits, '.' and '_' "
                    "only, at most 64"
                )
            if isinstance(resolution_of(name), int):
                raise ValueError(f"observations.{name}: names like n512 are those of grids of space")
            try:
                last = observation.nodes(self.final_time, self.seed).positions[-1]
            except ValueError as error:
                raise ValueError(f"observations.{name}: {error}") from None
            if last > self.final_time:
                raise ValueError(f"observations.{name}: {last:g} is after final_time {self.final_time:g}")
        return self


class Lorenz63Dataset(_TrajectoryDataset):
    """Lorenz-63: from the x trajectory to the unobserved ones (Calvello 2024, eq. 40 and section 6.1)."""

    equation: Literal["lorenz63"] = Field(description="the equation solved")
    targets: Literal["yz", "y"] = Field(
        "yz", description="yz: (x, y(0), z(0)) to y and z; y: x to y, without initial values"
    )
    sigma: float = Field(10.0, gt=0, description="σ, the Prandtl number")
    rho: float = Field(28.0, gt=0, description="ρ, the Rayleigh number over its critical value")
    beta: float = Field(8 / 3, gt=0, description="β, a geometric factor")
    step: float = Field(0.01, gt=0, description="largest step in time")
    accuracy: float = Field(
        1e-8, gt=0, description="largest relative L2 error allowed; a dataset that misses it is not finalised"
    )

    @property
    def in_channels(self) -> int:
        return 1 + self.initial_channels

    @property
    def initial_channels(self) -> int:
        return 2 if self.targets == "yz" else 0

    @property
    def out_channels(self) -> int:
        return len(self.targets)


class ControlledOdeDataset(_TrajectoryDataset):
    """Controlled ODE dz = sin(z) du: from the control u to z (Calvello 2024, section 6.1)."""

    equation: Literal["controlled_ode"] = Field(description="the equation solved")
    initial_value: float = Field(1.0, description="z(0)")
    num_terms: int = Field(10, ge=1, description="J, the number of sines in the control")
    control_decay: Literal["inverse", "none"] = Field(
        "inverse", description="amplitude of the j-th sine: 1/j, as in public code, or 1, as printed"
    )
    accuracy: float = Field(
        1e-9, gt=0, description="largest relative L2 error allowed; a dataset that misses it is not finalised"
    )
