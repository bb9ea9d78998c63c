import itertools

import numpy as np
import pytest
from scipy.stats import kstest

from resolvent.datasets.noise import Noise, pointwise_standard_deviation
from resolvent.datasets.storage.layout import SPLITS
from resolvent.solvers.random_fields.streams import standard_normal

SHAPE = (5, 4)
ONES = np.ones(SHAPE)


def noise(count=3, level=1.0, deviation=ONES, seed=0, split="train", first=0, realisation=0):
    """Added to zeros: samples first, first + 1, … of the split."""
    values = np.zeros((count, *deviation.shape))
    return Noise(level, deviation, seed, realisation).added(values, split, range(first, first + count))


def test_noise_is_standard_normal_at_every_point():
    count = 4000
    draws = noise(count)
    assert kstest(draws.ravel(), "norm").pvalue > 1e-3
    # At 20 points a mean is within 4 of its standard errors, a variance within 5.
    assert np.abs(draws.mean(axis=0)).max() < 4 / np.sqrt(count)
    assert np.abs(draws.var(axis=0) - 1).max() < 5 * np.sqrt(2 / count)
    skewness, kurtosis = np.mean(draws**3), np.mean(draws**4)
    assert abs(skewness) < 5 * np.sqrt(15 / draws.size)
    assert abs(kurtosis - 3) < 5 * np.sqrt(96 / draws.size)
    flat = draws.reshape(count, -1)  # independent between points and between samples
    assert np.abs(np.corrcoef(flat.T) - np.eye(20)).max() < 5 / np.sqrt(count)
    assert abs(np.mean(flat[1:] * flat[:-1])) < 4 / np.sqrt(flat.size)


def test_noise_has_the_level_and_the_pointwise_standard_deviation_of_training():
    training = np.random.default_rng(0).standard_normal((50, *SHAPE)) * np.arange(1, 21).reshape(SHAPE)
    deviation = pointwise_standard_deviation([training])
    np.testing.assert_allclose(deviation, np.sqrt(((training - training.mean(axis=0)) ** 2).mean(axis=0)))
    values = np.random.default_rng(1).standard_normal((3, *SHAPE))
    noisy = Noise(0.05, deviation, 0).added(values, "test", range(3))
    np.testing.assert_allclose(noisy, values + 0.05 * deviation * noise(split="test"), rtol=1e-12)


def test_a_draw_depends_on_its_key_alone():
    """Not on the batch, on the order of the samples, on the values or on what was drawn before."""
    together = noise(6)
    np.testing.assert_array_equal(noise(6), together)
    np.testing.assert_array_equal(noise(1, first=4)[0], together[4])
    order = [5, 0, 3]
    shuffled = Noise(1.0, ONES, 0).added(np.zeros((3, *SHAPE)), "train", order)
    np.testing.assert_array_equal(shuffled, together[order])
    values = np.full((6, *SHAPE), 2.0)
    np.testing.assert_array_equal(Noise(1.0, ONES, 0).added(values, "train", range(6)), 2.0 + together)


def test_no_two_keys_share_a_draw():
    """Test noise is never training noise: seeds, splits, indices and realisations all distinguish draws."""
    keys = list(itertools.product((0, 1, 2), SPLITS, range(5), range(4)))
    draws = np.array(
        [
            noise(1, seed=seed, split=split, first=index, realisation=realisation).ravel()
            for seed, split, index, realisation in keys
        ]
    )
    assert len(np.unique(draws)) == draws.size
    # Among 16110 pairs of independent draws of 20 points, a larger one has a probability of 3e-6.
    correlations = np.corrcoef(draws) - np.eye(len(keys))
    assert np.abs(correlations).max() < 0.95


def test_noise_is_not_the_draw_that_made_the_sample():
    for number, split in enumerate(SPLITS):
        for index in range(5):
            sample = standard_normal(0, number, index, 20)
            assert not np.isin(noise(1, split=split, first=index), sample).any()


def test_values_are_left_as_they_were_and_noisy_ones_are_float64():
    values = np.ones((2, *SHAPE), np.float32)
    noisy = Noise(0.1, ONES, 0).added(values, "train", range(2))
    assert noisy.dtype == np.float64
    np.testing.assert_array_equal(values, 1)
    np.testing.assert_array_equal(noisy, 1 + 0.1 * noise(2))


def test_every_sample_needs_its_index():
    """A sample without an index would stay clean, or an index without a sample be lost, unnoticed."""
    for count in (1, 3):
        with pytest.raises(ValueError, match="argument 2"):
            Noise(1.0, ONES, 0).added(np.zeros((2, *SHAPE)), "train", range(count))


def test_a_negative_level_is_refused():
    with pytest.raises(ValueError, match=r"must not be negative, got -0.1$"):
        noise(level=-0.1)
