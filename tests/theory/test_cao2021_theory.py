"""What Cao (2021) proves holds of the attentions as they are coded."""

import numpy as np
import pytest
import theory_convergence as convergence
import theory_cost as cost
import theory_fits as fits
import theory_projection as projection

SEED = 3


@pytest.fixture(scope="module")
def distances():
    return projection.distances([32, 128], SEED).set_index("basis")


@pytest.fixture(scope="module")
def quasi_optimality():
    return projection.quasi_optimality([32, 128], SEED)


@pytest.fixture(scope="module")
def errors():
    return convergence.errors([16, 32, 64, 128, 256])


def test_attention_is_the_projection_with_an_orthonormal_basis_or_its_dual_alone(distances):
    """It is not with another basis, whatever its scale, and is as far off on every grid."""
    assert (distances.loc[["orthonormal", "dual_keys"], "distance"] < 1e-10).all()
    others = distances.loc[["unit_columns", "layer_norm", "as_drawn"]]
    assert (others["distance_rescaled"] > 0.05).all()
    assert (others["distance_rescaled"] <= others["distance"]).all()
    for _, group in others.groupby("basis"):
        assert np.ptp(group["distance"]) < 1e-2 * group["distance"].mean()


def test_quasi_optimality_holds_in_every_row(quasi_optimality):
    table = quasi_optimality
    assert set(table["spaces"]) == {"fourier", "legendre_fourier", "random", "noise"}
    assert (table["ratio"] <= 1 + 1e-10).all()
    assert (table["error"] >= table["best"] * (1 - 1e-10)).all()
    assert (table["reproduction"] < 1e-10).all()
    assert table["error"].max() > 1.01 * table["best"].max()
    np.testing.assert_allclose(table["misfit"], table["least_misfit"], rtol=1e-10)


def test_attention_of_an_updated_basis_has_the_nearest_responses():
    """Theorem 4.4, with the maximum over the keys of eq. 42 written out by their Gram matrix."""
    n = 64
    generator = np.random.default_rng(SEED)
    values, keys, v = (
        projection.random_functions(count, n, generator)
        for count in (projection.VALUES, projection.KEYS, projection.KEYS)
    )
    mass = keys.T @ keys / n

    def misfits(z):
        responses = keys.T @ (v - z) / n
        return np.sqrt((responses * np.linalg.solve(mass, responses)).sum(axis=0))

    z = convergence.attend("galerkin", projection.petrov_galerkin(values, keys), keys, v)
    responses = projection.responses(keys, v - z)
    np.testing.assert_allclose(np.linalg.norm(responses, axis=0), misfits(z), rtol=1e-12)
    np.testing.assert_allclose(z, projection.project(values, z), atol=1e-12)  # in the span of Q
    for direction in values.T:
        for step in (-1e-3, 1e-3):
            assert (misfits(z + step * direction[:, None]) > misfits(z)).all()
    assert (misfits(projection.project(values, v)) > 1.01 * misfits(z)).any()  # nearest in L² is another


def test_the_bound_is_attained_by_the_worst_function():
    """Choose f against the spaces: ‖f - p‖ = c⁻¹ min ‖f - q‖, so a larger constant c would be wrong."""
    n = 64
    generator = np.random.default_rng(SEED)
    values = projection.random_functions(projection.VALUES, n, generator)
    keys = projection.random_functions(projection.KEYS, n, generator)
    project_values = projection.petrov_galerkin(values, keys) @ keys.T / n
    complement = np.eye(n) - project_values
    worst = np.linalg.svd(complement)[2][0]
    best = worst - projection.project(values, worst)
    error = np.linalg.norm(complement @ worst)
    assert error == pytest.approx(np.linalg.norm(best) / projection.inf_sup(values, keys), rel=1e-9)


def test_the_inf_sup_constant_is_one_for_nested_spaces_and_zero_for_orthogonal_ones():
    x = np.arange(64) / 64
    functions = projection.fourier_functions(9, x)
    assert projection.inf_sup(functions[:, :3], functions) == pytest.approx(1.0, abs=1e-14)
    assert projection.inf_sup(functions[:, :3], functions[:, 3:]) < 1e-14


def test_the_cost_of_each_attention_has_its_power_of_n():
    table = cost.costs([16, 32, 64], 5)
    galerkin = table[table["attention"] == "galerkin"].set_index("points")["flops"]
    assert galerkin[64] == 4 * 64 * 5**2
    quadratic = table[table["attention"] == "fourier_quadratic"].set_index("points")["flops"]
    assert quadratic[64] == 4 * 64**2 * 5
    operations = fits.cost_orders(table)
    assert set(operations["attention"]) == set(cost.ATTENTIONS)
    np.testing.assert_allclose(operations["fitted"], operations["theory"], atol=1e-12)


def test_quadratures_have_their_orders_and_periodic_functions_converge_geometrically_to_rounding(errors):
    orders = fits.convergence_orders(errors)
    algebraic, geometric = (orders[orders["quantity"] == quantity] for quantity in ("order", "rate"))
    assert len(algebraic) == 8
    np.testing.assert_allclose(algebraic["fitted"], algebraic["theory"], atol=0.2)
    np.testing.assert_allclose(geometric["fitted"], geometric["theory"], rtol=0.05)
    finest = errors[errors["points"] == 256]
    assert (finest[finest["rule"] == "periodic"]["error"] < 1e-12).all()
    of_finest = fits.convergence_orders(finest[finest["rule"] == "periodic"])
    assert of_finest["fitted"].isna().all()  # a rate needs two errors above rounding
