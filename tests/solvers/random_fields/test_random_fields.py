"""Gaussian fields as distributions: what a grid observes has the covariance σ²(-Δ + τ²)^{-γ}."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from resolvent.solvers.common.cosine_series import observe_cosine
from resolvent.solvers.common.fourier import observe, observe_2d
from resolvent.solvers.common.grid import Grid
from resolvent.solvers.random_fields.distributions import DISTRIBUTIONS
from resolvent.solvers.random_fields.gaussian import (
    NeumannGaussianField,
    PeriodicGaussianField,
    PeriodicGaussianField2d,
    level_set,
    lognormal,
)

SAMPLES = 300
NUM_MODES = 7
HIGHEST = 3  # wavenumber of the eigenfunctions whose coefficients are compared
# A mean of N squares of standard normal deviates is 1 with standard error √(2/N).
BOUND = 5 * np.sqrt(2 / SAMPLES)
CIRCLE, TORUS, SQUARE = FIELDS = (
    PeriodicGaussianField(2.0, 3.0, 2.0),
    PeriodicGaussianField2d(2.0, 3.0, 2.0),
    NeumannGaussianField(2.0, 3.0, 2.0),
)
ON_EVERY_DOMAIN = pytest.mark.parametrize("field", FIELDS, ids=["circle", "torus", "square"])


def field_of(distribution, **keywords):
    common = {
        "sigma": distribution.sigma,
        "tau": distribution.tau,
        "gamma": distribution.gamma,
        "zero_mean": distribution.zero_mean,
    } | keywords
    if distribution.domain == "circle":
        return PeriodicGaussianField(**common)
    if distribution.domain == "square":
        return NeumannGaussianField(**common)
    return PeriodicGaussianField2d(
        **common, orthonormal=distribution.orthonormal, half_spectrum=distribution.half_spectrum
    )


@lru_cache
def drawn(distribution):
    """The distribution's grid, and SAMPLES of its field there."""
    field = field_of(distribution, num_modes=NUM_MODES)
    coefficients = np.stack([field.coefficients(5, 0, index) for index in range(SAMPLES)])
    points = 2 * NUM_MODES + 2
    if distribution.domain == "circle":
        return Grid("periodic", points), observe(coefficients, points)
    if distribution.domain == "square":
        return Grid("cell_centres", points, dimension=2), observe_cosine(coefficients, points, "cell_centres")
    return Grid("periodic", points, 2 * np.pi, dimension=2), observe_2d(coefficients, points)


def eigenfunctions(distribution, grid, highest=HIGHEST):
    """L²-orthonormal eigenfunctions of the Laplacian, the constant first, and their eigenvalues."""
    along = range(highest + 1)
    if distribution.domain == "square":
        cosines = [np.sqrt(2 if k else 1) * np.cos(np.pi * k * grid.coordinates) for k in along]
        functions = [np.outer(cosines[ky], cosines[kx]) for ky in along for kx in along]
        return np.stack(functions), np.array([np.pi**2 * (ky**2 + kx**2) for ky in along for kx in along])
    wave = 2 * np.pi / grid.length
    y, x = np.meshgrid(grid.coordinates, grid.coordinates, indexing="ij")
    wavenumbers = [(0, kx) for kx in along[1:]]
    if distribution.domain == "circle":
        y, x = 0, grid.coordinates
    else:
        wavenumbers += [(ky, kx) for ky in along[1:] for kx in range(-highest, highest + 1)]
    functions, eigenvalues = [np.ones(np.shape(x))], [0.0]
    for ky, kx in wavenumbers:
        for wave_form in (np.cos, np.sin):
            functions.append(np.sqrt(2) * wave_form(wave * (kx * x + ky * y)))
            eigenvalues.append(wave**2 * (kx**2 + ky**2))
    return np.stack(functions) / grid.length ** (grid.dimension / 2), np.array(eigenvalues)


def projections(distribution):
    """(samples, eigenfunctions): coefficients by quadrature of the observed values; their eigenvalues."""
    grid, values = drawn(distribution)
    functions, eigenvalues = eigenfunctions(distribution, grid)
    flat = (functions * grid.weights).reshape(len(functions), -1)
    return values.reshape(SAMPLES, -1) @ flat.T, eigenvalues


def expected_variances(distribution, eigenvalues):
    """Return the variances of the coefficients: without its 1/L a field on the torus is L times larger."""
    larger = 1 if distribution.orthonormal else (2 * np.pi) ** 2
    variances = larger * distribution.sigma**2 * (eigenvalues + distribution.tau**2) ** -distribution.gamma
    if distribution.half_spectrum:
        variances[1 + 2 * HIGHEST :] *= 2  # the first ones are constant along y
    return variances


