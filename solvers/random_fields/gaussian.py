"""Gaussian random fields on circle, torus and square, and coefficient functions derived from them.

Fields are drawn as coefficients, so that a sample is a function that can be evaluated on any grid. Its draw
depends only on (seed, split, index), by the machine-independent deviates of `solvers.random_fields.streams`.
Deviates are assigned from low to high wavenumbers, so that a larger `num_modes` only appends modes.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from jaxtyping import Complex, Float, Int

from resolvent.solvers.random_fields.streams import scatter_normal, standard_normal


@dataclass(frozen=True)
class GaussianField:
    """Common parameters of all fields, restricted to finite pointwise variance."""

    dimension: ClassVar[int]

    sigma: float
    tau: float
    gamma: float
    zero_mean: bool = True
    num_modes: int = 1

    def __post_init__(self) -> None:
        if not self.sigma > 0:
            raise ValueError(f"sigma must be positive, got {self.sigma}")
        if not self.tau >= 0:
            raise ValueError(f"tau must not be negative, got {self.tau}")
        if self.tau == 0 and not self.zero_mean:
            raise ValueError(
                "tau must be positive unless zero_mean: the constant mode's variance is infinite"
            )
        if not self.gamma > self.dimension / 2:
            raise ValueError(
                f"gamma must exceed {self.dimension / 2:g} (below, the pointwise variance is infinite), "
                f"got {self.gamma}"
            )
        if self.num_modes < 1:
            raise ValueError(f"num_modes must be at least 1, got {self.num_modes}")
        if not getattr(self, "length", 1) > 0:
            raise ValueError(f"length must be positive, got {getattr(self, 'length', 1)}")

    def _deviations(self, eigenvalues: Float[np.ndarray, "*modes"]) -> Float[np.ndarray, "*modes"]:
        """Return σ (λ + τ²)^{-γ/2} for the eigenvalues λ of -Δ, the first of which is 0 (constant mode).

        The first result is zero if the field has no constant mode.
        """
        with np.errstate(divide="ignore"):  # for τ = 0 the constant mode is infinite, but absent
            deviations = self.sigma * (eigenvalues + self.tau**2) ** (-self.gamma / 2)
        if self.zero_mean:
            deviations[(0,) * deviations.ndim] = 0
        return deviations


@dataclass(frozen=True)
class PeriodicGaussianField(GaussianField):
    """N(0, σ²(-Δ + τ²)^{-γ}) on the circle of circumference L.

        u(x) = L^{-1/2} [ s₀ ξ₀ + √2 Σ_{k=1…K} s_k (ξ_k cos 2πkx/L + η_k sin 2πkx/L) ]
        s_k  = σ (λ_k + τ²)^{-γ/2},    λ_k = (2πk/L)²

    where ξ_k, η_k are independent standard normal deviates and s_k is the standard deviation of the
    coefficient of an L²-orthonormal eigenfunction of the Laplacian, with eigenvalue λ_k.

    sigma      σ > 0, amplitude of the covariance's square root.
    tau        τ ≥ 0, inverse correlation length, in 1/x (τ > 0 unless the mean is zero).
    gamma      γ > 1/2, regularity: |û_k| decays like k^{-γ}; samples are Hölder of every order below γ - 1/2.
    zero_mean  True: the constant mode is absent. False: it is drawn, s₀ = σ τ^{-γ}.
    num_modes  K, the highest wavenumber. The field is *defined* with this truncation; a grid of n points
               represents the modes below n/2 (`solvers.common.fourier.observe`): 4095 for 8192 points.
    length     L, in the unit of x.

    Expect: Cao's distribution for Burgers' equation is σ = 25, τ = 5, γ = 2, zero mean (Cao 2021,
    arXiv:2105.14995, appendix C.2): pointwise standard deviation 0.593 (variance 0.352), most of it in the
    first two modes.
    """

    dimension: ClassVar[int] = 1

    num_modes: int = 4095
    length: float = 1.0

    def coefficients(self, seed: int, split: int, index: int) -> Complex[np.ndarray, " modes"]:
        """Draw the Fourier coefficients û₀, …, û_K of sample `index` of split number `split`.

        The draw depends only on (seed, split, index), and a larger `num_modes` only appends modes.
        """
        # Two deviates per mode, modes in order. The constant mode uses two even if it is absent, so that a
        # sample with and without mean differs by a constant.
        deviates = standard_normal(seed, split, index, 2 * (self.num_modes + 1)).reshape(-1, 2)
        # a √2 cos θ + b √2 sin θ = Re[2 û e^{iθ}]  ⇔  û = (a - ib)/√2
        coefficients = (deviates[:, 0] - 1j * deviates[:, 1]) / np.sqrt(2)
        coefficients[0] = deviates[0, 0]
        return coefficients * (self.standard_deviations() / np.sqrt(self.length))

    def standard_deviations(self) -> Float[np.ndarray, " modes"]:
        """Return s₀, …, s_K, the standard deviations of the orthonormal eigenfunctions' coefficients."""
        return self._deviations((2 * np.pi * np.arange(self.num_modes + 1) / self.length) ** 2)

    def variance(self) -> float:
        """Return the pointwise variance of the truncated field, which does not depend on x."""
        constant, *_ = squares = self.standard_deviations() ** 2
        return float((constant + 2 * squares[1:].sum()) / self.length)


