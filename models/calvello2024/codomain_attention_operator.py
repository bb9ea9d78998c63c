"""Attention between the channels of the hidden function, on a square."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from resolvent.models.layers.common import Input, Output, Points, pointwise_network, with_coordinates
from resolvent.models.layers.patched_attention import patched_attention
from resolvent.models.layers.spectral_convolution import SpectralConvolution2d


class CodomainAttentionOperator2d(nn.Module):
    """Layers of attention between channels (Calvello et al. 2024, arXiv:2406.06486, remark 16).

    (u, x) → affine to `width` channels → `num_layers` times v ← LN(v + A(v)); v ← LN(v + F(v)) → affine to
    `out_channels`; F is affine to `feedforward_width`, GELU, affine back, and the norms are over the channels
    of a point.

    The tokens of A are the `width` channels of v, functions on the whole square. Rahman et al. (2024,
    arXiv:2403.12553), cited in the remark, use the physical variables as tokens, each lifted to several
    channels; the datasets here have one variable in two dimensions, and attention needs several tokens. This
    arrangement is ours. The cost is O(width²·n1·n2), linear in the points.

    With d = width, f = feedforward_width, e = features, M modes, a complex weight as two:
    (c_in + 3)d + L(4M²(2e + 1) + 2df + f + d + 4d) + (d + 1)c_out parameters.
    """

    discretisation_invariant = True

    def __init__(
        self,
        *,
        in_channels: int,
        out_channels: int,
        width: int,
        num_layers: int,
        features: int,
        modes: int,
        feedforward_width: int,
        layer_norm_epsilon: float,
    ) -> None:
        super().__init__()
        self.lifting = nn.Linear(in_channels + 2, width)
        self.layers = nn.ModuleList(
            _Layer(width, features, modes, feedforward_width, layer_norm_epsilon) for _ in range(num_layers)
        )
        self.projection = nn.Linear(width, out_channels)

    def forward(self, u: Input, x: Points) -> Output:
        """Return the output function. Raises `ValueError` if the grid is too coarse for the modes."""
        v = self.lifting(with_coordinates(u, x))
        for layer in self.layers:
            v = layer(v)
        return self.projection(v)


class _Layer(nn.Module):
    def __init__(self, width: int, features: int, modes: int, hidden: int, epsilon: float) -> None:
        super().__init__()
        self.attention = CodomainAttention(features=features, modes=modes)
        self.attention_norm = nn.LayerNorm(width, eps=epsilon)
        self.feedforward = pointwise_network(width, hidden, width)
        self.feedforward_norm = nn.LayerNorm(width, eps=epsilon)

    def forward(self, v: Float[Tensor, "batch n1 n2 width"]) -> Float[Tensor, "batch n1 n2 width"]:
        v = self.attention_norm(v + self.attention(v))
        return self.feedforward_norm(v + self.feedforward(v))


class CodomainAttention(nn.Module):
    """Attention between the channels of a function, each a function on the whole domain D (remark 16).

    Rahman et al. (2024, arXiv:2403.12553) in the notation of definition 14: D' = D, with channels u_j: D → ℝ
    instead of patches. Q, K: u_j ↦ L²(D, ℝᵉ), e = `features`, and V: u_j ↦ a function D → ℝ are convolutions
    shared by all channels, so the number of channels is arbitrary. The volume of D is taken as one (eq. 63).
    """

    def __init__(self, *, features: int, modes: int) -> None:
        super().__init__()
        self.features = features
        self.projections = SpectralConvolution2d(
            in_channels=1, out_channels=2 * features + 1, modes=modes, initialisation="li"
        )

    def forward(self, u: Float[Tensor, "batch n1 n2 channels"]) -> Float[Tensor, "batch n1 n2 channels"]:
        """Return weighted means of the channels. Raises `ValueError` if the grid has too few points."""
        batch, n1, n2, channels = u.shape
        functions = u.permute(0, 3, 1, 2).reshape(batch * channels, n1, n2, 1)
        projected = self.projections(functions).view(batch, 1, channels, n1, n2, -1)
        q, k, v = torch.split(projected, [self.features, self.features, 1], dim=-1)
        z = patched_attention(q, k, v, cell_volume=1 / (n1 * n2))
        return z[:, 0, ..., 0].permute(0, 2, 3, 1)
