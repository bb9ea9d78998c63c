"""The checks of imported Darcy data: numbers against known ones, and from where on they warn."""

import re

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

from resolvent.datasets.imported import darcy
from resolvent.datasets.tasks.registry import settings_of
from resolvent.solvers.common.grid import Grid
from resolvent.solvers.darcy.direct import solve_direct
from resolvent.solvers.darcy.five_point import DarcyFivePoint

SOLVER = DarcyFivePoint("nodes", "arithmetic", "multigrid", 1e-12)


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
    found = darcy._pattern(signs)
    below = int(np.argmax(mean < 0.5))
    length = below - 1 + (mean[below - 1] - 0.5) / (mean[below - 1] - mean[below])
    assert found["distance_at_which_the_correlation_is_half"] == pytest.approx(length / 32, rel=5e-3)
    assert found["correlation_at_distance_0.1"]["mean"] == pytest.approx(mean[3], rel=1e-3)  # 0.1 of 32 cells
    endless = darcy._pattern(np.ones((2, 8, 8)))  # reaches as far as was looked
    assert endless["distance_at_which_the_correlation_is_half"] == pytest.approx(3 / 7, rel=2e-3)


def test_coefficients_of_two_values_are_described():
    rng = np.random.default_rng(0)
    coefficient = np.where(rng.random((6, 17, 17)) < 0.3, 12.0, 3.0)
    facts = darcy.coefficient_facts(coefficient, coefficient, "level_set")
    shares = (coefficient == 12).mean(axis=(1, 2))
    assert (facts["values"], facts["contrast"]) == ([3.0, 12.0], 4.0)
    assert facts["share_of_the_larger"] == darcy._mean_and_error(shares)
    assert facts["pattern"] == facts["pattern_of_the_distribution_stated"]
    assert facts["pattern"] == darcy._pattern(np.where(coefficient == 12, 1.0, -1.0))
    masks = darcy.coefficient_facts((coefficient > 5) * 1.0, coefficient, "level_set")
    assert (masks["values"], masks["contrast"]) == ([0.0, 1.0], None)
    assert masks["pattern"] == facts["pattern"]
    three = np.where(coefficient > 5, coefficient, rng.choice([1.0, 2.0], coefficient.shape))
    facts = darcy.coefficient_facts(three, coefficient, "level_set")
    assert (facts["distinct_values"], facts["values"]) == (3, [1.0, 12.0])


def test_the_logarithm_of_lognormal_coefficients_is_described():
    rng = np.random.default_rng(0)
    one, other = (np.exp(scale * rng.normal(size=(5, 9, 9))) for scale in (0.5, 2.0))
    facts = darcy.coefficient_facts(one, other, "lognormal")
    for key, values in (("", one), ("_stated", other)):
        expected = darcy._mean_and_error((np.log(values) ** 2).mean(axis=(1, 2)))
        assert facts[f"variance_of_the_logarithm{key}"] == expected
    assert facts["pattern"] == darcy._pattern(np.where(one > 1, 1.0, -1.0))
    assert facts["distinct_values"] == one.size
    one[0, 0, 0] = 0.0
    facts = darcy.coefficient_facts(one, other, "lognormal")
    assert "variance_of_the_logarithm" not in facts
    two = np.where(one > 1, 2.0, 0.5)
    assert "contrast" not in darcy.coefficient_facts(two, other, "lognormal")


@pytest.mark.parametrize(("above", "below"), [(12, 3), (3, 12), (50, 0.5)])
def test_the_two_values_of_a_coefficient_are_found_by_its_pressures(above, below):
    upper = np.random.default_rng(0).random((6, 9, 9)) < 0.5
    pressure = solve_direct(np.where(upper, float(above), float(below)))
    found = darcy.values_that_fit(SOLVER, np.where(upper, 7.0, 5.0), pressure)["values_that_fit_best"]
    assert (found["above"], found["below"]) == pytest.approx((above, below), rel=1e-3)
    assert found["samples"] == darcy.FITTED
    assert found["largest_relative_l2"] < 1e-4
    assert darcy.values_that_fit(SOLVER, np.where(upper, 7.0, 5.0 + np.arange(9)), pressure) == {}


