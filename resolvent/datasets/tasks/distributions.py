"""Gaussian random fields as the configuration names them. Light to import."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from pydantic import BeforeValidator, Field

from resolvent.common.settings import Settings
from resolvent.solvers.random_fields.distributions import DISTRIBUTIONS


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

    def louder(self, factor: float) -> Self:
        """Return the distribution of fields that are larger by a factor."""
        return self.model_copy(update={"sigma": factor * self.sigma})

    def stretched(self, factor: float, dimension: int) -> Self:
        """Return that of fields of the same variance whose correlations reach farther by a factor.

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
        """Return what every field of `solvers.random_fields.gaussian` takes."""
        return self.model_dump(include={"sigma", "tau", "gamma", "zero_mean"})


class CircleDistribution(GaussianDistribution):
    """Gaussian random field on the circle, which can be cut at a wavenumber."""

    num_modes: int | None = Field(
        None, ge=1, description="highest wavenumber drawn; none: all that the grid `finest` carries"
    )


class TorusDistribution(GaussianDistribution):
    """Gaussian random field on the torus, which can be cut at a wavenumber."""

    num_modes: int | None = Field(
        None,
        ge=1,
        le=2**12,
        description="highest wavenumber drawn along each axis; none: those integrated, or 71 where "
        "`accuracy` decides how many these are",
        exclude_if=lambda modes: modes is None,  # settings without it are those of before
    )


def named(name: str) -> Any:
    """Give the default of a field: the distribution of this name, which validation looks up."""
    return {"name": name}


def distribution_on(domain: str) -> BeforeValidator:
    """Replace the name of a distribution on `domain` by its numbers, so that equals are equal settings."""

    def resolve(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if "name" in value:
            names = [name for name, distribution in DISTRIBUTIONS.items() if distribution.domain == domain]
            if value["name"] not in names:
                raise ValueError(
                    f"unknown distribution '{value['name']}' on the {domain}; accepted: {', '.join(names)}"
                )
            kind = {"circle": CircleDistribution, "torus": TorusDistribution}.get(
                domain, GaussianDistribution
            )
            numbers = {key: getattr(DISTRIBUTIONS[value["name"]], key) for key in kind.model_fields}
            value = numbers | {key: other for key, other in value.items() if key != "name"}
        gamma = value.get("gamma")
        if domain != "circle" and isinstance(gamma, int | float) and gamma <= 1:
            raise ValueError(f"gamma must exceed 1 on the {domain}, or the variance is infinite; got {gamma}")
        return value

    return BeforeValidator(resolve)
