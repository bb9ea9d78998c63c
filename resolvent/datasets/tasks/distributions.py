"""Settings of Gaussian random fields in the configuration. Light to import."""

from __future__ import annotations

import math
from typing import Annotated, Any, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from resolvent.common.settings import Settings
from resolvent.solvers.random_fields.distributions import DISTRIBUTIONS

LEAST_DEVIATION = 1e-30  # of functions in single precision, so that their squares need double precision only


class GaussianDistribution(Settings):
    """Gaussian random field N(0, σ²(-Δ + τ²I)^{-γ}), given by `name`, by numbers, or both.

    Numbers override the numbers of the named distribution.
    """

    sigma: float = Field(gt=0, description="σ, the field's amplitude")
    tau: float = Field(ge=0, description="τ, the inverse correlation length")
    gamma: float = Field(gt=0.5, description="γ, the decay exponent of the covariance")
    zero_mean: bool = Field(True, description="whether to omit the constant mode")
    orthonormal: bool = Field(
        True,
        description="on the torus: whether modes are orthonormal functions, or plain exponentials as in "
        "public generators",
    )

    def louder(self, factor: float) -> Self:
        """Return the distribution with its amplitude multiplied by a factor."""
        return self.model_copy(update={"sigma": factor * self.sigma})

    @property
    def deviation(self) -> float:
        """Return the pointwise standard deviation on the circle, of orthonormal waves 2πk, k ≤ 256."""
        wavenumbers = 2 * math.pi * np.arange(1, 257)
        variance = 2 * (np.hypot(wavenumbers, self.tau) ** (-2 * self.gamma)).sum()
        return self.sigma * math.sqrt(float(variance))

    @model_validator(mode="after")
    def _in_single_precision(self):
        if not LEAST_DEVIATION < self.deviation < 1 / LEAST_DEVIATION:
            raise ValueError(
                f"sigma {self.sigma:g}, tau {self.tau:g} and gamma {self.gamma:g} give functions of size "
                f"{self.deviation:.2g}; accepted in single precision: {LEAST_DEVIATION:g} to "
                f"{1 / LEAST_DEVIATION:g}"
            )
        return self

    def stretched(self, factor: float, dimension: int) -> Self:
        """Return the distribution with its correlation length multiplied by a factor, at equal variance.

        The variance is a sum over wavenumbers 2πk on the circle, or πk on the square (`dimension` 1 or 2).
        """

        def variance(tau: float) -> float:
            squares = (math.pi * (2 if dimension == 1 else 1) * np.arange(256)) ** 2
            sums = squares if dimension == 1 else np.add.outer(squares, squares).ravel()
            return float(((sums[int(self.zero_mean) :] + tau**2) ** -self.gamma).sum())

        tau = self.tau / factor
        sigma = self.sigma * math.sqrt(variance(self.tau) / variance(tau))
        return self.model_copy(update={"tau": tau, "sigma": sigma})

    @property
    def covariance(self) -> dict[str, Any]:
        """Return the arguments of the fields in `solvers.random_fields.gaussian`."""
        return self.model_dump(include={"sigma", "tau", "gamma", "zero_mean"})


class CircleDistribution(GaussianDistribution):
    """Gaussian random field on the circle, optionally truncated at a wavenumber."""

    num_modes: int | None = Field(
        None, ge=1, description="highest wavenumber; none: the highest on the grid `finest`"
    )


class TorusDistribution(GaussianDistribution):
    """Gaussian random field on the torus, optionally truncated at a wavenumber."""

    half_spectrum: bool = Field(
        False,
        description="whether modes with k_y ≠ 0 have twice the variance, as public generators draw them",
        exclude_if=lambda doubled: not doubled,  # keeps the hash of older settings without this key
    )
    num_modes: int | None = Field(
        None,
        ge=1,
        le=2**12,
        description="highest wavenumber along each axis; none: `num_modes` of the dataset, or 71 if these "
        "are adaptive",
        exclude_if=lambda modes: modes is None,  # keeps the hash of older settings without this key
    )


def named(name: str) -> Any:
    """Return the default of a settings field: a distribution by name, looked up by validation."""
    return {"name": name}


def distribution_on(domain: str) -> BeforeValidator:
    """Return a validator that replaces names by numbers, so that equal distributions have equal hashes."""

    def resolve(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if "name" in value:
            names = [name for name, distribution in DISTRIBUTIONS.items() if distribution.domain == domain]
            if value["name"] not in names:
                raise ValueError(
                    f"unknown distribution '{value['name']}' on the {domain}; accepted: {', '.join(names)}"
                )
            kinds: dict[str, type[GaussianDistribution]] = {
                "circle": CircleDistribution,
                "torus": TorusDistribution,
            }
            kind = kinds.get(domain, GaussianDistribution)
            numbers = {key: getattr(DISTRIBUTIONS[value["name"]], key) for key in kind.model_fields}
            value = numbers | {key: other for key, other in value.items() if key != "name"}
        gamma = value.get("gamma")
        if domain != "circle" and isinstance(gamma, int | float) and gamma <= 1:
            raise ValueError(f"gamma must exceed 1 on the {domain}, or the variance is infinite; got {gamma}")
        return value

    return BeforeValidator(resolve)


OnCircle = Annotated[CircleDistribution, distribution_on("circle"), Field(validate_default=True)]
OnTorus = Annotated[TorusDistribution, distribution_on("torus"), Field(validate_default=True)]
OnSquare = Annotated[GaussianDistribution, distribution_on("square"), Field(validate_default=True)]
