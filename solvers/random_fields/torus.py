"""Gaussian random fields on the torus, drawn as Fourier coefficients.

As in `solvers.random_fields.circle` a sample is a function: its draw depends on (seed, split, index) alone,
and deviates are dealt out in square shells of wavenumbers, so that a larger `num_modes` only appends.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Complex, Float, Int

from resolvent.solvers.random_fields.covariance import check_covariance, check_length, standard_deviations
from resolvent.solvers.random_fields.streams import scatter_normal


@dataclass(frozen=True)
class PeriodicGaussianField2d:
    """N(0, σ²(-Δ + τ²)^{-γ}) on the torus of side L.

        u(x, y) = Σ û[k_y, k_x] e^{2πi(k_x x + k_y y)/L},    |k_x|, |k_y| ≤ K,    E|û|² = s² c²
        s = σ (λ + τ²)^{-γ/2},    λ = (2π/L)² (k_x² + k_y²)

    sigma, tau, gamma  as on the circle; γ > 1 for a finite pointwise variance as K grows.
    zero_mean          True: the constant mode is absent.
    num_modes          K, the highest wavenumber drawn along each axis; a grid of n points along each axis
                       shows those below n/2.
    orthonormal        True: c = 1/L, so that s is the standard deviation of the coefficient of an
                       L²-orthonormal eigenfunction. False: c = 1, as in public generators, which drop the
                       1/L; the field is then L times larger.
    length             L, in the unit of x and y.
    """

    sigma: float
    tau: float
    gamma: float
    zero_mean: bool = True
    num_modes: int = 207
    orthonormal: bool = True
    length: float = 2 * np.pi

    def __post_init__(self) -> None:
        check_covariance(self, dimension=2)
        check_length(self.length)

    def coefficients(self, seed: int, split: int, index: int) -> Complex[np.ndarray, "rows columns"]:
        """Draw the Fourier coefficients of sample `index` of split number `split`.

        They are laid out as in `solvers.common.fourier`: (2K + 1, K + 1).
        """
        coefficients = np.zeros((2 * self.num_modes + 1, self.num_modes + 1), complex)
        scatter_normal(seed, split, index, *_drawing_order(self), coefficients.view(float).ravel())
        coefficients[: self.num_modes : -1, 0] = coefficients[1 : self.num_modes + 1, 0].conj()
        return coefficients

    def standard_deviations(self) -> Float[np.ndarray, "rows columns"]:
        """Return √E|û|² in the layout of the coefficients, as an array that cannot be written to."""
        return _standard_deviations(self)

    def variance(self) -> float:
        """Return the pointwise variance of the truncated field, which is the same everywhere."""
        squares = self.standard_deviations() ** 2
        return float(squares[:, 0].sum() + 2 * squares[:, 1:].sum())


@lru_cache(maxsize=8)
def _drawing_order(
    field: PeriodicGaussianField2d,
) -> tuple[Int[np.ndarray, " deviates"], Float[np.ndarray, " deviates"]]:
    """Return where deviates go, in the order of drawing, and what they are multiplied by.

    Places count real and imaginary parts. First comes k = 0, then one of each pair ±k, in shells: shell m has
    the wavenumbers with max(|k_x|, |k_y|) = m. The constant mode takes two deviates even where it is absent.
    """
    rows, columns = [np.array([0])], [np.array([0])]
    for m in range(1, field.num_modes + 1):
        inner = np.arange(1, m)
        rows += [np.arange(-m, m + 1), np.full(m - 1, m), np.full(m - 1, -m), np.array([m])]
        columns += [np.full(2 * m + 1, m), inner, inner, np.array([0])]
    row, column = np.concatenate(rows), np.concatenate(columns)
    deviations = field.standard_deviations()[row, column] / np.sqrt(2)  # √2 û = s (ξ - iη), but û₀ = s₀ ξ
    factors = np.outer(deviations, [1, -1])
    factors[0] = np.sqrt(2) * deviations[0], 0
    places = 2 * (row % (2 * field.num_modes + 1) * (field.num_modes + 1) + column)
    return np.stack([places, places + 1], axis=1).ravel(), factors.ravel()


@lru_cache(maxsize=8)
def _standard_deviations(field: PeriodicGaussianField2d) -> Float[np.ndarray, "rows columns"]:
    along = np.arange(field.num_modes + 1)
    rows = np.concatenate([along, -along[:0:-1]])
    eigenvalues = (2 * np.pi / field.length) ** 2 * (rows[:, None] ** 2 + along**2)
    deviations = standard_deviations(field, eigenvalues) / (field.length if field.orthonormal else 1)
    deviations.flags.writeable = False
    return deviations
