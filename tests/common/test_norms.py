"""The relative L2 error, by hand."""

import numpy as np
import pytest

from resolvent.common.norms import relative_l2


def test_all_axes_after_the_samples_are_summed():
    np.testing.assert_allclose(relative_l2(np.array([1.1, -4.0]), np.array([1.0, -2.0])), [0.1, 1.0])
    target = np.zeros((2, 2, 3))
    target[:, 0, 0], target[:, 1, 2] = 3.0, 4.0
    prediction = target.copy()
    prediction[0, 1, 1], prediction[1, 0, 2] = 0.5, -1.0
    np.testing.assert_allclose(relative_l2(prediction, target), [0.1, 0.2])


def test_weights_are_those_of_a_quadrature():
    target, weights = np.array([[1.0, 2.0, 3.0]]), np.array([0.5, 1.0, 0.5])
    prediction = target + np.array([[1.0, 0.0, 2.0]])
    expected = np.sqrt((0.5 * 1 + 0.5 * 4) / (0.5 * 1 + 1 * 4 + 0.5 * 9))
    np.testing.assert_allclose(relative_l2(prediction, target, weights), expected)
    np.testing.assert_allclose(relative_l2(prediction, target, 7 * weights), expected)


def test_a_target_that_is_zero_is_no_small_error():
    assert relative_l2(np.ones((1, 4)), np.zeros((1, 4)))[0] == np.inf
    assert np.isnan(relative_l2(np.zeros((1, 4)), np.zeros((1, 4)))[0])


def test_shapes_that_differ_are_refused():
    with pytest.raises(ValueError, match=r"\(2, 3\), the target \(2, 1\)"):
        relative_l2(np.ones((2, 3)), np.ones((2, 1)))
