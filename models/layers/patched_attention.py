"""Attention between functions (Calvello et al. 2024, arXiv:2406.06486, section 3)."""

import torch
from jaxtyping import Float
from torch import Tensor

from resolvent.models.layers.dropout import drop


def patched_attention(
    q: Float[Tensor, "batch heads patches p1 p2 e"],
    k: Float[Tensor, "batch heads patches p1 p2 e"],
    v: Float[Tensor, "batch heads patches p1 p2 f"],
    *,
    cell_volume: float,
    dropout: float = 0.0,
) -> Float[Tensor, "batch heads patches p1 p2 f"]:
    """Return Σ_k a_jk v_k with a_jk = softmax_k ⟨q_j, k_k⟩ in L²(D', ℝᵉ), definitions 13-14.

    q_j is a function on patch j, sampled at p1 × p2 points of volume `cell_volume`, so that the inner product
    is the midpoint rule (eq. 62) and nearly independent of the grid. There is no factor 1/√e. `dropout` acts
    on the patches × patches matrix.

    The functions have p1·p2·e numbers, far more than there are patches, and the matrix is the only
    intermediate. The fused kernel, which avoids it, takes twice as long (169 patches of 32 × 32 points, e =
    16, one core), since it scales copies of q and k instead of the matrix.
    """
    weights = torch.softmax(q.flatten(3) @ k.flatten(3).mT * cell_volume, dim=-1)
    z = drop(weights, dropout) @ v.flatten(3)
    return z.unflatten(3, tuple(v.shape[3:]))
