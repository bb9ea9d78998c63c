"""Positive coefficients made from Gaussian fields."""

import re

import numpy as np
import pytest

from resolvent.solvers.random_fields.gaussian import level_set, lognormal


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_a_level_set_is_12_where_the_field_is_positive_and_3_elsewhere(real):
    field = np.array([[-2.0, -1e-30, 0.0], [-0.0, 1e-30, 5.0]], real)
    coefficient = level_set(field)
    np.testing.assert_array_equal(coefficient, [[3, 3, 3], [3, 12, 12]])
    assert coefficient.dtype == real


def test_the_two_levels_can_be_chosen():
    field = np.array([-1.0, 0.0, 1.0])
    np.testing.assert_array_equal(level_set(field, above=0.5, below=2.25), [2.25, 2.25, 0.5])


def test_a_level_set_does_not_feel_the_amplitude():
    field = np.random.default_rng(0).normal(size=(2, 8, 8))
    np.testing.assert_array_equal(level_set(3 * field), level_set(field))
    assert set(np.unique(level_set(field))) == {3.0, 12.0}


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ({"above": 0.0}, "above must be positive, got 0.0"),
        ({"above": float("nan")}, "above must be positive, got nan"),
        ({"below": -3.0}, "below must be positive, got -3.0"),
    ],
)
def test_levels_that_are_not_positive_are_refused(levels, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        level_set(np.zeros(3), **levels)


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_a_lognormal_coefficient_is_the_exponential(real):
    field = np.array([[0.0, np.log(12.0)], [-np.log(3.0), 1.0]], real)
    coefficient = lognormal(field)
    np.testing.assert_allclose(coefficient, [[1, 12], [1 / 3, np.e]], rtol=1e-6)
    assert coefficient.dtype == real
    assert coefficient[0, 0] == 1


def test_pushing_forward_leaves_the_field_alone():
    field = np.array([-1.0, 0.0, 1.0])
    level_set(field)
    lognormal(field)
    np.testing.assert_array_equal(field, [-1, 0, 1])
