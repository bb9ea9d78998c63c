"""The processes that share one training: each takes its part of every batch, and all take the same step.

The first process has rank 0. One process alone is a group too, and every sum in it is its own number.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, distributed

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
        """Whether this is the process that writes and shows."""
        return self.rank == 0

    def share(self, batch: Tensor) -> Tensor:
        """Return this process's part of a batch: no two parts differ by more than one sample."""
        return batch.tensor_split(self.size)[self.rank]

    def largest_share(self, samples: int) -> int:
        """Return the number of samples in the largest part of a batch."""
        return -(-samples // self.size)

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

    def wait(self) -> None:
        """Wait until all processes have come here."""
        self.largest(0)

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
def joined() -> Iterator[Group]:
    """Join the processes that torch's launcher has started with this one, as its variables say."""
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    with answering():
        distributed.init_process_group(backend)
    yield Group(distributed.get_rank(), distributed.get_world_size())
    distributed.destroy_process_group()


@contextmanager
def answering() -> Iterator[None]:
    """Turn what torch raises where another process is gone into one line."""
    try:
        yield
    except RuntimeError as error:
        raise lost(error) from error


def lost(error: RuntimeError) -> LostProcesses:
    """Return what torch says of an operation that another process did not take part in, in one line."""
    reason = str(error).partition("\n")[0][:200]
    return LostProcesses(f"the other processes are gone or do not answer ({reason})")
