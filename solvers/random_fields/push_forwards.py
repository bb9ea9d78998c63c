"""Positive coefficients from a Gaussian field, pointwise: a = ψ(g).

Both functions act on the values of the field on the grid in use. A coefficient is never interpolated: a
spline through a jump between 3 and 12 overshoots to values that the distribution does not have, below zero
too.
"""

import numpy as np
from jaxtyping import Float


def level_set(
    field: Float[np.ndarray, "*shape"], above: float = 12.0, below: float = 3.0
) -> Float[np.ndarray, "*shape"]:
    """Return `above` where the field is positive, `below` elsewhere.

    Source: Cao 2021, arXiv:2105.14995, C.3; Calvello et al. 2024, arXiv:2406.06486, 6.2.2.

    Raises
    ------
    ValueError
        Where one of the two is not positive.
    """
    for name, value in (("above", above), ("below", below)):
        if not value > 0:
            raise ValueError(f"{name} must be positive, got {value}")
    return np.where(field > 0, above, below).astype(field.dtype)


def lognormal(field: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """Return the exponential of the field (Calvello et al. 2024, section 6.2.2)."""
    return np.exp(field)
