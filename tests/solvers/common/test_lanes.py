"""Batches in blocks of one size: what a block is given, what comes back, and in which precision."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from burgers_problem import CAO_VISCOSITY, initial_fields, relative_errors

from resolvent.solvers.burgers.etdrk4 import BurgersEtdrk4
from resolvent.solvers.burgers.split_step import BurgersSplitStep
from resolvent.solvers.common.lanes import in_lanes, lanes_here


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


def test_compiled_functions_are_compiled_once():
    traces = []

    @jax.jit
    def compiled(block):
        traces.append(block.dtype)
        return (block + 1,)

    for batch in (1, 5, 2):
        in_lanes(compiled, 2, np.ones((batch, 2)))
    assert traces == [np.float64]


@pytest.mark.parametrize(("backend", "lanes"), [("cpu", 1), ("gpu", 16), ("tpu", 1)])
def test_lanes_of_a_gpu_and_of_anything_else(backend, lanes, monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: backend)
    assert lanes_here({"cpu": 1, "gpu": 16}) == lanes


@pytest.mark.parametrize("solver", [BurgersSplitStep, BurgersEtdrk4])
def test_burgers_in_jax_as_on_a_gpu_is_burgers_in_lanes_of_a_processor(solver, monkeypatch):
    initial = initial_fields(3)
    compiled = solver(CAO_VISCOSITY).solve(initial)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    differences = relative_errors(solver(CAO_VISCOSITY).solve(initial), compiled)
    assert 0 < differences.max() < 1e-12
