"""The transformer neural operator with proven universal approximation, in one or two dimensions."""

from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor, nn

from resolvent.models.layers.common import Input, Output, Points, pointwise_network
from resolvent.models.layers.continuum_attention import continuum_attention, trapezoid_log_weights


class UniversalApproximator(nn.Module):
    """One attention between pointwise networks (Calvello et al. 2024, arXiv:2406.06486, eqs. 31-34).

    v = R₂ f(R₁(u, x) + b_R) + b_R'       the input network (eq. 32)
    v ← W₁ v + A(v; Q, K, V)              one head of continuum attention, on trapezoidal weights (eq. 34a)
    v ← W₂ v + W₃ f(W₄ v + b₁) + b₂       (eq. 34b)
    P₂ f(P₁(v, x) + b_P) + b_P'           the output network (eq. 33)

    f is GELU: smooth, Lipschitz and not a polynomial, as the theorems require; there is no layer norm. On
    compact sets these operators approximate any continuous operator between spaces C^s (theorem 22), or
    between Sobolev spaces (theorem 23), in any dimension. The proof uses Q = K = 0 and V = W₃ = W₄ = I, W₂ =
    0, b₂ = 0: attention is then the mean of v, and the layer is f(W₁ v + b₁ + mean of v), eq. 37.

    `feedforward_width` is the hidden width of all three networks. With d = width, f hidden, c_in and c_out
    channels and m coordinates: (c_in + m + 1)f + (f + 1)d + 5d² + (d + 1)f + (f + 1)d + (d + m + 1)f +
    (f + 1)c_out parameters.
    """

    discretisation_invariant = True

    def __init__(
        self, *, in_channels: int, out_channels: int, dimension: int, width: int, feedforward_width: int
    ) -> None:
        super().__init__()
        self.lifting = pointwise_network(in_channels + dimension, feedforward_width, width)
        self.attention = nn.Linear(width, 3 * width, bias=False)  # Q, K and V, stacked
        self.attention_skip = nn.Linear(width, width, bias=False)  # W₁
        self.feedforward = pointwise_network(width, feedforward_width, width)  # W₄, b₁, W₃, b₂
        self.feedforward_skip = nn.Linear(width, width, bias=False)  # W₂
        self.projection = pointwise_network(width + dimension, feedforward_width, out_channels)

    def forward(self, u: Input, x: Points) -> Output:
        """Return the output function. Raises `ValueError` as `trapezoid_weights` does."""
        place = x.flatten(0, -2).expand(len(u), -1, -1)
        v = self.lifting(torch.cat([u.flatten(1, -2), place], dim=-1))
        v = self.encode(v, trapezoid_log_weights(x))
        return self.projection(torch.cat([v, place], dim=-1)).view(*u.shape[:-1], -1)

    def encode(
        self, v: Float[Tensor, "batch points width"], log_weights: Float[Tensor, " points"]
    ) -> Float[Tensor, "batch points width"]:
        """Apply eq. 34, with the log-weights of the points, up to a constant."""
        q, k, values = self.attention(v)[:, None].chunk(3, dim=-1)
        v = self.attention_skip(v) + continuum_attention(q, k, values, log_weights)[:, 0]
        return self.feedforward_skip(v) + self.feedforward(v)


UniversalApproximator1d = partial(UniversalApproximator, dimension=1)
UniversalApproximator2d = partial(UniversalApproximator, dimension=2)
