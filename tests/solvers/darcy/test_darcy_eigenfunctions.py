"""Bilinear finite elements against closed forms: a = 1, exactly on the grid and in the limit; two layers."""

import numpy as np
import pytest

from resolvent.solvers.darcy.eigenfunctions import eigenfunctions, element_means, mass_matrix, stiffness


def on_nodes(elements, function):
    x = np.linspace(0, 1, elements + 1)
    return function(*np.meshgrid(x, x))


def test_constant_coefficient_is_the_closed_form_of_the_scheme():
    """The scheme separates: λ_h = s(j) + s(k), s(k) = 6 (1 - cos kπh) / (h² (2 + cos kπh))."""
    elements = 11
    values, functions = eigenfunctions(np.full((elements, elements), 2.0), count=4)
    angle = np.arange(1, 4) * np.pi / elements
    s = 6 * elements**2 * (1 - np.cos(angle)) / (2 + np.cos(angle))
    np.testing.assert_allclose(values, 2 * np.sort(np.add.outer(s, s).ravel())[:4], rtol=1e-10)
    sine = on_nodes(elements, lambda x, y: np.sin(np.pi * x) * np.sin(np.pi * y))
    norm = np.sqrt(sine.ravel() @ mass_matrix(elements) @ sine.ravel())
    np.testing.assert_allclose(functions[0], sine / norm, atol=1e-10)


def random_coefficient(elements, seed=0):
    return np.exp(np.random.default_rng(seed).normal(size=(elements, elements)))


def test_eigenfunctions_solve_the_weak_form_and_are_orthonormal():
    coefficient = random_coefficient(9)
    values, functions = eigenfunctions(coefficient, count=3)
    assert (np.diff(values) > 0).all()
    flat = functions.reshape(3, -1)
    np.testing.assert_allclose(flat @ mass_matrix(9) @ flat.T, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(flat @ stiffness(coefficient) @ flat.T, np.diag(values), atol=1e-8)
    assert not functions[:, [0, -1]].any()
    assert not functions[:, :, [0, -1]].any()
    assert (np.abs(functions).max(axis=(1, 2)) == functions.max(axis=(1, 2))).all()


def test_matrices_integrate_bilinear_functions_exactly():
    u = on_nodes(6, lambda x, y: 1 + 2 * x - 3 * y + 4 * x * y).ravel()
    v = on_nodes(6, lambda x, y: x).ravel()
    assert u @ mass_matrix(6) @ v == pytest.approx(1 / 2 + 2 / 3 - 3 / 4 + 4 / 6)
    coefficient = 1 + np.arange(36.0).reshape(6, 6)
    centre = (np.arange(6) + 0.5) / 6
    expected = (coefficient * (2 + 4 * centre[:, None])).mean()  # ∫ a ∂u/∂x
    assert u @ stiffness(coefficient) @ v == pytest.approx(expected)


def test_element_means_of_nested_and_other_grids():
    rows = np.array([12.0, 12.0, 3.0, 3.0, 3.0])  # cells end at 1/8, 3/8, 5/8 and 7/8
    means = element_means(np.tile(rows, (5, 1)), 2)
    np.testing.assert_allclose(means, np.tile([(3 * 12 + 3) / 4, 3.0], (2, 1)))
    np.testing.assert_allclose(element_means(np.tile(rows, (5, 1)), 4)[0], [12, 7.5, 3, 3])
    values = random_coefficient(14)
    assert element_means(values, 5).shape == (5, 5)
    weights = np.full(14, 1.0)
    weights[[0, -1]] = 0.5
    total = weights @ values @ weights / 13**2
    assert element_means(values, 5).mean() == pytest.approx(total)


def test_what_cannot_be_solved_is_refused():
    with pytest.raises(ValueError, match="must be positive"):
        eigenfunctions(np.array([[1.0, 1.0], [0.0, 1.0]]))
    with pytest.raises(
        ValueError, match="3 x 3 elements have 4 unknowns: count must be between 1 and 3, got 4"
    ):
        eigenfunctions(np.ones((3, 3)), count=4)
