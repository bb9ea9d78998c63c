"""Batches for training, from memory or streamed from the store ahead of each step."""

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
from resolvent.training.errors import TrainingError
from resolvent.training.settings import TrainingSettings
from resolvent.training.tensors import as_samples, coordinate_tensor, function_tensor

READERS = 2  # reading threads; they mostly decompress, which runs in parallel
AHEAD = 4  # batches prefetched


@dataclass(frozen=True)
class Batch:
    """A batch of samples on the device, in the type that the operator is to be given.

    inputs        (samples, ...space, channels).
    targets       (samples, ...space) or (samples, channels, ...space), possibly on a coarser grid.
    gradients     of the targets, (samples, dimension, ...space); None if the loss does not need them.
    coefficients  (samples, ...space); None if the loss does not need them.
    """

    inputs: Tensor
    targets: Tensor
    gradients: Tensor | None = None
    coefficients: Tensor | None = None

    def __len__(self) -> int:
        return len(self.inputs)

    def map(self, function: Callable[[Tensor], Tensor]) -> Batch:
        """Return the batch with `function` applied to every tensor."""
        tensors: dict = {name: one if one is None else function(one) for name, one in vars(self).items()}
        return Batch(**tensors)

    def split(self, size: int) -> list[Batch]:
        """Return parts of at most `size` samples each."""
        starts = range(0, max(len(self), 1), size)
        return [self.map(operator.itemgetter(slice(start, start + size))) for start in starts]


class InMemory:
    """All samples on the device."""

    def __init__(
        self,
        samples: Samples,
        device: torch.device,
        settings: TrainingSettings | None = None,
        dtype: torch.dtype = torch.float32,
    ):
        self.coordinates = coordinate_tensor(samples.grid).to(device)
        self.samples = _tensors(samples, settings, dtype).map(lambda tensor: tensor.to(device))

    def __len__(self) -> int:
        return len(self.samples)

    def batches(self, members: list[Tensor]) -> Iterator[Batch]:
        """Yield one batch for each entry of `members`, the samples at these indices (on the CPU)."""
        if members:
            places = torch.cat(members).to(self.samples.inputs.device)  # one copy to the device
            for batch in places.split(list(map(len, members))):
                yield self.samples.map(operator.itemgetter(batch))


class Streamed:
    """Samples that stay in the store: threads read at most AHEAD batches, identical to `InMemory`."""

    def __init__(
        self,
        split: Split,
        device: torch.device,
        settings: TrainingSettings | None = None,
        dtype: torch.dtype = torch.float32,
    ):
        self.split, self.device, self.settings, self.dtype = split, device, settings, dtype
        self.coordinates = coordinate_tensor(split.grid).to(device)

    def __len__(self) -> int:
        return len(self.split)

    def batches(self, members: list[Tensor]) -> Iterator[Batch]:
        """Yield batches as `InMemory.batches`. Raises `DatasetError` if a sample is damaged."""
        left, reading = deque(members), deque[Future[Batch]]()
        with ThreadPoolExecutor(READERS) as readers:
            try:
                while left or reading:
                    while left and len(reading) < AHEAD:
                        reading.append(readers.submit(self._read, left.popleft().numpy()))
                    batch = reading.popleft().result()
                    yield batch.map(lambda tensor: tensor.to(self.device, non_blocking=True))
            finally:  # also if the training stops between two batches
                readers.shutdown(cancel_futures=True)

    def _read(self, members: np.ndarray) -> Batch:
        # Gradients are computed from the stored values in double precision.
        exact = self.settings is not None and self.settings.gradient_weight > 0
        exact = exact or self.dtype == torch.float64
        samples = self.split.read(members, None if exact else np.float32)
        with_them = with_gradients(samples, self.split, members, self.settings)
        batch = _tensors(with_them, self.settings, self.dtype)
        return batch.map(Tensor.pin_memory) if self.device.type == "cuda" else batch


def with_gradients(
    samples: Samples, split: Split, members: Members, settings: TrainingSettings | None
) -> Samples:
    """Return `samples` (at the indices `members` of `split`) with the gradients that the loss needs."""
    if settings is None or settings.gradient_weight == 0:
        return samples
    as_coded = settings.target_gradient == "public_code"
    return replace(samples, gradients=split.target_gradients(samples, members, as_coded=as_coded))


def training_data(
    source: Source,
    device: torch.device,
    settings: TrainingSettings | None = None,
    dtype: torch.dtype = torch.float32,
) -> InMemory | Streamed:
    """Return batches of samples in memory (`Samples`), or batches streamed from the store (`Split`)."""
    if isinstance(source, Split):
        return Streamed(source, device, settings, dtype)
    return InMemory(source, device, settings, dtype)


def read_where_it_fits(
    split: Split, device: torch.device, settings: TrainingSettings | None = None, processes: int = 1
) -> Source:
    """Read the samples, with the gradients that the loss needs, or return the split if they do not fit.

    The limit is RESOLVENT_SAMPLES_GB, by default half of the free main memory, divided by the number of
    `processes` that read them; on a GPU also half of its own.
    """
    first = split.read(range(1))
    sizes = [first.inputs.size, first.targets.size]
    gradients = settings is not None and settings.gradient_weight > 0
    numbers = len(split) * (sum(sizes) + gradients * sizes[1] * first.target_grid.dimension)
    limit = float(os.environ.get(SAMPLES_GB) or 0) * 1e9 or psutil.virtual_memory().available / 2
    limit /= processes
    fits = 12 * numbers <= limit  # double precision when read, and single precision for training
    if fits and device.type == "cuda":
        fits = 4 * numbers <= torch.cuda.mem_get_info(device)[0] / 2
    if fits:
        members = range(len(split))
        return with_gradients(split.read(members), split, members, settings)
    print(
        f"{split.name}: {len(split):,} samples need {12 * numbers / 1e9:.3g} GB, more than the limit of "
        f"{limit / 1e9:.3g} GB; streaming them from the store",
        file=sys.stderr,
    )
    return split


def _check_varying(targets: np.ndarray) -> None:
    """Raise `TrainingError` if a target is constant: the loss is relative to the norm of its gradient."""
    flat = targets.reshape(len(targets), -1)
    constant = np.ptp(flat, axis=1) <= np.finfo(np.float32).eps * abs(flat).max(axis=1)
    if number := int(constant.sum()):
        raise TrainingError(
            f"{number} of {len(targets)} targets are constant, and the loss is relative to the norm of the "
            "target's gradient: use gradient_weight: 0 in the training settings"
        )


def _tensors(samples: Samples, settings: TrainingSettings | None, dtype: torch.dtype) -> Batch:
    """Return the samples, with gradients and coefficients in float32 if the loss needs them."""
    inputs = function_tensor(samples.inputs, samples.grid, dtype)
    gradients = coefficients = None
    if settings is not None and settings.loss == "energy":
        coefficients = inputs.squeeze(-1)
    if settings is not None and settings.gradient_weight > 0:
        known = samples.gradients
        known = gradient(samples.targets, samples.target_grid) if known is None else known
        _check_varying(samples.targets)
        gradients = torch.from_numpy(known.astype(np.float32))
        coefficients = inputs.squeeze(-1) if settings.gradient_coefficient == "input" else None
    targets = as_samples(function_tensor(samples.targets, samples.target_grid, dtype))
    return Batch(inputs, targets, gradients, coefficients)
