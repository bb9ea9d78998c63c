"""How many parameters a model has: papers count a complex one as two, or as one."""

import math
from collections.abc import Iterator

from torch import nn

from resolvent.models.spectral_convolution import SpectralConvolution
from resolvent.models.spectral_convolution_2d import SpectralConvolution2d


def parameter_counts(operator: nn.Module) -> tuple[int, int]:
    """Parameters with a complex one counted once, as Calvello et al. (2024) do, and twice, as Cao (2021)."""
    twice = sum(parameter.numel() for parameter in operator.parameters())
    return twice - sum(math.prod(pair.shape[:-1]) for pair in set(_pairs(operator))), twice


def _pairs(operator: nn.Module) -> Iterator[nn.Parameter]:
    """Complex parameters, all stored as real pairs along their last axis."""
    for module in operator.modules():
        if isinstance(module, SpectralConvolution | SpectralConvolution2d):
            yield module.weight
        elif hasattr(module, "complex_weights"):
            yield from module.complex_weights.values()
