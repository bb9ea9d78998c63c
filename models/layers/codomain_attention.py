"""Attention between the channels of a function (Calvello et al. 2024, arXiv:2406.06486, remark 16)."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from resolvent.models.layers.patched_attention import patched_attention
from resolvent.models.layers.spectral_convolution_2d import SpectralConvolution2d


class CodomainAttention(nn.Module):
    """Attention between the channels of a function, each a function on all of D (remark 16).

    Rahman et al. (2024, arXiv:2403.12553) in the notation of definition 14: D' = D, and instead of patches
    the channels u_j: D → ℝ are compared. Q, K: u_j ↦ L²(D, ℝᵉ), e = `features`, and V: u_j ↦ a function D → ℝ
    are convolutions, the same ones for every channel: the number of channels is free. The volume of D counts
    as one (eq. 63).
    """

    def __init__(self, *, features: int, modes: int) -> None:
        super().__init__()
        self.features = features
        self.projections = SpectralConvolution2d(
            in_channels=1, out_channels=2 * features + 1, modes=modes, initialisation="li"
        )

    def forward(self, u: Float[Tensor, "batch n1 n2 channels"]) -> Float[Tensor, "batch n1 n2 channels"]:
        """Return the channels' weighted means. Raises `ValueError` if the grid cannot carry the modes."""
        batch, n1, n2, channels = u.shape
        functions = u.permute(0, 3, 1, 2).reshape(batch * channels, n1, n2, 1)
        projected = self.projections(functions).view(batch, 1, channels, n1, n2, -1)
        q, k, v = torch.split(projected, [self.features, self.features, 1], dim=-1)
        z = patched_attention(q, k, v, cell_volume=1 / (n1 * n2))
        return z[:, 0, ..., 0].permute(0, 2, 3, 1)
