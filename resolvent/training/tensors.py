"""Convert between samples and the tensors of operators: channels last, coordinates, batch sizes."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from resolvent.solvers.common.grid import AnyGrid
from resolvent.training.errors import TrainingError


def function_tensor(values: np.ndarray, grid: AnyGrid, dtype: torch.dtype = torch.float32) -> Tensor:
    """Convert functions as in `datasets.loading.Samples` to (samples, ...space, channels)."""
    kind = np.float64 if dtype == torch.float64 else np.float32
    return as_functions(torch.from_numpy(np.asarray(values, dtype=kind)), grid)


def stored_type(values: np.ndarray) -> torch.dtype:
    """Return float64 for numbers in double precision, else float32."""
    return torch.float64 if values.dtype == np.float64 else torch.float32


def as_functions(samples: Tensor, grid: AnyGrid) -> Tensor:
    """Move channels to the last axis, with one channel if there is no such axis; inverse of `as_samples`."""
    return samples[..., None] if samples.ndim == 1 + grid.dimension else samples.movedim(1, -1)


def as_samples(functions: Tensor) -> Tensor:
    """Move channels behind the batch axis; a single channel has no axis. Inverse of `as_functions`."""
    return functions.squeeze(-1) if functions.shape[-1] == 1 else functions.movedim(-1, 1)


def coordinate_tensor(grid: AnyGrid) -> Tensor:
    """Return the positions (...space, dimension) in float32, with x (the last axis of space) first.

    Raises `TrainingError` if two positions coincide in float32, which operators do not check.
    """
    axes = [torch.from_numpy(axis.coordinates.astype(np.float32)) for axis in grid.axes]
    if not all((x.diff() > 0).all() for x in axes):
        raise TrainingError("neighbouring points of the grid coincide in float32; use a coarser grid")
    return torch.stack(torch.meshgrid(*axes, indexing="ij")[::-1], dim=-1)


def batch_size(grid: AnyGrid, values: int, most: int) -> int:
    """Return the batch size for at most `values` grid values and `most` samples; at least 1."""
    return max(1, min(most, values // grid.size))
