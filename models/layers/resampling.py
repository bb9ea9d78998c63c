"""Interpolating CNNs from a fine grid to a coarse one and back (Cao 2021, arXiv:2105.14995, appendix B).

As in the public code: 3×3 convolutions without bias, zero outside, and bilinear interpolation between grids
with common corners, which preserves affine functions such as the coordinates. A convolution reaches one point
on any grid, so the samplers are not discretisation-invariant.

Channels are last; the convolutions use this memory layout, which on a CPU is also a third faster than
channels first (forward and backward of both samplers, 85², 128 channels, one core).
"""

from functools import partial
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from resolvent.models.layers.common import cached, without_autocast
from resolvent.models.layers.dropout import Dropout
from resolvent.models.layers.grid_sizes import downsampled_sizes

ACTIVATIONS = {"relu": nn.ReLU, "silu": nn.SiLU}


def interpolate(u: Float[Tensor, "batch n1 n2 c"], sizes: tuple[int, int]) -> Float[Tensor, "batch m1 m2 c"]:
    """Interpolate bilinearly to m1 × m2 points; the corners of the two grids coincide."""
    return _bilinear(u.permute(0, 3, 1, 2), sizes).permute(0, 2, 3, 1)


class DownSampler(nn.Module):
    """Map any grid to the coarse grid of `downsampled_sizes`, and `in_channels` to `width` channels.

    Convolution to `width` channels → intermediate grid → activation → three successive convolutions, to
    ⌊w/3⌋, ⌊w/3⌋ and the remaining channels, whose outputs are concatenated → coarse grid → activation (figure
    6, as coded: without skip connections). Dropout and an activation follow every convolution.
    9·(in_channels·w + w·⌊w/3⌋ + ⌊w/3⌋² + ⌊w/3⌋·(w - 2⌊w/3⌋)) parameters, w = `width`.
    """

    def __init__(
        self,
        *,
        in_channels: int,
        width: int,
        factor: float,
        activation: Literal["relu", "silu"],
        dropout: float,
    ) -> None:
        super().__init__()
        self.factor = factor
        self.activation = ACTIVATIONS[activation]()
        self.dropout = Dropout(dropout)
        third = width // 3
        self.first = _convolution(in_channels, width)
        self.stacked = nn.ModuleList(
            [_convolution(width, third), _convolution(third, third), _convolution(third, width - 2 * third)]
        )

    def forward(
        self, u: Float[Tensor, "batch n1 n2 in_channels"]
    ) -> Float[Tensor, "batch coarse1 coarse2 width"]:
        """Sample down. Raises `ValueError` if the grid is too small for the factor."""
        middle, coarse = zip(*(downsampled_sizes(n, self.factor) for n in u.shape[1:3]), strict=True)
        v = self._block(self.first, u.permute(0, 3, 1, 2))
        v = self.activation(_bilinear(v, middle))
        outputs = []
        for convolution in self.stacked:
            v = self._block(convolution, v)
            outputs.append(v)
        v = self.activation(_bilinear(torch.cat(outputs, dim=1), coarse))
        return v.permute(0, 2, 3, 1)

    def _block(self, convolution: nn.Module, v: Tensor) -> Tensor:
        return self.activation(self.dropout(convolution(v)))


class UpSampler(nn.Module):
    """Interpolate, convolve, interpolate at `width` channels (figure 7).

    Dropout and SiLU follow the convolution twice, as coded. 9·width² parameters.
    """

    def __init__(self, *, width: int, dropout: float) -> None:
        super().__init__()
        self.convolution = nn.Sequential(
            _convolution(width, width), Dropout(dropout), nn.SiLU(), Dropout(dropout), nn.SiLU()
        )

    def forward(
        self, v: Float[Tensor, "batch n1 n2 width"], middle: tuple[int, int], fine: tuple[int, int]
    ) -> Float[Tensor, "batch fine1 fine2 width"]:
        """Sample up from the grid of `v` to `middle` points, and from there to `fine` points."""
        v = self.convolution(_bilinear(v.permute(0, 3, 1, 2), middle))
        return _bilinear(v, fine).permute(0, 2, 3, 1)


def _convolution(in_channels: int, out_channels: int) -> nn.Conv2d:
    return nn.Conv2d(in_channels, out_channels, kernel_size=3, padding=1, bias=False)


def _bilinear(v: Float[Tensor, "batch c n1 n2"], sizes: tuple[int, int]) -> Float[Tensor, "batch c m1 m2"]:
    # On a GPU torch's backward pass is only deterministic by indexing, which is slow.
    by = by_matrices if v.is_cuda else partial(functional.interpolate, mode="bilinear", align_corners=True)
    return by(v, size=sizes)


def by_matrices(v: Float[Tensor, "batch c n1 n2"], size: tuple[int, int]) -> Float[Tensor, "batch c m1 m2"]:
    """Interpolate bilinearly, by one matrix product for each axis, at least in single precision."""
    batch, channels, n1, n2 = v.shape
    with without_autocast(v.device):
        u = v.permute(0, 2, 3, 1).to(torch.promote_types(v.dtype, torch.float32))
        first, second = (hat_functions(n, m, u.device, u.dtype) for n, m in ((n1, size[0]), (n2, size[1])))
        u = (first @ u.reshape(batch, n1, -1)).view(batch, size[0], n2, channels)
        return (second @ u).to(v.dtype).permute(0, 3, 1, 2)


@cached
def hat_functions(n: int, m: int, device: torch.device, dtype: torch.dtype) -> Float[Tensor, "m n"]:
    """Return the piecewise linear basis functions of n points at m points, with common ends."""
    with torch.inference_mode(False):  # the cached matrices may be used in a training step
        at = torch.linspace(0, n - 1, m, dtype=torch.float64)
        return (1 - (at[:, None] - torch.arange(n)).abs()).clamp(min=0).to(device, dtype)
