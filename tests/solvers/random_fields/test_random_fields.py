import re

import numpy as np
import pytest
from burgers_problem import CAO_FIELD, relative_errors

from resolvent.solvers.common.fourier import coefficients_of, observe
from resolvent.solvers.random_fields.gaussian import PeriodicGaussianField


def draw(field, count):
    return np.stack([field.coefficients(1, 0, index) for index in range(count)])


def test_pointwise_variance_of_caos_distribution():
    assert CAO_FIELD.variance() == pytest.approx(0.352, abs=5e-4)


@pytest.mark.parametrize("length", [1.0, 3.0])
def test_spectrum_follows_the_distribution(length):
    field = PeriodicGaussianField(25.0, 5.0, 2.0, zero_mean=False, num_modes=40, length=length)
    coefficients = draw(field, 4000)
    # The coefficients of orthonormal eigenfunctions: √L û₀, and √2L times real and imaginary part of û_k.
    wavenumbers = 2 * np.pi * np.arange(41) / length
    theory = 25 * (wavenumbers**2 + 25) ** -1.0
    np.testing.assert_allclose(field.standard_deviations(), theory, rtol=1e-14)
    # A standard deviation from 4000 draws has a relative standard error of 1/√8000 = 0.011.
    assert np.sqrt(length) * coefficients[:, 0].real.std() == pytest.approx(theory[0], rel=0.05)
    for part in (coefficients.real, coefficients.imag):
        np.testing.assert_allclose(np.sqrt(2 * length) * part[:, 1:].std(axis=0), theory[1:], rtol=0.05)
    assert (coefficients[:, 0].imag == 0).all()


def test_modes_are_independent():
    coefficients = draw(PeriodicGaussianField(25.0, 5.0, 2.0, num_modes=8), 4000)[:, 1:]
    correlations = np.corrcoef(np.concatenate([coefficients.real, coefficients.imag], axis=1).T)
    assert np.abs(correlations - np.eye(16)).max() < 5 / np.sqrt(4000)


def test_sample_variance_is_the_same_at_every_point():
    values = observe(draw(PeriodicGaussianField(25.0, 5.0, 2.0, num_modes=31), 4000), 64)
    np.testing.assert_allclose(values.var(axis=0), CAO_FIELD.variance(), rtol=0.12)


def test_more_modes_only_append():
    short = PeriodicGaussianField(25.0, 5.0, 2.0, num_modes=100).coefficients(3, 1, 17)
    np.testing.assert_array_equal(CAO_FIELD.coefficients(3, 1, 17)[:101], short)


def test_a_sample_depends_on_its_key_alone():
    forwards = [CAO_FIELD.coefficients(0, 2, index) for index in range(4)]
    backwards = [CAO_FIELD.coefficients(0, 2, index) for index in reversed(range(4))][::-1]
    np.testing.assert_array_equal(forwards, backwards)
    others = [
        CAO_FIELD.coefficients(*key)[1] for key in [(0, 2, 3), (0, 3, 2), (1, 2, 3), (2, 0, 3), (0, 2, 4)]
    ]
    assert len(set(others)) == 5


def test_zero_mean_means_the_constant_mode_is_absent():
    with_mean = PeriodicGaussianField(25.0, 5.0, 2.0, zero_mean=False)
    assert CAO_FIELD.coefficients(0, 0, 0)[0] == 0
    assert with_mean.coefficients(0, 0, 0)[0] != 0
    np.testing.assert_array_equal(with_mean.coefficients(0, 0, 0)[1:], CAO_FIELD.coefficients(0, 0, 0)[1:])
    assert with_mean.variance() == pytest.approx(CAO_FIELD.variance() + 1)  # (σ τ^{-γ})² = 1
    brownian = PeriodicGaussianField(1.0, 0.0, 1.0)
    assert np.isfinite(brownian.coefficients(0, 0, 0)).all()


def test_drawing_at_512_is_restricting_8192_to_512():
    coefficients = draw(CAO_FIELD, 4)
    restricted = observe(coefficients_of(observe(coefficients, 8192)), 512)
    assert relative_errors(restricted, observe(coefficients, 512)).max() < 1e-12
    coarse_field = PeriodicGaussianField(25.0, 5.0, 2.0, num_modes=255)
    np.testing.assert_array_equal(observe(draw(coarse_field, 4), 512), observe(coefficients, 512))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sigma": 0.0}, "sigma must be positive, got 0.0"),
        ({"tau": -1.0}, "tau must not be negative, got -1.0"),
        (
            {"tau": 0.0, "zero_mean": False},
            "tau must be positive unless zero_mean: the constant mode's variance is infinite",
        ),
        ({"gamma": 0.5}, "gamma must exceed 0.5 (below, the pointwise variance is infinite), got 0.5"),
        ({"num_modes": 0}, "num_modes must be at least 1, got 0"),
        ({"length": 0.0}, "length must be positive, got 0.0"),
    ],
)
def test_impossible_distributions_are_refused_with_the_reason(changes, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        PeriodicGaussianField(**({"sigma": 25.0, "tau": 5.0, "gamma": 2.0} | changes))
