import re

import mpmath
import numpy as np
import pytest
from scipy.stats import kstest

from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.grid import Nodes
from resolvent.solvers.common.observation_times import explicit, random_times, uniform
from resolvent.solvers.controlled_ode import LANES, ControlledOde, draw_control

TIMES = explicit((0.0, 0.05, 0.31, 0.77, 1.3, 1.999, 2.0))
INITIAL_VALUES = (1.0, -2.5, 4.0, 11.0, -8.0)  # on five branches of the tangent


def controls(count, **options):
    amplitudes, frequencies = zip(
        *(draw_control(0, 0, index, **options) for index in range(count)), strict=True
    )
    return np.stack(amplitudes), np.stack(frequencies)


def states(drawn, times=TIMES, initial_value=1.0):
    return ControlledOde(initial_value).solve(*drawn, times)[1]


@pytest.mark.parametrize("initial_value", INITIAL_VALUES)
@pytest.mark.parametrize("decay", ["inverse", "none"])
def test_exact_to_rounding(decay, initial_value):
    """z = 2 arctan(tan(z₀/2) e^{u(t) - u(0)}) in forty digits."""
    drawn = controls(4, decay=decay)
    control, state = ControlledOde(initial_value).solve(*drawn, TIMES)
    with mpmath.workdps(40):
        turns = 2 * mpmath.pi * mpmath.nint(initial_value / (2 * mpmath.pi))
        for row, (amplitudes, frequencies) in enumerate(zip(*drawn, strict=True)):
            for column, time in enumerate(TIMES.positions):
                terms = zip(map(mpmath.mpf, amplitudes), map(mpmath.mpf, frequencies), strict=True)
                u = mpmath.fsum(a * mpmath.sinpi(eta * mpmath.mpf(time)) for a, eta in terms)
                z = turns + 2 * mpmath.atan(mpmath.tan(mpmath.mpf(initial_value) / 2) * mpmath.exp(u))
                assert abs(control[row, column] - u) < 1e-13
                assert abs(state[row, column] - z) < 1e-13


@pytest.mark.parametrize("initial_value", INITIAL_VALUES)
def test_an_adaptive_integrator_agrees(initial_value):
    drawn = controls(3)
    times = random_times(20, 2.0, 0)
    integrated = ControlledOde(initial_value).integrate(*drawn, times)
    np.testing.assert_allclose(states(drawn, times, initial_value), integrated, rtol=0, atol=1e-9)


def test_the_state_satisfies_the_equation():
    """dz/dt = sin(z) du/dt, with dz/dt by a fourth-order central difference and du/dt by hand."""
    amplitudes, frequencies = controls(8, decay="none")
    centres, step = np.array([0.1, 0.4, 1.1, 1.9]), 2e-4
    around = np.sort((centres[:, None] + step * np.arange(-2, 3)).ravel())
    z = states((amplitudes, frequencies), Nodes(tuple(around.tolist()))).reshape(8, 4, 5)
    in_time = z @ np.array([1, -8, 0, 8, -1]) / (12 * step)
    angles = np.pi * frequencies[:, None] * centres[:, None]
    slope = (np.pi * (amplitudes * frequencies)[:, None] * np.cos(angles)).sum(axis=-1)
    residual = in_time - np.sin(z[..., 2]) * slope
    assert np.abs(residual).max() < 1e-7 * np.abs(slope).max()


@pytest.mark.parametrize("initial_value", INITIAL_VALUES)
def test_the_state_starts_at_its_initial_value(initial_value):
    control, state = ControlledOde(initial_value).solve(*controls(3), TIMES)
    np.testing.assert_array_equal(control[:, 0], 0)
    np.testing.assert_allclose(state[:, 0], initial_value, rtol=1e-15)


@pytest.mark.parametrize("initial_value", INITIAL_VALUES)
def test_the_state_stays_between_its_fixed_points(initial_value):
    amplitudes, frequencies = controls(200, decay="none")
    below, above = np.pi * np.floor(initial_value / np.pi), np.pi * np.ceil(initial_value / np.pi)
    state = states((2 * amplitudes, frequencies), uniform(0.05, 2.0), initial_value)
    assert below < state.min() < below + 0.1
    assert above - 0.1 < state.max() < above


@pytest.mark.parametrize("turns", [0, 1, -1, 2, -3])
def test_multiples_of_pi_are_fixed_points(turns):
    np.testing.assert_allclose(states(controls(8), TIMES, turns * np.pi), turns * np.pi, rtol=1e-15)


def test_symmetries():
    """z → z + 2π; z → -z; and z → π - z with the control reversed."""
    amplitudes, frequencies = controls(8)
    state = states((amplitudes, frequencies))
    turned = states((amplitudes, frequencies), TIMES, 1 + 2 * np.pi)
    mirrored = states((amplitudes, frequencies), TIMES, -1.0)
    reversed_control = states((-amplitudes, frequencies), TIMES, np.pi - 1)
    np.testing.assert_allclose(turned, state + 2 * np.pi, rtol=1e-14)
    np.testing.assert_array_equal(mirrored, -state)
    np.testing.assert_allclose(reversed_control, np.pi - state, atol=1e-13)


