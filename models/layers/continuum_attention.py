"""Softmax attention as an operator between functions (Calvello et al. 2024, arXiv:2406.06486, section 2).

A(v)(x) = ∫ e^{s(x,y)} Vv(y) dy / ∫ e^{s(x,y)} dy,   s(x, y) = ⟨Qv(x), Kv(y)⟩/√d_K     (definitions 4 and 5)

is the mean of Vv under the density p(y; x) ∝ e^{s(x,y)}; with Q of one function and K and V of another
function on another domain it is cross-attention (definitions 10 and 11). With quadrature weights w_l at the
nodes of v,

A_j = Σ_l w_l e^{s_jl} V_l / Σ_l w_l e^{s_jl} = Σ_l softmax_l(s_jl + log w_l) V_l:

the weights are exactly additive terms of the scores. With the trapezoidal rule these sums are the paper's
pairwise sums (eqs. 58-59), regrouped by nodes.

The paper prints s without the factor 1/√d_K, but its public code has it. It is included here unless `scaled`
is False: Q can absorb it, and the usual initial weights assume it.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.weak import WeakIdKeyDictionary

from resolvent.models.layers.dot_product_attention import dot_product_attention

_LOOKED_AT = WeakIdKeyDictionary()  # version of each grid when its nodes were checked


def trapezoid_weights(x: Float[Tensor, "n 1"]) -> Float[Tensor, " n"]:
    """Return w_1 = (x_2 - x_1)/2, w_l = (x_{l+1} - x_{l-1})/2, w_n = (x_n - x_{n-1})/2, in units of x.

    Nodes may be unevenly spaced. Second order, exact for piecewise linear functions. Raises `ValueError` for
    fewer than two nodes, or nodes that do not increase. A grid is checked only once, since checking waits for
    the GPU, and again if it was changed in place. Nothing is checked during compilation and on the device
    "meta".
    """
    _check_nodes(x, [x])
    return _weights(x)


def product_trapezoid_weights(x: Float[Tensor, "n1 n2 2"]) -> Float[Tensor, "n1 n2"]:
    """Return the products of both axes' trapezoidal weights, for any spacing along the axes.

    x[i, j] = (a_i, b_j), or (b_j, a_i) if the first component varies along the second axis. Raises
    `ValueError` as `trapezoid_weights`.
    """
    # Along an axis only one component varies, so the sum of both has the same differences.
    axes = [x[:, 0].sum(-1, keepdim=True), x[0].sum(-1, keepdim=True)]
    _check_nodes(x, axes)
    return torch.outer(*map(_weights, axes))


def _weights(x: Float[Tensor, "n 1"]) -> Float[Tensor, " n"]:
    halves = x[:, 0].diff() / 2
    return torch.cat([halves[:1], halves[:-1] + halves[1:], halves[-1:]])


def _check_nodes(grid: Tensor, axes: list[Tensor]) -> None:
    """Raise `ValueError` unless each axis of the grid, (n, 1), has at least two nodes, which increase."""
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


def trapezoid_log_weights(x: Float[Tensor, "*grid dim"]) -> Float[Tensor, " points"]:
    """Return log w_l of the trapezoidal rule, up to a constant, in the order of the flattened grid.

    `x` has increasing nodes, (n, 1), or a grid of two such axes, (n1, n2, 2). The largest value is 0, so that
    others are accurate in low precision. Raises `ValueError` as `trapezoid_weights`.
    """
    weights = trapezoid_weights(x) if x.shape[-1] == 1 else product_trapezoid_weights(x).flatten()
    return (weights / weights.max()).log()


def continuum_attention(
    q: Float[Tensor, "batch heads queries e"],
    k: Float[Tensor, "batch heads nodes e"],
    v: Float[Tensor, "batch heads nodes e"],
    log_weights: Float[Tensor, " nodes"] | None = None,
    *,
    dropout: float = 0.0,
    scaled: bool = True,
) -> Float[Tensor, "batch heads queries e"]:
    """Return A_j above. `log_weights` are up to a constant; None: equal weights, ordinary softmax attention.

    One fused kernel without a queries × nodes array: the log-weights are a mask broadcast over the queries.
    (As an additional feature of Q and K they need concatenations: about 30 % more time, forward and backward,
    for 200 and for 4096 points.) `dropout` acts on the probabilities, and needs the array. Without `scaled`,
    s has no factor 1/√d_K.
    """
    mask = None if log_weights is None else log_weights[None, None, None].to(q.dtype)
    scale = None if scaled else 1.0
    return dot_product_attention(q, k, v, mask=mask, rate=dropout, scale=scale)


class ContinuumAttention(nn.Module):
    """Attention with several heads, from a function u to a function v (Calvello et al. 2024, eq. 11).

    Q = affine(u), K, V = affine(v), each split into `num_heads` heads of width/num_heads features; the heads'
    A_j, concatenated, are mapped affinely to `width`. Self-attention is v = u. 4(d² + d) parameters.

    `dropout` acts on the probabilities in training; `scaled` is `continuum_attention`'s.
    """

    def __init__(self, *, width: int, num_heads: int, dropout: float = 0.0, scaled: bool = True) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.dropout, self.scaled = dropout, scaled
        self.projection = nn.Linear(width, 3 * width)  # Q, K and V, stacked
        self.output = nn.Linear(width, width)

    def forward(
        self,
        u: Float[Tensor, "batch queries width"],
        v: Float[Tensor, "batch nodes width"],
        log_weights: Float[Tensor, " nodes"] | None = None,
    ) -> Float[Tensor, "batch queries width"]:
        """Attend at the points of u; `log_weights` belong to the points of v, up to a constant."""
        if v is u:
            q, k, v = self._heads(self.projection(u), 3)
        else:
            width = u.shape[-1]
            weight, bias = self.projection.weight, self.projection.bias
            (q,) = self._heads(functional.linear(u, weight[:width], bias[:width]), 1)
            k, v = self._heads(functional.linear(v, weight[width:], bias[width:]), 2)
        dropout = self.dropout if self.training else 0.0
        z = continuum_attention(q, k, v, log_weights, dropout=dropout, scaled=self.scaled)
        return self.output(z.transpose(1, 2).flatten(2))

    def _heads(self, features: Tensor, parts: int) -> tuple[Tensor, ...]:
        """Split the features into their parts, each (batch, heads, n, head_width), without copies.

        The parts are contiguous in the features, so that their gradients are assembled in one pass.
        """
        split = features.unflatten(-1, (parts, self.num_heads, -1)).unbind(-3)
        return tuple(part.transpose(1, 2) for part in split)
