import numpy as np
import pytest

from resolvent.solvers.common.fourier import coefficients_of, coefficients_of_2d, observe, observe_2d
from resolvent.solvers.common.grid import Grid, Nodes


def test_coordinates_include_the_left_end_and_exclude_the_right():
    grid = Grid("periodic", 8, length=2.0)
    np.testing.assert_array_equal(grid.coordinates, [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75])
    assert grid.spacing == 0.25


def test_quadrature_is_exact_for_trigonometric_polynomials():
    grid = Grid("periodic", 16, length=3.0)
    angle = 2 * np.pi * grid.coordinates / 3
    assert grid.weights.sum() == pytest.approx(3, rel=1e-14)
    assert grid.weights @ (np.cos(5 * angle) ** 2) == pytest.approx(1.5, rel=1e-14)
    assert abs(grid.weights @ np.cos(15 * angle)) < 1e-14


def test_derivative_is_exact_below_the_nyquist_mode_and_zero_on_it():
    grid = Grid("periodic", 16, length=3.0)
    angle = 2 * np.pi * grid.coordinates / 3
    values = np.stack([np.sin(7 * angle), np.cos(8 * angle)])
    expected = np.stack([14 * np.pi / 3 * np.cos(7 * angle), np.zeros(16)])
    np.testing.assert_allclose(grid.derivative(values), expected, atol=1e-12)


def test_observation_follows_the_stated_convention():
    coefficients = np.array([0.5, 1 - 2j, 0, 0.25j])
    angle = 2 * np.pi * Grid("periodic", 16).coordinates
    expected = 0.5 + 2 * np.cos(angle) + 4 * np.sin(angle) - 0.5 * np.sin(3 * angle)
    np.testing.assert_allclose(observe(coefficients, 16), expected, atol=1e-14)


def test_coefficients_are_the_inverse_of_observation():
    random = np.random.default_rng(0)
    coefficients = random.normal(size=(3, 16)) + 1j * random.normal(size=(3, 16))
    coefficients[:, 0] = coefficients[:, 0].real
    np.testing.assert_allclose(coefficients_of(observe(coefficients, 32)), coefficients, atol=1e-14)
    np.testing.assert_array_equal(observe(coefficients, 4), observe(coefficients[:, :2], 4))  # drops the rest


@pytest.mark.parametrize("points", [512, 1000, 8192])
def test_observation_of_a_sample_has_the_same_bits_in_any_batch(points):
    random = np.random.default_rng(0)
    coefficients = random.normal(size=(23, 4096)) + 1j * random.normal(size=(23, 4096))
    together = observe(coefficients, points)
    np.testing.assert_array_equal(observe(coefficients[17], points), together[17])
    np.testing.assert_array_equal(observe(coefficients[15:18], points)[2], together[17])
    np.testing.assert_array_equal(coefficients_of(together)[17], coefficients_of(together[17]))


