"""Random symmetries of training samples, as permutations and signs of their values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from resolvent.datasets.tasks.symmetries import Map, Symmetry
from resolvent.solvers.common.grid import AnyGrid
from resolvent.training.data import Batch
from resolvent.training.errors import TrainingError
from resolvent.training.tensors import as_functions, as_samples

ELEMENTS = 1  # in the key of random numbers, after seed and epoch, which alone are that of the samples' order


@dataclass(frozen=True)
class Permuted:
    """The map v ↦ sign · v[index] of flattened values; both (values), or (maps, values) for several maps."""

    index: Tensor
    sign: Tensor

    @classmethod
    def of(cls, move: Map, shape: tuple[int, ...]) -> Permuted:
        """Return a map of values of a `shape` in this form; `TrainingError` if it has not."""
        numbers = np.arange(1.0, 1 + math.prod(shape))
        moved = torch.from_numpy(np.ascontiguousarray(move(numbers.reshape(1, *shape))).ravel())
        if not np.array_equal(np.sort(moved.abs().numpy()), numbers):
            raise TrainingError("augment: a symmetry does not only permute values and change their signs")
        return cls(moved.abs().long() - 1, moved.sign())

    def inverse(self) -> Permuted:
        index = self.index.argsort()
        return Permuted(index, self.sign[index])

    def of_gradients(self, shape: tuple[int, ...]) -> Permuted:
        """Return the map of gradients, (dimension, *shape) with ∂/∂x first, for this map of functions.

        At the first point and its neighbours it shows where each axis goes, and in which direction.
        """
        size, dimension = math.prod(shape), len(shape)
        positions = np.unravel_index(self.index.reshape(shape).numpy(), shape)
        index, sign = [], []
        for axis in reversed(range(dimension)):
            neighbour = tuple(int(other == axis) for other in range(dimension))
            steps = [int(places[neighbour] - places[(0,) * dimension]) for places in positions]
            (along,) = np.flatnonzero(steps)
            step = (steps[along] + 1) % shape[along] - 1  # on a circle, the last point is beside the first
            index.append(self.index + size * (dimension - 1 - int(along)))
            sign.append(self.sign * step)
        return Permuted(torch.cat(index), torch.cat(sign))

    def __call__(self, values: Tensor, maps: Tensor) -> Tensor:
        """Return each of the `values` (batch, …) under the map with its number in `maps` (batch)."""
        moved = values.flatten(1).gather(1, self.index[maps]) * self.sign[maps].to(values.dtype)
        return moved.reshape(values.shape)


class Augmentation:
    """Map every training sample by a random symmetry, or the identity, all equally likely.

    symmetries  of the equation, without the identity.
    grids       of input and target.
    seed        of the random choices, which depend only on it, the epoch and the sample.
    count       samples of an epoch.
    """

    def __init__(
        self,
        symmetries: tuple[Symmetry, ...],
        grids: tuple[AnyGrid, AnyGrid],
        seed: int,
        count: int,
        device: torch.device,
    ):
        self.symmetries, self.grids, self.seed, self.count = symmetries, grids, seed, count
        self.device = device
        self.tables: dict[str, Permuted] = {}

    def applied(self, batches: Iterator[Batch], epoch: int, members: list[Tensor]) -> Iterator[Batch]:
        """Yield the batches of the samples `members` of an epoch, each sample mapped."""
        random = np.random.default_rng([self.seed, epoch, ELEMENTS])
        choices = torch.from_numpy(random.integers(1 + len(self.symmetries), size=self.count))
        chosen = choices[torch.cat(members) % self.count].to(self.device)
        for batch, maps in zip(batches, chosen.split(list(map(len, members))), strict=True):
            yield self.mapped(batch, maps)

    def mapped(self, batch: Batch, maps: Tensor) -> Batch:
        """Return a batch with each sample under the symmetry with its number in `maps`; 0: unchanged."""
        samples = as_samples(batch.inputs)
        if not self.tables:
            self._make_tables(samples.shape[1:], batch.targets.shape[1:], batch.gradients is not None)
        inputs = as_functions(self.tables["inputs"](samples, maps), self.grids[0])
        targets = self.tables["targets"](batch.targets, maps)
        gradients = None if batch.gradients is None else self.tables["gradients"](batch.gradients, maps)
        coefficients = None if batch.coefficients is None else inputs.squeeze(-1)
        return Batch(inputs, targets, gradients, coefficients)

    def _make_tables(self, inputs: tuple[int, ...], targets: tuple[int, ...], gradients: bool) -> None:
        """Put the maps of all symmetries on the device, for values of these shapes."""
        maps: dict[str, list[Permuted]] = {"inputs": [], "targets": [], "gradients": []}
        for symmetry in (Symmetry(np.copy, np.copy), *self.symmetries):
            of_targets = Permuted.of(symmetry.back, targets).inverse()
            maps["inputs"].append(Permuted.of(symmetry.inputs, inputs))
            maps["targets"].append(of_targets)
            maps["gradients"].append(of_targets.of_gradients(targets) if gradients else of_targets)
        for name, each in maps.items():
            index = torch.stack([permuted.index for permuted in each])
            sign = torch.stack([permuted.sign for permuted in each])
            self.tables[name] = Permuted(index.to(self.device), sign.to(self.device))
