"""Common parts of operators: shapes, coordinates, pointwise networks, stacks of layers."""

import copy
import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, wraps
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


def place(x: Points, coordinates: Literal["grid", "linspace", "linspace_2pi"]) -> Points:
    """Return the coordinates in the convention of an operator.

    "grid" keeps them. "linspace" maps the first point of each axis to 0 and the last to 1, as the public
    codes of Cao (2021) and Li et al. (2021) do for periodic points and for cell centres alike; "linspace_2pi"
    maps the last to 2π, as in Cao's fork of the FNO code (scaomath/fourier_neural_operator, fourier_1d.py,
    commit d1bfdb4).
    """
    if coordinates == "grid":
        return x
    corners = x.flatten(0, -2)[[0, -1]]
    end = 2 * math.pi if coordinates == "linspace_2pi" else 1.0
    return (x - corners[0]) * (end / (corners[1] - corners[0]))


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


def cached(make: Callable) -> Callable:
    """Cache the last 16 results of a function that returns tensors, except while a program is traced.

    Tensors of a tracer (torch.export, torch.compile, torch.jit, fake tensors) have no values, or belong to
    its program: in the cache they would be those of all later calls.
    """
    kept = lru_cache(maxsize=16)(make)

    @wraps(make)
    def matrices(*sizes):
        traced = torch.compiler.is_compiling() or torch.jit.is_tracing()
        # A mode that replaces tensors, such as that of fake tensors, also replaces this one.
        replaced = type(torch.empty(0)) is not torch.Tensor
        return make(*sizes) if traced or replaced else kept(*sizes)

    return matrices


def without_autocast(device: torch.device) -> AbstractContextManager:
    """Disable autocast on the device; no effect on devices without autocast, such as "meta"."""
    if not torch.amp.is_autocast_available(device.type):
        return nullcontext()
    return torch.autocast(device.type, enabled=False)
