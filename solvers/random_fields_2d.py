"""Gaussian random fields on the torus and on the unit square, drawn as coefficients of their eigenfunctions.

As in `solvers.random_fields` a sample is a function: its draw depends on (seed, split, index) alone, and
deviates are dealt out in square shells of wavenumbers, so that a larger `num_modes` only appends.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Complex, Float, Int

from resolvent.solvers.random_fields import check_distribution, standard_normal


@dataclass(frozen=True)
class PeriodicGaussianField2d:
    """N(0, σ²(-Δ + τ²)^{-γ}) on the torus of side L.

        u(x, y) = Σ û[k_y, k_x] e^{2πi(k_x x + k_y y)/L},    |k_x|, |k_y| ≤ K,    E|û|² = s² c²
        s = σ (λ + τ²)^{-γ/2},    λ = (2π/L)² (k_x² + k_y²)

    sigma, tau, gamma  as on the circle; γ > 1 for a finite pointwise variance as K grows.
    zero_mean    True: the constant mode is absent.
    num_modes    K, the highest wavenumber drawn along each axis; a grid of n points shows those below n/2.
    orthonormal  True: s is the standard deviation of the coefficient of an L²-orthonormal eigenfunction, c =
    1/L.
                 False: c = 1, as in public generators, which drop the 1/L; the field is then L times larger.
    length       L.
    """

    sigma: float
    tau: float
    gamma: float
    zero_mean: bool = True
    num_modes: int = 207
    orthonormal: bool = True
    length: float = 2 * np.pi

    def __post_init__(self):
        check_distribution(self, dimension=2)

    def coefficients(self, seed: int, split: int, index: int) -> Complex[np.ndarray, "rows columns"]:
        """Fourier coefficients of sample `index` of split number `split`, as in `solvers.fourier`."""
        rows, columns, mirrored = _torus_order(self.num_modes)
        # The constant mode takes its two deviates even where it is absent.
        deviates = standard_normal(seed, split, index, 2 * (len(rows) + 1)).reshape(-1, 2)
        complex_deviates = (deviates[:, 0] - 1j * deviates[:, 1]) / np.sqrt(2)
        coefficients = np.zeros((2 * self.num_modes + 1, self.num_modes + 1), complex)
        coefficients[0, 0] = deviates[0, 0]
        coefficients[rows, columns] = complex_deviates[1:]
        coefficients[mirrored, 0] = coefficients[1 : self.num_modes + 1, 0].conj()
        return coefficients * self.standard_deviations()

    def standard_deviations(self) -> Float[np.ndarray, "rows columns"]:
        """√E|û|², in the layout of the coefficients."""
        return _torus_deviations(self)

    def variance(self) -> float:
        """Pointwise variance of the truncated field, the same everywhere."""
        squares = self.standard_deviations() ** 2
        return float(squares[:, 0].sum() + 2 * squares[:, 1:].sum())


@dataclass(frozen=True)
class NeumannGaussianField:
    """N(0, σ²(-Δ + τ²)^{-γ}) on the unit square, with the Neumann Laplacian.

        u(x, y) = Σ s ξ φ_{k_x}(x) φ_{k_y}(y),    0 ≤ k_x, k_y ≤ K,    ξ ~ N(0, 1)
        s = σ (λ + τ²)^{-γ/2},    λ = π² (k_x² + k_y²)

    with the cosines φ of `solvers.cosine_series`.

    sigma, tau, gamma  as on the circle; γ > 1 for a finite pointwise variance as K grows.
    zero_mean  True: the constant mode is absent.
    num_modes  K, the highest wavenumber drawn along each axis. A grid of n nodes tells n - 1 of them apart;
               the distribution is *defined* with this truncation.
    """

    sigma: float
    tau: float
    gamma: float
    zero_mean: bool = True
    num_modes: int = 420

    def __post_init__(self):
        check_distribution(self, dimension=2)

    def coefficients(self, seed: int, split: int, index: int) -> Float[np.ndarray, "modes modes"]:
        """Cosine coefficients [k_y, k_x] of sample `index` of split number `split`."""
        modes = self.num_modes + 1
        deviates = standard_normal(seed, split, index, modes**2)
        coefficients = np.empty((modes, modes))
        coefficients.ravel()[_square_order(modes)] = deviates
        return coefficients * self.standard_deviations()

    def standard_deviations(self) -> Float[np.ndarray, "modes modes"]:
        """s, the standard deviation of each coefficient."""
        return _square_deviations(self)

    def variance(self) -> float:
        """Pointwise variance of the truncated field, averaged over the square (larger near its edges)."""
        return float((self.standard_deviations() ** 2).sum())


@lru_cache(maxsize=8)
def _square_order(modes: int) -> Int[np.ndarray, " coefficients"]:
    """Flat positions of [k_y, k_x] in the order of drawing: max(k_x, k_y) = 0, 1, …"""
    shells = (np.concatenate([m * modes + np.arange(m + 1), np.arange(m) * modes + m]) for m in range(modes))
    return np.concatenate(list(shells))


@lru_cache(maxsize=8)
def _torus_order(num_modes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows and columns of one of each pair ±k ≠ 0 in the order of drawing, and those rows at k_x = 0.

    Shell m has the wavenumbers with max(|k_x|, |k_y|) = m.
    """
    rows, columns = [], []
    for m in range(1, num_modes + 1):
        inner = np.arange(1, m)
        rows += [np.arange(-m, m + 1), np.full(m - 1, m), np.full(m - 1, -m), [m]]
        columns += [np.full(2 * m + 1, m), inner, inner, [0]]
    rows = np.concatenate(rows) % (2 * num_modes + 1)
    mirrored = 2 * num_modes + 1 - np.arange(1, num_modes + 1)
    return rows, np.concatenate(columns), mirrored


@lru_cache(maxsize=8)
def _square_deviations(field: NeumannGaussianField) -> Float[np.ndarray, "modes modes"]:
    squares = (np.pi * np.arange(field.num_modes + 1)) ** 2
    return _deviations(field, squares[:, None] + squares)


@lru_cache(maxsize=8)
def _torus_deviations(field: PeriodicGaussianField2d) -> Float[np.ndarray, "rows columns"]:
    along = np.arange(field.num_modes + 1)
    rows = np.concatenate([along, -along[:0:-1]])
    squares = (2 * np.pi / field.length) ** 2 * (rows[:, None] ** 2 + along**2)
    deviations = _deviations(field, squares) / (field.length if field.orthonormal else 1)
    deviations.flags.writeable = False
    return deviations


def _deviations(field, eigenvalues: Float[np.ndarray, "rows columns"]) -> Float[np.ndarray, "rows columns"]:
    """σ (λ + τ²)^{-γ/2}, without the constant mode where it is absent; not to be written to."""
    with np.errstate(divide="ignore"):  # τ = 0 makes the constant mode infinite, and it is then absent
        deviations = field.sigma * (eigenvalues + field.tau**2) ** (-field.gamma / 2)
    if field.zero_mean:
        deviations[0, 0] = 0
    deviations.flags.writeable = False
    return deviations