@dataclass(frozen=True)
class PeriodicGaussianField2d(GaussianField):
    """N(0, σ²(-Δ + τ²)^{-γ}) on the torus of side L.

        u(x, y) = Σ û[k_y, k_x] e^{2πi(k_x x + k_y y)/L},    |k_x|, |k_y| ≤ K,    E|û|² = s² c²
        s = σ (λ + τ²)^{-γ/2},    λ = (2π/L)² (k_x² + k_y²)

    sigma, tau, gamma  as on the circle; γ > 1 for a finite pointwise variance as K grows.
    zero_mean          True: the constant mode is absent.
    num_modes          K, the highest wavenumber along each axis; a grid of n points along each axis
                       represents modes below n/2.
    orthonormal        True: c = 1/L, so that s is the standard deviation of the coefficient of an
                       L²-orthonormal eigenfunction. False: c = 1, as in public generators, which drop the
                       1/L; the field is then L times larger.
    half_spectrum      True: the distribution of a generator whose coefficients have real and imaginary parts
                       of deviation s each, and go through an inverse real FFT along y: E|û|² is doubled where
                       k_y ≠ 0. On the line k_y = 0 it stays, because that FFT ignores the imaginary parts.
    length             L, in the unit of x and y.
    """

    dimension: ClassVar[int] = 2

    num_modes: int = 207
    orthonormal: bool = True
    half_spectrum: bool = False
    length: float = 2 * np.pi

    def coefficients(self, seed: int, split: int, index: int) -> Complex[np.ndarray, "rows columns"]:
        """Draw the Fourier coefficients of sample `index` of split number `split`, (2K + 1, K + 1).

        The layout is that of `solvers.common.fourier`.
        """
        coefficients = np.zeros((2 * self.num_modes + 1, self.num_modes + 1), complex)
        scatter_normal(seed, split, index, *_order_on_torus(self), coefficients.view(float).ravel())
        coefficients[: self.num_modes : -1, 0] = coefficients[1 : self.num_modes + 1, 0].conj()
        return coefficients

    def standard_deviations(self) -> Float[np.ndarray, "rows columns"]:
        """Return √E|û|² in the layout of the coefficients."""
        along = np.arange(self.num_modes + 1)
        rows = np.concatenate([along, -along[:0:-1]])
        eigenvalues = (2 * np.pi / self.length) ** 2 * (rows[:, None] ** 2 + along**2)
        deviations = self._deviations(eigenvalues) / (self.length if self.orthonormal else 1)
        if self.half_spectrum:
            deviations[1:] *= np.sqrt(2)  # the rows with k_y ≠ 0
        return deviations

    def variance(self) -> float:
        """Return the pointwise variance of the truncated field, which is constant."""
        squares = self.standard_deviations() ** 2
        return float(squares[:, 0].sum() + 2 * squares[:, 1:].sum())