@pytest.mark.parametrize(
    ("name", "zero_mean"), [*((name, True) for name in sorted(DISTRIBUTIONS)), ("calvello_darcy", False)]
)
def test_spectrum_of_the_observed_field_follows_the_distribution(name, zero_mean):
    distribution = replace(DISTRIBUTIONS[name], zero_mean=zero_mean)
    coefficients, eigenvalues = projections(distribution)
    expected = expected_variances(distribution, eigenvalues)
    if zero_mean:
        assert np.abs(coefficients[:, 0]).max() < 1e-12 * np.sqrt(expected[0])
        coefficients, expected = coefficients[:, 1:], expected[1:]
    normalised = coefficients / np.sqrt(expected)
    variances = (normalised**2).mean(axis=0)
    np.testing.assert_allclose(variances, 1, atol=BOUND)
    assert variances.mean() == pytest.approx(1, abs=BOUND / np.sqrt(len(expected)))
    assert np.abs(normalised.mean(axis=0)).max() < 5 / np.sqrt(SAMPLES)
    correlations = np.corrcoef(normalised.T) - np.eye(len(expected))
    assert np.abs(correlations).max() < 5 / np.sqrt(SAMPLES)


@pytest.mark.parametrize(
    ("name", "deviation"),
    [
        ("cao_burgers", 0.593),
        ("cao_darcy", 0.292 / 3),  # the public generator's factor 3 is not in the printed distribution
        ("calvello_kolmogorov", 1.994),
        ("calvello_kolmogorov_printed", 0.33),
        ("calvello_kolmogorov_v1", 0.00675),  # nearly zero
    ],
)
def test_known_pointwise_deviations(name, deviation):
    assert np.sqrt(field_of(DISTRIBUTIONS[name]).variance()) == pytest.approx(deviation, rel=0.02)


