"""Cosine and sine series against explicit sums of cosines and sines."""

import re

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


def test_the_last_axis_is_x():
    coefficients = np.zeros((4, 4))
    coefficients[0, 3] = 1  # k_x = 3
    values = observe_cosine(coefficients, 9, "nodes")
    expected = np.sqrt(2) * np.cos(3 * np.pi * np.linspace(0, 1, 9))
    np.testing.assert_allclose(values, np.tile(expected, (9, 1)), atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_cosines_are_orthonormal(kind):
    grid = Grid(kind, 12, dimension=2)
    unit = np.eye(100).reshape(100, 10, 10)
    functions = observe_cosine(unit, 12, kind).reshape(100, -1)
    products = (functions * grid.weights.ravel()) @ functions.T
    np.testing.assert_allclose(products, np.eye(100), atol=1e-13)


def test_cosine_series_on_nested_nodes_is_every_second_value():
    coefficients = random_coefficients(20, 20)
    fine = observe_cosine(coefficients, 33, "nodes")
    np.testing.assert_allclose(observe_cosine(coefficients, 17, "nodes"), fine[::2, ::2], atol=1e-12)


def test_cosine_series_have_no_slope_at_the_boundary():
    """A one-sided difference of a function with zero slope is of second order in the spacing."""
    values = observe_cosine(random_coefficients(4, 4), 2001, "nodes")
    largest_curvature = np.abs(np.diff(values, 2, axis=1)).max()
    for edge in (values[:, 1] - values[:, 0], values[:, -1] - values[:, -2]):
        assert np.abs(edge).max() < largest_curvature


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


@pytest.mark.parametrize("kind", KINDS)
def test_cosine_series_keep_single_precision(kind):
    coefficients = random_coefficients(9, 9)
    single = observe_cosine(coefficients.astype(np.float32), 9, kind)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, observe_cosine(coefficients, 9, kind), atol=1e-4)
    back = cosine_coefficients_of(single, kind)
    assert back.dtype == np.float32
    np.testing.assert_allclose(back, coefficients, atol=1e-5)


@pytest.mark.parametrize("evaluate", [lambda c, kind: observe_cosine(c, 2, kind), cosine_coefficients_of])
@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("periodic", "a cosine series is observed on 'nodes' or 'cell_centres', got 'periodic'"),
        ("nodes", "a grid of nodes has at least 3 points along each axis; got 2"),
        ("cell_centres", "a grid of cell_centres has at least 3 points along each axis; got 2"),
    ],
)
def test_impossible_grids_of_a_cosine_series_are_refused(evaluate, kind, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        evaluate(np.zeros((2, 2)), kind)


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


def test_the_sine_interpolant_passes_through_the_nodes_that_two_grids_share():
    """13 and 9 nodes share every third and every second."""
    values = sine_values(random_coefficients(11, 11), 13)
    np.testing.assert_allclose(restrict_dirichlet(values, 9)[::2, ::2], values[::3, ::3], atol=1e-13)


@pytest.mark.parametrize("points", [17, 20])
def test_a_restricted_function_vanishes_on_the_boundary_to_the_bit(points):
    restricted = restrict_dirichlet(sine_values(random_coefficients(31, 31), 33), points)
    for edge in (restricted[0], restricted[-1], restricted[:, 0], restricted[:, -1]):
        assert (edge == 0).all()
    assert (restricted[1:-1, 1:-1] != 0).all()


def test_restriction_of_a_polynomial_converges():
    """x(1 - x)y(1 - y) is no finite sum of sines: its interpolant has the third order at least."""

    def error(points_from):
        axis, coarse = Grid("nodes", points_from).coordinates, Grid("nodes", 6).coordinates
        exact = np.outer(coarse * (1 - coarse), coarse * (1 - coarse))
        values = np.outer(axis * (1 - axis), axis * (1 - axis))
        return np.abs(restrict_dirichlet(values, 6) - exact).max()

    assert error(64) < error(32) / 7
    assert error(128) < error(64) / 7


@pytest.mark.parametrize("points", [9, 12])
def test_restriction_keeps_batch_bits_and_precision(points):
    values = np.stack([sine_values(random_coefficients(15, 15) * k, 17) for k in (1, 2, 3, 4)])
    together = restrict_dirichlet(values.reshape(2, 2, 17, 17), points)
    assert together.shape == (2, 2, points, points)
    np.testing.assert_array_equal(restrict_dirichlet(values[3], points), together[1, 1])
    single = restrict_dirichlet(values.astype(np.float32), points)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, together.reshape(4, points, points), atol=1e-4)


def test_restriction_to_more_nodes_is_refused():
    message = "9 nodes cannot be restricted to 17: a restriction has at most 9"
    with pytest.raises(ValueError, match=f"^{message}$"):
        restrict_dirichlet(np.zeros((9, 9)), 17)


@pytest.mark.parametrize("points", [-3, 0, 1, 2])
def test_restriction_to_too_few_nodes_is_refused(points):
    message = f"a grid of nodes has at least 3 points along each axis; got {points}"
    with pytest.raises(ValueError, match=f"^{message}$"):
        restrict_dirichlet(np.zeros((9, 9)), points)


@pytest.mark.parametrize("place", [(0, 4), (-1, 4), (4, 0), (4, -1), (0, 0)])
@pytest.mark.parametrize("value", [1e-300, np.nan])
def test_values_on_the_boundary_are_refused(place, value):
    values = np.zeros((2, 9, 9))
    values[1][place] = value
    with pytest.raises(ValueError, match=r"^a function with values on the boundary has no sine series$"):
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
