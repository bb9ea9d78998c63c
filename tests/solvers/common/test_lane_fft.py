"""Transforms of eight series side by side, and the series in two dimensions that they sum."""

import numpy as np
import pytest
import scipy.fft

from resolvent.solvers.common.cosine_transform import sum_of_cosines
from resolvent.solvers.common.fourier import has_lane_transform
from resolvent.solvers.common.fourier_transform import sum_of_waves
from resolvent.solvers.common.lane_fft import plan, transform
from resolvent.solvers.common.vectors import LANES


@pytest.mark.parametrize("length", [1, 2, 3, 8, 13, 75, 154, 416, 420])
def test_the_transform_is_numpys(length):
    series = np.random.default_rng(length).standard_normal((2, length, LANES))
    buffers = [*series.reshape(2, -1).copy(), *np.empty((2, length * LANES))]
    at = 2 * transform(*buffers, *plan(length))
    ours = (buffers[at] + 1j * buffers[at + 1]).reshape(length, LANES)
    expected = np.fft.fft(series[0] + 1j * series[1], axis=0)
    assert np.linalg.norm(ours - expected) < 1e-15 * np.linalg.norm(expected)


def test_exchanged_parts_are_the_inverse():
    real, imaginary = np.random.default_rng(0).standard_normal((2, 60 * LANES))
    buffers = [imaginary.copy(), real.copy(), *np.empty((2, 60 * LANES))]
    at = 2 * transform(*buffers, *plan(60))
    ours = (buffers[at + 1] + 1j * buffers[at]).reshape(60, LANES)
    expected = 60 * np.fft.ifft((real + 1j * imaginary).reshape(60, LANES), axis=0)
    np.testing.assert_allclose(ours, expected, atol=1e-13)


def test_a_length_with_a_large_prime_factor_is_refused():
    with pytest.raises(ValueError, match=r"^length must have no prime factor above 13, got 34$"):
        plan(34)


def test_a_length_is_taken_for_one_that_has_a_transform_where_it_has_one():
    def has_plan(length):
        try:
            return np.prod(plan(length).radices) == length
        except ValueError:
            return False

    lengths = range(1, 200)
    assert [has_lane_transform(length) for length in lengths] == [has_plan(length) for length in lengths]


@pytest.mark.parametrize("points", [3, 15, 17, 141])
def test_cosines_on_nodes_are_scipys(points):
    amplitudes, factors = np.random.default_rng(points).standard_normal((2, points - 1, points - 1))
    values = np.empty((points, points))
    sum_of_cosines(amplitudes, factors, values)
    halves = np.full(points, 0.5)
    halves[0] = 1
    padded = np.pad(amplitudes * factors, (0, 1)) * np.outer(halves, halves)
    expected = scipy.fft.dctn(padded, 1)
    assert np.linalg.norm(values - expected) < 1e-13 * np.linalg.norm(expected)


@pytest.mark.parametrize(("points", "highest"), [(4, 1), (18, 8), (48, 3), (52, 25)])
def test_waves_on_the_torus_are_numpys(points, highest):
    original = np.random.default_rng(points).standard_normal((points, points))
    spectrum = np.fft.rfft2(original, norm="forward")
    kept = np.r_[: highest + 1, points - highest : points]
    padded = np.zeros_like(spectrum)
    padded[kept, : highest + 1] = spectrum[kept, : highest + 1]
    values = np.empty((points, points))
    sum_of_waves(spectrum[kept, : highest + 1], values)
    expected = np.fft.irfft2(padded, s=(points, points), norm="forward")
    assert np.linalg.norm(values - expected) < 2e-15 * np.linalg.norm(expected)
