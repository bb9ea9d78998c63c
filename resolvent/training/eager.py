"""Torch's Adam, its sums of gradients, and its count of operations, without the import of torch's compiler.

Torch keeps functions of these out of what it compiles, and imports its compiler to say so, with SymPy behind
it: that takes as long as the import of torch itself. A training calls them outside of all that is compiled,
so here they are called as they are written. Numbers are the same, to the bit.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from inspect import unwrap
from types import SimpleNamespace

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.flop_counter import FlopCounterMode


class Adam(torch.optim.Adam):
    """Torch's own Adam; it is not part of what is compiled."""

    add_param_group = unwrap(torch.optim.Adam.add_param_group)
    zero_grad = unwrap(torch.optim.Adam.zero_grad)
    state_dict = unwrap(torch.optim.Adam.state_dict)
    load_state_dict = unwrap(torch.optim.Adam.load_state_dict)
    step = torch.no_grad()(unwrap(torch.optim.Adam.step))


class SummedGradients(DistributedDataParallel):
    """Torch's own DistributedDataParallel around what is not compiled.

    It asks the compiler which way of adding up goes with compiled modules; here the answer is the one that
    there is where nothing was chosen.
    """

    def __init__(self, *arguments, **options):
        unknown = sys.modules.get("torch._dynamo") is None
        if unknown:
            torch._dynamo = SimpleNamespace(
                utils=SimpleNamespace(get_optimize_ddp_mode=lambda: "ddp_optimizer")
            )
        try:
            super().__init__(*arguments, **options)
        finally:
            if unknown:
                del torch._dynamo

    _inside_ddp_forward = contextmanager(unwrap(DistributedDataParallel._inside_ddp_forward))


class OperationCounter(FlopCounterMode):
    """Torch's own counter of operations; what it counts is executed, not compiled."""

    def __enter__(self) -> OperationCounter:
        super().__enter__()
        mode = type(self.mode)
        mode.__torch_dispatch__ = unwrap(mode.__torch_dispatch__)
        return self
