"""What a dataset's configuration may say. Light to import: no solver, no store."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from resolvent.common.settings import Settings
from resolvent.datasets.tasks.common import Dataset
from resolvent.datasets.tasks.trajectory_settings import ControlledOdeDataset, Lorenz63Dataset
from resolvent.solvers.common.fourier import check_points
from resolvent.solvers.common.grid import check_restriction
from resolvent.solvers.random_fields.distributions import DISTRIBUTIONS

# Points of a circle and along a side of a square: far above any dataset, so that a slip of the keyboard is
# told at once instead of when memory is full.
CirclePoints = Annotated[int, Field(ge=4, le=2**20)]
SidePoints = Annotated[int, Field(ge=4, le=2**14)]


class GaussianDistribution(Settings):
    """Gaussian random field N(0, σ²(-Δ + τ²I)^{-γ}): by the `name` of a distribution, by numbers, or both.

    Numbers beside a name replace those of the named distribution.
    """

    sigma: float = Field(gt=0, description="σ, the field's amplitude")
    tau: float = Field(ge=0, description="τ, the inverse correlation length")
    gamma: float = Field(gt=0.5, description="γ, the decay exponent of the covariance")
    zero_mean: bool = Field(True, description="whether the constant mode is absent rather than drawn")
    orthonormal: bool = Field(
        True,
        description="on the torus: whether the distribution's modes are orthonormal functions, or, as in "
        "public generators, plain exponentials",
    )


def _distribution_on(domain: str):
    """The name of a distribution is replaced by its numbers, so that equals are equal settings."""

    def resolve(value: Any) -> Any:
        value = numbers_of(value)
        gamma = value.get("gamma") if isinstance(value, dict) else None
        if domain != "circle" and isinstance(gamma, int | float) and gamma <= 1:
            raise ValueError(f"gamma must exceed 1 on the {domain}, or the variance is infinite; got {gamma}")
        return value

    def numbers_of(value: Any) -> Any:
        if not isinstance(value, dict) or "name" not in value:
            return value
        names = [name for name, distribution in DISTRIBUTIONS.items() if distribution.domain == domain]
        if value["name"] not in names:
            raise ValueError(
                f"unknown distribution '{value['name']}' on the {domain}; accepted: {', '.join(names)}"
            )
        distribution = DISTRIBUTIONS[value["name"]]
        numbers = {key: getattr(distribution, key) for key in GaussianDistribution.model_fields}
        return numbers | {key: other for key, other in value.items() if key != "name"}

    return BeforeValidator(resolve)


class _SpaceDataset(Dataset):
    """A dataset of functions of space, stored on several grids.

    grid_kind  of every stored grid, one of `solvers.common.grid.KINDS`.
    """

    dimension: ClassVar[int] = 2
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
    initial_distribution: Annotated[
        GaussianDistribution, _distribution_on("circle"), Field(validate_default=True)
    ] = Field(
        {"name": "cao_burgers"}, description="distribution of the initial velocity: a name, numbers, or both"
    )
    resolutions: Annotated[list[CirclePoints], Field(min_length=1)] = Field(
        [512, 2048, 8192], description="points of the grids on which every sample is stored"
    )
    finest: CirclePoints = Field(
        8192,
        description="points of the grid that truncates the distribution: its modes stay below finest / 2",
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
        1e-7, gt=0, description="largest relative L2 error allowed; a dataset that misses it is not finalised"
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

    distribution: Annotated[
        GaussianDistribution, _distribution_on("square"), Field(validate_default=True)
    ] = Field(
        {"name": "cao_darcy"},
        description="distribution of the field behind the coefficient: a name, numbers, or both",
    )
    push_forward: Literal["level_set", "lognormal"] = Field(
        "level_set", description="coefficient from field: above or below zero, or the exponential"
    )
    above: float = Field(12.0, gt=0, description="coefficient where the field is positive (level_set)")
    below: float = Field(3.0, gt=0, description="coefficient where the field is negative (level_set)")
    finest: SidePoints = Field(
        421, description="points along each side of the grid that truncates the distribution"
    )
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
        "that misses it is not finalised",
    )


class DarcyDataset(_DarcySettings):
    """Darcy flow: the map from the coefficient to the pressure (Cao 2021, eq. 20; Calvello 2024, 6.2.2)."""

    equation: Literal["darcy"] = Field(description="the equation solved")
    resolutions: Annotated[list[SidePoints], Field(min_length=1)] = Field(
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
    resolutions: Annotated[list[SidePoints], Field(min_length=1)] = Field(
        [141, 211], description="points along each side of the grids of the pressure; nested in the finest"
    )
    coarse: Annotated[list[SidePoints], Field(min_length=1)] = Field(
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

    def coarse_of(self, resolution: int) -> int:
        """Points a side of the coefficient's grid, for the pressure's of `resolution`."""
        return dict(zip(self.resolutions, self.coarse, strict=True))[resolution]


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
    initial_distribution: Annotated[
        GaussianDistribution, _distribution_on("torus"), Field(validate_default=True)
    ] = Field(
        {"name": "calvello_kolmogorov"},
        description="distribution of the initial vorticity: a name, numbers, or both",
    )
    resolutions: Annotated[list[SidePoints], Field(min_length=1)] = Field(
        [416], description="points along each side of the grids stored"
    )
    method: Literal["etdrk4", "split-step"] = Field(
        "etdrk4", description="exponential Runge-Kutta, or Crank-Nicolson and Heun as in the paper"
    )
    num_modes: int = Field(71, ge=4, description="Fourier modes integrated along each axis")
    step: float = Field(0.01, gt=0, description="largest step in time")
    accuracy: float = Field(
        2e-6, gt=0, description="largest relative L2 error allowed; a dataset that misses it is not finalised"
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
