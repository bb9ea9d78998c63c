"""What the setting `precision` switches, and only in a step; and memory that a process keeps."""

import resource

import pytest
import torch
from training_fixtures import small_trainer

from resolvent.training import devices
from resolvent.training.devices import keep_memory
from resolvent.training.interruption import Interruption
from resolvent.training.precision import tf32


def switches():
    return torch.backends.cuda.matmul.fp32_precision, torch.backends.cudnn.conv.fp32_precision


@pytest.mark.parametrize(("precision", "expected"), [("tf32", "tf32"), ("float32", "ieee")])
def test_products_of_a_step_are_in_the_precision_asked_for(tmp_path, precision, expected):
    """Look at TF32, which torch allows convolutions of itself, in both passes of a step."""
    before, seen = switches(), []
    trainer = small_trainer(tmp_path, precision=precision, epochs=1)
    weight = next(trainer.operator.parameters())
    trainer.operator.register_forward_hook(lambda *_: seen.append(switches()))
    weight.register_hook(lambda gradient: seen.append(switches()))
    trainer._steps(1, Interruption())
    assert set(seen) == {(expected, expected)}
    assert len(seen) == 2 * trainer.steps_per_epoch
    assert switches() == before


def test_the_switches_are_as_before_also_after_an_error():
    before = switches()
    with pytest.raises(KeyError), tf32(True):
        raise KeyError
    assert switches() == before


@pytest.fixture
def memory_as_before():
    yield
    keep_memory(large=True)  # other tests take fewer pages from the system so


@pytest.mark.parametrize(
    ("large", "mebibytes", "kept"), [(False, 16, True), (False, 64, False), (True, 64, True)]
)
def test_memory_that_was_freed_is_taken_again_without_the_system(large, mebibytes, kept, memory_as_before):
    """Count faults: an array of 64 MiB has 16,384 pages; each that comes from the system is a fault."""
    keep_memory(large)
    faults = []
    for _ in range(5):  # the first may find no room for it in what was freed before
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        torch.ones(mebibytes * 2**18)
        faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    assert (min(faults) < 1000) == kept
    assert kept or min(faults) >= mebibytes * 2**20 // resource.getpagesize()


@pytest.mark.parametrize(("share", "kept"), [(2.6, True), (2.4, False)])
def test_large_arrays_are_kept_where_the_share_holds_the_gaps(share, kept, monkeypatch):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    asked = []
    monkeypatch.setattr(devices, "memory_share", lambda threads, processes: share * peak)
    monkeypatch.setattr(devices, "keep_memory", lambda large: asked.append(large))
    devices.keep_large_arrays(processes=1)
    assert asked == [True] * kept
