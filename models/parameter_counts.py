"""How many parameters a model has: papers count a complex one as two, or as one."""

import math
from collections.abc import Iterator

from torch import nn

from resolvent.models.layers.spectral_convolution import SpectralConvolution
from resolvent.models.layers.spectral_convolution_2d import SpectralConvolution2d


def parameter_counts(operator: nn.Module) -> tuple[int, int]:
    """Count parameters, a complex one once, as Calvello et al. (2024) do, and twice, as Cao (2021) does."""
    twice = sum(parameter.numel() for parameter in operator.parameters())
    return twice - sum(math.prod(pair.shape[:-1]) for pair in set(_pairs(operator))), twice


def _pairs(operator: nn.Module) -> Iterator[nn.Parameter]:
    """Find the complex parameters, all stored as real pairs along their last axis."""
    for module in operator.modules():
        if isinstance(module, SpectralConvolution | SpectralConvolution2d):
            yield module.weight
        elif isinstance(weights := getattr(module, "complex_weights", None), nn.ParameterDict):
            yield from weights.values()
