"""Operations of a step grow as they should, and measuring happens elsewhere."""

from functools import partial

import numpy as np
import pytest
import torch

from resolvent.measurements.step_cost import (
    CASES,
    ENCODER_ONLY,
    SCOPES,
    counted,
    in_new_processes,
    learner_of,
    measured,
    training_step,
)

CPU = torch.device("cpu")
backward = partial(training_step, update=False)


@pytest.fixture(autouse=True)
def one_thread():
    """Compute with one thread, as the measurements do."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def operations(scope, attention, contraction, points=64):
    return counted(backward(learner_of(scope, attention, contraction, points, 1, CPU)))


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize(
    ("attention", "order", "degree"),
    [
        ("galerkin", "linear", 1),
        ("linear", "linear", 1),
        ("fourier", "linear", 1),
        ("fourier", "quadratic", 2),
        ("softmax", "linear", 2),
    ],
)
def test_operations_grow_like_the_points_or_like_the_matrix_of_all_pairs(scope, attention, order, degree):
    at = [operations(scope, attention, order, points) for points in (32, 64, 96, 128)]
    assert not np.diff(at, degree + 1).any()
    assert np.diff(at, degree).min() > (32 * 96**2 if degree == 1 else 2 * 32**2 * 96)


def test_a_measurement_has_memory_operations_and_time():
    case = ("transformer1d", "galerkin", "linear")
    cost = measured(lambda points, batch: learner_of(*case, points, batch, CPU), 64, 3, 2, CPU)
    assert cost.flop == 3 * operations(*case)
    assert cost.allocated_bytes > 3 * 4 * 64 * 96 * 4  # a state in each of the four layers
    assert cost.seconds > 0


def test_a_failed_measurement_says_why():
    with pytest.raises(RuntimeError, match=r"failed \(1\): .*No module named"):
        in_new_processes("resolvent.measurements.nothing", [])


def test_cases_are_those_of_the_paper_and_the_encoder_that_of_the_public_codes_command_line():
    """Cao 2021, Table 1: --dmodel 128 --head 1 --num-layers 4; the feedforward network twice as wide."""
    assert {attention for attention, _ in CASES} == {"softmax", "fourier", "linear", "galerkin"}
    assert {order for attention, order in CASES if attention == "fourier"} == {"quadratic", "linear"}
    assert list(ENCODER_ONLY.values()) == [128, 1, 4, 256]


@pytest.mark.parametrize("rounds", [0, 1])
def test_weights_are_updated_where_the_memory_of_a_training_is_measured(rounds):
    made = learner_of("encoder", "linear", "linear", 32, 1, CPU)
    before = [weights.clone() for weights in made.module.parameters()]
    measured(lambda points, batch_size: made, 32, 1, rounds, CPU)
    same = [torch.equal(*pair) for pair in zip(before, made.module.parameters(), strict=True)]
    assert all(same) == bool(rounds)