def test_the_kolmogorov_field_has_the_distribution_of_the_public_generator():
    """GaussianRF2d(s, s, 2π, 2π, alpha=2.5, tau=7) of neuraloperator/physics_informed at 3b6bc30.

    It scales the real and imaginary parts of half a spectrum, and `irfft2` makes them a function. Its last
    axis is our y, along which its generate_data.py forces.
    """
    points, samples = 16, 20_000
    rng = np.random.default_rng(1)
    k, half = np.fft.fftfreq(points, 1 / points)[:, None], np.arange(points // 2 + 1)
    scale = points**2 * 7**1.5 * (k**2 + half**2 + 49) ** -1.25
    scale[0, 0] = 0
    parts = scale * rng.standard_normal((2, samples, points, points // 2 + 1))
    values = np.fft.irfft2(parts[0] + 1j * parts[1]).swapaxes(1, 2)
    theirs = (np.abs(np.fft.rfft2(values, norm="forward")) ** 2).mean(axis=0)
    field = field_of(DISTRIBUTIONS["calvello_kolmogorov"], num_modes=points // 2 - 1)
    rows = np.r_[: points // 2, -points // 2 + 1 : 0]
    known = theirs[rows, : points // 2].ravel()[1:]
    # The mean of |û|² over N draws has a relative standard error of 1/√N, or √(2/N) where û is real.
    np.testing.assert_allclose(
        field.standard_deviations().ravel()[1:] ** 2 / known, 1, atol=5 * np.sqrt(2 / samples)
    )
    assert field.variance() == pytest.approx(known_variance(values, points), rel=0.01)


def known_variance(values, points):
    """The variance of values without the modes at half the number of points, which our field lacks."""
    spectrum = np.fft.rfft2(values, norm="ortho")
    spectrum[:, points // 2], spectrum[:, :, points // 2] = 0, 0
    return np.fft.irfft2(spectrum, norm="ortho").var()


def low(coefficients, modes):
    """The modes up to `modes`."""
    if coefficients.ndim == 1:
        return coefficients[: modes + 1]
    rows = np.r_[: modes + 1, -modes:0] if np.iscomplexobj(coefficients) else np.r_[: modes + 1]
    return coefficients[rows, : modes + 1]


@ON_EVERY_DOMAIN
@pytest.mark.parametrize("zero_mean", [True, False])
def test_more_modes_only_append(field, zero_mean):
    many = replace(field, num_modes=40, zero_mean=zero_mean).coefficients(3, 1, 17)
    for num_modes in (1, 2, 7, 24):
        few = replace(field, num_modes=num_modes, zero_mean=zero_mean).coefficients(3, 1, 17)
        np.testing.assert_array_equal(low(many, num_modes), few)


@ON_EVERY_DOMAIN
def test_a_sample_depends_on_its_key_alone(field):
    field = replace(field, num_modes=5)
    forwards = [field.coefficients(0, 2, index) for index in range(4)]
    backwards = [field.coefficients(0, 2, index) for index in reversed(range(4))][::-1]
    np.testing.assert_array_equal(forwards, backwards)
    keys = [(0, 2, 3), (0, 3, 2), (1, 2, 3), (2, 0, 3), (0, 2, 4)]
    assert len({field.coefficients(*key).ravel()[1] for key in keys}) == 5


@ON_EVERY_DOMAIN
def test_zero_mean_means_the_constant_mode_is_absent(field):
    with_mean = replace(field, zero_mean=False)
    difference = with_mean.coefficients(0, 0, 0) - field.coefficients(0, 0, 0)
    assert np.flatnonzero(difference).tolist() == [0]
    assert field.coefficients(0, 0, 0).ravel()[0] == 0
    area = (2 * np.pi) ** 2 if field is TORUS else 1
    # (σ τ^{-γ})² = (2/9)² is the variance of the coefficient of the constant eigenfunction, 1/√area
    assert with_mean.variance() - field.variance() == pytest.approx((2 / 9) ** 2 / area)
    assert np.isfinite(replace(field, tau=0.0).coefficients(0, 0, 0)).all()


@pytest.mark.parametrize("zero_mean", [True, False])
def test_on_the_torus_coefficients_are_those_of_a_real_function(zero_mean):
    coefficients = replace(TORUS, num_modes=6, zero_mean=zero_mean).coefficients(0, 0, 0)
    assert coefficients.shape == (13, 7)
    line = coefficients[:, 0]
    assert line[0].imag == 0
    np.testing.assert_array_equal(line[1:], line[:0:-1].conj())
    assert np.count_nonzero(coefficients) == 13 * 7 - zero_mean


def test_on_the_circle_of_any_length_coefficients_are_independent_and_those_of_a_real_function():
    field = PeriodicGaussianField(25.0, 5.0, 2.0, zero_mean=False, num_modes=8, length=3.0)
    coefficients = np.stack([field.coefficients(1, 0, index) for index in range(4000)])
    theory = 25 * ((2 * np.pi * np.arange(9) / 3) ** 2 + 25) ** -1.0
    # A standard deviation from 4000 draws has a relative standard error of 1/√8000 = 0.011.
    assert np.sqrt(3) * coefficients[:, 0].real.std() == pytest.approx(theory[0], rel=0.05)
    for part in (coefficients.real, coefficients.imag):
        np.testing.assert_allclose(np.sqrt(6) * part[:, 1:].std(axis=0), theory[1:], rtol=0.05)
    assert (coefficients[:, 0].imag == 0).all()
    parts = np.concatenate([coefficients.real[:, 1:], coefficients.imag[:, 1:]], axis=1)
    assert np.abs(np.corrcoef(parts.T) - np.eye(16)).max() < 5 / np.sqrt(4000)


def test_on_another_torus_wavenumbers_and_convention_scale():
    for length in (1.0, 5.0):
        for orthonormal in (True, False):
            field = replace(TORUS, gamma=2.5, num_modes=2, orthonormal=orthonormal, length=length)
            eigenvalue = (2 * np.pi / length) ** 2 * (1 + 4)
            expected = 2 * (eigenvalue + 9) ** -1.25 / (length if orthonormal else 1)
            np.testing.assert_allclose(field.standard_deviations()[[1, 2, -1, -2], [2, 1, 2, 1]], expected)


# Positive coefficients made from Gaussian fields.


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_push_forwards(real):
    """A level set is 12 where the field is positive and 3 elsewhere; a lognormal field is the exponential."""
    field = np.array([[-2.0, -1e-30, 0.0], [-0.0, 1e-30, 5.0]], real)
    coefficient, chosen, exponential = level_set(field), level_set(field, 0.5, 2.25), lognormal(field)
    np.testing.assert_array_equal(coefficient, [[3, 3, 3], [3, 12, 12]])
    np.testing.assert_array_equal(chosen, [[2.25, 2.25, 2.25], [2.25, 0.5, 0.5]])
    np.testing.assert_allclose(exponential, [[np.exp(-2), 1, 1], [1, 1, np.exp(5)]], rtol=1e-6)
    assert coefficient.dtype == exponential.dtype == real
    for name, value in (("above", 0.0), ("above", float("nan")), ("below", -3.0)):
        with pytest.raises(ValueError, match=f"^{name} must be positive, got {value}$"):
            level_set(field, **{name: value})
