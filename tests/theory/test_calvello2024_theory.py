"""What Calvello et al. (2024) prove of attention between functions holds of the models' attention."""

import numpy as np
import pytest
import theory_average as average
import theory_continuum as continuum
import theory_invariance as invariance
import torch
from theory_fits import continuum_orders

from resolvent.models.registry import ARCHITECTURES, examples

SEED = 3


@pytest.fixture(scope="module")
def tables():
    return {
        "monte_carlo": continuum.monte_carlo([64, 256, 1024], 200, SEED),
        "quadratures": continuum.quadratures([32, 64, 128, 256], 40, SEED),
        "averages": average.average_errors([4, 8, 16], 60, SEED),
        "invariance": invariance.invariance_errors(examples(), [32, 64], [16, 32], SEED),
    }


@pytest.fixture(scope="module")
def orders(tables):
    return continuum_orders(**tables).set_index(["measurement", "case"])


@pytest.mark.parametrize(
    ("measurement", "case", "order", "within"),
    [
        ("monte_carlo", "self", 0.5, 0.06),
        ("monte_carlo", "cross", 0.5, 0.06),
        *((weights, nodes, order, 0.05)
          for weights, order in (("trapezoid", 2.0), ("equal", 1.0)) for nodes in ("even", "two_rates")),
        ("average", "trapezoid_1d", 2.0, 0.2),
        ("average", "trapezoid_2d", 1.0, 0.2),
        ("average", "monte_carlo_1d", 0.5, 0.2),
        ("average", "monte_carlo_2d", 0.5, 0.2),
    ],
)  # fmt: skip
def test_observed_orders_are_those_of_the_theory(orders, measurement, case, order, within):
    found = orders.loc[(measurement, case)]
    assert found["fitted"] == pytest.approx(order, abs=within)
    assert found["theory"] == order


@pytest.mark.parametrize(
    ("nodes", "trapezoid"), [("random", 2.0), ("random_denser", 2.0), ("random_without_ends", 1.0)]
)
def test_observed_order_on_random_nodes(tables, nodes, trapezoid):
    groups = tables["quadratures"].groupby(["nodes", "weights"])
    for weights, order in (("trapezoid", trapezoid), ("equal", 0.5)):
        group = groups.get_group((nodes, weights))
        slope = np.polyfit(np.log(group["points"]), np.log(group["error_to_limit"]), 1)[0]
        assert -slope == pytest.approx(order, abs=0.25), weights


def test_the_delta_method_predicts_the_deviation_without_a_fit(tables):
    table = tables["monte_carlo"]
    assert len(table) == 2 * 4 * 3
    finest = table[table["points"] == 1024]
    np.testing.assert_allclose(finest["deviation"], finest["predicted"], rtol=0.15)
    assert (finest["deviation"] / finest["predicted"]).mean() == pytest.approx(1.0, abs=0.05)


def test_the_integral_is_that_of_many_points_in_two_dimensions():
    """Gauss-Legendre quadrature against the midpoint rule, written out."""
    heads = continuum.Heads("cross", 0.5, SEED)
    axis = (np.arange(300) + 0.5) / 300
    k, v = heads.at(np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2))
    kernel = np.exp(heads.queries() @ k.T)
    np.testing.assert_allclose(
        continuum.integral(heads), kernel @ v / kernel.sum(1, keepdims=True), atol=1e-4
    )


def test_suprema_are_of_the_lengths_of_vectors_and_relative():
    exact = np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 1.0]])
    difference = np.array([[[0.0, 0.0, 0.5], [3.0, 0.0, 4.0]], [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]])
    np.testing.assert_allclose(continuum.relative_supremum(difference, exact), [1.0, 0.2])
    of_sets = average.supremum(torch.from_numpy(exact + difference), torch.from_numpy(exact)[None])
    np.testing.assert_allclose(of_sets, [1.0, 0.2])


def test_equal_weights_miss_the_integral_by_what_the_density_says(tables):
    """Two-rate and denser nodes stay a fixed distance away; even and uniformly random ones do not."""
    table = tables["quadratures"]
    equal = table[table["weights"] == "equal"].set_index("nodes")
    for nodes in ("two_rates", "random_denser"):
        finest = equal.loc[nodes].iloc[-1]
        assert finest["gap"] > 0.05
        assert finest["error"] == pytest.approx(finest["gap"], rel=0.15)
        assert finest["error_to_limit"] < 0.5 * finest["gap"]
    assert (equal.loc[["even", "random", "random_without_ends"], "gap"] == 0).all()
    assert (table[table["weights"] == "trapezoid"]["gap"] == 0).all()


def test_two_rate_nodes_are_the_papers():
    nodes = continuum.NODE_SETS["two_rates"].nodes(8, SEED)
    np.testing.assert_allclose(nodes, [0, 1 / 8, 2 / 8, 3 / 8, 4 / 8, 6 / 8, 1], rtol=1e-15)


def test_without_queries_and_keys_alone_the_layer_is_a_function_of_the_mean_to_rounding(tables, monkeypatch):
    assert (tables["averages"]["rounding"] < 1e-14).all()
    construction = average.construction

    def with_keys(dimension, seed):
        operator = construction(dimension, seed)
        operator.attention.weight[: 2 * average.WIDTH] = 1.0
        return operator

    monkeypatch.setattr(average, "construction", with_keys)
    assert (average.average_errors([4, 8], 3, SEED)["rounding"] > 1e-3).all()


def test_every_registered_architecture_is_measured_or_listed(tables):
    table = tables["invariance"]
    assert set(table["architecture"]) == set(ARCHITECTURES)
    unmeasured = table[table["points"].isna()]
    assert set(unmeasured["architecture"]) == {"afno", "transformer2d_coarse"}
    assert not unmeasured["claims"].any()


def test_observed_order_of_what_claims_invariance(tables, orders):
    table = tables["invariance"]
    claimed = table[table["claims"]]
    names = {f"{a} {v}".strip() for a, v in zip(claimed["architecture"], claimed["variant"], strict=True)}
    measured = orders.loc["invariance"].loc[sorted(names)]
    assert len(measured) >= 13
    np.testing.assert_allclose(measured["fitted"], measured["theory"].astype(float), atol=0.25)
    for model in ("CODANO", "UNO"):
        assert orders.loc["invariance"].loc[f"neuraloperator2d {model}"].isna()["theory"]
