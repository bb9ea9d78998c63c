"""The tests that every registered solver passes: a new one inherits them with its line in the registry."""

import numpy as np
import pytest
from registry_problems import PROBLEMS

from resolvent.solvers.registry import SOLVERS


def relative_errors(values, reference):
    """Relative L2 error of each sample."""
    flat, expected = values.reshape(len(values), -1), reference.reshape(len(values), -1)
    return np.linalg.norm(flat - expected, axis=1) / np.linalg.norm(expected, axis=1)


def test_every_registered_solver_has_its_problem():
    assert set(PROBLEMS) == set(SOLVERS)


@pytest.fixture(scope="module", params=sorted(SOLVERS))
def problem(request):
    return PROBLEMS[request.param]()


def test_observed_order(problem):
    errors = [
        relative_errors(problem.solve(problem.inputs(n), n), problem.reference(n)).max()
        for n in problem.refinements
    ]
    slope = -np.polyfit(np.log(problem.refinements), np.log(errors), 1)[0]
    assert slope == pytest.approx(problem.order, abs=0.3), errors


def test_a_sample_has_the_same_bits_alone_in_a_batch_and_in_another_order(problem):
    coarsest = problem.refinements[0]
    inputs = problem.inputs(coarsest)
    together = problem.solve(inputs, coarsest)
    np.testing.assert_array_equal(problem.solve(inputs[3:4], coarsest)[0], together[3])
    np.testing.assert_array_equal(problem.solve(inputs[::-1].copy(), coarsest)[::-1], together)


def test_how_the_input_lies_in_memory_changes_no_bit(problem):
    coarsest = problem.refinements[0]
    inputs = problem.inputs(coarsest)
    expected = problem.solve(inputs, coarsest)
    np.testing.assert_array_equal(problem.solve(np.asfortranarray(inputs), coarsest), expected)
    np.testing.assert_array_equal(problem.solve(np.repeat(inputs, 2, axis=-1)[..., ::2], coarsest), expected)


def test_float32_agrees_with_float64(problem):
    finest = problem.refinements[-1]
    double = problem.inputs(finest)
    single = double.astype(np.complex64 if np.iscomplexobj(double) else np.float32)
    solution = problem.solve(single, finest)
    assert solution.real.dtype == np.float32
    difference = relative_errors(solution, problem.solve(double, finest)).max()
    assert 0 < difference < problem.single
