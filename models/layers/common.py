"""What operators of several families share: the place of grid points, layers in a row, the precision."""

import copy
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn


def place(
    x: Float[Tensor, "*grid dim"], coordinates: Literal["grid", "linspace"]
) -> Float[Tensor, "*grid dim"]:
    """Place the coordinates as an operator uses them.

    "grid" leaves x_i = iL/n, i = 0..n-1, as it is. "linspace" makes it iL/(n-1), which ends at L: that is
    what `linspace(0, 1, n)` in the public codes of Cao (2021) and Li et al. (2021) does to periodic data.
    """
    if coordinates == "grid":
        return x
    return x * (len(x) / (len(x) - 1))


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
