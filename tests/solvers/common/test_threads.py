"""Threads that compute a sample together: they wait for one another, and none waits for ever."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from resolvent.solvers.common.compiled import compiled
from resolvent.solvers.common.threads import meet, threads_here, together


@compiled
def passed_on(numbers, part, parts, gate, rounds):
    """Add to each number, again and again, the one of the next part, which all have computed by then."""
    met = 0
    for _ in range(rounds):
        other = numbers[(part + 1) % parts]
        met = meet(gate, parts, met)
        numbers[part] += other
        met = meet(gate, parts, met)
    return met


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_each_part_has_what_the_others_have_computed(parts):
    numbers, expected = np.arange(1, parts + 1), np.arange(1, parts + 1)
    met = together(lambda part, gate: passed_on(numbers, part, parts, gate, 50), parts)
    for _ in range(50):
        expected = expected + np.roll(expected, -1)
    assert met == [100] * parts
    np.testing.assert_array_equal(numbers, expected)


def test_those_that_wait_go_on_where_another_cannot_start(monkeypatch):
    start, refused = ThreadPoolExecutor.submit, "can't start new thread"

    def submit(self, function, part, gate):
        if part == 2:
            raise RuntimeError(refused)
        return start(self, function, part, gate)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", submit)
    numbers = np.ones(3)
    with pytest.raises(RuntimeError, match=refused):
        together(lambda part, gate: passed_on(numbers, part, 3, gate, 5), 3)


@pytest.mark.parametrize(("asked", "expected"), [("3", 3), ("0", 1), ("", None), ("two", None)])
def test_the_environment_says_how_many_threads(asked, expected, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert threads_here() == (expected or len(os.sched_getaffinity(0)))
