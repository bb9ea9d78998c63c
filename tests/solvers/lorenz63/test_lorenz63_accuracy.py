"""An accuracy is enough: each trajectory gets the order that it needs, and is as accurate as asked."""

import numpy as np
import pytest

from resolvent.solvers import lorenz63
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.grid import Nodes
from resolvent.solvers.common.observation_times import explicit, random_times, uniform
from resolvent.solvers.lorenz63 import ORDERS, initial_condition, solve_to


def states(count: int) -> np.ndarray:
    return np.stack([initial_condition(1127802, 0, index) for index in range(count)])


def extended(initial: np.ndarray, times: Nodes, order: int, largest: float = 0.02) -> np.ndarray:
    """Solve by the same series in 80 bits, whose rounding errors are a thousand times smaller."""
    sigma, rho, beta = np.longdouble(10), np.longdouble(28), np.longdouble(8 / 3)
    now, found, before = initial.T.astype(np.longdouble), [], np.longdouble(0)
    for time in times.coordinates.astype(np.longdouble):
        count = int(np.ceil(float(time - before) / largest - 1e-9))
        for _ in range(count):
            x, y, z = terms = np.zeros((3, order + 1, len(initial)), np.longdouble)
            terms[:, 0] = now
            for k in range(order):
                factor = (time - before) / count / (k + 1)
                x[k + 1] = factor * (sigma * (y[k] - x[k]))
                y[k + 1] = factor * (rho * x[k] - y[k] - (x[: k + 1] * z[k::-1]).sum(axis=0))
                z[k + 1] = factor * ((x[: k + 1] * y[k::-1]).sum(axis=0) - beta * z[k])
            now = terms[:, ::-1].sum(axis=1)
        before = time
        found.append(now)
    return np.stack(found, axis=-1).transpose(1, 0, 2)


@pytest.mark.parametrize(
    ("times", "accuracies", "order"),
    [
        (uniform(0.01, 2.0), (1e-3, 1e-8, 1e-10), 18),
        (random_times(40, 5.0, 1), (1e-5, 1e-9), 24),
        (explicit((4.0, 12.0, 20.0)), (1e-2, 2e-4), 16),
    ],
)
def test_every_trajectory_is_as_accurate_as_asked(times, accuracies, order):
    initial = states(24)
    exact = extended(initial, times, order)
    for accuracy in accuracies:
        found = solve_to(accuracy, initial, times)
        apart = ((np.stack(found.solutions) - exact) ** 2).sum(axis=(1, 2)) / (exact**2).sum(axis=(1, 2))
        assert np.sqrt(apart.astype(float)).max() <= accuracy
        assert (found.errors <= accuracy).all()
        assert found.work.mean() < 2.5


def test_a_trajectory_has_the_same_bits_in_any_batch_and_the_hard_ones_get_more():
    initial, times = states(30), uniform(0.01, 2.0)
    together = solve_to(1e-9, initial, times)
    hard = int(np.argmax(together.rungs))
    alone = solve_to(1e-9, initial[hard : hard + 1], times)
    np.testing.assert_array_equal(together.solutions[hard], alone.solutions[0])
    assert together.rungs.min() < together.rungs[hard] == alone.rungs[0]


def test_other_parameters_and_a_state_at_rest_are_solved():
    initial = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
    found = solve_to(1e-9, initial, explicit((0.0, 0.3, 1.0)), sigma=4.0, rho=45.0, beta=1.5)
    assert not found.solutions[0].any()
    expected = lorenz63.Lorenz63(4.0, 45.0, 1.5, step=0.004).solve(initial, explicit((0.0, 0.3, 1.0)))[1]
    assert np.linalg.norm(found.solutions[1] - expected) <= 1e-9 * np.linalg.norm(expected)


def test_what_is_out_of_reach_says_so(monkeypatch):
    monkeypatch.setattr(lorenz63, "ORDERS", ORDERS[:4])
    with pytest.raises(SolverError, match=r"1e-10 \(sample row .*a lower accuracy or an earlier final_time"):
        solve_to(1e-10, states(2), uniform(0.01, 2.0))
    with pytest.raises(SolverError, match=r"^Lorenz-63: .*not finite \(sample rows 1\)"):
        solve_to(1e-6, np.array([[1.0, 1.0, 1.0], [np.nan, 1.0, 1.0]]), uniform(0.01, 2.0))
