"""Attention between functions (Calvello et al. 2024, arXiv:2406.06486, section 3)."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from resolvent.models.layers.spectral_convolution_2d import SpectralConvolution2d


def patched_attention(
    q: Float[Tensor, "batch heads patches p1 p2 e"],
    k: Float[Tensor, "batch heads others p1 p2 e"],
    v: Float[Tensor, "batch heads others p1 p2 f"],
    *,
    cell_volume: float,
    dropout: float = 0.0,
) -> Float[Tensor, "batch heads patches p1 p2 f"]:
    """Compute Σ_k a_jk v_k with a_jk = softmax_k ⟨q_j, k_k⟩ in L²(D', ℝᵉ), definitions 13-14 and 17-18.

    q_j is a function on the patch j, sampled at p1 × p2 points that stand for `cell_volume` each, so that the
    inner product is that of the midpoint rule (eq. 62) and nearly the same on another grid. There is no 1/√e.
    Self-attention has q, k and v of one function, cross-attention q of another than k and v. `dropout` acts
    on the patches × others matrix.

    The functions are vectors of p1·p2·e numbers, far more than there are patches, and that matrix is the only
    intermediate. It is not worth avoiding: the fused kernel takes twice as long (169 patches of 32 × 32
    points, e = 16, one core) and scales copies of q and k in the place of the matrix.
    """
    weights = torch.softmax(q.flatten(3) @ k.flatten(3).mT * cell_volume, dim=-1)
    z = functional.dropout(weights, dropout) @ v.flatten(3)
    return z.unflatten(3, tuple(v.shape[3:]))


class CodomainAttention(nn.Module):
    """Attention between the channels of a function, each a function on all of D (remark 16).

    Rahman et al. (2024, arXiv:2403.12553) in the notation of definition 14: D' = D, and instead of patches
    the channels u_j: D → ℝ are compared. Q, K: u_j ↦ L²(D, ℝᵉ), e = `features`, and V: u_j ↦ a function D → ℝ
    are convolutions, the same ones for every channel: the number of channels is free.
    """

    def __init__(self, *, features: int, modes: int, band: Literal["whole", "resolved"] = "whole") -> None:
        super().__init__()
        self.features = features
        self.projections = SpectralConvolution2d(
            in_channels=1, out_channels=2 * features + 1, modes=modes, initialisation="li", band=band
        )

    def forward(
        self, u: Float[Tensor, "batch n1 n2 channels"], cell_volume: float
    ) -> Float[Tensor, "batch n1 n2 channels"]:
        """Return the channels' weighted means. Raises `ValueError` if the grid cannot carry the modes."""
        batch, n1, n2, channels = u.shape
        functions = u.permute(0, 3, 1, 2).reshape(batch * channels, n1, n2, 1)
        projected = self.projections(functions).view(batch, 1, channels, n1, n2, -1)
        q, k, v = torch.split(projected, [self.features, self.features, 1], dim=-1)
        z = patched_attention(q, k, v, cell_volume=cell_volume)
        return z[:, 0, ..., 0].permute(0, 2, 3, 1)
