"""Replay the kernels of a training step on a GPU as one recorded unit (CUDA graph)."""

from __future__ import annotations

import gc
from collections.abc import Callable

import torch
from torch import Tensor

from resolvent.training.data import Batch
from resolvent.training.errors import TrainingError

FIRST = 3  # calls that launch their kernels one by one, until every library has made its plans
LARGEST_SHARE = 0.25  # of the free memory, since a recording keeps the memory of its arrays


class Recorded:
    """A function of batches of one shape whose kernels a GPU records at the fourth call and then replays.

    Models of the papers' sizes have hundreds of small kernels, and launching them one by one takes longer
    than computing them. The numbers are the same, random ones included. The function may not wait for the
    device, and may depend only on the batch, on torch's random state and on arrays that are changed in place
    or not at all (weights, coordinates, matrices): so `allowed` is for functions that are known to be like
    this. These arrays are kept, even if nothing else refers to them any more, such as a cache.
    Without a GPU, or where the recording's memory would be a large share of the GPU's, this is the function
    itself. Raises `TrainingError` if the function cannot be recorded.
    """

    def __init__(self, function: Callable[[Batch], Tensor], device: torch.device, allowed: bool = True):
        self.function = function
        self.allowed, self.calls = allowed and device.type == "cuda", 0
        self.graph: torch.cuda.CUDAGraph | None = None

    def __call__(self, batch: Batch) -> Tensor:
        if self.graph is None and self.allowed and self.calls == FIRST:
            self._record(batch)
        if self.graph is None:
            result = self.function(batch)
            self.calls += 1
            return result
        for known, tensor in zip(vars(self.given).values(), vars(batch).values(), strict=True):
            if known is not None:
                known.copy_(tensor)
        self.graph.replay()
        return self.result

    def _record(self, batch: Batch) -> None:
        if torch.cuda.max_memory_allocated() > LARGEST_SHARE * torch.cuda.mem_get_info()[0]:
            return
        self.given, graph = batch.map(Tensor.clone), torch.cuda.CUDAGraph()
        try:
            # Other threads may read and pin the next batches meanwhile.
            with torch.cuda.graph(graph, capture_error_mode="thread_local"):
                self.result = self.function(self.given)
        except torch.OutOfMemoryError:  # other jobs use this GPU
            return
        except RuntimeError as fault:
            reason = str(fault).partition("\n")[0]
            raise TrainingError(
                f"a training step could not be recorded ({reason}); if the model is your own, its settings "
                "class needs recordable = False"
            ) from fault
        # A replay reads the recording's addresses. Every array that it reads and does not write exists now.
        arrays = [array for array in gc.get_objects() if issubclass(type(array), Tensor)]
        self.kept = [array for array in arrays if array.device == self.given.inputs.device]
        self.graph = graph
