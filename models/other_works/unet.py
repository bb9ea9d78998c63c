"""U-Net: convolutions on successively coarser grids, and back."""

from functools import partial
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from resolvent.models.layers.common import Input, Output, Points
from resolvent.models.other_works.settings import check_levels


class UNet(nn.Module):
    """U-Net (Ronneberger et al. 2015, arXiv:1505.04597), for functions on grids of any size.

    A block is twice: convolution over three points along each axis, normalisation, GELU. Blocks of `width`,
    2·`width`, … channels are connected downwards by max pooling over two points along each axis, and upwards
    by transposed convolutions, whose output is concatenated with the output of the block of the same size on
    the way down. A pointwise affine map follows at the end. The coordinates are not used.

    Padding is zero, or periodic. For an odd number of points the last cell has one point, and on the way up
    only the first point of that cell is used. Normalisation is over all channels and points of a sample, not
    over the batch, as in Gupta and Brandstetter (2023, arXiv:2209.15616), so that a prediction does not
    depend on other samples.
    """

    discretisation_invariant = False

    def __init__(
        self,
        *,
        in_channels: int,
        out_channels: int,
        dimension: int,
        width: int,
        num_levels: int,
        boundary: Literal["periodic", "edges"],
    ) -> None:
        super().__init__()
        widths = [width << level for level in range(num_levels + 1)]
        up = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)[dimension - 1]
        self.dimension, self.num_levels = dimension, num_levels
        self.down = nn.ModuleList(
            _Block(given, gained, dimension, boundary)
            for given, gained in zip([in_channels, *widths], widths, strict=False)
        )
        self.finer = nn.ModuleList(up(2 * one, one, kernel_size=2, stride=2) for one in widths[-2::-1])
        self.up = nn.ModuleList(_Block(2 * one, one, dimension, boundary) for one in widths[-2::-1])
        self.projection = nn.Linear(width, out_channels)

    def forward(self, u: Input, x: Points) -> Output:
        """Return the output function at the same points. Raises `ValueError` if there are too few points."""
        check_levels(self.num_levels, tuple(u.shape[1:-1]))
        pool = (functional.max_pool1d, functional.max_pool2d, _max_pool3d)[self.dimension - 1]
        v, passed = u.movedim(-1, 1), []
        for level, block in enumerate(self.down):
            v = block(pool(v, 2, ceil_mode=True) if level else v)
            passed.append(v)
        for finer, block, beside in zip(self.finer, self.up, passed[-2::-1], strict=True):
            v = finer(v)[(..., *[slice(n) for n in beside.shape[2:]])]
            v = block(torch.cat([beside, v], dim=1))
        return self.projection(v.movedim(1, -1))


UNet1d = partial(UNet, dimension=1)
UNet2d = partial(UNet, dimension=2)
UNet3d = partial(UNet, dimension=3)


def _max_pool3d(v: Tensor, size: int, ceil_mode: bool) -> Tensor:
    """Pool planes, then across them: the values and gradients of torch's `max_pool3d`.

    The gradient of that one is not deterministic on a GPU, so that torch refuses it in a training.
    """
    planes = functional.max_pool2d(v.flatten(1, 2), size, ceil_mode=ceil_mode)
    columns = planes.unflatten(1, v.shape[1:3]).movedim(2, -1)
    pooled = functional.max_pool1d(columns.flatten(1, 3), size, ceil_mode=ceil_mode)
    return pooled.unflatten(1, (v.shape[1], *columns.shape[2:4])).movedim(-1, 2)


class _Block(nn.Sequential):
    """Twice a convolution, normalisation and GELU: (batch, in_channels, *grid) → (batch, width, *grid)."""

    def __init__(self, in_channels: int, width: int, dimension: int, boundary: str) -> None:
        convolution = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[dimension - 1]
        beyond: Literal["circular", "zeros"] = "circular" if boundary == "periodic" else "zeros"
        super().__init__()
        for given in (in_channels, width):
            self.append(convolution(given, width, kernel_size=3, padding=1, padding_mode=beyond))
            self.extend([nn.GroupNorm(1, width), nn.GELU()])
