"""Cost of attention for increasing numbers of points: counted operations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas
import torch
from torch import Tensor

from resolvent.models.layers import attention
from resolvent.training.operations import counted

# Function, and the power of n in its number of operations.
ATTENTIONS: dict[str, tuple[Callable[..., Tensor], int]] = {
    "galerkin": (attention.galerkin, 1),
    "linear": (attention.linear, 1),
    "fourier_linear": (attention.fourier, 1),
    "fourier_quadratic": (partial(attention.fourier, contraction="quadratic"), 2),
    "softmax": (attention.softmax, 2),
}


@torch.no_grad()
def costs(points: list[int], features: int) -> pandas.DataFrame:
    """Count the operations of the forward pass of one head with batch size one.

    `flops` counts matrix products, with a multiplication and an addition as two.
    """
    rows = []
    for n in points:
        inputs = [torch.zeros(1, 1, n, features) for _ in "QKV"]
        for name, (attend, _) in ATTENTIONS.items():
            rows.append((name, n, features, counted(partial(attend, *inputs))))
    return pandas.DataFrame(rows, columns=["attention", "points", "features", "flops"])
