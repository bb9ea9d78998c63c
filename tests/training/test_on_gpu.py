"""Training on a GPU: numbers of the CPU, resuming and recorded steps bit for bit, and no step that waits."""

import os
import signal
import warnings

import pytest
import torch
from training_fixtures import at_step, kind_of, small_trainer

from resolvent.models.layers.dot_product_attention import dot_product_attention
from resolvent.models.layers.resampling import interpolate
from resolvent.models.registry import ARCHITECTURES
from resolvent.training.devices import choose_device
from resolvent.training.errors import TrainingError
from resolvent.training.interruption import Interruption
from resolvent.training.operations import forward_operations

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
CPU = torch.device("cpu")


@pytest.fixture
def gpu():
    """Let the device compute as in a job: deterministically."""
    before = torch.get_deterministic_debug_mode()
    yield choose_device(1)
    torch.set_deterministic_debug_mode(before)


def without_dropout(architecture):
    kind = kind_of(architecture)
    kind["settings"] |= {rate: 0.0 for rate in ("residual_dropout", "dropout") if rate in kind["settings"]}
    return kind


def gradients(trainer):
    """Return the gradients of the first step, all weights' in one vector, in double precision on the CPU."""
    trainer.operator.train()
    trainer._gradients(next(trainer.train.batches([torch.arange(4)])))
    parts = [p.grad for p in trainer.operator.parameters() if p.grad is not None]
    return torch.cat([torch.view_as_real(p).flatten() if p.is_complex() else p.flatten() for p in parts]).to(
        CPU, torch.float64
    )


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_gradients_are_those_of_the_cpu(tmp_path, architecture, gpu):
    expected, found = (
        gradients(small_trainer(tmp_path, device=device, **without_dropout(architecture)))
        for device in (CPU, gpu)
    )
    assert (found - expected).norm() <= 1e-4 * expected.norm()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_counted_operations_are_those_of_the_cpu(tmp_path, architecture, gpu):
    expected, found = (
        forward_operations(trainer.operator, trainer.train.samples.inputs[:1], trainer.train.coordinates)
        for device in (CPU, gpu)
        for trainer in [small_trainer(tmp_path, device=device, **kind_of(architecture))]
    )
    assert found == expected


def weights(trainer):
    return {name: value.to(CPU) for name, value in trainer.operator.state_dict().items()}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_run_that_is_ended_and_goes_on_ends_in_the_same_bits(tmp_path, architecture, gpu):
    kind = kind_of(architecture) | {"device": gpu, "epochs": 2, "recordable": True}
    undisturbed = small_trainer(tmp_path / "a", **kind)
    undisturbed.fit()
    ended = small_trainer(tmp_path / "b", **kind)
    with pytest.raises(TrainingError, match="stopped by SIGTERM in epoch 2, after 2 of 4 steps"):
        at_step(ended, 6, lambda: os.kill(os.getpid(), signal.SIGTERM)).fit()
    resumed = small_trainer(tmp_path / "b", **kind)
    resumed.fit()
    assert resumed.progress.history == undisturbed.progress.history
    expected, found = weights(undisturbed), weights(resumed)
    assert all(torch.equal(found[name], expected[name]) for name in expected)


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_recorded_step_computes_the_same_bits(tmp_path, architecture, parts, gpu):
    kind = kind_of(architecture) | {"device": gpu, "epochs": 3, "gradient_clip": 0.5}
    trainers = [small_trainer(tmp_path / str(way), recordable=way, **kind) for way in (False, True)]
    for trainer in trainers:
        trainer.progress.micro_batch //= parts
        trainer.fit()
    launched, recorded = trainers
    assert launched.passes.graph is None
    assert recorded.passes.graph is not None
    assert recorded.progress.history == launched.progress.history
    expected, found = weights(launched), weights(recorded)
    assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_a_recording_that_runs_out_of_memory_is_given_up(tmp_path, gpu):
    expected = small_trainer(tmp_path / "a", device=gpu)
    trainer = small_trainer(tmp_path / "b", device=gpu, recordable=True)
    function = trainer.passes.function

    def failing(batch):
        found = function(batch)
        if torch.cuda.is_current_stream_capturing():
            torch.empty(2**50, device=gpu)
        return found

    trainer.passes.function = failing
    trainer.fit()
    expected.fit()
    assert trainer.passes.graph is None
    assert trainer.progress.micro_batch == expected.progress.micro_batch
    assert trainer.progress.history == expected.progress.history


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_no_step_waits_for_the_device(tmp_path, architecture, gpu):
    trainer = small_trainer(tmp_path, device=gpu, **kind_of(architecture))
    trainer._steps(1, Interruption())
    trainer._mean_error(trainer.validation)  # some look at a grid's nodes when they see it first
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            trainer._steps(2, Interruption())
            trainer._mean_error(trainer.validation)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    waits = [warning for warning in found if "synchronizing CUDA operation" in str(warning.message)]
    # Three numbers are read at the end of an epoch; two orders, and the sums that it begins with, are copied.
    assert len(waits) <= 6


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("low", [False, True])
def test_attention_is_that_of_the_cpu(masked, low, gpu):
    torch.manual_seed(0)
    mask = torch.randn(1, 300) if masked else None
    functions = [torch.randn(2, 3, 300, 5, requires_grad=True) for _ in range(3)]
    results = []
    for device in (CPU, gpu):
        there = [one.to(device) for one in functions]
        with torch.autocast(gpu.type, torch.bfloat16, enabled=low):
            found = dot_product_attention(*there, mask=None if mask is None else mask.to(device))
        results.append([found, *torch.autograd.grad(found.float().square().sum(), functions)])
    for expected, found in zip(*results, strict=True):
        assert (found.to(CPU) - expected).norm() <= (2e-2 if low else 1e-6) * expected.norm()


def test_interpolation_is_that_of_the_cpu(gpu):
    u = torch.randn(2, 15, 12, 3)
    torch.testing.assert_close(interpolate(u.to(gpu), (7, 9)).to(CPU), interpolate(u, (7, 9)))
