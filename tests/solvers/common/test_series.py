"""Cosine and sine series against explicit sums of cosines and sines."""

import numpy as np
import pytest

from resolvent.solvers.common.cosine_series import cosine_coefficients_of, observe_cosine
from resolvent.solvers.common.fourier import product_points
from resolvent.solvers.common.grid import Grid, restrict_dirichlet

KINDS = ["nodes", "cell_centres"]


def random_coefficients(*shape):
    return np.random.default_rng(0).normal(size=shape)


def sum_of_cosines(coefficients, y, x):
    """Σ c[k_y, k_x] φ_{k_x}(x) φ_{k_y}(y) at one point, term by term."""
    total = 0.0
    for (ky, kx), coefficient in np.ndenumerate(coefficients):
        scale = np.sqrt(2.0 ** ((ky > 0) + (kx > 0)))
        total += coefficient * scale * np.cos(np.pi * kx * x) * np.cos(np.pi * ky * y)
    return total


def sum_of_sines(coefficients, y, x):
    """Σ c[l, k] sin πkx sin πly, k, l ≥ 1, at all pairs of the positions y and x."""
    waves = np.pi * np.arange(1, len(coefficients) + 1)
    return np.sin(np.outer(y, waves)) @ coefficients @ np.sin(np.outer(x, waves)).T


def sine_values(coefficients, points):
    """The sum of sines on points × points nodes, zero on the boundary to the bit."""
    axis = Grid("nodes", points).coordinates
    values = sum_of_sines(coefficients, axis, axis)
    values[[0, -1]] = 0
    values[:, [0, -1]] = 0
    return values


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("modes", "points"),
    [(4, 7), (7, 7), (12, 7), (31, 7), (9, 13), (9, 14)],
    ids=["fewer", "equal", "more", "many more", "no fast transform to centres", "no fast transform to nodes"],
)
def test_cosines_are_summed_as_stated_however_many(kind, modes, points):
    coefficients = random_coefficients(modes, modes)
    values = observe_cosine(coefficients, points, kind)
    axis = Grid(kind, points).coordinates
    expected = [[sum_of_cosines(coefficients, y, x) for x in axis] for y in axis]
    np.testing.assert_allclose(values, expected, atol=1e-12 * modes**2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("points", [3, 4, 9, 30])
def test_cosine_coefficients_are_the_inverse_of_observation(kind, points):
    coefficients = random_coefficients(2, points, points)
    values = observe_cosine(coefficients, points, kind)
    np.testing.assert_allclose(cosine_coefficients_of(values, kind), coefficients, atol=1e-13 * points)
    again = observe_cosine(cosine_coefficients_of(values, kind), points, kind)
    np.testing.assert_allclose(again, values, atol=1e-13 * points)


@pytest.mark.parametrize("kind", KINDS)
def test_high_modes_lose_no_digits(kind):
    coefficients = np.zeros((421, 421))
    coefficients[420, 420] = 1
    values = observe_cosine(coefficients, 5, kind)
    axis = np.arange(5) if kind == "nodes" else np.arange(5) + 0.5
    intervals = 4 if kind == "nodes" else 5
    cosines = np.cos(np.pi * (420 * axis / intervals % 2))
    np.testing.assert_allclose(values, 2 * np.outer(cosines, cosines), atol=4e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_has_the_same_bits_in_any_batch(kind):
    coefficients = random_coefficients(2, 3, 40, 40)
    together = observe_cosine(coefficients, 33, kind)
    assert together.shape == (2, 3, 33, 33)
    np.testing.assert_array_equal(observe_cosine(coefficients[1, 2], 33, kind), together[1, 2])
    back = cosine_coefficients_of(together, kind)
    np.testing.assert_array_equal(cosine_coefficients_of(together[1, 2], kind), back[1, 2])


@pytest.mark.parametrize(("points_from", "points"), [(33, 33), (33, 17), (33, 9), (33, 3), (31, 11), (31, 7)])
def test_restriction_to_nested_nodes_takes_every_kth_value(points_from, points):
    values = sine_values(random_coefficients(points_from - 2, points_from - 2), points_from)
    stride = (points_from - 1) // (points - 1)
    restricted = restrict_dirichlet(values, points)
    np.testing.assert_array_equal(restricted, values[::stride, ::stride])
    assert not np.shares_memory(restricted, values)


@pytest.mark.parametrize(("points_from", "points"), [(33, 32), (33, 20), (31, 12), (13, 9), (6, 5), (32, 4)])
def test_restriction_elsewhere_is_the_sine_interpolant(points_from, points):
    """A function of all the modes that the fine grid resolves: only its own interpolant has its values."""
    coefficients = random_coefficients(points_from - 2, points_from - 2)
    restricted = restrict_dirichlet(sine_values(coefficients, points_from), points)
    np.testing.assert_allclose(restricted, sine_values(coefficients, points), atol=1e-11)


@pytest.mark.parametrize("points", [9, 12])
def test_restriction_keeps_batch_bits_and_precision(points):
    values = np.stack([sine_values(random_coefficients(15, 15) * k, 17) for k in (1, 2, 3, 4)])
    together = restrict_dirichlet(values.reshape(2, 2, 17, 17), points)
    assert together.shape == (2, 2, points, points)
    np.testing.assert_array_equal(restrict_dirichlet(values[3], points), together[1, 1])
    single = restrict_dirichlet(values.astype(np.float32), points)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, together.reshape(4, points, points), atol=1e-4)


def test_impossible_restrictions_are_refused():
    for points, said in ((17, "9 nodes cannot be restricted to 17"), (2, "at least 3 points")):
        with pytest.raises(ValueError, match=said):
            restrict_dirichlet(np.zeros((9, 9)), points)
    for place in ((0, 4), (-1, 4), (4, 0), (4, -1), (0, 0)):
        for value in (1e-300, np.nan):
            values = np.zeros((2, 9, 9))
            values[1][place] = value
            with pytest.raises(ValueError, match="a function with values on the boundary has no sine series"):
                restrict_dirichlet(values, 5)


def test_products_get_the_first_even_size_that_keeps_them_exact_and_the_fft_fast():
    def fast(points):
        for prime in (2, 3, 5):
            while points % prime == 0:
                points //= prime
        return points == 1

    for modes in range(1, 500):
        first = next(n for n in range(3 * modes + 1, 8 * modes + 8) if n % 2 == 0 and fast(n))
        assert product_points(modes) == first
