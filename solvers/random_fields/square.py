"""Gaussian random fields on the unit square, drawn as coefficients of cosines.

As in `solvers.random_fields.circle` a sample is a function: its draw depends on (seed, split, index) alone,
and deviates are dealt out in square shells of wavenumbers, so that a larger `num_modes` only appends.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float, Int

from resolvent.solvers.random_fields.covariance import check_covariance, standard_deviations
from resolvent.solvers.random_fields.streams import scatter_normal


@dataclass(frozen=True)
class NeumannGaussianField:
    """N(0, σ²(-Δ + τ²)^{-γ}) on the unit square, with the Neumann Laplacian.

        u(x, y) = Σ s ξ φ_{k_x}(x) φ_{k_y}(y),    0 ≤ k_x, k_y ≤ K,    ξ ~ N(0, 1)
        s = σ (λ + τ²)^{-γ/2},    λ = π² (k_x² + k_y²)

    with the cosines φ of `solvers.common.cosine_series`.

    sigma, tau, gamma  as on the circle; γ > 1 for a finite pointwise variance as K grows.
    zero_mean  True: the constant mode is absent.
    num_modes  K, the highest wavenumber drawn along each axis. A grid of n nodes distinguishes n - 1 of them;
               the distribution is *defined* with this truncation.
    """

    sigma: float
    tau: float
    gamma: float
    zero_mean: bool = True
    num_modes: int = 420

    def __post_init__(self) -> None:
        check_covariance(self, dimension=2)

    def coefficients(self, seed: int, split: int, index: int) -> Float[np.ndarray, "modes modes"]:
        """Draw the cosine coefficients [k_y, k_x], (K + 1, K + 1), of sample `index` of split `split`."""
        coefficients = np.empty((self.num_modes + 1, self.num_modes + 1))
        scatter_normal(seed, split, index, *_drawing_order(self), coefficients.ravel())
        return coefficients

    def standard_deviations(self) -> Float[np.ndarray, "modes modes"]:
        """Return s, the standard deviation of each coefficient, as an array that cannot be written to."""
        return _standard_deviations(self)

    def variance(self) -> float:
        """Return the pointwise variance of the truncated field, averaged over the square.

        It is larger near the edges.
        """
        return float((self.standard_deviations() ** 2).sum())


@lru_cache(maxsize=8)
def _drawing_order(
    field: NeumannGaussianField,
) -> tuple[Int[np.ndarray, " coefficients"], Float[np.ndarray, " coefficients"]]:
    """Return the flat positions of [k_y, k_x] in the order of drawing, and the standard deviations in it.

    The order is max(k_x, k_y) = 0, 1, …
    """
    modes = field.num_modes + 1
    shells = (np.concatenate([m * modes + np.arange(m + 1), np.arange(m) * modes + m]) for m in range(modes))
    order = np.concatenate(list(shells))
    return order, field.standard_deviations().ravel()[order]


@lru_cache(maxsize=8)
def _standard_deviations(field: NeumannGaussianField) -> Float[np.ndarray, "modes modes"]:
    squares = (np.pi * np.arange(field.num_modes + 1)) ** 2
    deviations = standard_deviations(field, squares[:, None] + squares)
    deviations.flags.writeable = False
    return deviations
