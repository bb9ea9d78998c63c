"""Last layers that take out the jumps between patches (Calvello et al. 2024, arXiv:2406.06486, remark 21)."""

import math
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from resolvent.models.layers.precision import without_autocast
from resolvent.models.layers.spectral_convolution_2d import SpectralConvolution2d


class LearnedSmoother(nn.Module):
    """z ← z + Kz with a spectral convolution K on the whole grid (first version of the paper, remark 21).

    With one channel and 64 modes K has 8,192 complex weights. They start from Unif[0, 1)/channels² in both
    parts. The grid has to carry the modes: 64 need 128 x 126 points.
    """

    def __init__(self, *, channels: int, modes: int) -> None:
        super().__init__()
        self.convolution = SpectralConvolution2d(
            in_channels=channels, out_channels=channels, modes=modes, initialisation="li"
        )

    def forward(
        self, z: Float[Tensor, "batch n1 n2 channels"], x: Float[Tensor, "n1 n2 2"]
    ) -> Float[Tensor, "batch n1 n2 channels"]:
        """Smooth z. Raises `ValueError` if the grid cannot carry the modes."""
        return z + self.convolution(z)


class InverseLaplacianSmoother(nn.Module):
    """z ← (I - εΔ)^(-α) z (journal version, eq. 29), nothing learned.

    `boundary` says how Δ closes:

    - "periodic": the Fourier coefficient of the wave vector k is multiplied by (1 + ε|k|²)^(-α). k is
      physical, 2π/L times integers on a square of side L, and ε has the unit of an area. L is n times the
      spacing of the coordinates;
    - "even": z is mirrored at the sides of the square, half a cell outside the first and last points, and has
      the period 2L: cosines, zero normal derivative, no jump where opposite sides of a function that is not
      periodic would meet.

    The mean over the square stays what it is.
    """

    def __init__(self, *, epsilon: float, exponent: float, boundary: Literal["periodic", "even"]) -> None:
        super().__init__()
        self.epsilon, self.exponent, self.boundary = epsilon, exponent, boundary

    def forward(
        self, z: Float[Tensor, "batch n1 n2 channels"], x: Float[Tensor, "n1 n2 2"]
    ) -> Float[Tensor, "batch n1 n2 channels"]:
        """Smooth z in the precision of the coordinates, whatever autocast says."""
        _, n1, n2, _ = z.shape
        spacing = (x[1, 0] - x[0, 0]).norm(), (x[0, 1] - x[0, 0]).norm()
        with without_autocast(z.device):
            z = z.to(x.dtype)
            if self.boundary == "even":
                z = torch.cat([z, z.flip(1)], dim=1)
                z = torch.cat([z, z.flip(2)], dim=2)
            sides = z.shape[1], z.shape[2]
            coefficients = self._symbol(sides, spacing)[..., None] * torch.fft.rfft2(z, dim=(1, 2))
            return torch.fft.irfft2(coefficients, s=sides, dim=(1, 2))[:, :n1, :n2]

    def _symbol(self, sides: tuple[int, int], spacing: tuple[Tensor, Tensor]) -> Tensor:
        kind = {"device": spacing[0].device, "dtype": spacing[0].dtype}
        k1 = 2 * math.pi * torch.fft.fftfreq(sides[0], **kind) / spacing[0]
        k2 = 2 * math.pi * torch.fft.rfftfreq(sides[1], **kind) / spacing[1]
        return (1 + self.epsilon * (k1[:, None] ** 2 + k2**2)) ** -self.exponent
