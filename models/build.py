"""Build a torch module from the name of an architecture and its settings, and count its parameters."""

import torch
from torch import nn

from resolvent.common.outside import find
from resolvent.models.layers.spectral_convolution import (
    SpectralConvolution,
    SpectralConvolution2d,
    SpectralConvolution3d,
)
from resolvent.models.registry import missing_packages, resolve


def build(architecture: str, settings: dict, seed: int) -> nn.Module:
    """Build the operator `architecture` with `settings`; its initial weights depend only on `seed`.

    The architecture's module is imported here, so that a change of one model does not affect others. torch's
    global generator is not changed. Raises `ValueError` as `models.registry.resolve`, and if the
    architecture's package is not installed.
    """
    resolved = resolve(architecture, settings)
    if missing := missing_packages(architecture):
        raise ValueError(missing)
    operator_class = find(resolved.operator)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # parameters are created on the CPU
        return operator_class(**resolved.model_dump())


def real_pairs(operator: nn.Module) -> set[nn.Parameter]:
    """Return the parameters that hold complex weights as real pairs, in a last axis of two."""
    pairs: set[nn.Parameter] = set()
    for module in operator.modules():
        if isinstance(module, SpectralConvolution | SpectralConvolution2d | SpectralConvolution3d):
            pairs.add(module.weight)
        elif isinstance(weights := getattr(module, "complex_weights", None), nn.ParameterDict):
            pairs.update(weights.values())
    return pairs


def parameter_counts(operator: nn.Module) -> tuple[int, int]:
    """Count the parameters with complex ones counted once (Calvello et al. 2024) and twice (Cao 2021)."""
    twice = sum(parameter.numel() for parameter in operator.parameters())
    return twice - sum(pair.numel() // 2 for pair in real_pairs(operator)), twice
