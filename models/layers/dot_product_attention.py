"""Softmax attention by torch's fused kernels, and on a GPU in blocks of queries where that is faster."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.amp import custom_bwd, custom_fwd
from torch.nn import functional

from resolvent.models.layers.dropout import drop

ENTRIES = 2**26  # of the matrix that are formed at once
ALIGNED = 8  # divides the number of features for torch's fused kernels on a GPU


def dot_product_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor | None = None,
    rate: float = 0.0,
    scale: float | None = None,
) -> Tensor:
    """Return softmax(scale·qkᵀ + mask)v, (batch, heads, queries, f); dropout of `rate` acts on the matrix.

    q is (batch, heads, queries, e), k (batch, heads, nodes, e), v (batch, heads, nodes, f), and the mask the
    same for all queries, such as (1, nodes), without a gradient; without `scale`, 1/√e. A fused kernel on a
    CPU, which there has no dropout, and on a GPU in bfloat16 without mask. Otherwise a GPU uses `InBlocks`:
    torch's fused kernel has a deterministic backward pass that treats all points of a head one after another
    and takes up to 16 times as long (8192 points, four samples, one head, on an H200).
    """
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    if not q.is_cuda:
        if rate == 0.0:
            return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)
        products = q * scale @ k.mT
        return drop(torch.softmax(products if mask is None else products + mask, dim=-1), rate) @ v
    low = q.dtype == torch.bfloat16 or torch.is_autocast_enabled("cuda")
    if mask is not None or not low:
        return InBlocks.apply(q, k, v, mask, rate, scale)
    # Features that are zero change neither the products nor the others' gradients.
    features = v.shape[-1]
    q, k, v = (functional.pad(one, (0, -one.shape[-1] % ALIGNED)) for one in (q, k, v))
    return functional.scaled_dot_product_attention(q, k, v, dropout_p=rate, scale=scale)[..., :features]


class InBlocks(torch.autograd.Function):
    """Attention that forms the matrix for some queries at a time, and again in the backward pass.

    Deterministic. Dropout keeps one byte for each entry of the matrix, the only array of its size.
    """

    @staticmethod
    @custom_fwd(device_type="cuda", cast_inputs=torch.bfloat16)
    def forward(
        ctx, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, rate: float, scale: float
    ) -> Tensor:
        """Return the attention, as `dot_product_attention`."""
        ctx.rate, ctx.scale, results, kept = rate, scale, [], []
        ctx.rows = max(1, ENTRIES // (q.shape[0] * q.shape[1] * k.shape[2]))
        for some in q.split(ctx.rows, dim=2):
            matrix = _matrix(some, k, mask, scale)
            if rate:
                matrix, here = torch.native_dropout(matrix, rate, train=True)
                kept.append(here)
            results.append(matrix @ v)
        ctx.save_for_backward(q, k, v, mask, *kept)
        return torch.cat(results, dim=2)

    @staticmethod
    @custom_bwd(device_type="cuda")
    def backward(ctx, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of q, k and v."""
        q, k, v, mask, *kept = ctx.saved_tensors
        # In bfloat16 the errors of sums over many blocks would add up.
        single = torch.promote_types(k.dtype, torch.float32)
        of_q, (of_k, of_v) = [], (torch.zeros_like(one, dtype=single) for one in (k, v))
        blocks = zip(q.split(ctx.rows, dim=2), gradient.split(ctx.rows, dim=2), strict=True)
        for number, (some, slope) in enumerate(blocks):
            matrix = _matrix(some, k, mask, ctx.scale)
            of_matrix, dropped = slope @ v.mT, matrix
            if ctx.rate:
                factor = kept[number] / (1 - ctx.rate)
                of_matrix, dropped = of_matrix * factor, matrix * factor
            of_v += dropped.mT @ slope
            of_products = torch._softmax_backward_data(of_matrix, matrix, -1, matrix.dtype)
            of_q.append(ctx.scale * (of_products @ k))
            of_k += of_products.mT @ some
        return torch.cat(of_q, dim=2), ctx.scale * of_k, of_v, None, None, None


def _matrix(q: Tensor, k: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    products = (scale * q) @ k.mT
    return torch.softmax(products if mask is None else products + mask, dim=-1)
