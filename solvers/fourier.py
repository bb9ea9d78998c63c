"""Real periodic functions as Fourier coefficients, and their observation on grids.

    u(x) = Re[ û₀ + 2 Σ_{k=1…K} û_k e^{2πikx/L} ]

An array of coefficients holds û₀, …, û_K along its last axis; û₀ is real, and the mean of u. Negative
wavenumbers are not stored: û_{-k} is the conjugate of û_k. A grid of n points carries the modes k < n/2.

Both functions act on the last axis, one row at a time: NumPy's FFT gives a row the same bits alone as in any
batch (SciPy's and JAX's vectorise across rows and promise no such thing).
"""

import numpy as np
from jaxtyping import Complex, Float


def observe(
    coefficients: Complex[np.ndarray, "*batch modes"], points: int
) -> Float[np.ndarray, "*batch points"]:
    """Values on the periodic grid of `points`: modes from points/2 on are dropped, absent ones are zero."""
    check_points(points)
    # irfft pads with zeros; it must not see the mode points/2, which a grid cannot tell from -points/2.
    return np.fft.irfft(coefficients[..., : points // 2], n=points, norm="forward")


def coefficients_of(values: Float[np.ndarray, "*batch points"]) -> Complex[np.ndarray, "*batch modes"]:
    """The coefficients k = 0, …, points/2 - 1 of the function with these values: the inverse of `observe`."""
    points = values.shape[-1]
    check_points(points)
    return np.fft.rfft(values, norm="forward")[..., : points // 2]


def check_points(points: int) -> None:
    if points < 2 or points % 2:
        raise ValueError(f"a periodic grid has an even number of points, at least 2; got {points}")
