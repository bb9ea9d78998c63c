"""Samples side by side: blocks of one size, transforms of eight at a time; threads for one sample."""

import os
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.fft

from resolvent.solvers.common.compiled import compiled
from resolvent.solvers.common.fourier import has_lane_transform
from resolvent.solvers.common.lane_fft import plan, transform
from resolvent.solvers.common.lane_series import sum_of_cosines, sum_of_waves
from resolvent.solvers.common.lanes import in_lanes, lanes_here
from resolvent.solvers.common.threads import meet, threads_here, together
from resolvent.solvers.common.vectors import LANES


@pytest.mark.parametrize("batch", [0, 1, 3, 4, 9])
def test_blocks_have_one_size_and_the_result_that_of_the_batch(batch):
    values = np.arange(2.0 * batch).reshape(batch, 2)
    sizes = []

    def function(block, others):
        sizes.append((len(block), len(others)))
        return 2 * block, (block + others).sum(axis=1)

    twice, sums = in_lanes(function, 4, values, values + 1)
    assert set(sizes) == {(4, 4)}
    assert len(sizes) == max(1, -(-batch // 4))
    np.testing.assert_array_equal(twice, 2 * values)
    np.testing.assert_array_equal(sums, (2 * values + 1).sum(axis=1))


def test_missing_samples_are_filled_in():
    blocks = []
    in_lanes(lambda block: (blocks.append(block.copy()), block)[1:], 3, np.full((4, 2), 5.0), fill=1.0)
    np.testing.assert_array_equal(blocks[1], [[5, 5], [1, 1], [1, 1]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_the_precision_is_that_of_the_input_and_jax_is_left_in_single(dtype):
    compiled = jax.jit(lambda block: (jnp.exp(block),))
    (result,) = in_lanes(compiled, 2, np.ones((3, 2), dtype))
    assert result.dtype == dtype
    np.testing.assert_allclose(result, np.e, rtol=2 * np.finfo(dtype).eps)
    assert jnp.asarray(np.ones(1)).dtype == np.float32


@pytest.mark.parametrize(("backend", "lanes"), [("cpu", 1), ("gpu", 16), ("tpu", 1)])
def test_lanes_of_a_gpu_and_of_anything_else(backend, lanes, monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: backend)
    assert lanes_here({"cpu": 1, "gpu": 16}) == lanes


@pytest.mark.parametrize("length", [1, 2, 3, 8, 13, 75, 154, 416, 420])
def test_the_transform_is_numpys(length):
    series = np.random.default_rng(length).standard_normal((2, length, LANES))
    buffers = [*series.reshape(2, -1).copy(), *np.empty((2, length * LANES))]
    at = 2 * transform(*buffers, *plan(length))
    ours = (buffers[at] + 1j * buffers[at + 1]).reshape(length, LANES)
    expected = np.fft.fft(series[0] + 1j * series[1], axis=0)
    assert np.linalg.norm(ours - expected) < 1e-15 * np.linalg.norm(expected)


def test_a_length_with_a_large_prime_factor_is_refused():
    with pytest.raises(ValueError, match=r"^length must have no prime factor above 13, got 34$"):
        plan(34)


def test_a_length_is_taken_for_one_that_has_a_transform_where_it_has_one():
    def has_plan(length):
        try:
            return np.prod(plan(length)[0]) == length
        except ValueError:
            return False

    lengths = range(1, 200)
    assert [has_lane_transform(length) for length in lengths] == [has_plan(length) for length in lengths]


@pytest.mark.parametrize("points", [3, 15, 17, 141])
def test_cosines_on_nodes_are_scipys(points):
    amplitudes, factors = np.random.default_rng(points).standard_normal((2, points - 1, points - 1))
    values = np.empty((points, points))
    sum_of_cosines(amplitudes, factors, values)
    halves = np.full(points, 0.5)
    halves[0] = 1
    padded = np.pad(amplitudes * factors, (0, 1)) * np.outer(halves, halves)
    expected = scipy.fft.dctn(padded, 1)
    assert np.linalg.norm(values - expected) < 1e-13 * np.linalg.norm(expected)


@pytest.mark.parametrize(("points", "highest"), [(4, 1), (18, 8), (48, 3), (52, 25)])
def test_waves_on_the_torus_are_numpys(points, highest):
    original = np.random.default_rng(points).standard_normal((points, points))
    spectrum = np.fft.rfft2(original, norm="forward")
    kept = np.r_[: highest + 1, points - highest : points]
    padded = np.zeros_like(spectrum)
    padded[kept, : highest + 1] = spectrum[kept, : highest + 1]
    values = np.empty((points, points))
    sum_of_waves(spectrum[kept, : highest + 1], values)
    expected = np.fft.irfft2(padded, s=(points, points), norm="forward")
    assert np.linalg.norm(values - expected) < 2e-15 * np.linalg.norm(expected)


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
