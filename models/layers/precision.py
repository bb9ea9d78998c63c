"""Parts of an operator that keep the weights' precision."""

from contextlib import AbstractContextManager, nullcontext

import torch


def without_autocast(device: torch.device) -> AbstractContextManager:
    """Switch autocast off on the device; one that has none, such as "meta", is left as it is."""
    if not torch.amp.is_autocast_available(device.type):
        return nullcontext()
    return torch.autocast(device.type, enabled=False)
