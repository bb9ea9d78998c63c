"""Standard normal deviates: the formula, their distribution, and the streams of samples."""

import numpy as np
from scipy.stats import kstest

from resolvent.solvers.random_fields.deviates import scatter_deviates
from resolvent.solvers.random_fields.streams import scatter_normal, standard_normal


def test_deviates_are_the_formula_of_box_and_muller_in_extended_precision():
    words = np.random.default_rng(0).integers(0, 2**64, 20_000, np.uint64)
    words[:4] = 0, 2**64 - 1, 2**64 - 1, 0  # the ends of both intervals
    deviates = np.empty(words.size)
    scatter_deviates(words, np.arange(words.size), np.ones(words.size), deviates)
    unit = np.longdouble(2) ** -53
    radial, angular = words[::2], words[1::2]
    u = ((radial >> np.uint64(11)).astype(float) + 0.5) * unit
    in_quarter = ((angular << np.uint64(2)) >> np.uint64(11)) * unit - np.longdouble(0.5)
    angle = np.arccos(np.longdouble(-1)) / 2 * ((angular >> np.uint64(62)).astype(np.longdouble) + in_quarter)
    radius = np.sqrt(-2 * np.log(u))
    np.testing.assert_allclose(deviates[::2], radius * np.cos(angle), rtol=0, atol=4e-15)
    np.testing.assert_allclose(deviates[1::2], radius * np.sin(angle), rtol=0, atol=4e-15)


def test_deviates_are_standard_normal_and_independent_of_their_partners():
    deviates = np.concatenate([standard_normal(1, 0, index, 10_001) for index in range(20)])
    assert kstest(deviates, "norm").pvalue > 1e-3
    first, second = deviates[:-1], deviates[1:]
    for power in (1, 2):
        assert abs(np.corrcoef(first**power, second**power)[0, 1]) < 5 / np.sqrt(deviates.size)


def test_a_stream_is_the_same_in_every_version_and_on_every_machine():
    """Compare exactly: these are the samples of stored datasets."""
    expected = [
        "-0x1.cf06c32ffe725p-2",
        "0x1.4bac9eb8a8cf7p+0",
        "0x1.56bea59a0d65fp+0",
        "0x1.247cab53b3b3bp+0",
    ]
    assert [number.hex() for number in standard_normal(0, 1, 2, 4)] == expected


def test_places_and_factors():
    deviates = standard_normal(3, 1, 4, 20_000)
    values = np.full(20_001, 7.0)
    order = np.random.default_rng(0).permutation(20_000)
    factors = np.linspace(1, 2, 20_000)
    scatter_normal(3, 1, 4, order, factors, values)
    np.testing.assert_array_equal(values[order], deviates * factors)
    assert values[-1] == 7
