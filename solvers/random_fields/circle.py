"""Gaussian random fields on the circle, drawn as Fourier coefficients.

A sample is a function, not an array: any grid can observe it.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Complex, Float

from resolvent.solvers.random_fields.covariance import check_covariance, check_length, standard_deviations
from resolvent.solvers.random_fields.streams import standard_normal


@dataclass(frozen=True)
class PeriodicGaussianField:
    """N(0, σ²(-Δ + τ²)^{-γ}) on the circle of circumference L.

        u(x) = L^{-1/2} [ s₀ ξ₀ + √2 Σ_{k=1…K} s_k (ξ_k cos 2πkx/L + η_k sin 2πkx/L) ]
        s_k  = σ (λ_k + τ²)^{-γ/2},    λ_k = (2πk/L)²

    where ξ_k, η_k are independent standard normal deviates and s_k is the standard deviation of the
    coefficient of an L²-orthonormal eigenfunction of the Laplacian, with eigenvalue λ_k.

    sigma      σ > 0, amplitude of the covariance's square root.
    tau        τ ≥ 0, inverse correlation length, in 1/x (τ > 0 unless the mean is zero).
    gamma      γ > 1/2, regularity: |û_k| decays like k^{-γ}; samples are Hölder of every order below γ - 1/2.
    zero_mean  True: the constant mode is absent. False: it is drawn, s₀ = σ τ^{-γ}.
    num_modes  K, the highest wavenumber drawn. The field is *defined* with this truncation; a grid of n
               points shows the modes below n/2 (`solvers.common.fourier.observe`), so 4095 fills 8192 points.
    length     L, in the unit of x.

    Expect: Cao's distribution for Burgers' equation is σ = 25, τ = 5, γ = 2, zero mean (Cao 2021,
    arXiv:2105.14995, appendix C.2): pointwise standard deviation 0.593 (variance 0.352), most of it in the
    first two modes.

    The deviates are those of `solvers.random_fields.streams`, the same on every machine.
    """

    sigma: float
    tau: float
    gamma: float
    zero_mean: bool = True
    num_modes: int = 4095
    length: float = 1.0

    def __post_init__(self) -> None:
        check_covariance(self, dimension=1)
        check_length(self.length)

    def coefficients(self, seed: int, split: int, index: int) -> Complex[np.ndarray, " modes"]:
        """Draw the Fourier coefficients û₀, …, û_K of sample `index` of split number `split`.

        The draw depends on (seed, split, index) alone, and a larger `num_modes` only appends to it.
        """
        # Two deviates a mode, modes in order. The constant mode takes its two even where it is absent, so
        # that the same sample with and without mean differs by a constant.
        deviates = standard_normal(seed, split, index, 2 * (self.num_modes + 1)).reshape(-1, 2)
        # a √2 cos θ + b √2 sin θ = Re[2 û e^{iθ}]  ⇔  û = (a - ib)/√2
        coefficients = (deviates[:, 0] - 1j * deviates[:, 1]) / np.sqrt(2)
        coefficients[0] = deviates[0, 0]
        return coefficients * (self.standard_deviations() / np.sqrt(self.length))

    def standard_deviations(self) -> Float[np.ndarray, " modes"]:
        """Return s₀, …, s_K, the standard deviation of each orthonormal eigenfunction's coefficient."""
        return standard_deviations(self, (2 * np.pi * np.arange(self.num_modes + 1) / self.length) ** 2)

    def variance(self) -> float:
        """Return the pointwise variance of the truncated field, which is the same at every x."""
        constant, *_ = squares = self.standard_deviations() ** 2
        return float((constant + 2 * squares[1:].sum()) / self.length)
