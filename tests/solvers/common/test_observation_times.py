"""Sets of observation times."""

import re

import numpy as np
import pytest

from resolvent.solvers.common.grid import Nodes
from resolvent.solvers.common.observation_times import explicit, random_times, two_rates, uniform


def test_uniform_times_start_at_zero_and_leave_the_final_time_out():
    times = uniform(0.01, 2.0)
    assert times.points == 200
    np.testing.assert_allclose(times.coordinates, 0.01 * np.arange(200), rtol=1e-15)
    assert times.positions[0] == 0
    assert times.positions[-1] == pytest.approx(1.99)


@pytest.mark.parametrize("final_time", [1.0, 2.0, 0.3, 7.7])
def test_rounding_never_lets_the_final_time_in(final_time):
    for count in range(2, 400):
        times = uniform(final_time / count, final_time)
        assert times.points == count
        assert times.positions[-1] < final_time


def test_a_step_that_does_not_divide_the_interval_stops_before_its_end():
    np.testing.assert_allclose(uniform(0.3, 1.0).coordinates, [0, 0.3, 0.6, 0.9])
    np.testing.assert_allclose(uniform(0.5, 1.0).coordinates, [0, 0.5])


def test_a_step_longer_than_half_the_interval_still_has_two_times():
    np.testing.assert_allclose(uniform(0.6, 1.0).coordinates, [0, 0.6])


@pytest.mark.parametrize(("step", "final_time", "count"), [(0.01, 2.0, 200), (0.25, 2.0, 8), (0.1, 0.4, 4)])
def test_two_rates_double_the_step_in_the_second_half(step, final_time, count):
    times = two_rates(step, final_time).coordinates
    assert len(times) == 3 * count // 4 + 1
    first, second = times[: count // 2 + 1], times[count // 2 + 1 :]
    np.testing.assert_allclose(first, step * np.arange(count // 2 + 1), atol=1e-15)
    assert first[-1] == pytest.approx(final_time / 2)
    np.testing.assert_allclose(np.diff(times[count // 2 :]), 2 * step)
    assert second[-1] == pytest.approx(final_time)


def test_two_rates_of_eight_steps():
    np.testing.assert_allclose(two_rates(0.25, 2.0).coordinates, [0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0])


def test_random_times_are_sorted_and_lie_in_the_interval():
    times = random_times(500, 2.0, seed=0).coordinates
    assert len(times) == 500
    assert (np.diff(times) > 0).all()
    assert 0 < times[0] < times[-1] < 2


def test_random_times_are_uniform():
    """The largest distance from the distribution function, above 1.95/√n in 1 of 1000 cases (Kolmogorov)."""
    times = random_times(2000, 3.0, seed=1).coordinates / 3
    ranks = np.arange(2001) / 2000
    distance = max(np.abs(times - ranks[1:]).max(), np.abs(times - ranks[:-1]).max())
    assert distance < 1.95 / np.sqrt(2000)


def test_random_times_depend_on_the_seed_alone():
    assert random_times(50, 2.0, seed=3) == random_times(50, 2.0, seed=3)
    assert not set(random_times(50, 2.0, seed=3).positions) & set(random_times(50, 2.0, seed=4).positions)
    doubled = random_times(50, 4.0, seed=3).coordinates
    np.testing.assert_allclose(doubled, 2 * random_times(50, 2.0, seed=3).coordinates)


def test_explicit_times_are_the_ones_listed():
    assert explicit((0.0, 0.5, 0.75)) == Nodes((0.0, 0.5, 0.75))


@pytest.mark.parametrize(
    "times",
    [uniform(0.01, 2.0), two_rates(0.01, 2.0), random_times(77, 2.0, 5), explicit((0.0, 0.1, 1.0, 2.0))],
    ids=["uniform", "two_rates", "random", "explicit"],
)
def test_weights_are_positive_and_integrate_straight_lines(times):
    """The trapezoidal rule, between the first time and the last."""
    first, last = times.positions[0], times.positions[-1]
    assert (times.weights > 0).all()
    assert times.weights.sum() == pytest.approx(last - first)
    assert times.weights @ times.coordinates == pytest.approx((last**2 - first**2) / 2)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ((), "nodes are at least two positions, got 0"),
        ((1.0,), "nodes are at least two positions, got 1"),
        ((0.0, 1.0, 0.5), "positions must increase, but 0.5 follows 1"),
        ((0.0, 0.5, 0.5), "positions must increase, but 0.5 follows 0.5"),
        ((float("nan"), 1.0), "positions must increase, but 1 follows nan"),
        ((-0.25, 1.0), "times must not be negative, got -0.25"),
    ],
)
def test_impossible_times_are_refused_with_the_reason(times, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        explicit(times)


@pytest.mark.parametrize("rule", [uniform, two_rates])
@pytest.mark.parametrize(
    ("step", "final_time", "message"),
    [
        (0.0, 2.0, "step must be positive, got 0.0"),
        (-0.1, 2.0, "step must be positive, got -0.1"),
        (float("nan"), 2.0, "step must be positive, got nan"),
        (0.1, 0.0, "final_time must be positive, got 0.0"),
        (1.0, 1.0, "step 1 leaves fewer than two times before 1"),
    ],
)
def test_impossible_steps_are_refused_with_the_reason(rule, step, final_time, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        rule(step, final_time)


@pytest.mark.parametrize(
    ("step", "final_time", "count"), [(0.2, 2.0, "10"), (0.1, 0.3, "3"), (0.3, 2.0, "6.66667")]
)
def test_two_rates_need_quarters_of_the_interval(step, final_time, count):
    message = f"two rates need a number of steps divisible by 4, got {count}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        two_rates(step, final_time)


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_random_times_are_refused(count):
    with pytest.raises(ValueError, match=f"^nodes are at least two positions, got {count}$"):
        random_times(count, 2.0, seed=0)
