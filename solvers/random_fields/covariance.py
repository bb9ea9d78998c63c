"""The covariance σ²(-Δ + τ²)^{-γ} that the fields on the circle, the torus and the square share."""

from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float


@runtime_checkable
class Covariance(Protocol):
    """The parameters that every Gaussian field of this package has."""

    @property
    def sigma(self) -> float: ...

    @property
    def tau(self) -> float: ...

    @property
    def gamma(self) -> float: ...

    @property
    def zero_mean(self) -> bool: ...

    @property
    def num_modes(self) -> int: ...


def check_covariance(field: Covariance, dimension: int) -> None:
    """Check the parameters of a `field` on a domain of this `dimension`.

    Raises
    ------
    ValueError
        Where a parameter is out of range, or the pointwise variance would be infinite.
    """
    if not field.sigma > 0:
        raise ValueError(f"sigma must be positive, got {field.sigma}")
    if not field.tau >= 0:
        raise ValueError(f"tau must not be negative, got {field.tau}")
    if field.tau == 0 and not field.zero_mean:
        raise ValueError("tau must be positive unless zero_mean: the constant mode's variance is infinite")
    if not field.gamma > dimension / 2:
        raise ValueError(
            f"gamma must exceed {dimension / 2:g} (below, the pointwise variance is infinite), "
            f"got {field.gamma}"
        )
    if field.num_modes < 1:
        raise ValueError(f"num_modes must be at least 1, got {field.num_modes}")


def check_length(length: float) -> None:
    """Raise a ValueError where the period `length` of a domain is not positive."""
    if not length > 0:
        raise ValueError(f"length must be positive, got {length}")


def standard_deviations(
    field: Covariance, eigenvalues: Float[np.ndarray, "*modes"]
) -> Float[np.ndarray, "*modes"]:
    """Return σ (λ + τ²)^{-γ/2} of the eigenvalues λ of -Δ, of which the first is the constant mode's, 0.

    The first is zero where the field has no constant mode.
    """
    with np.errstate(divide="ignore"):  # τ = 0 makes the constant mode infinite, and it is then absent
        deviations = field.sigma * (eigenvalues + field.tau**2) ** (-field.gamma / 2)
    if field.zero_mean:
        deviations[(0,) * deviations.ndim] = 0
    return deviations
