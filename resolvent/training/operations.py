"""Operations counted rather than timed."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count

# FlopCounterMode knows the fused attention of GPUs alone.
CPU_ATTENTION = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: (
        lambda q, k, v, *_, **__: sdpa_flop_count(q, k, v)
    ),
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: (
        lambda gradient, q, k, v, *_, **__: sdpa_backward_flop_count(gradient, q, k, v)
    ),
}


def counted(step: Callable[[], object]) -> int:
    """Return the operations of `step` by torch's FlopCounterMode: a multiplication and addition are two.

    Counted are matrix products, convolutions and attention, fused or not; neither pointwise work nor FFTs. A
    complex product counts as one product, as in the formulas of Calvello et al. 2024, where it is four.
    """
    with FlopCounterMode(display=False, custom_mapping=CPU_ATTENTION) as counter:
        step()
    return counter.get_total_flops()


@torch.no_grad()
def forward_operations(operator: nn.Module, inputs: Tensor, coordinates: Tensor) -> int:
    """Return operations, as `counted`, of the output for `inputs` (batch, ...space, channels).

    The operator is left in evaluation, where it drops nothing.
    """
    operator.eval()
    return counted(lambda: operator(inputs, coordinates))
