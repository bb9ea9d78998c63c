"""The processes that share one training: each takes its part of every batch, and all take the same step.

Torch's DistributedDataParallel adds the gradients of all processes up, also where one of them fails.

The first process has rank 0. One process alone is a group too, and every sum in it is its own number.
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
    """Another process of the group has ended or does not answer; what it has to say says more."""


@dataclass(frozen=True)
class Group:
    """`size` processes, of which this is number `rank`.

    All of them call the same methods in the same order. Numbers are agreed on through the CPU (gloo), which
    does not wait for a GPU; tensors are added up where they are (NCCL on GPUs). Where the others are gone,
    `LostProcesses` is raised.
    """

    rank: int = 0
    size: int = 1

    @property
    def first(self) -> bool:
        """Say whether this is the process that writes and shows."""
        return self.rank == 0

    def share(self, batch: Tensor) -> Tensor:
        """Return this process's part of a batch: no two parts differ by more than one sample."""
        return batch.tensor_split(self.size)[self.rank]

    def seed(self, seed: int) -> int:
        """Return the seed of random numbers that differ between the processes; the first one's is `seed`."""
        return seed if self.first else int(np.random.default_rng([seed, self.rank]).integers(2**63))

    def add_up(self, numbers: Tensor) -> Tensor:
        """Replace real numbers by their sums over the processes, the same bits in all; return them."""
        if self.size > 1:
            with answering():
                distributed.all_reduce(numbers)
        return numbers

    def largest(self, number: int) -> int:
        """Return the largest of the processes' numbers, so that all decide alike."""
        if self.size == 1:
            return int(number)
        message = torch.tensor(int(number))
        with answering():
            distributed.all_reduce(message, distributed.ReduceOp.MAX)
        return int(message)

    def gathered(self, state: Tensor) -> list[Tensor]:
        """Return the processes' tensors of one shape, on the CPU, by rank."""
        if self.size == 1:
            return [state]
        states = [torch.empty_like(state) for _ in range(self.size)]
        with answering():
            distributed.all_gather(states, state)
        return states


ALONE = Group()


@contextmanager
def answering(sums: _Sums | None = None) -> Iterator[None]:
    """Turn what torch raises where another process is gone into one line; of `sums`, where one has failed."""
    try:
        yield
    except RuntimeError as error:
        fault = error if sums is None else sums.fault
        if fault is None:
            raise
        reason = str(fault).partition("\n")[0][:200]
        raise LostProcesses(f"the other processes are gone or do not answer ({reason})") from error


class _Sums:
    """Torch's communication hook: it adds gradients up, where torch would average them.

    `begun` counts the buckets of gradients in this backward pass, `fault` is what stopped a sum. Complex
    numbers go as pairs of real ones, for NCCL adds no others. It does not refer to the module around the
    operator, which refers to it where Python's garbage collector does not see it.
    """

    def __init__(self) -> None:
        self.begun = 0
        self.fault: RuntimeError | None = None

    def begin(self, bucket: distributed.GradBucket) -> Future:
        self.begun += 1
        gradients = bucket.buffer()
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
    """An operator whose backward pass adds the gradients of all processes up: the same bits in all.

    Torch adds them up bucket by bucket while the backward pass goes on. A process that cannot finish its
    pass, for want of memory, would leave the others waiting for its buckets: `make_up` sends zeros instead,
    as torch does for a process that has run out of batches, and all can agree on what comes next. In a
    group of one this is the operator itself.

    Raises `TrainingError` for batch normalisation, where several processes do not compute what one does.
    """

    def __init__(self, operator: nn.Module, group: Group):
        self.operator, self.group = operator, group
        self._parallel: DistributedDataParallel | None = None
        if group.size > 1:
            if any(isinstance(module, _BatchNorm) for module in operator.modules()):
                raise TrainingError(
                    "batch normalisation is of each process's part of a batch, not of the batch: train it "
                    "with processes: 1, or normalise otherwise (torch.nn.GroupNorm)"
                )
            self.renew()

    def __call__(self, *inputs: Tensor) -> Tensor:
        return (self._parallel or self.operator)(*inputs)

    def renew(self, unused: bool = False) -> None:
        """Restart on all ranks after an incomplete backward pass; `unused` weights get no gradient."""
        if self.group.size == 1:
            return
        self._unused, self._sums, self._parallel = unused, _Sums(), None
        gc.collect()  # what is left of the failed pass also listens to the gradients
        self._parallel = DistributedDataParallel(
            self.operator,
            forward_sync_buffers=False,  # they are constants
            find_unused_parameters=unused,
            gradient_as_bucket_view=True,
        )
        self._parallel.register_comm_hook(self._sums, lambda sums, bucket: sums.begin(bucket))

    @contextmanager
    def passes(self, last: bool) -> Iterator[None]:
        """Do the forward and the backward pass of a part of the process's share; the last one's adds all up.

        Raises `LostProcesses` where another process is gone.
        """
        if self._parallel is None:
            yield
            return
        self._sums.begun = 0
        with answering(self._sums), nullcontext() if last else self._parallel.no_sync():
            yield

    def make_up(self) -> bool:
        """Contribute zero gradients for what the last backward pass left out; return whether any was."""
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
