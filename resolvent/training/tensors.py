"""Turn samples into what operators take, and back: channels last, coordinates, batches that fit."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from resolvent.solvers.common.grid import Grid, Nodes
from resolvent.training.errors import TrainingError


def function_tensor(values: np.ndarray, grid: Grid | Nodes) -> Tensor:
    """Return the samples as `resolvent.datasets.loading.Samples` has them → (samples, ...space, channels), in
    float32."""
    return as_functions(torch.from_numpy(np.asarray(values, dtype=np.float32)), grid)


def as_functions(samples: Tensor, grid: Grid | Nodes) -> Tensor:
    """Invert `as_samples`: channels last, one where there is no such axis."""
    return samples[..., None] if samples.ndim == 1 + grid.dimension else samples.movedim(1, -1)


def as_samples(functions: Tensor) -> Tensor:
    """Invert `function_tensor`: channels after the batch, and no such axis for a single one."""
    return functions.squeeze(-1) if functions.shape[-1] == 1 else functions.movedim(-1, 1)


def coordinate_tensor(grid: Grid | Nodes) -> Tensor:
    """Return the positions (...space, dimension) in float32; on a square, x (the last axis) comes first.

    Raises `TrainingError` if two of them are the same in float32, which no operator looks for on a GPU.
    """
    x = torch.from_numpy(grid.coordinates.astype(np.float32))
    if not (x.diff() > 0).all():
        raise TrainingError("neighbouring points of the grid coincide in single precision")
    if grid.dimension == 1:
        return x[:, None]
    along_y, along_x = torch.meshgrid(x, x, indexing="ij")
    return torch.stack([along_x, along_y], dim=-1)


def batch_size(grid: Grid | Nodes, values: int, most: int) -> int:
    """Return the size of a batch of at most `values` grid values and `most` samples: at least one."""
    return max(1, min(most, values // grid.points**grid.dimension))
