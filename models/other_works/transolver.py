"""Transolver: attention between a few learned slices of points, at linear cost in the points."""

from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor, nn

from resolvent.models.layers.common import Input, Output, Points, pointwise_network, with_coordinates
from resolvent.models.layers.dot_product_attention import dot_product_attention
from resolvent.models.layers.dropout import Dropout

EPSILON = 1e-5  # added to the weight of a slice, as in the public code


class Transolver(nn.Module):
    """Transolver (Wu et al. 2024, arXiv:2402.02366, section 3).

    (u, x) → affine to 2·`width`, GELU, affine to `width` → `num_layers` layers → layer norm, affine to
    `out_channels`. A layer is y ← y + A(LN(y)); y ← y + F(LN(y)), F affine to `feedforward_width`, GELU,
    affine, and A the attention between slices. This is the public code's model for arbitrary points, with
    pointwise maps; its model for structured grids has 3×3 convolutions, which depend on the grid. Initial
    weights are normal with deviation 0.02, truncated at ±2, biases zero.
    """

    discretisation_invariant = True

    def __init__(
        self,
        *,
        in_channels: int,
        out_channels: int,
        dimension: int,
        width: int,
        num_layers: int,
        num_heads: int,
        slices: int,
        feedforward_width: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.lifting = pointwise_network(in_channels + dimension, 2 * width, width)
        self.layers = nn.ModuleList(
            _Layer(width, num_heads, slices, feedforward_width, dropout) for _ in range(num_layers)
        )
        self.projection = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, out_channels))
        for part in self.modules():
            if isinstance(part, nn.Linear):
                nn.init.trunc_normal_(part.weight, std=0.02)
                if part.bias is not None:
                    nn.init.zeros_(part.bias)

    def forward(self, u: Input, x: Points) -> Output:
        y = self.lifting(with_coordinates(u, x)).flatten(1, -2)
        for layer in self.layers:
            y = layer(y)
        return self.projection(y).unflatten(1, x.shape[:-1])


Transolver1d = partial(Transolver, dimension=1)
Transolver2d = partial(Transolver, dimension=2)


class _Layer(nn.Module):
    def __init__(
        self, width: int, num_heads: int, slices: int, feedforward_width: int, dropout: float
    ) -> None:
        super().__init__()
        self.norm_attention, self.norm_feedforward = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = PhysicsAttention(width, num_heads, slices, dropout)
        self.feedforward = pointwise_network(width, feedforward_width, width)

    def forward(self, y: Float[Tensor, "batch points width"]) -> Float[Tensor, "batch points width"]:
        y = y + self.attention(self.norm_attention(y))
        return y + self.feedforward(self.norm_feedforward(y))


class PhysicsAttention(nn.Module):
    """Attention between slices of the points (Wu et al. 2024, eqs. 1-3), in each of `num_heads` heads.

    Point i belongs to slice g with weight w_ig = softmax_g((W s_i + b)_g / τ), with s an affine map of y and
    τ a trained temperature, initially 0.5. The token of slice g is Σ_i w_ig f_i / (Σ_i w_ig), with f another
    affine map. The tokens attend to each other by softmax, and point i gets the sum of the results with
    weights w_ig.
    """

    def __init__(self, width: int, num_heads: int, slices: int, dropout: float) -> None:
        super().__init__()
        features = width // num_heads
        self.heads, self.dropout = (num_heads, features), dropout
        self.points, self.values = nn.Linear(width, width), nn.Linear(width, width)
        self.slices = nn.Linear(features, slices)
        self.temperature = nn.Parameter(torch.full((num_heads, 1, 1), 0.5))
        self.queries = nn.Linear(features, features, bias=False)
        self.keys = nn.Linear(features, features, bias=False)
        self.tokens = nn.Linear(features, features, bias=False)
        self.out = nn.Sequential(nn.Linear(width, width), Dropout(dropout))

    def forward(self, y: Float[Tensor, "batch points width"]) -> Float[Tensor, "batch points width"]:
        weights = self.weights(y)
        values = self.values(y).unflatten(-1, self.heads).transpose(1, 2)
        tokens = (weights.mT @ values) / (weights.sum(dim=2).unsqueeze(-1) + EPSILON)
        q, k, v = self.queries(tokens), self.keys(tokens), self.tokens(tokens)
        mixed = dot_product_attention(q, k, v, rate=self.dropout if self.training else 0.0)
        return self.out((weights @ mixed).transpose(1, 2).flatten(-2))

    def weights(self, y: Float[Tensor, "batch points width"]) -> Float[Tensor, "batch heads points slices"]:
        """Return the weights of the points in each slice; the weights of a point sum to one."""
        points = self.points(y).unflatten(-1, self.heads).transpose(1, 2)
        return torch.softmax(self.slices(points) / self.temperature, dim=-1)
