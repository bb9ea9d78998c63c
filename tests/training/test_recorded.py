"""When a step is recorded and what a replay is given, on a stand-in for torch's CUDA graphs."""

import weakref
from contextlib import contextmanager
from functools import lru_cache

import pytest
import torch

from resolvent.models.settings import Settings
from resolvent.training.data import Batch
from resolvent.training.errors import TrainingError
from resolvent.training.recorded import FIRST, Recorded
from resolvent.training.train import recordable

GPU = torch.device("cuda")


class Gpu:
    """A GPU with a gigabyte of free memory, on which a replay is the function's next call."""

    def __init__(self, monkeypatch):
        self.used, self.capturing, self.calls, self.replay = 0, False, [], None
        monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: self)
        monkeypatch.setattr(torch.cuda, "graph", self.recording)
        monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda: self.used)
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (10**9, 10**10))

    @contextmanager
    def recording(self, graph, capture_error_mode):
        assert graph is self
        assert capture_error_mode == "thread_local"
        self.capturing = True
        yield
        self.capturing = False

    def function(self, batch):
        """Return twice the inputs; a recording returns an array that later replays fill."""
        self.calls.append("recorded" if self.capturing else "launched")
        found = 2 * batch.inputs
        if self.capturing:
            self.replay = lambda: (self.calls.append("replayed"), found.copy_(2 * batch.inputs))
            found.zero_()
        return found


@pytest.fixture
def gpu(monkeypatch):
    return Gpu(monkeypatch)


def results(passes, count=6):
    return [passes(Batch(torch.full((3,), float(k)), torch.zeros(3)))[0].item() for k in range(count)]


def test_a_function_is_recorded_after_some_calls_and_replayed_with_each_batch(gpu):
    assert results(Recorded(gpu.function, GPU)) == [0, 2, 4, 6, 8, 10]
    assert gpu.calls == ["launched"] * FIRST + ["recorded"] + ["replayed"] * 3


@pytest.mark.parametrize(
    ("device", "allowed", "used"), [(torch.device("cpu"), True, 0), (GPU, False, 0), (GPU, True, 0.3e9)]
)
def test_it_is_only_recorded_on_a_gpu_where_it_is_allowed_and_memory_is_left(gpu, device, allowed, used):
    gpu.used = used
    assert results(Recorded(gpu.function, device, allowed)) == [0, 2, 4, 6, 8, 10]
    assert gpu.calls == ["launched"] * 6


def test_a_recording_that_runs_out_of_memory_is_given_up(gpu):
    def function(batch):
        if gpu.capturing:
            gpu.capturing = False
            raise torch.OutOfMemoryError("out of memory")
        return gpu.function(batch)

    assert results(Recorded(function, GPU)) == [0, 2, 4, 6, 8, 10]
    assert gpu.calls == ["launched"] * 6


def test_a_function_that_waits_is_an_error_in_one_line(gpu):
    def function(batch):
        if gpu.capturing:
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing\nCompile with …")
        return gpu.function(batch)

    with pytest.raises(TrainingError, match=r"recorded \(CUDA .* capturing\); .* needs recordable = False$"):
        results(Recorded(function, GPU))


class Own(Settings):
    """An architecture elsewhere."""

    operator = "torch.nn:Linear"
    dimension = 1


def test_own_architectures_are_recorded_if_they_say_so(monkeypatch):
    loss = "norms"
    assert recordable("fno1d", {"width": 8}, loss)
    assert recordable("tno1d", {"checkpointing": False}, loss)
    assert not recordable("tno1d", {"checkpointing": True}, loss)
    own = f"{__name__}:Own"
    assert not recordable(own, {}, loss)
    monkeypatch.setattr(Own, "recordable", True)
    assert recordable(own, {}, loss)
    assert not recordable("fno1d", {}, "my_lab.losses:that_may_change_with_the_steps")


def test_arrays_that_a_replay_reads_are_kept_although_a_cache_drops_them(gpu):
    @lru_cache(maxsize=1)
    def matrix(size):
        return torch.ones(size)

    passes = Recorded(lambda batch: gpu.function(batch) * matrix(3), GPU)
    results(passes)
    read = weakref.ref(matrix(3))
    matrix(4)
    assert read() is not None
    del passes
    gpu.replay = None
    assert read() is None
