"""Predict the memory of a training step without allocating it, on meta tensors (shapes without numbers).

Every allocation and release of an array during a step is counted, but not the memory that kernels allocate
internally.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from resolvent.models.build import build
from resolvent.models.registry import resolve

ADAM_AVERAGES = 2  # running means of the gradient and of its square


@dataclass(frozen=True)
class StepMemory:
    """Bytes of a training step: of the `weights` with buffers, and the `peak` of all without the samples."""

    weights: int
    peak: int


def step_memory(architecture: str, settings: dict, points: int, batch: int, precision: str) -> StepMemory:
    """Predict the memory of a step with `batch` samples on a grid of `points` along each axis.

    Raises `ValueError` for settings or a grid that the architecture refuses.
    """
    resolved = resolve(architecture, settings)
    with torch.device("meta"):
        operator = build(architecture, settings, seed=0).train()
    sides = [points] * resolved.dimension
    u = torch.empty(batch, *sides, resolved.in_channels, device="meta")
    x = torch.empty(*sides, resolved.dimension, device="meta")

    def loss() -> Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"):
            return operator(u, x).float().square().mean()

    return memory_of_step(operator, loss)


def memory_of_step(operator: nn.Module, loss: Callable[[], Tensor]) -> StepMemory:
    """Predict the memory of a step of an operator on the device "meta"; `loss` runs the forward pass."""
    parameters = list(operator.parameters())
    weights = sum(one.nbytes for one in (*parameters, *operator.buffers()))
    averages = ADAM_AVERAGES * sum(one.nbytes for one in parameters if one.requires_grad)
    with _FusedAttention(), _Live() as live:
        loss().backward()
    # The peak of live arrays includes the gradients; clipping and Adam work in place.
    return StepMemory(weights, weights + averages + live.peak)


class _Live(TorchDispatchMode):
    """Count the bytes of live arrays that were created inside this context; `peak` is the maximum."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self.storages: dict[int, weakref.ref] = {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        given = {id(one.untyped_storage()) for one in _tensors((args, kwargs))}
        result = function(*args, **(kwargs or {}))
        for one in _tensors(result):
            storage = one.untyped_storage()
            size, key = storage.nbytes(), id(storage)
            if key not in given and key not in self.storages:
                self.storages[key] = weakref.ref(storage, partial(self._gone, size, key))
                self.now += size
                self.peak = max(self.peak, self.now)
        return result

    def _gone(self, size: int, key: int, _: weakref.ref) -> None:
        self.now -= size
        del self.storages[key]


class _FusedAttention(TorchFunctionMode):
    """Use fused attention if there is no dropout, as on CPUs and GPUs; meta tensors would not use it."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function is functional.scaled_dot_product_attention and not kwargs.get("dropout_p"):
            fused = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
            mask, scale = kwargs.get("attn_mask"), kwargs.get("scale")
            return fused(*args, attn_mask=mask, scale=scale)[0]
        return function(*args, **kwargs)


def _tensors(tree: object) -> list[Tensor]:
    return [one for one in tree_leaves(tree) if isinstance(one, Tensor) and one.is_meta]
