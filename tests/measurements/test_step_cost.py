"""Operations of a step grow as they should, and measuring happens elsewhere."""

import numpy as np
import pytest
import torch

from resolvent.measurements.step_cost import (
    CASES,
    ENCODER_ONLY,
    MODULES,
    Case,
    backpropagation,
    counted,
    in_new_processes,
    learner_of,
    measured,
    training_step,
)

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def one_thread():
    """Compute with one thread, as the measurements do."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def operations(scope, attention, contraction, points=64):
    case = Case(scope, attention, contraction, points, 1)
    return counted(backpropagation(learner_of(case, points, 1, CPU)))


@pytest.mark.parametrize("scope", MODULES)
@pytest.mark.parametrize("attention", ["galerkin", "linear", "fourier"])
def test_operations_are_linear_in_the_points(scope, attention):
    at = [operations(scope, attention, "linear", points) for points in (64, 128, 192)]
    assert np.diff(at, 2) == 0
    assert np.diff(at).min() > 64 * 96**2


@pytest.mark.parametrize("scope", MODULES)
@pytest.mark.parametrize("attention", ["softmax", "fourier"])
def test_operations_of_the_matrix_of_all_pairs_are_quadratic(scope, attention):
    contraction = "quadratic" if attention == "fourier" else "linear"
    at = [operations(scope, attention, contraction, points) for points in (64, 128, 192, 256)]
    assert np.diff(at, 3) == 0
    assert np.diff(at, 2).min() > 2 * 64**2 * 96


def test_the_two_orders_of_fourier_are_the_same_function():
    losses = [
        backpropagation(learner_of(Case("encoder", "fourier", order, 32, 2), 32, 2, CPU))()
        for order in ("quadratic", "linear")
    ]
    torch.testing.assert_close(*losses, rtol=1e-4, atol=0)


def test_a_measurement_has_memory_operations_and_time():
    case = Case("transformer1d", "galerkin", "linear", 64, 3)
    cost = measured(lambda points, batch: learner_of(case, points, batch, CPU), 64, 3, 2, CPU)
    assert cost.flop == 3 * operations("transformer1d", "galerkin", "linear")
    assert cost.allocated_bytes > 3 * 4 * 64 * 96 * 4  # a state in each of the four layers
    assert cost.seconds > 0


def test_a_training_step_moves_the_weights_and_a_backpropagation_does_not():
    case = Case("transformer1d", "galerkin", "linear", 32, 1)
    learner = learner_of(case, 32, 1, CPU)
    back, step = backpropagation(learner), training_step(learner)
    assert back() == back()
    before = step()
    assert step() != before


def test_every_attention_of_the_paper_is_a_case():
    assert {attention for attention, _ in CASES} == {"softmax", "fourier", "linear", "galerkin"}
    assert {contraction for attention, contraction in CASES if attention == "fourier"} == {
        "quadratic",
        "linear",
    }


def test_a_failed_measurement_says_why():
    request = {"case": {"scope": "decoder", "attention": "galerkin", "contraction": "linear", "points": 32,
                        "batch_size": 1}, "rounds": 1, "device": "cpu"}  # fmt: skip
    with pytest.raises(RuntimeError, match="KeyError: 'decoder'"):
        in_new_processes("resolvent.measurements.step_cost", [request])


def test_the_encoder_has_the_size_of_the_public_code_s_command_line():
    """Cao 2021, Table 1: --dmodel 128 --head 1 --num-layers 4; the feedforward network twice as wide."""
    expected = {"width": 128, "num_heads": 1, "num_layers": 4, "feedforward_width": 256}
    assert expected == ENCODER_ONLY


@pytest.mark.parametrize("rounds", [0, 1])
def test_weights_are_updated_where_the_memory_of_a_training_is_measured(rounds):
    made = learner_of(Case("encoder", "linear", "linear", 32, 1), 32, 1, CPU)
    before = [weights.clone() for weights in made.module.parameters()]
    measured(lambda points, batch_size: made, 32, 1, rounds, CPU)
    same = [torch.equal(*pair) for pair in zip(before, made.module.parameters(), strict=True)]
    assert all(same) == bool(rounds)
