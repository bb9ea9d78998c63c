"""Data-parallel training: each process takes its part of every batch, and all take the same step.

Torch's DistributedDataParallel sums the gradients; here this also works if one process runs out of memory.
A single process is a group of size 1, whose sums are its own numbers.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, distributed, nn
from torch.futures import Future
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parallel import DistributedDataParallel

from resolvent.training.errors import TrainingError


class LostProcesses(TrainingError):
    """Another process of the group has ended or does not answer; its own error is the cause."""


@dataclass(frozen=True)
class Group:
    """A group of `size` processes; this one has number `rank`, the first one 0.

    All processes call the same methods in the same order. Numbers are exchanged on the CPU (gloo), without
    waiting for a GPU; tensors are summed on their device (NCCL on GPUs). Raises `LostProcesses` if others
    are gone.
    """

    rank: int = 0
    size: int = 1

    @property
    def first(self) -> bool:
        """Return whether this is the process that writes files and shows progress."""
        return self.rank == 0

    def share(self, batch: Tensor) -> Tensor:
        """Return this process's part of a batch; sizes of parts differ by at most one sample."""
        return batch.tensor_split(self.size)[self.rank]

    def seed(self, seed: int) -> int:
        """Return a different seed for each process; the first process gets `seed` itself."""
        return seed if self.first else int(np.random.default_rng([seed, self.rank]).integers(2**63))

    def add_up(self, numbers: Tensor) -> Tensor:
        """Replace real numbers in place by their sums over all processes, bit-identical; return them."""
        if self.size > 1:
            with answering():
                distributed.all_reduce(numbers)
        return numbers

    def largest(self, number: int) -> int:
        """Return the largest number of all processes, so that all take the same decision."""
        if self.size == 1:
            return int(number)
        message = torch.tensor(int(number))
        with answering():
            distributed.all_reduce(message, distributed.ReduceOp.MAX)
        return int(message)

    def gathered(self, state: Tensor) -> list[Tensor]:
        """Return the tensors of all processes, of equal shape on the CPU, by rank."""
        if self.size == 1:
            return [state]
        states = [torch.empty_like(state) for _ in range(self.size)]
        with answering():
            distributed.all_gather(states, state)
        return states


ALONE = Group()


@contextmanager
def answering(sums: _Sums | None = None) -> Iterator[None]:
    """Turn torch's error for a lost process into `LostProcesses`; with `sums`, only if a sum has failed."""
    try:
        yield
    except RuntimeError as error:
        fault = error if sums is None else sums.fault
        if fault is None:
            raise
        reason = str(fault).partition("\n")[0][:200]
        raise LostProcesses(f"the other processes are gone or do not answer ({reason})") from error


class _Sums:
    """Communication hook of DistributedDataParallel that sums gradients, which torch averages by default.

    `begun` counts the gradient buckets of this backward pass; `fault` is the error of a failed sum. The hook
    must not refer to the DistributedDataParallel module, since Python's garbage collector cannot see that
    cycle.
    """

    def __init__(self) -> None:
        self.begun = 0
        self.fault: RuntimeError | None = None

    def begin(self, bucket: distributed.GradBucket) -> Future:
        self.begun += 1
        gradients = bucket.buffer()
        # NCCL sums only real numbers.
        numbers = torch.view_as_real(gradients) if gradients.is_complex() else gradients
        return (
            distributed.all_reduce(numbers, async_op=True)
            .get_future()
            .then(lambda summed: self._ended(summed, gradients))
        )

    def _ended(self, summed: Future, gradients: Tensor) -> Tensor:
        try:
            summed.wait()
        except RuntimeError as error:
            self.fault = error
            raise
        return gradients


class SharedOperator:
    """An operator whose backward pass sums the gradients over all processes, bit-identical in each.

    Torch sums bucket by bucket during the backward pass. If a process runs out of memory, the others would
    wait for its buckets: `make_up` sends zeros instead, and then all can agree on the next step. In a group
    of size 1 this is the operator itself. Raises `TrainingError` for batch normalisation.
    """

    def __init__(self, operator: nn.Module, group: Group):
        self.operator, self.group = operator, group
        self._parallel: DistributedDataParallel | None = None
        if group.size > 1:
            if any(isinstance(module, _BatchNorm) for module in operator.modules()):
                raise TrainingError(
                    "batch normalisation would use only each process's part of a batch: set processes: 1, or "
                    "use another normalisation (torch.nn.GroupNorm)"
                )
            self.renew()

    def __call__(self, *inputs: Tensor) -> Tensor:
        return (self._parallel or self.operator)(*inputs)

    def renew(self, unused: bool = False) -> None:
        """Restart on all ranks after an incomplete pass; `unused` allows weights without gradient."""
        if self.group.size == 1:
            return
        self._unused, self._sums, self._parallel = unused, _Sums(), None
        gc.collect()  # the module of the failed pass still has hooks on the gradients
        self._parallel = DistributedDataParallel(
            self.operator,
            forward_sync_buffers=False,  # buffers are constants
            find_unused_parameters=unused,
            gradient_as_bucket_view=True,
        )
        self._parallel.register_comm_hook(self._sums, lambda sums, bucket: sums.begin(bucket))

    @contextmanager
    def passes(self, last: bool) -> Iterator[None]:
        """Run forward and backward pass of one part of this process's share; sum gradients at the last."""
        if self._parallel is None:
            yield
            return
        self._sums.begun = 0
        with answering(self._sums), nullcontext() if last else self._parallel.no_sync():
            yield

    def make_up(self) -> bool:
        """Contribute zeros for gradients missing from the last backward pass; return whether any were."""
        if self._parallel is None:
            return False
        reducer = self._parallel.reducer
        left = reducer._get_zeros_like_grad_buckets()[self._sums.begun :]
        with answering():
            for bucket in left:
                self._sums.begin(bucket).wait()
            if left and self._unused:
                distributed.all_reduce(reducer._get_local_used_map())
        return bool(left)