def test_nodes_include_both_ends_and_cell_centres_neither():
    np.testing.assert_allclose(Grid("nodes", 5).coordinates, [0, 0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(Grid("cell_centres", 4, 2.0).coordinates, [0.25, 0.75, 1.25, 1.75])


@pytest.mark.parametrize("kind", ["periodic", "nodes", "cell_centres"])
@pytest.mark.parametrize("dimension", [1, 2])
def test_weights_sum_to_the_domain_and_integrate_to_second_order(kind, dimension):
    grid = Grid(kind, 64, 2.0, dimension)
    assert grid.weights.shape == (64,) * dimension
    assert grid.weights.sum() == pytest.approx(2.0**dimension, rel=1e-14)
    square = np.sin(np.pi * grid.coordinates / 2) ** 2
    values = square if dimension == 1 else np.outer(square, square)
    assert (grid.weights * values).sum() == pytest.approx(1.0, rel=1e-3)


CENTRES = Grid("cell_centres", 421, 2.0)


def test_every_kth_cell_centre_is_where_the_file_has_it():
    grid = CENTRES.restricted(141)
    assert (grid.stride, grid.cells) == (3, 421)
    np.testing.assert_array_equal(grid.coordinates, CENTRES.coordinates[::3])
    assert grid.spacing == pytest.approx(3 * CENTRES.spacing, rel=1e-14)
    np.testing.assert_allclose(np.diff(grid.coordinates), grid.spacing, rtol=1e-12)
    assert grid.restricted(36) == CENTRES.restricted(36)  # every fourth of every third
    assert CENTRES.restricted(421) == CENTRES
    np.testing.assert_allclose(grid.coordinates + grid.coordinates[::-1], 2.0)  # symmetric about the middle


@pytest.mark.parametrize("points", [211, 85, 36])
def test_on_every_kth_cell_centre_weights_and_differences_are_right(points):
    grid = CENTRES.restricted(points)
    x = grid.coordinates
    assert grid.weights.sum() == pytest.approx(2.0, rel=1e-13)
    assert (grid.weights * np.exp(x)).sum() == pytest.approx(np.expm1(2), rel=grid.spacing**2)
    np.testing.assert_allclose(grid.derivative(x**2), 2 * x, atol=1e-12)


@pytest.mark.parametrize(("kind", "points"), [("nodes", 141), ("cell_centres", 141), ("periodic", 210)])
def test_a_restriction_has_every_kth_point_from_the_first_on(kind, points):
    grid = Grid(kind, 420 if kind == "periodic" else 421, 2.0, 2)
    coarse = grid.restricted(points)
    stride = round(coarse.spacing / grid.spacing)
    np.testing.assert_allclose(coarse.coordinates, grid.coordinates[::stride], rtol=1e-14)
    assert coarse.dimension == 2


@pytest.mark.parametrize("kind", ["nodes", "cell_centres"])
def test_differences_are_exact_for_quadratics_up_to_the_ends(kind):
    grid = Grid(kind, 9)
    np.testing.assert_allclose(grid.derivative(grid.coordinates**2), 2 * grid.coordinates, atol=1e-13)


def test_explicit_nodes_have_trapezoidal_weights_and_second_order_differences():
    nodes = Nodes((0.0, 0.1, 0.4, 1.0))
    np.testing.assert_allclose(nodes.weights, [0.05, 0.2, 0.45, 0.3])
    np.testing.assert_allclose(nodes.derivative(nodes.coordinates**2), 2 * nodes.coordinates, atol=1e-13)


def two_dimensional(seed, modes):
    values = np.random.default_rng(seed).normal(size=(3, 2 * modes + 2, 2 * modes + 2))
    return coefficients_of_2d(values)


def test_observation_on_the_torus_follows_the_stated_convention():
    coefficients = np.zeros((7, 4), complex)
    coefficients[-2, 1] = 0.5 - 1.5j  # k_y = -2, k_x = 1
    axis = 2 * np.pi * Grid("periodic", 16).coordinates
    y, x = np.meshgrid(axis, axis, indexing="ij")
    expected = np.cos(x - 2 * y) + 3 * np.sin(x - 2 * y)
    np.testing.assert_allclose(observe_2d(coefficients, 16), expected, atol=1e-14)


@pytest.mark.parametrize("points", [8, 18, 48])
def test_on_the_torus_coefficients_are_the_inverse_of_observation(points):
    coefficients = two_dimensional(0, 8)
    assert coefficients.shape == (3, 17, 9)
    again = coefficients_of_2d(observe_2d(coefficients, points))
    kept = min(9, points // 2)
    rows = np.r_[:kept, 1 - kept : 0]
    np.testing.assert_allclose(again[:, rows, :kept], coefficients[:, rows, :kept], atol=1e-14)
    if points > 18:
        assert np.abs(again[:, kept:-kept]).max() < 1e-14


def test_on_the_torus_a_sample_has_the_same_bits_in_any_batch():
    coefficients = two_dimensional(1, 20)
    np.testing.assert_array_equal(observe_2d(coefficients, 104)[2], observe_2d(coefficients[2], 104))
