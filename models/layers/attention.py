"""The four attentions of Cao (2021, arXiv:2105.14995), in the fastest order of products.

Q, K and V have shape (batch, heads, n, e): n points, e features per head. Dropout acts on the attention
matrix if its rate is positive; callers pass 0 in evaluation.

Results depend on n only through a quadrature or an average over points: on a finer grid they approximate the
same integrals. (Exception: `linear` with the public code's scaling.)
"""

import math
from typing import Literal

from jaxtyping import Float
from torch import Tensor

from resolvent.models.layers.dot_product_attention import dot_product_attention
from resolvent.models.layers.dropout import drop

Features = Float[Tensor, "batch heads n e"]


def galerkin(q: Features, k: Features, v: Features, *, dropout: float = 0.0) -> Features:
    """Compute Q(KᵀV)/n, eq. 6: coefficients of a Petrov-Galerkin projection, expanded in Q. Cost O(n e²).

    `dropout` acts on the e×e matrix KᵀV/n.
    """
    return q @ drop(k.mT @ v / q.shape[-2], dropout)


def fourier(
    q: Features,
    k: Features,
    v: Features,
    *,
    contraction: Literal["linear", "quadratic"] = "linear",
    public_code_scaling: bool = False,
    dropout: float = 0.0,
) -> Features:
    """Compute (QKᵀ)V/n, eq. 5: an integral transform with the kernel ⟨q(x), k(ξ)⟩.

    Without softmax the products associate: "linear" computes Q(KᵀV)/n in O(n e²), "quadratic" first the n×n
    matrix, in O(n² e), as printed. `dropout` acts on that n×n matrix, so a positive rate uses the quadratic
    order. `public_code_scaling` also divides by √e, as in the public code.
    """
    scale = q.shape[-2] * (math.sqrt(q.shape[-1]) if public_code_scaling else 1.0)
    if contraction == "linear" and dropout == 0.0:
        return q @ (k.mT @ v / scale)
    return drop(q @ k.mT / scale, dropout) @ v


def softmax(q: Features, k: Features, v: Features, *, dropout: float = 0.0) -> Features:
    """Compute softmax(QKᵀ/√e)V (Vaswani et al. 2017), fused; `dropout` acts on the n×n matrix."""
    return dot_product_attention(q, k, v, rate=dropout)


def linear(
    q: Features, k: Features, v: Features, *, public_code_scaling: bool = False, dropout: float = 0.0
) -> Features:
    """Compute softmax_features(Q)·(softmax_points(K)ᵀV), efficient attention (Shen et al. 2021), in O(n e²).

    `dropout` acts on the e×e matrix. `public_code_scaling` divides by n, although the softmax over points is
    already normalised: the result is then O(1/n) and depends on the grid.
    """
    matrix = k.softmax(dim=-2).mT @ v
    if public_code_scaling:
        matrix = matrix / q.shape[-2]
    return q.softmax(dim=-1) @ drop(matrix, dropout)
