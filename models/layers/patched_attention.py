"""Attention between functions (Calvello et al. 2024, arXiv:2406.06486, section 3)."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional


def patched_attention(
    q: Float[Tensor, "batch heads patches p1 p2 e"],
    k: Float[Tensor, "batch heads patches p1 p2 e"],
    v: Float[Tensor, "batch heads patches p1 p2 f"],
    *,
    cell_volume: float,
    dropout: float = 0.0,
) -> Float[Tensor, "batch heads patches p1 p2 f"]:
    """Compute Σ_k a_jk v_k with a_jk = softmax_k ⟨q_j, k_k⟩ in L²(D', ℝᵉ), definitions 13-14.

    q_j is a function on the patch j, sampled at p1 × p2 points that stand for `cell_volume` each, so that the
    inner product is that of the midpoint rule (eq. 62) and nearly the same on another grid. There is no 1/√e.
    `dropout` acts on the patches × patches matrix.

    The functions are vectors of p1·p2·e numbers, far more than there are patches, and that matrix is the only
    intermediate. It is not worth avoiding: the fused kernel takes twice as long (169 patches of 32 × 32
    points, e = 16, one core) and scales copies of q and k in the place of the matrix.
    """
    weights = torch.softmax(q.flatten(3) @ k.flatten(3).mT * cell_volume, dim=-1)
    z = functional.dropout(weights, dropout) @ v.flatten(3)
    return z.unflatten(3, tuple(v.shape[3:]))
