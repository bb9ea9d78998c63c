"""Count floating-point operations."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count

# By default FlopCounterMode only knows the fused attention kernels of GPUs.
CPU_ATTENTION = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: (
        lambda q, k, v, *_, **__: sdpa_flop_count(q, k, v)
    ),
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: (
        lambda gradient, q, k, v, *_, **__: sdpa_backward_flop_count(gradient, q, k, v)
    ),
}


def counted(step: Callable[[], object]) -> int:
    """Return the operations of `step` by torch's FlopCounterMode; a multiply-add counts as two.

    Counts matrix products, convolutions and attention, fused or not, but neither pointwise operations nor
    FFTs. A complex product counts as one, as in the formulas of Calvello et al. 2024, although it is four.
    """
    with FlopCounterMode(display=False, custom_mapping=CPU_ATTENTION) as counter:
        step()
    return counter.get_total_flops()


@torch.no_grad()
def forward_operations(operator: nn.Module, inputs: Tensor, coordinates: Tensor) -> int:
    """Return the operations of a forward pass in evaluation mode, for (batch, ...space, channels).

    Moves the operator to the CPU, unless it is on the device "meta", since the number depends on the device:
    on a GPU bilinear interpolation is a matrix product.
    """
    if not inputs.is_meta:
        operator, inputs, coordinates = operator.cpu(), inputs.cpu(), coordinates.cpu()
    operator.eval()
    return counted(lambda: operator(inputs, coordinates))
