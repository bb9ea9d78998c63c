"""The precision of products in a training step: float32, TF32 on NVIDIA's GPUs, or bfloat16 by autocast."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch


def forward_precision(device: torch.device, precision: str) -> AbstractContextManager:
    """Return the context of a forward pass: autocast to bfloat16, or none."""
    return torch.autocast(device.type, torch.bfloat16) if precision == "bfloat16" else nullcontext()


@contextmanager
def tf32(allowed: bool) -> Iterator[None]:
    """Let products and convolutions of float32 numbers on a GPU round their operands to 10 bits, or not.

    Of itself torch lets convolutions, and products not. The backward pass has to be within, too.
    """
    chosen = "tf32" if allowed else "ieee"
    switches = (torch.backends.cuda.matmul, torch.backends.cudnn.conv)
    before = [switch.fp32_precision for switch in switches]
    try:
        for switch in switches:
            switch.fp32_precision = chosen
        yield
    finally:
        for switch, value in zip(switches, before, strict=True):
            switch.fp32_precision = value