def test_the_public_generator_is_imitated_by_splines_and_five_points():
    coefficient = np.exp(np.random.default_rng(0).normal(size=(2, 9, 9)) / 4)
    nodes, cells = (Grid(kind, 9).coordinates for kind in ("nodes", "cell_centres"))

    def moved(values, at, to):
        for axis in (1, 2):
            values = make_interp_spline(at, values, k=3, axis=axis)(to)
        return values

    expected = moved(solve_direct(moved(coefficient, cells, nodes)), nodes, cells)
    np.testing.assert_allclose(darcy.as_public_generator(coefficient), expected, atol=1e-12)


CONVENTIONS = {
    "nodes, arithmetic mean": lambda a, p: p,
    "nodes, arithmetic mean, pressure transposed": lambda a, p: p.swapaxes(1, 2),
    "nodes, arithmetic mean, spacing 1/n": lambda a, p: p * (8 / 9) ** 2,
    "nodes, harmonic mean": lambda a, p: solve_direct(a, face_mean="harmonic"),
    "cell centres, arithmetic mean": lambda a, p: solve_direct(a, grid="cell_centres"),
    "cell centres, harmonic mean": lambda a, p: solve_direct(a, grid="cell_centres", face_mean="harmonic"),
    darcy.SPLINE: lambda a, p: darcy.as_public_generator(a),
}


@pytest.mark.parametrize("words", CONVENTIONS)
def test_the_convention_of_pressures_is_found(words):
    coefficient = np.where(np.random.default_rng(0).random((5, 9, 9)) < 0.5, 12.0, 3.0)
    pressure = CONVENTIONS[words](coefficient, solve_direct(coefficient))
    found = darcy.by_convention(coefficient, pressure, 1e-12)
    assert min(found, key=lambda name: found[name]["median_relative_l2"]) == words
    assert found[words]["largest_relative_l2"] < 1e-10
    every = {*CONVENTIONS} - {"nodes, arithmetic mean, pressure transposed"}
    assert set(found) == {one + way for one in every for way in ("", darcy.TRANSPOSED)}
    counts = {name: darcy.SPLINED if name.startswith(darcy.SPLINE) else 5 for name in found}
    assert {name: one["samples"] for name, one in found.items()} == counts
    assert list(darcy.by_convention(-coefficient, pressure, 1e-12)) == ["not_available"]


DARCY = settings_of({"equation": "darcy"})
STATED, BETTER = "nodes, arithmetic mean", "nodes, harmonic mean"
FIT = {"above": 19.0, "below": 1.5, "median_relative_l2": 2e-5}
# The median and the largest error of labels, the median of another convention, the least pressure, a fit.
LABELS = {
    "good": ((1e-9, 1e-9, 1.0, 0.0, {}), []),
    "at the tolerance": ((1e-3, 1e-2, 1.0, 0.0, FIT), []),
    "above it": ((1.1e-3, 1e-2, 1.0, 0.0, FIT), [rf"{STATED}.* 1.1e-03 in the median.* tolerance 1e-03. They "
        r"fit the values 19 and 1.5 \(stated: 12 and 3\), with an error of 2.0e-05"]),
    "above it, for no values": ((2e-2, 2e-2, 1.0, 0.0, FIT | {"median_relative_l2": 2e-3}),
        [r"No two values fit them; .* the values 19 and 1.5 .* with an error of 2.0e-03"]),
    "some above it": ((1e-3, 1.1e-2, 1.0, 0.0, {}), ["^Some pressures .* 1.1e-02 .* 1.0e-03 in the median"]),
    "not solved again": ((None, None, 1.0, 0.0, FIT), ["^They fit the values 19 and 1.5"]),
    "another convention is nearly twice as good": ((1e-4, 1e-4, 0.51e-4, 0.0, {}), []),
    "another convention is more than twice as good": ((1e-4, 1e-4, 0.49e-4, 0.0, {}),
        [rf"^Another convention .* \({STATED}, 1.0e-04\): {BETTER}, 4.9e-05"]),
    "slightly negative": ((1e-9, 1e-9, 1.0, -1e-3, {}), []),
    "negative": ((1e-9, 1e-9, 1.0, -2e-3, {}), ["^Some pressures are negative.* -0.002 of the largest"]),
}  # fmt: skip


