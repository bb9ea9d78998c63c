"""Convolution by a learned kernel with few Fourier modes, in two dimensions."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from models.spectral_convolution import SpectralLayer, truncated_fourier_matrices


class SpectralConvolution2d(nn.Module):
    """v̂_k = û_k W_k for k₁ = -modes..modes-1 and k₂ = 0..modes-1, and v̂_k = 0 elsewhere (Li et al. 2021).

    These are the two corner blocks of `rfft2` that Li et al. and Cao (2021, arXiv:2105.14995) keep; the other
    half plane follows, as v is real. W_k is a dense complex in_channels × out_channels matrix, stored as real
    pairs: `weight[k₁, k₂]`, Python's negative indices being the negative k₁, in an array of shape
    (2·modes, modes, in_channels, out_channels, 2). There is no bias.

    `initialisation` names the law of the weights, as in one dimension:

    - "li": Unif[0, 1)/(in_channels·out_channels) (Li et al. 2021, arXiv:2010.08895, public code);
    - "cao": normal with standard deviation 1/(in_channels·out_channels·modes): Xavier's for a block, times
      √(in_channels + out_channels)/(in_channels·out_channels) (Cao 2021, public code).

    The few coefficients come from products with truncated Fourier matrices, along one axis after the other,
    and equal those of a full FFT up to rounding. Forward and backward, batch 4, 32 channels, 12 modes, one
    core, full FFT against products: the same time at 32², 2 times at 64², 4 at 128², 6 at 256², and 7 to 16
    at 85², 141², 211² and 421², whose prime factors an FFT does not like.
    """

    def __init__(
        self, *, in_channels: int, out_channels: int, modes: int, initialisation: Literal["li", "cao"]
    ) -> None:
        super().__init__()
        self.modes = modes
        self.weight = nn.Parameter(torch.empty(2 * modes, modes, in_channels, out_channels, 2))
        gain = 1 / (in_channels * out_channels)
        if initialisation == "li":
            nn.init.uniform_(self.weight, 0.0, gain)
        else:
            nn.init.normal_(self.weight, std=gain / modes)

    def forward(
        self, u: Float[Tensor, "batch n1 n2 in_channels"]
    ) -> Float[Tensor, "batch n1 n2 out_channels"]:
        """Convolve over the grid; in the weights' precision, whatever autocast says.

        Raises `ValueError` if the grid cannot carry the modes.
        """
        _, n1, n2, _ = u.shape
        least = (2 * self.modes, 2 * self.modes - 2)
        if n1 < least[0] or n2 < least[1]:
            raise ValueError(
                f"{self.modes} modes need at least {least[0]} x {least[1]} points; got {n1} x {n2}"
            )
        with torch.autocast(u.device.type, enabled=False):
            coefficients = self._analyse(u.to(self.weight.dtype))
            product = torch.einsum("bkli,klio->bklo", coefficients, torch.view_as_complex(self.weight))
            return self._synthesise(product, n1, n2)

    def _analyse(self, u: Tensor) -> Tensor:
        """û_k of the kept modes, complex: (batch, 2·modes, modes, channels), k₁ in the order of `weight`."""
        batch, n1, n2, channels = u.shape
        first = truncated_fourier_matrices(n1, self.modes + 1, u.device, u.dtype)[0]  # k₁ = 0..modes
        second = truncated_fourier_matrices(n2, self.modes, u.device, u.dtype)[0]
        parts = (first @ u.reshape(batch, n1, -1)).view(batch, -1, n2, channels)
        parts = (second @ parts).view(batch, 2, self.modes + 1, 2, self.modes, channels)
        cosine, sine = torch.view_as_complex(parts.permute(0, 1, 2, 4, 5, 3).contiguous()).unbind(1)
        # `sine` holds -sin(k₁x₁), so exp(-ik₁x₁) = cosine + i sine and exp(ik₁x₁) = cosine - i sine.
        return torch.cat([(cosine + 1j * sine)[:, :-1], (cosine - 1j * sine)[:, 1:].flip(1)], dim=1)

    def _synthesise(self, product: Tensor, n1: int, n2: int) -> Tensor:
        """The real function with these coefficients, as `irfft2` has it: (batch, n1, n2, channels)."""
        batch, _, _, channels = product.shape
        first = truncated_fourier_matrices(n1, self.modes + 1, product.device, self.weight.dtype)[0].T
        second = truncated_fourier_matrices(n2, self.modes, product.device, self.weight.dtype)[1]
        zero = torch.zeros_like(product[:, :1])
        positive = torch.cat([product[:, : self.modes], zero], dim=1)  # k₁ = 0..modes
        negative = torch.cat([zero, product[:, self.modes :].flip(1)], dim=1)  # k₁ = 0..-modes
        waves = torch.stack([positive + negative, 1j * (negative - positive)], dim=1)  # of cos and -sin
        parts = torch.view_as_real(waves).permute(0, 1, 2, 5, 3, 4)
        rows = second @ parts.reshape(batch, 2 * (self.modes + 1), 2 * self.modes, channels)
        return (first @ rows.view(batch, len(first.T), -1)).view(batch, n1, n2, channels)


class SpectralLayer2d(SpectralLayer):
    """Spectral convolution plus a pointwise affine map: (batch, n1, n2, in) -> (batch, n1, n2, out)."""

    convolution_class = SpectralConvolution2d
