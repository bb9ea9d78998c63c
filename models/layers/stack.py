"""Layers of one kind, one after another."""

import copy
from collections.abc import Callable

from torch import nn


def stack(layer: Callable[[], nn.Module], count: int, *, equal: bool) -> nn.ModuleList:
    """Return `count` layers, each with initial weights of its own; with `equal` all are copies of the first.

    The public codes of Cao (2021) and of Calvello et al. (2024) copy one layer. The copies are trained apart.
    """
    first = layer()
    return nn.ModuleList([first, *(copy.deepcopy(first) if equal else layer() for _ in range(count - 1))])