@pytest.mark.parametrize("case", LABELS)
def test_pressures_are_remarked_on_beyond_the_tolerance(case):
    (median, largest, other, least, fit), expected = LABELS[case]
    labels = {"median_relative_l2": median, "largest_relative_l2": largest}
    findings = {
        "labels_against_our_solver": {"not_available": "why"} if median is None else labels,
        "by_convention": {} if median is None else {STATED: labels, BETTER: {"median_relative_l2": other}},
        "least_pressure_over_largest": least,
    } | ({"values_that_fit_best": fit} if fit else {})
    found = darcy.pressure_warnings(findings, DARCY, 1e-3)
    assert len(found) == len(expected)
    for words, one in zip(expected, found, strict=True):
        assert re.search(words, one), one


@pytest.mark.parametrize(("grid", "warned"), [("cell_centres", False), ("nodes", True)])
def test_the_splines_of_the_public_generator_are_no_other_convention_than_cell_centres(grid, warned):
    """With the errors of 421² points: solved as the generator does, and compared with either grid."""
    errors = {"nodes, arithmetic mean": 4.9e-3, "cell centres, arithmetic mean": 1.2e-4, darcy.SPLINE: 1e-12}
    findings = {
        "labels_against_our_solver": {"median_relative_l2": 1.2e-4, "largest_relative_l2": 1.3e-4},
        "by_convention": {name: {"median_relative_l2": error} for name, error in errors.items()},
        "least_pressure_over_largest": 0.0,
    }
    found = darcy.pressure_warnings(findings, settings_of({"equation": "darcy", "grid": grid}), 5e-3)
    assert [words.startswith("Another convention") for words in found] == [True] * warned


def coefficient_findings(values, share=0.5, reach=0.4, variance=1.0, count=2):
    facts = {"values": values} | ({"distinct_values": count} if count != 2 else {})
    if count == 2:
        facts["share_of_the_larger"] = {"mean": share, "standard_error": 0.01}
    for key, mean in (("", variance), ("_stated", 1.0)):
        facts[f"variance_of_the_logarithm{key}"] = {"mean": mean, "standard_error": 0.01}
    for key, mean in (("pattern", reach), ("pattern_of_the_distribution_stated", 0.4)):
        facts[key] = {
            "correlation_at_distance_0.1": {"mean": mean, "standard_error": 0.01},
            "distance_at_which_the_correlation_is_half": mean / 2,
        }
    return facts


TWO, MANY = {"values": [3.0, 12.0]}, {"values": [0.1, 9.0], "count": 99}
COEFFICIENTS = {
    "good": (TWO, ""),
    "rounded": ({"values": [3 * (1 + 5e-7), 12 * (1 - 5e-7)]}, ""),
    "another value": ({"values": [3.0, 12.1]}, "takes the values 3 and 12.1; stated: 3 and 12."),
    "three values": ({"values": [1.0, 12.0], "count": 3}, "takes 3 values, from 1 to 12; stated: the two"),
    "a share": (TWO | {"share": 0.549}, ""),
    "a larger share": (TWO | {"share": 0.551}, "The larger value has a share of 0.551 (± 0.01)"),
    "patches": (TWO | {"reach": 0.47}, ""),
    "smaller patches": (TWO | {"reach": 0.32}, "falls to a half at a distance of 0.16; stated: 0.2."),
    "lognormal": (MANY, ""),
    "lognormal, a variance": (MANY | {"variance": 1.06}, ""),
    "lognormal, a larger variance": (MANY | {"variance": 1.08}, "has the variance 1.08; stated: 1."),
    "lognormal, a smaller variance": (MANY | {"variance": 0.92}, "has the variance 0.92; stated: 1."),
    "lognormal, zero": (MANY | {"values": [0.0, 9.0]}, "is not positive: its least value is 0."),
    "lognormal, negative": (MANY | {"values": [-1.0, 9.0]}, "is not positive: its least value is -1."),
}  # fmt: skip


@pytest.mark.parametrize("case", COEFFICIENTS)
def test_coefficients_are_remarked_on_that_are_not_of_the_distribution(case):
    changes, expected = COEFFICIENTS[case]
    push_forward = "lognormal" if case.startswith("lognormal") else "level_set"
    settings = DARCY.model_copy(update={"push_forward": push_forward})
    found = darcy.coefficient_warnings(coefficient_findings(**changes), settings)
    assert len(found) == bool(expected)
    assert expected in "".join(found)
