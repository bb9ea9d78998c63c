"""What a dataset's configuration may say. Light to import: no solver, no store."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from solvers.fourier import check_points
from solvers.grid import Nodes, check_restriction
from solvers.laws import LAWS
from solvers.observation_times import explicit, random_times, two_rates, uniform

SPLITS = ("train", "validation", "test")


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GaussianLaw(_Settings):
    """Gaussian random field N(0, σ²(-Δ + τ²I)^{-γ}): by the `name` of a law, by numbers, or both.

    Numbers beside a name replace those of the named law.
    """

    sigma: float = Field(gt=0, description="σ, the field's amplitude")
    tau: float = Field(ge=0, description="τ, the inverse correlation length")
    gamma: float = Field(gt=0.5, description="γ, the decay exponent of the covariance")
    zero_mean: bool = Field(True, description="whether the constant mode is absent rather than drawn")
    orthonormal: bool = Field(
        True,
        description="on the torus: whether the law's modes are orthonormal functions, or, as in public "
        "generators, plain exponentials",
    )


def _law_on(domain: str):
    """The name of a law is replaced by its numbers, so that equal laws are equal settings."""

    def resolve(value: Any) -> Any:
        value = numbers_of(value)
        gamma = value.get("gamma") if isinstance(value, dict) else None
        if domain != "circle" and isinstance(gamma, int | float) and gamma <= 1:
            raise ValueError(f"gamma must exceed 1 on the {domain}, or the variance is infinite; got {gamma}")
        return value

    def numbers_of(value: Any) -> Any:
        if not isinstance(value, dict) or "name" not in value:
            return value
        names = [name for name, law in LAWS.items() if law.domain == domain]
        if value["name"] not in names:
            raise ValueError(f"unknown law '{value['name']}' on the {domain}; accepted: {', '.join(names)}")
        law = LAWS[value["name"]]
        numbers = {key: getattr(law, key) for key in GaussianLaw.model_fields}
        return numbers | {key: other for key, other in value.items() if key != "name"}

    return BeforeValidator(resolve)


class SplitSizes(_Settings):
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


class _Dataset(_Settings):
    """What every dataset has."""

    samples: SplitSizes = Field(SplitSizes(), description="samples per split")
    samples_per_shard: int = Field(256, ge=1, description="samples that one generation job makes")
    seed: int = Field(1127802, ge=0, description="seed of every random draw")

    @property
    def num_shards(self) -> int:
        return math.ceil(self.samples.total / self.samples_per_shard)


class _SpaceDataset(_Dataset):
    """A dataset of functions of space, stored on several grids.

    grid_kind  of every stored grid, one of `solvers.grid.KINDS`.
    inverse    whether the input is a measurement, which may have noise, and the target a coefficient that
               jumps, on a coarser grid.
    """

    dimension: ClassVar[int] = 2
    inverse: ClassVar[bool] = False
    grid_kind: ClassVar[str] = "periodic"

    @property
    def largest_array(self) -> int:
        """Values of the largest array of one sample."""
        return max(self.resolutions) ** self.dimension

    @model_validator(mode="after")
    def _grids_are_named_once(self):
        if len(set(self.resolutions)) < len(self.resolutions):
            raise ValueError(f"resolutions {self.resolutions} name a grid twice")
        return self


class BurgersDataset(_SpaceDataset):
    """Viscous Burgers on the unit circle: the map from u(·,0) to u(·,final_time) (Cao 2021, eq. 18)."""

    dimension: ClassVar[int] = 1

    equation: Literal["burgers"] = Field(description="the equation solved")
    viscosity: float = Field(0.1 / (2 * math.pi), gt=0, description="ν")
    final_time: float = Field(1.0, gt=0, description="time at which the solution is observed")
    initial_law: Annotated[GaussianLaw, _law_on("circle"), Field(validate_default=True)] = Field(
        {"name": "cao_burgers"}, description="law of the initial velocity: a name, numbers, or both"
    )
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
    method: Literal["split-step", "etdrk4", "cole-hopf"] = Field(
        "split-step", description="split-step and etdrk4 march in time; cole-hopf is the closed form"
    )
    num_modes: int = Field(48, ge=4, description="Fourier modes integrated (split-step, etdrk4)")
    num_steps: int = Field(240, ge=1, description="steps in time (split-step, etdrk4)")
    accuracy: float = Field(
        1e-7, gt=0, description="largest relative L2 error allowed; a dataset that misses it is not sealed"
    )

    @model_validator(mode="after")
    def _resolutions_are_restrictions(self):
        for points in self.resolutions:
            check_restriction(self.finest, points, self.restriction)
        if self.num_modes >= self.finest // 2:
            raise ValueError(
                f"num_modes {self.num_modes} is above the grid: {self.finest} points carry modes below "
                f"{self.finest // 2}"
            )
        if self.method == "etdrk4" and self.num_steps % 8:
            raise ValueError(f"num_steps of etdrk4 must be a multiple of 8, got {self.num_steps}")
        return self


class _DarcySettings(_SpaceDataset):
    """Darcy flow -∇·(a∇p) = 1 on the unit square, p = 0 on its boundary."""

    law: Annotated[GaussianLaw, _law_on("square"), Field(validate_default=True)] = Field(
        {"name": "cao_darcy"}, description="law of the field behind the coefficient: a name, numbers, or both"
    )
    push_forward: Literal["level_set", "lognormal"] = Field(
        "level_set", description="coefficient from field: above or below zero, or the exponential"
    )
    above: float = Field(12.0, gt=0, description="coefficient where the field is positive (level_set)")
    below: float = Field(3.0, gt=0, description="coefficient where the field is negative (level_set)")
    finest: int = Field(421, ge=4, description="points along each side of the grid that truncates the law")
    face_mean: Literal["arithmetic", "harmonic"] = Field(
        "arithmetic", description="mean of two neighbouring coefficients on the face between them"
    )
    tolerance: float = Field(
        1e-8, gt=0, lt=1, description="relative residual at which conjugate gradients stop"
    )
    accuracy: float = Field(
        1e-9,
        gt=0,
        description="largest relative L2 difference from a direct solution of the same equations; a dataset "
        "that misses it is not sealed",
    )


class DarcyDataset(_DarcySettings):
    """Darcy flow: the map from the coefficient to the pressure (Cao 2021, eq. 20; Calvello 2024, 6.2.2)."""

    equation: Literal["darcy"] = Field(description="the equation solved")
    resolutions: Annotated[list[Annotated[int, Field(ge=4)]], Field(min_length=1)] = Field(
        [421, 211, 141, 85], description="points along each side of the grids stored"
    )
    grid: Literal["nodes", "cell_centres"] = Field(
        "nodes", description="nodes include the boundary, cell centres do not"
    )
    pressure: Literal["restricted", "solved_on_each_grid"] = Field(
        "restricted",
        description="pressure on a coarser grid: the finest grid's (its sine interpolant; every k-th value "
        "where the grids are nested), or solved anew there with the coefficient of the same function",
    )

    @property
    def grid_kind(self) -> str:
        return self.grid

    @model_validator(mode="after")
    def _grids_fit(self):
        if max(self.resolutions) > self.finest:
            raise ValueError(
                f"resolution {max(self.resolutions)} is above the finest grid, {self.finest} points"
            )
        if self.pressure == "restricted" and self.grid == "cell_centres":
            raise ValueError(
                "pressure on cell centres cannot be restricted; accepted there: solved_on_each_grid"
            )
        return self


class DarcyInverseDataset(_DarcySettings):
    """Inverse Darcy: from the pressure on a fine grid to the coefficient on a coarse (Cao 2021, eq. 23)."""

    grid_kind: ClassVar[str] = "nodes"
    inverse: ClassVar[bool] = True

    equation: Literal["darcy_inverse"] = Field(description="the equation solved")
    resolutions: Annotated[list[Annotated[int, Field(ge=4)]], Field(min_length=1)] = Field(
        [141, 211], description="points along each side of the grids of the pressure; nested in the finest"
    )
    coarse: Annotated[list[Annotated[int, Field(ge=4)]], Field(min_length=1)] = Field(
        [36, 71],
        description="points along each side of the grid of the coefficient, one for each of resolutions",
    )

    @model_validator(mode="after")
    def _grids_are_nested(self):
        if len(self.coarse) != len(self.resolutions):
            raise ValueError("coarse gives one grid for each of resolutions")
        for fine, coarse in zip(self.resolutions, self.coarse, strict=True):
            for many, few in ((self.finest, fine), (fine, coarse)):
                if (many - 1) % (few - 1):
                    raise ValueError(f"{few} nodes are not nested in {many}: {many - 1} intervals, {few - 1}")
        grids = [*self.resolutions, *self.coarse]
        if len(set(grids)) < len(grids):
            raise ValueError(f"resolutions {self.resolutions} and coarse {self.coarse} name a grid twice")
        return self


class KolmogorovDataset(_SpaceDataset):
    """Kolmogorov flow: the map from ω(·,T) to ω(·,T + lead_time) (Calvello 2024, section 6.2.3)."""

    equation: Literal["kolmogorov"] = Field(description="the equation solved")
    viscosity: float = Field(1 / 70, gt=0, description="ν")
    forcing_wavenumber: int = Field(4, ge=1, description="n of the body force sin(n y)")
    spin_up_time: float = Field(11.0, gt=0, description="T, when the input is observed")
    lead_time: float = Field(0.1, gt=0, description="time from the input to the target")
    frames: int = Field(
        1, ge=1, description="targets kept, lead_time apart; with more than one a window is stored as well"
    )
    initial_law: Annotated[GaussianLaw, _law_on("torus"), Field(validate_default=True)] = Field(
        {"name": "calvello_kolmogorov"}, description="law of the initial vorticity: a name, numbers, or both"
    )
    resolutions: Annotated[list[int], Field(min_length=1)] = Field(
        [416], description="points along each side of the grids stored"
    )
    method: Literal["etdrk4", "split-step"] = Field(
        "etdrk4", description="exponential Runge-Kutta, or Crank-Nicolson and Heun as in the paper"
    )
    num_modes: int = Field(71, ge=4, description="Fourier modes integrated along each axis")
    step: float = Field(0.01, gt=0, description="largest step in time")
    accuracy: float = Field(
        2e-6, gt=0, description="largest relative L2 error allowed; a dataset that misses it is not sealed"
    )

    @model_validator(mode="after")
    def _forcing_is_resolved(self):
        if self.num_modes < self.forcing_wavenumber:
            raise ValueError(
                f"num_modes {self.num_modes} do not reach the forcing wavenumber {self.forcing_wavenumber}"
            )
        for points in self.resolutions:
            check_points(points)
        return self


class ObservationTimes(_Settings):
    """When trajectories are observed."""

    kind: Literal["uniform", "two_rates", "random", "explicit"] = Field(
        "uniform",
        description="equal steps; equal steps, twice as long in the second half (Calvello 2024, eq. 41); "
        "random; listed",
    )
    step: float | None = Field(None, gt=0, description="time step (uniform, two_rates)")
    count: int | None = Field(None, ge=2, description="number of times (random)")
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
        if self.kind == "uniform":
            return uniform(self.step, final_time)
        if self.kind == "two_rates":
            return two_rates(self.step, final_time)
        if self.kind == "random":
            return random_times(self.count, final_time, seed)
        return explicit(tuple(self.times))


class _TrajectoryDataset(_Dataset):
    """A dataset of trajectories, stored at several sets of times."""

    final_time: float = Field(2.0, gt=0, description="T")
    observations: Annotated[dict[str, ObservationTimes], Field(min_length=1)] = Field(
        {"dt0.01": ObservationTimes(step=0.01)},
        description="sets of times by name; each sample is stored at all of them",
    )
    samples_per_shard: int = Field(2000, ge=1, description="samples that one generation job makes")

    @property
    def largest_array(self) -> int:
        """Values of the largest array of one sample."""
        return max(o.nodes(self.final_time, self.seed).points for o in self.observations.values())

    @model_validator(mode="after")
    def _times_fit(self):
        for name, observation in self.observations.items():
            if not name.replace(".", "").replace("_", "").isalnum():
                raise ValueError(f"observations.{name}: a name has letters, digits, '.' and '_' only")
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
        1e-8, gt=0, description="largest relative L2 error allowed; a dataset that misses it is not sealed"
    )


class ControlledOdeDataset(_TrajectoryDataset):
    """Controlled ODE dz = sin(z) du: from the control u to z (Calvello 2024, section 6.1)."""

    equation: Literal["controlled_ode"] = Field(description="the equation solved")
    initial_value: float = Field(1.0, description="z(0)")
    num_terms: int = Field(10, ge=1, description="J, the number of sines in the control")
    control_decay: Literal["inverse", "none"] = Field(
        "inverse", description="amplitude of the j-th sine: 1/j, as in public code, or 1, as printed"
    )
    accuracy: float = Field(
        1e-9, gt=0, description="largest relative L2 error allowed; a dataset that misses it is not sealed"
    )


DatasetSettings = Annotated[
    BurgersDataset
    | DarcyDataset
    | DarcyInverseDataset
    | Lorenz63Dataset
    | ControlledOdeDataset
    | KolmogorovDataset,
    Field(discriminator="equation"),
]


def settings_hash(settings: BaseModel | dict) -> str:
    """Twelve hexadecimal digits that name these settings: equal settings, equal name, on every machine."""
    content = settings.model_dump(mode="json") if isinstance(settings, BaseModel) else settings
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]
