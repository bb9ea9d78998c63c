"""Weights of the trapezoidal rule from the nodes alone."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary

_LOOKED_AT = WeakIdKeyDictionary()  # a grid, and its version when its nodes were seen to increase


def trapezoid_weights(x: Float[Tensor, "n 1"]) -> Float[Tensor, " n"]:
    """Compute w_1 = (x_2 - x_1)/2, w_l = (x_{l+1} - x_{l-1})/2, w_n = (x_n - x_{n-1})/2, in units of x.

    The nodes may be spaced in any way. Second order, exact for functions that are linear in between. Raises
    `ValueError` if there are fewer than two nodes, or if they do not increase: a grid is looked at once,
    since to look is to wait for a GPU, and again only where its values were changed in place. While the
    compiler traces, and on the device "meta", nothing is looked at.
    """
    _check_nodes(x, [x])
    return _weights(x)


def product_trapezoid_weights(x: Float[Tensor, "n1 n2 2"]) -> Float[Tensor, "n1 n2"]:
    """Multiply the two axes' trapezoidal weights, on a grid with any spacing along an axis.

    x[i, j] = (a_i, b_j), or (b_j, a_i) where the first component varies along the second axis. Raises
    `ValueError` as `trapezoid_weights` does.
    """
    # Along an axis one component moves, so that the sum of both moves as it does.
    axes = [x[:, 0].sum(-1, keepdim=True), x[0].sum(-1, keepdim=True)]
    _check_nodes(x, axes)
    return torch.outer(*map(_weights, axes))


def _weights(x: Float[Tensor, "n 1"]) -> Float[Tensor, " n"]:
    halves = x[:, 0].diff() / 2
    return torch.cat([halves[:1], halves[:-1] + halves[1:], halves[-1:]])


def _check_nodes(grid: Tensor, axes: list[Tensor]) -> None:
    """Raise `ValueError` unless each axis of the grid, (n, 1), has two nodes or more, and they increase."""
    if fewest := [len(axis) for axis in axes if len(axis) < 2]:
        raise ValueError(f"the trapezoidal rule needs at least 2 nodes along an axis; got {fewest[0]}")
    if torch.compiler.is_compiling() or grid.is_meta:
        return
    version = None if grid.is_inference() else grid._version
    if version is not None and _LOOKED_AT.get(grid) == version:
        return
    if not all((axis.diff(dim=0) > 0).all() for axis in axes):
        raise ValueError("the trapezoidal rule needs nodes that increase along their axis")
    if version is not None:
        _LOOKED_AT[grid] = version
