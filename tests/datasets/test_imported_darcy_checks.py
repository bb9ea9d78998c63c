"""The checks of imported Darcy data: numbers against known ones, and from where on they warn."""

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

from resolvent.datasets.imported import darcy_checks
from resolvent.datasets.tasks.error_budget import error_facts
from resolvent.datasets.tasks.registry import settings_of
from resolvent.solvers.common.grid import Grid
from resolvent.solvers.darcy.direct import solve_direct
from resolvent.solvers.darcy.five_point import DarcyFivePoint


@pytest.mark.parametrize("points", [8, 9])
def test_the_correlation_is_that_of_all_pairs_at_a_lag(points):
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(3, points, points))
    found = darcy_checks._correlation(signs)
    assert found.shape == (3, points // 2)
    for lag in range(points // 2):
        expected = (signs[:, :, : points - lag] * signs[:, :, lag:]).mean(axis=(1, 2))
        np.testing.assert_allclose(found[:, lag], expected, atol=1e-12)


def test_the_reach_of_stripes_is_that_of_both_axes():
    """Stripes of four of 33 points: along one axis the correlation is 1, along the other 1 - lag/2 + …."""
    x = np.arange(33)
    stripes = np.where((x // 4) % 2, 1.0, -1.0)
    signs = np.stack([np.tile(stripes, (33, 1)), np.tile(np.roll(stripes, 1), (33, 1)).T])
    across = [
        np.mean([(row[: 33 - lag] * row[lag:]).mean() for row in (stripes, np.roll(stripes, 1))])
        for lag in range(16)
    ]
    mean = (1 + np.array(across)) / 2
    found = darcy_checks._pattern(signs)
    below = int(np.argmax(mean < 0.5))
    length = below - 1 + (mean[below - 1] - 0.5) / (mean[below - 1] - mean[below])
    half = found["distance_at_which_the_correlation_is_half"]
    assert half == pytest.approx(length / 32, rel=5e-3)
    assert found["correlation_at_distance_0.1"]["mean"] == pytest.approx(mean[3], rel=1e-3)  # 0.1 of 32 cells


def test_means_have_the_standard_error_of_samples():
    values = np.array([1.0, 2.0, 4.0, 9.0])
    error = np.sqrt(((values - 4) ** 2).sum() / 3 / 4)
    assert darcy_checks._mean_and_error(values) == {"mean": 4.0, "standard_error": float(f"{error:.2g}")}
    assert darcy_checks._mean_and_error(values[:1]) == {"mean": 1.0, "standard_error": None}


def test_means_differ_beyond_five_standard_errors():
    one, other = {"mean": 1.0, "standard_error": 0.03}, {"mean": 1.2501, "standard_error": 0.04}
    assert darcy_checks._differ(one, other)
    assert darcy_checks._differ(other, one)
    assert not darcy_checks._differ(one, other | {"mean": 1.2499})
    assert darcy_checks._differ(one, 1.1501)
    assert darcy_checks._differ(one, 0.8499)
    assert not darcy_checks._differ(one, 1.1499)


def test_coefficients_of_two_values_are_described():
    rng = np.random.default_rng(0)
    coefficient = np.where(rng.random((6, 17, 17)) < 0.3, 12.0, 3.0)
    facts = darcy_checks.coefficient_facts(coefficient, coefficient, "level_set")
    shares = (coefficient == 12).mean(axis=(1, 2))
    assert (facts["values"], facts["contrast"]) == ([3.0, 12.0], 4.0)
    assert facts["share_of_the_larger"] == darcy_checks._mean_and_error(shares)
    assert facts["pattern"] == facts["pattern_of_the_distribution_stated"]
    assert facts["pattern"] == darcy_checks._pattern(np.where(coefficient == 12, 1.0, -1.0))
    masks = darcy_checks.coefficient_facts((coefficient > 5) * 1.0, coefficient, "level_set")
    assert (masks["values"], masks["contrast"]) == ([0.0, 1.0], None)
    assert masks["pattern"] == facts["pattern"]
    three = np.where(coefficient > 5, coefficient, rng.choice([1.0, 2.0], coefficient.shape))
    facts = darcy_checks.coefficient_facts(three, coefficient, "level_set")
    assert (facts["distinct_values"], facts["values"]) == (3, [1.0, 12.0])


def test_the_logarithm_of_lognormal_coefficients_is_described():
    rng = np.random.default_rng(0)
    one, other = (np.exp(scale * rng.normal(size=(5, 9, 9))) for scale in (0.5, 2.0))
    facts = darcy_checks.coefficient_facts(one, other, "lognormal")
    for key, values in (("", one), ("_stated", other)):
        expected = darcy_checks._mean_and_error((np.log(values) ** 2).mean(axis=(1, 2)))
        assert facts[f"variance_of_the_logarithm{key}"] == expected
    assert facts["pattern"] == darcy_checks._pattern(np.where(one > 1, 1.0, -1.0))
    assert facts["distinct_values"] == one.size
    one[0, 0, 0] = 0.0
    facts = darcy_checks.coefficient_facts(one, other, "lognormal")
    assert "variance_of_the_logarithm" not in facts
    two = np.where(one > 1, 2.0, 0.5)
    assert "contrast" not in darcy_checks.coefficient_facts(two, other, "lognormal")


@pytest.mark.parametrize(("above", "below"), [(12, 3), (3, 12), (50, 0.5)])
def test_the_two_values_of_a_coefficient_are_found_by_its_pressures(above, below):
    upper = np.random.default_rng(0).random((6, 9, 9)) < 0.5
    pressure = solve_direct(np.where(upper, float(above), float(below)))
    solver = DarcyFivePoint("nodes", "arithmetic", "multigrid", 1e-12)
    found = darcy_checks.values_that_fit(solver, np.where(upper, 7.0, 5.0), pressure)["values_that_fit_best"]
    assert (found["above"], found["below"]) == pytest.approx((above, below), rel=1e-3)
    assert found["samples"] == darcy_checks.FITTED
    assert found["largest_relative_l2"] < 1e-4
    assert darcy_checks.values_that_fit(solver, np.where(upper, 7.0, 5.0 + np.arange(9)), pressure) == {}


def test_the_public_generator_is_imitated_by_splines_and_five_points():
    coefficient = np.exp(np.random.default_rng(0).normal(size=(2, 9, 9)) / 4)
    nodes, cells = (Grid(kind, 9).coordinates for kind in ("nodes", "cell_centres"))

    def moved(values, at, to):
        for axis in (1, 2):
            values = make_interp_spline(at, values, k=3, axis=axis)(to)
        return values

    expected = moved(solve_direct(moved(coefficient, cells, nodes)), nodes, cells)
    np.testing.assert_allclose(darcy_checks.as_public_generator(coefficient), expected, atol=1e-12)


def test_pressures_are_held_against_every_convention():
    coefficient = np.where(np.random.default_rng(0).random((5, 9, 9)) < 0.5, 12.0, 3.0)
    pressure = solve_direct(coefficient, face_mean="harmonic")
    found = darcy_checks.by_convention(coefficient, pressure, 1e-12)
    plain = [
        "nodes, arithmetic mean", "nodes, arithmetic mean, spacing 1/n", "nodes, harmonic mean",
        "cell centres, arithmetic mean", "cell centres, harmonic mean", darcy_checks.SPLINE,
    ]  # fmt: skip
    assert list(found) == [one + way for one in plain for way in ("", darcy_checks.TRANSPOSED)]
    closest = min(found, key=lambda name: found[name]["median_relative_l2"])
    assert closest == "nodes, harmonic mean"
    assert found[closest]["largest_relative_l2"] < 1e-10
    assert {name: one["samples"] for name, one in found.items()} == {
        name: darcy_checks.SPLINED if name.startswith(darcy_checks.SPLINE) else 5 for name in found
    }
    other = solve_direct(coefficient, grid="cell_centres", face_mean="harmonic")
    difference = np.linalg.norm(pressure - other, axis=(1, 2)) / np.linalg.norm(other, axis=(1, 2))
    assert found["cell centres, harmonic mean"]["median_relative_l2"] == pytest.approx(
        np.median(difference), rel=0.01
    )
    refused = darcy_checks.by_convention(-coefficient, pressure, 1e-12)
    assert list(refused) == ["not_available"]


DARCY = settings_of({"equation": "darcy"})
STATED_CONVENTION = "nodes, arithmetic mean"


def darcy_findings(median=1e-9, largest=1e-9, other=1.0, least=0.0, fit=None):
    return {
        "labels_against_our_solver": {"median_relative_l2": median, "largest_relative_l2": largest},
        "by_convention": {
            STATED_CONVENTION: {"median_relative_l2": median},
            "nodes, harmonic mean": {"median_relative_l2": other},
        },
        "least_pressure_over_largest": least,
    } | ({"values_that_fit_best": fit} if fit else {})


FIT = {"above": 19.0, "below": 1.5, "median_relative_l2": 2e-5}
DARCY_LABELS = {
    "good": ({}, []),
    "at the tolerance": ({"median": 1e-3, "largest": 1e-2, "fit": FIT}, []),
    "above it": (
        {"median": 1.1e-3, "fit": FIT},
        [
            "The pressures in the file differ from our solver's (nodes, arithmetic mean) by 1.1e-03 in the "
            "median (relative L²), above the tolerance 1e-03.",
            "With the values 19 and 1.5 (stated: 12 and 3) they fit best, to 2.0e-05.",
        ],
    ),
    "some above it": (
        {"median": 1e-3, "largest": 1.1e-2},
        [
            "Some pressures in the file differ from our solver's by 1.1e-02 (relative L²), though by 1.0e-03 "
            "in the median; the tolerance is 1e-03."
        ],
    ),
    "another convention is nearly twice as good": ({"median": 1e-4, "other": 0.51e-4}, []),
    "another convention is more than twice as good": (
        {"median": 1e-4, "other": 0.49e-4},
        [
            "Another convention fits the pressures better than the one stated (nodes, arithmetic mean, "
            "1.0e-04): nodes, harmonic mean, 4.9e-05."
        ],
    ),
    "slightly negative": ({"least": -1e-3}, []),
    "negative": (
        {"least": -2e-3},
        [
            "Some pressures are negative, which a positive source and a zero boundary do not allow: down to "
            "-0.002 of the largest."
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", DARCY_LABELS)
def test_darcy_labels_are_remarked_on_beyond_the_tolerance(case):
    changes, expected = DARCY_LABELS[case]
    assert darcy_checks.label_warnings(darcy_findings(**changes), DARCY, 1e-3) == expected


def test_values_are_proposed_where_labels_could_not_be_checked():
    findings = darcy_findings(fit=FIT) | {
        "labels_against_our_solver": {"not_available": "why"},
        "by_convention": {"not_available": {"reason": "why"}},
    }
    (said,) = darcy_checks.label_warnings(findings, DARCY, 1e-3)
    assert said.startswith("With the values 19 and 1.5")


def coefficient_findings(values, *, share=0.5, error=0.01, reach=0.4, variances=(1.0, 1.0), count=2):
    facts = {"values": values} | ({"distinct_values": count} if count != 2 else {})
    if count == 2:
        facts["share_of_the_larger"] = {"mean": share, "standard_error": error}
    for key, mean in zip(("", "_stated"), variances, strict=True):
        facts[f"variance_of_the_logarithm{key}"] = {"mean": mean, "standard_error": 0.01}
    for key, mean in (("pattern", reach), ("pattern_of_the_distribution_stated", 0.4)):
        facts[key] = {
            "correlation_at_distance_0.1": {"mean": mean, "standard_error": 0.01},
            "distance_at_which_the_correlation_is_half": mean / 2,
        }
    return facts


COEFFICIENTS = {
    "good": ({}, []),
    "rounded": ({"values": [3 * (1 + 5e-7), 12 * (1 - 5e-7)]}, []),
    "another value": (
        {"values": [3.0, 12.1]},
        ["The coefficient takes the values 3 and 12.1; stated: 3 and 12."],
    ),
    "three values": (
        {"values": [1.0, 12.0], "count": 3},
        ["The coefficient takes 3 values, from 1 to 12; stated: the two values 3 and 12."],
    ),
    "a share": ({"share": 0.549}, []),
    "a larger share": (
        {"share": 0.551},
        ["The larger value has a share of 0.551 (± 0.01); of the distribution stated it has a half."],
    ),
    "patches": ({"reach": 0.47}, []),
    "smaller patches": (
        {"reach": 0.32},
        [
            "Patches of the coefficient are of another size than of the distribution stated: their "
            "correlation falls to a half at a distance of 0.16; stated: 0.2."
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", COEFFICIENTS)
def test_coefficients_are_remarked_on_that_are_not_of_the_distribution(case):
    changes, expected = COEFFICIENTS[case]
    facts = coefficient_findings(**{"values": [3.0, 12.0]} | changes)
    found = darcy_checks.coefficient_warnings(facts, DARCY)
    assert found == expected


def test_lognormal_coefficients_are_remarked_on():
    settings = DARCY.model_copy(update={"push_forward": "lognormal"})
    good = {"values": [0.1, 9.0], "count": 99}
    assert darcy_checks.coefficient_warnings(coefficient_findings(**good), settings) == []
    for one, said in ((1.06, False), (1.08, True), (0.92, True)):
        found = darcy_checks.coefficient_warnings(
            coefficient_findings(**good, variances=(one, 1.0)), settings
        )
        words = f"The logarithm of the coefficient has the variance {one:g}; stated: 1."
        assert found == [words] * said
    for least in (0.0, -1.0):
        found = darcy_checks.coefficient_warnings(
            coefficient_findings(**good | {"values": [least, 9.0]}), settings
        )
        assert found == [f"The coefficient is not positive: its least value is {least:g}."]


def test_errors_of_labels_are_those_of_the_solver_or_the_reason_why_not():
    coefficient = np.where(np.random.default_rng(0).random((4, 9, 9)) < 0.5, 12.0, 3.0)
    solver = DarcyFivePoint("nodes", "arithmetic", "multigrid", 1e-12)
    exact = solve_direct(coefficient)
    factors = np.array([1.0, 1.01, 1.02, 1.04])
    found = darcy_checks.label_errors(solver, coefficient, exact * factors[:, None, None], 40)
    assert found == error_facts(factors - 1, 40) | {
        key: value for key, value in found.items() if "relative" in key
    }
    assert found["median_relative_l2"] == pytest.approx(0.015, rel=1e-2)
    assert found["largest_relative_l2"] == pytest.approx(0.04, rel=1e-2)
    reason = darcy_checks.label_errors(solver, -coefficient, exact, 40)
    assert list(reason) == ["not_available"]
    assert "not positive" in reason["not_available"]
