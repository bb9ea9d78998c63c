"""Weights of the trapezoidal rule from the nodes alone."""

import torch
from jaxtyping import Float
from torch import Tensor


def trapezoid_weights(x: Float[Tensor, "n 1"]) -> Float[Tensor, " n"]:
    """Compute w_1 = (x_2 - x_1)/2, w_l = (x_{l+1} - x_{l-1})/2, w_n = (x_n - x_{n-1})/2, in units of x.

    The nodes may be spaced in any way. Second order, exact for functions that are linear in between. Raises
    `ValueError` if there are fewer than two nodes or, on the CPU, if they do not increase: on a GPU to look
    would be to wait for it in every forward pass, so there whoever prepares the nodes has looked.
    """
    if len(x) < 2:
        raise ValueError(f"the trapezoidal rule needs at least 2 nodes along an axis; got {len(x)}")
    halves = x[:, 0].diff() / 2
    looks = x.device.type == "cpu" and not torch.compiler.is_compiling()
    if looks and not (halves > 0).all():
        raise ValueError("the trapezoidal rule needs nodes that increase along their axis")
    return torch.cat([halves[:1], halves[:-1] + halves[1:], halves[-1:]])


def product_trapezoid_weights(x: Float[Tensor, "n1 n2 2"]) -> Float[Tensor, "n1 n2"]:
    """Multiply the two axes' trapezoidal weights, on a grid with any spacing along an axis.

    x[i, j] = (a_i, b_j), or (b_j, a_i) where the first component varies along the second axis. Raises
    `ValueError` as `trapezoid_weights` does.
    """
    # Along an axis one component moves, so that the sum of both moves as it does.
    first, second = x[:, 0].sum(-1, keepdim=True), x[0].sum(-1, keepdim=True)
    return torch.outer(trapezoid_weights(first), trapezoid_weights(second))
