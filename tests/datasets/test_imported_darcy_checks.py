"""The checks of imported Darcy data: numbers against known ones, and from where on they warn."""

import numpy as np
import pytest

from resolvent.datasets.imported import darcy
from resolvent.datasets.imported.labels import by_convention
from resolvent.datasets.tasks.registry import settings_of
from resolvent.solvers.darcy.direct import solve_direct


def test_coefficients_are_described_by_values_and_correlation():
    """Stripes of four of 33 points: along one axis the correlation is 1, along the other that of stripes."""
    stripe = np.where((np.arange(33) // 4) % 2, 12.0, 3.0)
    coefficient = np.stack([np.tile(stripe, (33, 1)), np.tile(stripe, (33, 1)).T])
    facts = darcy.coefficient_facts(coefficient, coefficient)
    assert (facts["distinct_values"], facts["least"], facts["largest"]) == (2, 3.0, 12.0)
    signs = np.sign(stripe - 7)
    across = (signs[3:] * signs[:-3]).mean()  # 0.1 of 32 intervals
    assert facts["correlation"] == facts["correlation_stated"] == pytest.approx((1 + across) / 2, rel=1e-3)
    assert facts["standard_error"] == 0


CONVENTIONS = {
    "nodes, arithmetic mean": {},
    "nodes, harmonic mean": {"face_mean": "harmonic"},
    "cell centres, arithmetic mean": {"grid": "cell_centres"},
}


@pytest.mark.parametrize("words", CONVENTIONS)
def test_the_convention_of_pressures_is_found(words):
    coefficient = np.where(np.random.default_rng(0).random((5, 9, 9)) < 0.5, 12.0, 3.0)
    pressure = solve_direct(coefficient, **CONVENTIONS[words])
    errors = by_convention(pressure, darcy.solutions_by_convention(coefficient, 1e-12))
    assert set(errors) == {*CONVENTIONS}
    assert min(errors, key=lambda name: errors[name]["median_relative_l2"]) == words
    assert errors[words]["largest_relative_l2"] < 1e-10
    assert by_convention(pressure, darcy.solutions_by_convention(-coefficient, 1e-12)) == {}


COEFFICIENTS = {  # least and largest value, their number, the correlation, and what is said
    "good": (3.0, 12.0, 2, 0.4, ""),
    "rounded": (3 * (1 + 5e-7), 12 * (1 - 5e-7), 2, 0.4, ""),
    "another value": (3.0, 12.1, 2, 0.4, "takes 2 values, from 3 to 12.1; stated: the two"),
    "three values": (1.0, 12.0, 3, 0.4, "takes 3 values, from 1 to 12; stated: the two"),
    "patches": (3.0, 12.0, 2, 0.44, ""),
    "smaller patches": (3.0, 12.0, 2, 0.32, "correlation at a distance of 0.1 is 0.32, not 0.4"),
    "lognormal": (0.1, 9.0, 99, 0.4, ""),
    "lognormal, zero": (0.0, 9.0, 99, 0.4, "is not positive: its least value is 0."),
}


@pytest.mark.parametrize("case", COEFFICIENTS)
def test_coefficients_are_remarked_on_that_are_not_of_the_distribution(case):
    least, largest, count, correlation, expected = COEFFICIENTS[case]
    facts = {"distinct_values": count, "least": least, "largest": largest, "correlation": correlation}
    facts |= {"correlation_stated": 0.4, "standard_error": 0.01}
    push_forward = "lognormal" if case.startswith("lognormal") else "level_set"
    settings = settings_of({"equation": "darcy"}).model_copy(update={"push_forward": push_forward})
    words = darcy.coefficient_warnings(facts, settings)
    assert len(words) == bool(expected)
    assert expected in "".join(words)
