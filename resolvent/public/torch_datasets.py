"""A split of a dataset as torch reads it: in memory, or chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.utils.data import IterableDataset, TensorDataset, get_worker_info

from resolvent.public.datasets import SplitReader
from resolvent.training.tensors import coordinate_tensor, function_tensor

MEMBERS = 256  # samples in stored precision at a time


class InMemory(TensorDataset):
    """Pairs (input, target), each (...space, channels) in float32, in physical units.

    coordinates, target_coordinates  (...space, dimension), of the grids of inputs and of targets.
    """

    def __init__(self, reader: SplitReader):
        size = len(reader)
        pieces = [range(start, min(start + MEMBERS, size)) for start in range(0, size, MEMBERS)]
        parts = [_tensors(reader, members) for members in pieces]
        super().__init__(*(torch.cat(one) for one in zip(*parts, strict=True)))
        self.coordinates, self.target_coordinates = _coordinates(reader)


class Streaming(IterableDataset):
    """The same pairs, read one chunk of the store at a time, in an order that is new in every epoch.

    The order of the chunks, and of the samples in each, is drawn from torch's random numbers: for one
    `torch.manual_seed` it is the same. Of several workers of a DataLoader each reads some of the chunks, so
    that every sample comes once. Processes of a distributed training each see all samples.
    """

    def __init__(self, reader: SplitReader):
        super().__init__()
        self.reader = reader
        self.coordinates, self.target_coordinates = _coordinates(reader)

    def __len__(self) -> int:
        return len(self.reader)

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        worker = get_worker_info()
        number, workers = (0, 1) if worker is None else (worker.id, worker.num_workers)
        # A DataLoader draws one number for each epoch, and gives each worker that number plus its own.
        seed = int(torch.empty((), dtype=torch.int64).random_()) if worker is None else worker.seed - number
        common = torch.Generator().manual_seed(seed)
        chunks = list(self.reader.chunks())
        order = torch.randperm(len(chunks), generator=common).tolist()
        own = torch.Generator().manual_seed(seed + number + 1)
        for chunk in order[number::workers]:
            inputs, targets = _tensors(self.reader, chunks[chunk])
            for sample in torch.randperm(len(inputs), generator=own).tolist():
                yield inputs[sample], targets[sample]


def _tensors(reader: SplitReader, members: range) -> tuple[Tensor, Tensor]:
    inputs, targets = reader.read(members)
    return function_tensor(inputs, reader.grid), function_tensor(targets, reader.target_grid)


def _coordinates(reader: SplitReader) -> tuple[Tensor, Tensor]:
    return coordinate_tensor(reader.grid), coordinate_tensor(reader.target_grid)
