"""From samples to what operators take: functions with a channel, coordinates, batches that fit in memory."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from solvers.grid import Grid


def function_tensor(values: np.ndarray) -> Tensor:
    """(samples, ...space) → (samples, ...space, 1), in float32."""
    return torch.from_numpy(np.asarray(values, dtype=np.float32))[..., None]


def coordinate_tensor(grid: Grid) -> Tensor:
    """Positions (...space, dimension) in float32; on a square, x (the last axis) comes first."""
    x = torch.from_numpy(grid.coordinates.astype(np.float32))
    if grid.dimension == 1:
        return x[:, None]
    along_y, along_x = torch.meshgrid(x, x, indexing="ij")
    return torch.stack([along_x, along_y], dim=-1)


def batch_size(grid: Grid, values: int, most: int) -> int:
    """Samples in a batch of at most `values` grid values and `most` samples: at least one."""
    return max(1, min(most, values // grid.points**grid.dimension))