def test_the_state_is_a_function_of_the_present_value_of_the_control():
    """Where two controls meet, so do their states, whatever came before."""
    control, state = ControlledOde().solve(*controls(8), TIMES)
    order = np.argsort(control, axis=None)
    assert (np.diff(state.ravel()[order]) >= 0).all()
    np.testing.assert_allclose(np.log(np.tan(state / 2) / np.tan(0.5)), control, atol=1e-12)


def test_a_state_does_not_depend_on_the_other_times_asked_for():
    drawn = controls(4)
    alone = states(drawn, explicit((0.77, 2.0)))
    np.testing.assert_allclose(states(drawn)[:, [3, 6]], alone, rtol=1e-15)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_sample_has_the_same_bits_in_any_batch(dtype):
    drawn = [part.astype(dtype) for part in controls(LANES + 20)]
    together = ControlledOde().solve(*drawn, TIMES)
    for rows in (slice(17, 18), slice(5, 40), slice(LANES - 3, LANES + 9), slice(None, None, -1)):
        part = ControlledOde().solve(*(values[rows] for values in drawn), TIMES)
        np.testing.assert_array_equal(part, [values[rows] for values in together])


def test_float32_agrees_with_float64():
    drawn = controls(8)
    single = states([part.astype(np.float32) for part in drawn])
    assert single.dtype == np.float32
    assert 0 < np.abs(single - states(drawn)).max() < 1e-4


@pytest.mark.parametrize("decay", ["inverse", "none"])
def test_distribution_of_the_control(decay):
    """a_j = ξ_j / j or ξ_j with ξ_j ~ N(0, 1), η_j ~ U(0, J): each by the Kolmogorov-Smirnov test."""
    amplitudes, frequencies = controls(4000, num_terms=5, decay=decay)
    deviations = 1 / np.arange(1, 6) if decay == "inverse" else np.ones(5)
    for amplitude, frequency, deviation in zip(amplitudes.T, frequencies.T, deviations, strict=True):
        assert kstest(amplitude / deviation, "norm").pvalue > 1e-3
        assert kstest(frequency / 5, "uniform").pvalue > 1e-3
    # A standard deviation from 4000 draws has a relative standard error of 1/√8000 = 0.011.
    np.testing.assert_allclose(amplitudes.std(axis=0), deviations, rtol=0.05)
    correlations = np.corrcoef(np.concatenate([amplitudes, frequencies], axis=1).T)
    assert np.abs(correlations - np.eye(10)).max() < 5 / np.sqrt(4000)


@pytest.mark.parametrize("decay", ["inverse", "none"])
def test_variance_of_the_control(decay):
    """E u(t)² = Σ_j E a_j² · (1 - sin(2πJt)/(2πJt))/2."""
    control, _ = ControlledOde().solve(*controls(4000, num_terms=4, decay=decay), TIMES)
    powers = np.sum(1 / np.arange(1, 5) ** 2) if decay == "inverse" else 4
    expected = powers * (1 - np.sinc(8 * TIMES.coordinates)) / 2
    assert expected[-1] == pytest.approx(powers / 2)
    # Four powers of a normal and of a sine: the relative standard error is below √(4/4000) = 0.032.
    np.testing.assert_allclose(np.mean(control**2, axis=0), expected, rtol=0.12)


def test_the_two_decays_are_the_same_draws():
    inverse, none = draw_control(0, 1, 2), draw_control(0, 1, 2, decay="none")
    np.testing.assert_allclose(inverse[0] * np.arange(1, 11), none[0], rtol=1e-15)
    np.testing.assert_array_equal(inverse[1], none[1])


def test_a_control_depends_on_its_key_alone():
    forwards = [draw_control(3, 1, index) for index in range(4)]
    backwards = [draw_control(3, 1, index) for index in reversed(range(4))][::-1]
    np.testing.assert_array_equal(forwards, backwards)
    keys = [(3, 1, 2), (1, 3, 2), (3, 2, 1), (4, 1, 2), (3, 1, 3)]
    assert len({draw_control(*key)[0][0] for key in keys}) == len(keys)


def refused(error, message):
    return pytest.raises(error, match=f"^{re.escape(message)}$")


@pytest.mark.parametrize("broken", [0, 1])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_control_that_is_not_finite_is_refused(broken, value):
    drawn = controls(3)
    drawn[broken][1, 2] = value
    message = "controlled ODE: the initial field is not finite (sample rows 1); check where it comes from"
    with refused(SolverError, message):
        ControlledOde().solve(*drawn, TIMES)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_initial_value_that_is_not_finite_is_refused(value):
    with refused(ValueError, f"initial_value must be finite, got {value}"):
        ControlledOde(float(value))


def test_a_control_without_terms_is_refused():
    with refused(ValueError, "num_terms must be at least 1, got 0"):
        draw_control(0, 0, 0, num_terms=0)


def test_an_unknown_decay_is_refused():
    with refused(ValueError, "unknown decay 'quadratic'; accepted: 'inverse', 'none'"):
        draw_control(0, 0, 0, decay="quadratic")
