"""Turn samples into what operators take, and back: channels last, coordinates, batches that fit."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from resolvent.solvers.common.grid import AnyGrid
from resolvent.training.errors import TrainingError


def function_tensor(values: np.ndarray, grid: AnyGrid) -> Tensor:
    """Return the samples as `resolvent.datasets.loading.Samples` has them → (samples, ...space, channels), in
    float32."""
    return as_functions(torch.from_numpy(np.asarray(values, dtype=np.float32)), grid)


def as_functions(samples: Tensor, grid: AnyGrid) -> Tensor:
    """Invert `as_samples`: channels last, one where there is no such axis."""
    return samples[..., None] if samples.ndim == 1 + grid.dimension else samples.movedim(1, -1)


def as_samples(functions: Tensor) -> Tensor:
    """Invert `function_tensor`: channels after the batch, and no such axis for a single one."""
    return functions.squeeze(-1) if functions.shape[-1] == 1 else functions.movedim(-1, 1)


def coordinate_tensor(grid: AnyGrid) -> Tensor:
    """Return the positions (...space, dimension) in float32: x, along the last axis, comes first.

    Raises `TrainingError` if two of them are the same in float32, which no operator looks for on a GPU.
    """
    axes = [torch.from_numpy(axis.coordinates.astype(np.float32)) for axis in grid.axes]
    if not all((x.diff() > 0).all() for x in axes):
        raise TrainingError("neighbouring points of the grid coincide in single precision")
    return torch.stack(torch.meshgrid(*axes, indexing="ij")[::-1], dim=-1)


def batch_size(grid: AnyGrid, values: int, most: int) -> int:
    """Return the size of a batch of at most `values` grid values and `most` samples: at least one."""
    return max(1, min(most, values // grid.size))
