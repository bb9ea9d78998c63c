"""Gradients that all processes add up: torch's DistributedDataParallel, also where one of them fails."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch
from torch import Tensor, distributed, nn
from torch.futures import Future
from torch.nn.modules.batchnorm import _BatchNorm

from resolvent.training.distributed.group import Group, answering, lost
from resolvent.training.eager import SummedGradients
from resolvent.training.errors import TrainingError


class _Sums:
    """Torch's communication hook: it adds gradients up, where torch would average them.

    `begun` counts the buckets of gradients in this backward pass, `fault` is what stopped a sum. Complex
    numbers go as pairs of real ones, for NCCL adds no others. It does not refer to the module around the
    operator, which refers to it where Python's garbage collector does not see it.
    """

    def __init__(self) -> None:
        self.begun, self.fault = 0, None

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
        self._parallel: SummedGradients | None = None
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
        """Begin anew in all processes, after a pass that did not end; `unused` weights get no gradient."""
        if self.group.size == 1:
            return
        self._unused, self._sums, self._parallel = unused, _Sums(), None
        gc.collect()  # what is left of the failed pass also listens to the gradients
        self._parallel = SummedGradients(
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
        try:
            with nullcontext() if last else self._parallel.no_sync():
                yield
        except RuntimeError as error:
            if self._sums.fault:
                raise lost(self._sums.fault) from error
            raise

    def make_up(self) -> bool:
        """Take part with zeros in the sums that the last pass has left out; return whether there were any."""
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
