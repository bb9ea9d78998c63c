"""Real periodic functions as Fourier coefficients, and their evaluation on grids.

    u(x) = Re[ û₀ + 2 Σ_{k=1…K} û_k e^{2πikx/L} ]

An array of coefficients has û₀, …, û_K along its last axis; û₀ is real, and the mean of u. Negative
wavenumbers are not stored: û_{-k} is the conjugate of û_k. A grid of n points represents the modes k < n/2.

On the torus, u(x, y) = Σ û[k_y, k_x] e^{2πi(k_x x + k_y y)/L} over |k_x|, |k_y| ≤ K, with values (..., y, x).
Only k_x = 0, …, K is stored: an array of coefficients ends in (2K + 1, K + 1), with its rows k_y in the order
of the FFT, 0, …, K, -K, …, -1.

Results are bit-identical in any batch. NumPy's FFT guarantees this in one dimension (SciPy and JAX vectorise
across rows and do not); in two dimensions SciPy transforms one sample at a time.
"""

import numpy as np
import scipy
from jaxtyping import Complex, Float


def observe(
    coefficients: Complex[np.ndarray, "*batch modes"], points: int
) -> Float[np.ndarray, "*batch points"]:
    """Evaluate on the periodic grid of `points`; modes from points/2 on are dropped, missing modes are zero.

    Raises `ValueError` if `points` is not even.
    """
    check_points(points)
    # irfft pads with zeros. Drop the mode points/2, which is aliased to -points/2 on the grid.
    return np.fft.irfft(coefficients[..., : points // 2], n=points, norm="forward")


def coefficients_of(values: Float[np.ndarray, "*batch points"]) -> Complex[np.ndarray, "*batch modes"]:
    """Return the coefficients k = 0, …, points/2 - 1 of the function with these values.

    The inverse of `observe`. Raises `ValueError` if the number of points is not even.
    """
    points = values.shape[-1]
    check_points(points)
    return np.fft.rfft(values, norm="forward")[..., : points // 2]


def observe_2d(
    coefficients: Complex[np.ndarray, "*batch rows columns"], points: int
) -> Float[np.ndarray, "*batch points points"]:
    """Evaluate on the periodic grid of points × points; values are (..., y, x).

    Modes from points/2 on are dropped, missing modes are zero. Raises `ValueError` if `points` is not even.
    """
    check_points(points)
    kept = min(coefficients.shape[-1], points // 2)
    batch = coefficients.shape[:-2]
    values = np.empty((*batch, points, points), coefficients.real.dtype)
    if values.dtype == np.float64 and has_lane_transform(points):
        from resolvent.solvers.common.lane_series import sum_of_waves  # Numba is slow to import

        rows = np.r_[:kept, coefficients.shape[-2] - kept + 1 : coefficients.shape[-2]]
        for sample in np.ndindex(*batch):
            here = coefficients[sample]
            sum_of_waves(here if kept == here.shape[1] else here[rows, :kept], values[sample])
        return values
    for sample in np.ndindex(*batch):
        half = np.zeros((points, kept), coefficients.dtype)
        half[:kept] = coefficients[sample][:kept, :kept]
        if kept > 1:
            half[1 - kept :] = coefficients[sample][1 - kept :, :kept]
        along_y = scipy.fft.ifft(half, axis=0, norm="forward", overwrite_x=True)
        values[sample] = scipy.fft.irfft(along_y, n=points, norm="forward")
    return values


def coefficients_of_2d(
    values: Float[np.ndarray, "*batch points points"],
) -> Complex[np.ndarray, "*batch rows columns"]:
    """Return the coefficients |k_x|, |k_y| < points/2 of the function with these values (..., y, x).

    The inverse of `observe_2d`. Raises `ValueError` if the number of points is not even.
    """
    points = values.shape[-1]
    check_points(points)
    half = points // 2
    batch = values.shape[:-2]
    result = [
        np.delete(
            scipy.fft.fft(scipy.fft.rfft(values[sample], norm="forward")[:, :half], axis=0, norm="forward"),
            half,
            axis=0,
        )
        for sample in np.ndindex(*batch)
    ]
    return np.stack(result).reshape(*batch, points - 1, half)


def product_points(num_modes: int) -> int:
    """Return the grid size for products of K = num_modes modes, exact in these modes and with a fast FFT.

    This is the smallest even number from 3K + 1 on (the 2/3 rule) without prime factors above 5.
    """
    return 2 * scipy.fft.next_fast_len((3 * num_modes + 2) // 2, real=True)


def has_lane_transform(points: int) -> bool:
    """Return whether `solvers.common.lane_fft`, the fastest transform here, supports this length."""
    for prime in (2, 3, 5, 7, 11, 13):
        while points % prime == 0:
            points //= prime
    return points == 1


def check_points(points: int) -> None:
    """Raise `ValueError` if no periodic grid has this number of points."""
    if points < 2 or points % 2:
        raise ValueError(f"a periodic grid has an even number of points, at least 2; got {points}")
