"""Torch's Adam, and its count of operations, without the import of torch's compiler.

Torch keeps functions of both out of what it compiles, and imports its compiler to say so, with SymPy behind
it: that takes as long as the import of torch itself. A training calls them outside of all that is compiled,
so here they are called as they are written. Numbers are the same, to the bit.
"""

from __future__ import annotations

from inspect import unwrap

import torch
from torch.utils.flop_counter import FlopCounterMode


class Adam(torch.optim.Adam):
    """Torch's own Adam; it is not part of what is compiled."""

    add_param_group = unwrap(torch.optim.Adam.add_param_group)
    zero_grad = unwrap(torch.optim.Adam.zero_grad)
    state_dict = unwrap(torch.optim.Adam.state_dict)
    load_state_dict = unwrap(torch.optim.Adam.load_state_dict)
    step = torch.no_grad()(unwrap(torch.optim.Adam.step))


class OperationCounter(FlopCounterMode):
    """Torch's own counter of operations; what it counts is executed, not compiled."""

    def __enter__(self) -> OperationCounter:
        super().__enter__()
        mode = type(self.mode)
        mode.__torch_dispatch__ = unwrap(mode.__torch_dispatch__)
        return self
