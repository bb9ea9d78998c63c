"""Every equation solved from values, against what the solvers give; and what is refused."""

import doctest

import numpy as np
import pytest
import scipy.signal
import xarray

import resolvent
from resolvent.common.norms import relative_l2
from resolvent.datasets.tasks import darcy, lorenz63
from resolvent.public import equations
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.fourier import coefficients_of, observe

X = np.arange(64) / 64
WAVE = np.sin(2 * np.pi * X) + 0.3 * np.cos(6 * np.pi * X)


@pytest.mark.parametrize("module", [equations, darcy, lorenz63])
def test_the_examples_in_docstrings_run(module):
    found = doctest.testmod(module)
    assert found.attempted >= 2
    assert found.failed == 0


@pytest.mark.parametrize("method", ["split-step", "etdrk4"])
def test_burgers_agrees_with_the_closed_form(method):
    exact = resolvent.solve("burgers", WAVE, viscosity=0.05, method="cole-hopf")
    found = resolvent.solve("burgers", np.stack([WAVE, -WAVE]), viscosity=0.05, method=method)
    assert found.shape == (2, 64)
    assert relative_l2(found[:1], exact[None]) < 1e-6


def test_a_longer_circle_is_the_same_problem_in_other_units():
    closed = {"method": "cole-hopf"}
    stretched = resolvent.solve("burgers", WAVE, viscosity=0.1, length=2.0, final_time=2.0, **closed)
    expected = resolvent.solve("burgers", WAVE, viscosity=0.05, final_time=1.0, **closed)
    assert relative_l2(stretched[None], expected[None]) < 1e-10


def test_the_way_to_more_modes_is_more_points_and_it_leads_there():
    with pytest.raises(
        SolverError, match=r"; give values on n = 772 points or more \(now 64\): scipy\.signal\.resample"
    ):
        resolvent.solve("burgers", WAVE, viscosity=3e-3)
    fine = scipy.signal.resample(WAVE[None], 772, axis=-1)
    np.testing.assert_allclose(fine, observe(coefficients_of(WAVE[None]), 772), atol=1e-13)
    assert np.isfinite(resolvent.solve("burgers", fine, viscosity=3e-3)).all()
    random = 30 * np.random.default_rng(0).normal(size=(16, 16))
    with pytest.raises(SolverError, match=r"give values on n = 172 points or more \(now 16\): scipy\.signal"):
        resolvent.solve("kolmogorov", random, viscosity=1e-4)


def test_a_part_of_a_period_is_warned_of(recwarn):
    with pytest.warns(
        UserWarning, match=r"jump from the last point to the first [\d.]+ times .* whole period"
    ):
        resolvent.solve("burgers", np.sin(1.2 * np.pi * X))
    with pytest.warns(UserWarning, match="give values of a whole period"):
        resolvent.solve("kolmogorov", np.sin(1.2 * np.pi * X)[:, None] * np.ones(64), final_time=0.02)
    recwarn.clear()
    resolvent.solve("burgers", WAVE)
    resolvent.solve("burgers", np.sign(WAVE + 1e-3), viscosity=1.0)
    assert not recwarn.list


def test_darcy_is_linear_in_the_source_and_inverse_in_the_coefficient():
    one = resolvent.solve("darcy", np.ones((33, 33)))
    np.testing.assert_allclose(resolvent.solve("darcy", np.full((2, 33, 33), 4), source=2.0), [one / 2] * 2)


def test_kolmogorov_agrees_with_the_decay_of_a_shear_flow():
    """Compare with ω = A(t) cos 4y, which is not advected: A' = -16 νA - 4, from 0 on."""
    y = 2 * np.pi * np.arange(32) / 32
    flow = resolvent.solve("kolmogorov", np.zeros((32, 32)), final_time=0.5, viscosity=0.1)
    amplitude = -4 / 1.6 * (1 - np.exp(-1.6 * 0.5))
    np.testing.assert_allclose(flow, np.repeat(amplitude * np.cos(4 * y)[:, None], 32, axis=1), atol=1e-8)


def test_lorenz63_keeps_its_fixed_point_and_the_control_its_state():
    root = np.sqrt(8 / 3 * 27)
    states = resolvent.solve("lorenz63", [[root, root, 27.0]], times=[0, 0.5, 1.0])
    np.testing.assert_allclose(states, np.broadcast_to([[[root], [root], [27]]], (1, 3, 3)), rtol=1e-9)
    times = np.linspace(0, 1, 11)
    state = resolvent.solve("controlled_ode", 2 + times, initial_value=0.5)
    np.testing.assert_allclose(state, 2 * np.arctan(np.tan(0.25) * np.exp(times)), rtol=1e-12)


TAKES = "burgers takes the initial velocity as real numbers, "


@pytest.mark.parametrize(
    ("equation", "values", "parameters", "message"),
    [
        ("heat", WAVE, {}, "unknown equation 'heat'; accepted: burgers, darcy"),
        ("burgers", WAVE, {"viscosty": 1}, "unknown parameter 'viscosty'; did you mean 'viscosity'"),
        ("burgers", WAVE, {"method": "euler"}, "unknown method 'euler'; accepted: split-step"),
        ("burgers", WAVE, {"viscosity": 0.0}, "viscosity must be positive"),
        ("burgers", WAVE, {"viscosity": True}, "burgers: viscosity must be a number, got True"),
        ("burgers", WAVE, {"num_steps": 2.5}, "burgers: num_steps must be an integer, got 2.5"),
        ("darcy", np.ones((9, 9)), {"source": "a"}, "darcy: source must be numbers, got 'a'"),
        ("lorenz63", [1.0, 1.0, 1.0], {"times": "a"}, "lorenz63: times must be numbers, got 'a'"),
        ("burgers", np.fft.rfft(WAVE), {}, r"got complex128 .*: values on a grid, not coefficients"),
        ("burgers", WAVE > 0, {}, TAKES + r"\(samples, n\) or \(n,\); got bool"),
        ("burgers", WAVE[None, None], {}, TAKES + r".*; got shape \(1, 1, 64\)"),
        ("burgers", WAVE[:33], {}, "an even number of points"),
        ("burgers", np.where(X > 0.5, np.nan, WAVE), {}, "is not finite in samples 0"),
        ("burgers", np.ma.masked_less(WAVE, 0), {}, "is not finite in samples 0"),
        ("burgers", xarray.DataArray(WAVE, dims="x"), {}, "got a DataArray: give its .values"),
        ("darcy", np.ones((2, 9, 8)), {}, r"\(samples, n, n\) or \(n, n\); got shape \(2, 9, 8\)"),
        ("darcy", np.zeros((9, 9)), {}, "the coefficient is not positive"),
        ("lorenz63", [1.0, 1.0, 1.0], {}, "lorenz63 needs the parameter 'times'"),
        ("lorenz63", np.ones((4, 2)), {"times": [0, 1]}, r"\(samples, 3\) or \(3,\); got shape \(4, 2\)"),
        ("controlled_ode", [], {}, r"got shape \(0,\)"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_line(equation, values, parameters, message):
    with pytest.raises((ValueError, SolverError), match=message) as caught:
        resolvent.solve(equation, values, **parameters)
    assert "\n" not in str(caught.value)
