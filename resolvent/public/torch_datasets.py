"""Torch datasets of a split, in memory or read chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.utils.data import IterableDataset, TensorDataset, get_worker_info

from resolvent.datasets.loading import Split, places_of
from resolvent.training.tensors import coordinate_tensor, function_tensor

MEMBERS = 256  # samples read at a time in stored precision


class InMemory(TensorDataset):
    """Pairs (input, target), each (...space, channels) in float32, in physical units.

    They are in float64 if float32 would round away a variation around a large mean.

    coordinates, target_coordinates  (...space, dimension), of the grids of inputs and targets.
    """

    def __init__(self, split: Split):
        size = len(split)
        pieces = [range(start, min(start + MEMBERS, size)) for start in range(0, size, MEMBERS)]
        parts = [_tensors(split, members) for members in pieces]
        super().__init__(*(torch.cat(tensors) for tensors in zip(*parts, strict=True)))
        self.coordinates, self.target_coordinates = _coordinates(split)


class Streaming(IterableDataset):
    """The pairs of `InMemory`, read from the store one chunk at a time, in a new order every epoch.

    The order of chunks, and of samples in a chunk, is drawn from torch's random numbers, so
    `torch.manual_seed` makes it reproducible. Workers of a DataLoader share the chunks, so every sample is
    returned once. In distributed training, each process sees all samples.
    """

    def __init__(self, split: Split):
        super().__init__()
        self.split = split
        self.kept: dict[tuple[int, int], tuple[torch.Generator, torch.Generator]] = {}  # of workers
        self.coordinates, self.target_coordinates = _coordinates(split)

    def __len__(self) -> int:
        return len(self.split)

    def chunks(self) -> list[range]:
        """Return the indices of the split's samples in each chunk of the inputs."""
        split, places = self.split, places_of(self.split.card, self.split.name)
        size = split.stored(f"{split.group}/{split.card['inputs'][0]}").per_chunk
        starts = range(places.start // size * size, places.stop, size)
        ends = (min(places.stop, start + size) for start in starts)
        return [
            range(max(places.start, start) - places.start, end - places.start)
            for start, end in zip(starts, ends, strict=True)
        ]

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        worker = get_worker_info()
        number, workers = (0, 1) if worker is None else (worker.id, worker.num_workers)
        # A DataLoader draws one number when it starts its workers; a worker's seed is this number plus the
        # worker's number. A persistent worker keeps its seed, so it continues with its generators.
        if worker is None:
            common, own = _generators(int(torch.empty((), dtype=torch.int64).random_()), number)
        else:
            made = _generators(worker.seed - number, number)
            common, own = self.kept.setdefault((number, worker.seed), made)
        chunks = self.chunks()
        order = torch.randperm(len(chunks), generator=common).tolist()
        for chunk in order[number::workers]:
            inputs, targets = _tensors(self.split, chunks[chunk])
            for sample in torch.randperm(len(inputs), generator=own).tolist():
                yield inputs[sample], targets[sample]


def _generators(seed: int, number: int) -> tuple[torch.Generator, torch.Generator]:
    """Return the generators of the order of chunks, common to all workers, and of samples in a chunk."""
    return torch.Generator().manual_seed(seed), torch.Generator().manual_seed(seed + number + 1)


def _tensors(split: Split, members: range) -> tuple[Tensor, Tensor]:
    samples = split.read(members)
    dtype = torch.float64 if split.far else torch.float32
    inputs = function_tensor(samples.inputs, split.grid, dtype)
    return inputs, function_tensor(samples.targets, split.target_grid, dtype)


def _coordinates(split: Split) -> tuple[Tensor, Tensor]:
    return coordinate_tensor(split.grid), coordinate_tensor(split.target_grid)
