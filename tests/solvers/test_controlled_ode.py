import mpmath
import numpy as np
import pytest
from scipy.stats import kstest

from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.observation_times import explicit, random_times
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


LARGE = {"num_terms": 30, "decay": "none"}  # drives states near to fixed points and back


def test_an_adaptive_integrator_agrees():
    drawn, times = controls(3, **LARGE), random_times(20, 2.0, 0)
    integrated = ControlledOde(1.0).integrate(*drawn, times)
    np.testing.assert_allclose(states(drawn, times, 1.0), integrated, rtol=0, atol=1e-11)


def test_multiples_of_pi_are_fixed_points():
    for turns in (0, 1, -1, 2, -3):
        np.testing.assert_allclose(states(controls(8), TIMES, turns * np.pi), turns * np.pi, rtol=1e-15)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_sample_has_the_same_bits_in_any_batch(dtype):
    drawn = [part.astype(dtype) for part in controls(LANES + 20)]
    together = ControlledOde().solve(*drawn, TIMES)
    for rows in (slice(17, 18), slice(5, 40), slice(LANES - 3, LANES + 9), slice(None, None, -1)):
        part = ControlledOde().solve(*(values[rows] for values in drawn), TIMES)
        np.testing.assert_array_equal(part, [values[rows] for values in together])


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


def test_a_control_depends_on_its_key_alone():
    forwards = [draw_control(3, 1, index) for index in range(4)]
    backwards = [draw_control(3, 1, index) for index in reversed(range(4))][::-1]
    np.testing.assert_array_equal(forwards, backwards)
    keys = [(3, 1, 2), (1, 3, 2), (3, 2, 1), (4, 1, 2), (3, 1, 3)]
    assert len({draw_control(*key)[0][0] for key in keys}) == len(keys)


@pytest.mark.parametrize("broken", [0, 1])
def test_a_control_that_is_not_finite_is_refused(broken):
    drawn = controls(3)
    drawn[broken][1, 2] = np.nan
    with pytest.raises(SolverError, match=r"^controlled ODE: .* not finite \(sample rows 1\)"):
        ControlledOde().solve(*drawn, TIMES)
