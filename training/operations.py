"""Operations counted rather than timed."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count


def _fused_attention_flop(query_shape, key_shape, value_shape, *args, **kwargs) -> int:
    return sdpa_flop_count(query_shape, key_shape, value_shape)


def _fused_attention_backward_flop(
    gradient_shape, query_shape, key_shape, value_shape, *args, **kwargs
) -> int:
    return sdpa_backward_flop_count(gradient_shape, query_shape, key_shape, value_shape)


# FlopCounterMode knows the fused attention of GPUs alone.
CPU_ATTENTION = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _fused_attention_flop,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: _fused_attention_backward_flop,
}


def counted(step: Callable[[], object]) -> int:
    """Operations of what `step` calls, by torch's FlopCounterMode: two for each multiplication and addition.

    Counted are matrix products, convolutions and attention, fused or not; neither pointwise work nor FFTs.
    """
    with FlopCounterMode(display=False, custom_mapping=CPU_ATTENTION) as counter:
        step()
    return counter.get_total_flops()
