"""What a training reads in each step: batches from memory, or read from the store ahead of the step."""

from __future__ import annotations

import operator
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import psutil
import torch
from torch import Tensor

from resolvent.common.machine import SAMPLES_GB
from resolvent.datasets.gradients import gradient
from resolvent.datasets.loading import Members, Samples, Source, Split
from resolvent.training.settings import TrainingSettings
from resolvent.training.tensors import as_samples, coordinate_tensor, function_tensor

READERS = 2  # threads that read; what they do is decompression, which several can do at once
AHEAD = 4  # batches that are read, or being read, before they are asked for


@dataclass(frozen=True)
class Batch:
    """Some samples on the device, in float32.

    inputs        (samples, ...space, channels).
    targets       (samples, ...space) or (samples, channels, ...space), on a grid that may be coarser.
    gradients     of the targets, (samples, dimension, ...space), where the loss needs them.
    coefficients  (samples, ...space), where it needs those.
    """

    inputs: Tensor
    targets: Tensor
    gradients: Tensor | None = None
    coefficients: Tensor | None = None

    def __len__(self) -> int:
        return len(self.inputs)

    def map(self, function: Callable[[Tensor], Tensor]) -> Batch:
        """Return what `function` makes of every tensor."""
        made: dict = {name: None if one is None else function(one) for name, one in vars(self).items()}
        return Batch(**made)

    def split(self, size: int) -> list[Batch]:
        """Cut into parts of at most `size` samples."""
        starts = range(0, max(len(self), 1), size)
        return [self.map(operator.itemgetter(slice(start, start + size))) for start in starts]


class InMemory:
    """All samples on the device."""

    def __init__(self, samples: Samples, device: torch.device, settings: TrainingSettings | None = None):
        self.coordinates = coordinate_tensor(samples.grid).to(device)
        self.samples = _tensors(samples, settings).map(lambda tensor: tensor.to(device))

    def __len__(self) -> int:
        return len(self.samples)

    def batches(self, members: list[Tensor]) -> Iterator[Batch]:
        """Yield the samples at each of these places (indices on the CPU)."""
        if members:
            places = torch.cat(members).to(self.samples.inputs.device)  # one copy to the device
            for here in places.split([len(one) for one in members]):
                yield self.samples.map(operator.itemgetter(here))


class Streamed:
    """Samples that stay in the store: threads read and decompress batches ahead of the step.

    The batches, and so the training, are those of `InMemory`. At most AHEAD of them are in memory.
    """

    def __init__(self, split: Split, device: torch.device, settings: TrainingSettings | None = None):
        self.split, self.device, self.settings = split, device, settings
        self.coordinates = coordinate_tensor(split.grid).to(device)

    def __len__(self) -> int:
        return len(self.split)

    def batches(self, members: list[Tensor]) -> Iterator[Batch]:
        """Yield the samples at each of these places. Raises `DatasetError` when one is damaged."""
        left, reading = deque(members), deque[Future[Batch]]()
        with ThreadPoolExecutor(READERS) as readers:
            try:
                while left or reading:
                    while left and len(reading) < AHEAD:
                        reading.append(readers.submit(self._read, left.popleft().numpy()))
                    yield reading.popleft().result().map(lambda one: one.to(self.device, non_blocking=True))
            finally:  # also where the training ends between two batches
                readers.shutdown(cancel_futures=True)

    def _read(self, members: np.ndarray) -> Batch:
        exact = (
            self.settings is not None and self.settings.gradient_weight > 0
        )  # gradients are of what is stored
        samples = self.split.read(members, None if exact else np.float32)
        batch = _tensors(with_gradients(samples, self.split, members, self.settings), self.settings)
        return batch.map(Tensor.pin_memory) if self.device.type == "cuda" else batch


def with_gradients(
    samples: Samples, split: Split, members: Members, settings: TrainingSettings | None
) -> Samples:
    """Return `samples`, those at `members` of `split`, with the gradients that the loss needs."""
    if settings is None or settings.gradient_weight == 0:
        return samples
    as_coded = settings.target_gradient == "public_code"
    return replace(samples, gradients=split.target_gradients(samples, members, as_coded=as_coded))


def training_data(
    source: Source, device: torch.device, settings: TrainingSettings | None = None
) -> InMemory | Streamed:
    """Return what a training reads: in memory what is there already, streamed what is still in the store."""
    if isinstance(source, Split):
        return Streamed(source, device, settings)
    return InMemory(source, device, settings)


def read_where_it_fits(
    split: Split, device: torch.device, settings: TrainingSettings | None = None
) -> Source:
    """Return the samples, with the gradients that the loss needs, or the split where they are too many.

    They fit where they take at most RESOLVENT_SAMPLES_GB (`samples_gb` of the configuration), or else half of
    what is free of the machine's memory, and on a GPU half of that of the GPU.
    """
    one = split.read(range(1))
    sizes = [one.inputs.size, one.targets.size]
    gradients = settings is not None and settings.gradient_weight > 0
    numbers = len(split) * (sum(sizes) + gradients * sizes[1] * one.target_grid.dimension)
    limit = float(os.environ.get(SAMPLES_GB) or 0) * 1e9 or psutil.virtual_memory().available / 2
    fits = 12 * numbers <= limit  # in double precision as read, and in single precision as computed with
    if fits and device.type == "cuda":
        fits = 4 * numbers <= torch.cuda.mem_get_info(device)[0] / 2
    if fits:
        members = range(len(split))
        return with_gradients(split.read(members), split, members, settings)
    print(
        f"{split.name}: {len(split):,} samples take {12 * numbers / 1e9:.3g} GB, more than the "
        f"{limit / 1e9:.3g} GB for them: they are read from the store when they are needed",
        file=sys.stderr,
    )
    return split


def _tensors(samples: Samples, settings: TrainingSettings | None) -> Batch:
    """Return the samples in float32, and what the regulariser of `settings` needs besides."""
    inputs = function_tensor(samples.inputs, samples.grid)
    gradients = coefficients = None
    if settings is not None and settings.gradient_weight > 0:
        known = samples.gradients
        known = gradient(samples.targets, samples.target_grid) if known is None else known
        gradients = torch.from_numpy(known.astype(np.float32))
        coefficients = inputs.squeeze(-1) if settings.gradient_coefficient == "input" else None
    targets = as_samples(function_tensor(samples.targets, samples.target_grid))
    return Batch(inputs, targets, gradients, coefficients)
