"""Sets of observation times."""

import numpy as np
import pytest

from resolvent.solvers.common.observation_times import (
    normal_times,
    random_times,
    two_rates,
    uniform,
)


def test_uniform_times_start_at_zero_and_leave_the_final_time_out():
    np.testing.assert_array_equal(uniform(0.01, 2.0).coordinates, 0.01 * np.arange(200))
    for final_time in (1.0, 2.0, 0.3, 7.7):  # rounding never lets it in
        for count in range(2, 400):
            times = uniform(final_time / count, final_time)
            assert times.points == count
            assert times.positions[-1] < final_time
    for step, expected in ((0.3, [0, 0.3, 0.6, 0.9]), (0.5, [0, 0.5]), (0.6, [0, 0.6])):
        np.testing.assert_allclose(uniform(step, 1.0).coordinates, expected)


@pytest.mark.parametrize(("step", "final_time", "count"), [(0.01, 2.0, 200), (0.25, 2.0, 8), (0.1, 0.4, 4)])
def test_two_rates_double_the_step_in_the_second_half(step, final_time, count):
    times = two_rates(step, final_time).coordinates
    assert len(times) == 3 * count // 4 + 1
    first, second = times[: count // 2 + 1], times[count // 2 + 1 :]
    np.testing.assert_allclose(first, step * np.arange(count // 2 + 1), atol=1e-15)
    assert first[-1] == pytest.approx(final_time / 2)
    np.testing.assert_allclose(np.diff(times[count // 2 :]), 2 * step)
    assert second[-1] == pytest.approx(final_time)


def test_random_times_are_uniform():
    """The largest distance from the distribution function, above 1.95/√n in 1 of 1000 cases (Kolmogorov)."""
    times = random_times(2000, 3.0, seed=1).coordinates / 3
    assert 0 < times[0] < times[-1] < 1
    ranks = np.arange(2001) / 2000
    distance = max(np.abs(times - ranks[1:]).max(), np.abs(times - ranks[:-1]).max())
    assert distance < 1.95 / np.sqrt(2000)


def test_random_times_depend_on_the_seed_alone():
    assert random_times(50, 2.0, seed=3) == random_times(50, 2.0, seed=3)
    assert not set(random_times(50, 2.0, seed=3).positions) & set(random_times(50, 2.0, seed=4).positions)
    doubled = random_times(50, 4.0, seed=3).coordinates
    np.testing.assert_allclose(doubled, 2 * random_times(50, 2.0, seed=3).coordinates)


def test_normal_times_have_the_distribution_of_the_public_code():
    """Sorted normal deviates, moved and scaled to both ends: the mean and spread of the i-th time."""
    draws, count, final_time = 2000, 9, 2.0
    deviates = np.sort(np.random.default_rng(0).standard_normal((draws, count)), axis=1)
    known = deviates - deviates[:, :1]
    known *= final_time / known[:, -1:]
    ours = np.array([normal_times(count, final_time, seed).positions for seed in range(draws)])
    assert (ours[:, 0] == 0).all()
    assert (ours[:, -1] == final_time).all()
    inner, known = ours[:, 1:-1], known[:, 1:-1]
    error = np.sqrt((inner.var(axis=0) + known.var(axis=0)) / draws)
    assert (np.abs(inner.mean(axis=0) - known.mean(axis=0)) < 5 * error).all()
    np.testing.assert_allclose(inner.std(axis=0), known.std(axis=0), rtol=5 / np.sqrt(draws))