@lru_cache(maxsize=8)
def _order_on_torus(
    field: PeriodicGaussianField2d,
) -> tuple[Int[np.ndarray, " deviates"], Float[np.ndarray, " deviates"]]:
    """Return positions and factors of the deviates, in the order of drawing.

    Positions count real and imaginary parts. First k = 0, then one of each pair ±k, in shells with
    max(|k_x|, |k_y|) = 1, 2, … The constant mode uses two deviates even if it is absent.
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


@dataclass(frozen=True)
class NeumannGaussianField(GaussianField):
    """N(0, σ²(-Δ + τ²)^{-γ}) on the unit square, with the Neumann Laplacian.

        u(x, y) = Σ s ξ φ_{k_x}(x) φ_{k_y}(y),    0 ≤ k_x, k_y ≤ K,    ξ ~ N(0, 1)
        s = σ (λ + τ²)^{-γ/2},    λ = π² (k_x² + k_y²)

    with the cosines φ of `solvers.common.cosine_series`.

    sigma, tau, gamma  as on the circle; γ > 1 for a finite pointwise variance as K grows.
    zero_mean  True: the constant mode is absent.
    num_modes  K, the highest wavenumber along each axis. A grid of n nodes distinguishes n - 1 of them;
               the distribution is *defined* with this truncation.
    """

    dimension: ClassVar[int] = 2

    num_modes: int = 420

    def coefficients(self, seed: int, split: int, index: int) -> Float[np.ndarray, "modes modes"]:
        """Draw the cosine coefficients [k_y, k_x], (K + 1, K + 1), of sample `index` of split `split`."""
        coefficients = np.empty((self.num_modes + 1, self.num_modes + 1))
        scatter_normal(seed, split, index, *_order_on_square(self), coefficients.ravel())
        return coefficients

    def standard_deviations(self) -> Float[np.ndarray, "modes modes"]:
        """Return s, the standard deviation of each coefficient."""
        squares = (np.pi * np.arange(self.num_modes + 1)) ** 2
        return self._deviations(squares[:, None] + squares)

    def variance(self) -> float:
        """Return the pointwise variance of the truncated field, averaged over the square.

        It is larger near the edges.
        """
        return float((self.standard_deviations() ** 2).sum())


@lru_cache(maxsize=8)
def _order_on_square(
    field: NeumannGaussianField,
) -> tuple[Int[np.ndarray, " coefficients"], Float[np.ndarray, " coefficients"]]:
    """Return flat positions of [k_y, k_x] in the order of drawing, and their standard deviations.

    The order is max(k_x, k_y) = 0, 1, …
    """
    modes = field.num_modes + 1
    shells = (np.concatenate([m * modes + np.arange(m + 1), np.arange(m) * modes + m]) for m in range(modes))
    order = np.concatenate(list(shells))
    return order, field.standard_deviations().ravel()[order]


def level_set(
    field: Float[np.ndarray, "*shape"], above: float = 12.0, below: float = 3.0
) -> Float[np.ndarray, "*shape"]:
    """Return `above` where the field is positive, `below` elsewhere, pointwise on the grid in use.

    Coefficients are never interpolated: a spline overshoots at a jump between 3 and 12 to values outside the
    distribution, even below zero.
    Source: Cao 2021, arXiv:2105.14995, C.3; Calvello et al. 2024, arXiv:2406.06486, 6.2.2.

    Raises `ValueError` if one of the two is not positive.
    """
    for name, value in (("above", above), ("below", below)):
        if not value > 0:
            raise ValueError(f"{name} must be positive, got {value}")
    return np.where(field > 0, above, below).astype(field.dtype)


def lognormal(field: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """Return the exponential of the field (Calvello et al. 2024, section 6.2.2)."""
    return np.exp(field)
