"""An accuracy is enough: each sample takes the modes and steps that it needs, and is as accurate as asked."""

import numpy as np
import pytest

from resolvent.solvers.burgers import equation
from resolvent.solvers.burgers.cole_hopf import cole_hopf
from resolvent.solvers.burgers.equation import difference_of_spectra
from resolvent.solvers.burgers.etdrk4 import BurgersEtdrk4
from resolvent.solvers.burgers.split_step import BurgersSplitStep
from resolvent.solvers.common.accuracy import MODES, STEPS
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.fourier import has_lane_transform, product_points
from resolvent.solvers.random_fields.gaussian import PeriodicGaussianField

TIME = 1 / (2 * np.pi)
BOTH = (BurgersSplitStep, BurgersEtdrk4)


def fields(count: int, num_modes: int = 20) -> np.ndarray:
    """Draw initial coefficients; by default of the operator behind the reported numbers."""
    field = PeriodicGaussianField(sigma=25.0, tau=5.0, gamma=2.0, num_modes=num_modes)
    return np.stack([field.coefficients(1127802, 0, index) for index in range(count)])


def solved(solver: type, accuracy: float, initial: np.ndarray, *physics: float, pilot: int = 8):
    return solver.solve_to(accuracy, initial, solver.pilot(accuracy, initial[:pilot], *physics), *physics)


def independent(initial: np.ndarray, viscosity: float, solver: type) -> np.ndarray:
    """Solve by the closed form, or where that loses digits by the other method, far more finely."""
    try:
        return cole_hopf(initial, viscosity, TIME, work_points=4096)
    except SolverError:
        other = BOTH[1 - BOTH.index(solver)]
        return other(viscosity, TIME, num_modes=682, num_steps=2048).unchecked(initial)


def largest_difference(found, exact) -> float:
    return max(difference_of_spectra(*both) for both in zip(found, exact, strict=True))


@pytest.mark.parametrize("accuracy", [1e-4, 1e-7])
@pytest.mark.parametrize("viscosity", [0.1, 0.02, pytest.param(0.005, marks=pytest.mark.slow)])
@pytest.mark.parametrize("solver", BOTH)
def test_every_sample_is_as_accurate_as_asked(solver, viscosity, accuracy):
    initial = fields(16)
    found = solved(solver, accuracy, initial, viscosity, TIME)
    assert largest_difference(found.solutions, independent(initial, viscosity, solver)) <= accuracy
    assert (found.errors <= accuracy).all()
    assert found.work.mean() < 3


@pytest.mark.parametrize("solver", BOTH)
def test_a_large_field_is_solved_with_more_steps_not_with_modes_without_end(solver):
    initial, viscosity = 4 * fields(1), 0.008
    found = solved(solver, 1e-4, initial, viscosity, TIME)
    assert largest_difference(found.solutions, independent(initial, viscosity, solver)) <= 1e-4
    assert max(MODES[rung] for rung in found.rungs[:, 0]) < 500


def test_ten_digits_by_both_methods():
    split, other = (solved(one, 1e-10, fields(8), 0.02, TIME).solutions for one in BOTH)
    assert largest_difference(split, other) <= 2e-10


def test_a_sample_has_the_same_bits_in_any_batch_and_the_hard_ones_get_more():
    initial = fields(12)
    pilot = BurgersSplitStep.pilot(1e-6, initial[:4], 0.01, TIME)
    together, alone = (
        BurgersSplitStep.solve_to(1e-6, some, pilot, 0.01, TIME) for some in (initial, initial[10:11])
    )
    np.testing.assert_array_equal(together.solutions[10], alone.solutions[0])
    assert (together.rungs[10] == alone.rungs[0]).all()
    assert (together.rungs[10] > together.rungs[0]).all()


def test_a_field_with_more_modes_than_are_kept_at_first_is_solved_too():
    initial = fields(4, num_modes=4095)
    found = solved(BurgersSplitStep, 1e-6, initial, 0.1, 1.0)
    assert largest_difference(found.solutions, cole_hopf(initial, 0.1, 1.0, work_points=16384)) <= 1e-6


def test_a_constant_and_nothing_are_solved():
    initial = np.zeros((2, 5), complex)
    initial[1, 0] = 3.0
    found = solved(BurgersSplitStep, 1e-8, initial, 0.1, TIME)
    assert [solution[0] for solution in found.solutions] == [0, 3]


def test_what_is_out_of_reach_says_so(monkeypatch):
    monkeypatch.setattr(equation, "MODES", MODES[:6])
    with pytest.raises(SolverError, match=r"1e-08 .*a lower accuracy, or a larger viscosity"):
        solved(BurgersSplitStep, 1e-8, fields(2), 0.001, TIME)


def test_the_rungs_are_those_of_fast_transforms():
    points = [product_points(modes) for modes in MODES]
    assert all(n - 3 * modes <= 3 and has_lane_transform(n) for n, modes in zip(points, MODES, strict=True))
    assert list(STEPS) == sorted(set(STEPS))
    assert not any(steps % 8 for steps in STEPS)
