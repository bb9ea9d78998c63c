"""Common parts of operators: shapes, coordinates, pointwise networks, stacks of layers."""

import copy
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

# Shapes of an operator's input function, its points, and its output function.
Input = Float[Tensor, "batch *grid in_channels"]
Points = Float[Tensor, "*grid dim"]
Output = Float[Tensor, "batch *grid out_channels"]


def with_coordinates(u: Input, x: Points) -> Tensor:
    """Append the coordinates to the channels."""
    return torch.cat([u, x.expand(len(u), *x.shape)], dim=-1)


def place(x: Points, coordinates: Literal["grid", "linspace"]) -> Points:
    """Return the coordinates in the convention of an operator.

    "grid" keeps x_i = iL/n, i = 0..n-1. "linspace" rescales them to iL/(n-1), which ends at L: the effect of
    `linspace(0, 1, n)` for periodic data in the public codes of Cao (2021) and Li et al. (2021).
    """
    return x if coordinates == "grid" else x * (len(x) / (len(x) - 1))


def pointwise_network(
    given: int, hidden: int, gained: int, activation: type[nn.Module] = nn.GELU
) -> nn.Sequential:
    """Return the network affine, activation, affine."""
    return nn.Sequential(nn.Linear(given, hidden), activation(), nn.Linear(hidden, gained))


def stack(layer: Callable[[], nn.Module], count: int, *, equal: bool) -> nn.ModuleList:
    """Return `count` layers, each with its own initial weights; with `equal` all are copies of the first.

    The public codes of Cao (2021) and Calvello et al. (2024) copy one layer. The copies are trained
    independently.
    """
    first = layer()
    return nn.ModuleList([first, *(copy.deepcopy(first) if equal else layer() for _ in range(count - 1))])


def without_autocast(device: torch.device) -> AbstractContextManager:
    """Disable autocast on the device; no effect on devices without autocast, such as "meta"."""
    if not torch.amp.is_autocast_available(device.type):
        return nullcontext()
    return torch.autocast(device.type, enabled=False)
