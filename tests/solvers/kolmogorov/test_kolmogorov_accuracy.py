"""An accuracy is enough: each flow gets the modes and the step that it needs, and is as accurate as asked."""

import numpy as np
import pytest

from resolvent.solvers.common.accuracy import MODES_2D
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.fourier import has_lane_transform, product_points
from resolvent.solvers.kolmogorov import etdrk4
from resolvent.solvers.kolmogorov.etdrk4 import KolmogorovEtdrk4, pilot, solve_to
from resolvent.solvers.kolmogorov.flow import largest_difference, power_of_shells, with_modes
from resolvent.solvers.kolmogorov.split_step import KolmogorovSplitStep
from resolvent.solvers.random_fields.distributions import DISTRIBUTIONS
from resolvent.solvers.random_fields.gaussian import PeriodicGaussianField2d

TIMES = (0.5, 0.6)


def fields(count: int) -> np.ndarray:
    named = DISTRIBUTIONS["calvello_kolmogorov"]
    options = {"orthonormal": named.orthonormal, "half_spectrum": named.half_spectrum}
    field = PeriodicGaussianField2d(named.sigma, named.tau, named.gamma, num_modes=71, **options)
    return np.stack([field.coefficients(1127802, 0, index) for index in range(count)])


def solved(accuracy: float, initial: np.ndarray, viscosity: float):
    return solve_to(accuracy, initial, TIMES, pilot(accuracy, initial[:1], TIMES, viscosity), viscosity)


@pytest.mark.parametrize("viscosity", [1 / 70, pytest.param(0.1, marks=pytest.mark.slow)])
def test_every_flow_is_as_accurate_as_asked(viscosity):
    initial = fields(2)
    exact = KolmogorovEtdrk4(viscosity, num_modes=85, step=0.004).solve(initial, TIMES)
    for accuracy in (1e-2, 1e-6):
        found, steps = solved(accuracy, initial, viscosity)
        errors = [largest_difference(*both) for both in zip(found.solutions, exact, strict=True)]
        assert max(errors) <= accuracy
        assert (found.errors <= accuracy).all()
        assert ((steps > 0) & (steps < 0.1)).all()
        assert (found.work >= 1).all()


def test_the_other_scheme_agrees():
    initial = fields(1)
    found = solved(1e-4, initial, 0.1)[0].solutions[0]
    (other,) = KolmogorovSplitStep(0.1, num_modes=42, largest_step=5e-4).solve(initial, TIMES)
    assert largest_difference(found, other) <= 1e-4


def test_a_flow_has_the_same_bits_in_any_batch():
    initial = fields(3)
    initial[1] *= 3  # of a fast flow, which takes other steps
    first = pilot(1e-4, initial[:1], TIMES, 0.1)
    together, steps = solve_to(1e-4, initial, TIMES, first, 0.1)
    alone, step = solve_to(1e-4, initial[1:2], TIMES, first, 0.1)
    np.testing.assert_array_equal(together.solutions[1], alone.solutions[0])
    assert steps[1] == step[0] < steps[0]


def test_what_is_out_of_reach_says_so(monkeypatch):
    monkeypatch.setattr(etdrk4, "MODES_2D", MODES_2D[:6])
    with pytest.raises(SolverError, match=r"1e-06 \(sample row .*a lower accuracy, .* or a larger viscosity"):
        solved(1e-6, fields(1), 1 / 70)


def test_shells_have_the_norm_and_modes_are_added_or_dropped():
    spectrum = fields(1)
    assert power_of_shells(spectrum).sum() == pytest.approx(
        (abs(spectrum) ** 2).sum() + (abs(spectrum[..., 1:]) ** 2).sum()
    )
    np.testing.assert_array_equal(with_modes(with_modes(spectrum, 90), 71), spectrum)
    assert power_of_shells(with_modes(spectrum, 20)).shape == (1, 21)
    assert largest_difference(with_modes(spectrum, 20), with_modes(spectrum, 20)) == 0
    assert largest_difference(spectrum * np.nan, spectrum) == np.inf


def test_the_rungs_are_those_of_fast_transforms():
    assert all(has_lane_transform(product_points(modes)) for modes in MODES_2D)
    assert list(MODES_2D) == sorted(set(MODES_2D))
