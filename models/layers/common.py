"""What operators of several families share: shapes, coordinates, pointwise networks, layers in a row."""

import copy
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

# What an operator takes, the points of it, and what it gives there.
Input = Float[Tensor, "batch *grid in_channels"]
Points = Float[Tensor, "*grid dim"]
Output = Float[Tensor, "batch *grid out_channels"]


def with_coordinates(u: Input, x: Points) -> Tensor:
    """Append the coordinates to the channels."""
    return torch.cat([u, x.expand(len(u), *x.shape)], dim=-1)


def place(x: Points, coordinates: Literal["grid", "linspace"]) -> Points:
    """Place the coordinates as an operator uses them.

    "grid" leaves x_i = iL/n, i = 0..n-1, as it is. "linspace" makes it iL/(n-1), which ends at L: that is
    what `linspace(0, 1, n)` in the public codes of Cao (2021) and Li et al. (2021) does to periodic data.
    """
    return x if coordinates == "grid" else x * (len(x) / (len(x) - 1))


def pointwise_network(
    given: int, hidden: int, gained: int, activation: type[nn.Module] = nn.GELU
) -> nn.Sequential:
    """Build affine, activation, affine."""
    return nn.Sequential(nn.Linear(given, hidden), activation(), nn.Linear(hidden, gained))


def stack(layer: Callable[[], nn.Module], count: int, *, equal: bool) -> nn.ModuleList:
    """Return `count` layers, each with initial weights of its own; with `equal` all are copies of the first.

    The public codes of Cao (2021) and of Calvello et al. (2024) copy one layer. The copies are trained apart.
    """
    first = layer()
    return nn.ModuleList([first, *(copy.deepcopy(first) if equal else layer() for _ in range(count - 1))])


def without_autocast(device: torch.device) -> AbstractContextManager:
    """Switch autocast off on the device; one that has none, such as "meta", is left as it is."""
    if not torch.amp.is_autocast_available(device.type):
        return nullcontext()
    return torch.autocast(device.type, enabled=False)
