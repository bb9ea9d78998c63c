"""Convolutions with learned kernels of few Fourier modes, in one, two and three dimensions."""

import math
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from resolvent.models.layers.common import Input, Output, cached, without_autocast


class SpectralConvolution(nn.Module):
    """v̂_k = û_k W_k for k = 0..modes-1, and v̂_k = 0 above (Li et al. 2021, arXiv:2010.08895, eqs. 4-5).

    W_k is a dense complex in_channels × out_channels matrix, stored as real pairs: `weight` has shape
    (modes, in_channels, out_channels, 2) and 2·modes·in_channels·out_channels entries. There is no bias.
    As with any real inverse transform the imaginary part of v̂_0 has no effect.

    `initialisation` names the distribution of the weights:

    - "li": Unif[0, 1)/(in_channels·out_channels) (Li et al. 2021, public code);
    - "cao": normal with standard deviation √(2/((in_channels + out_channels)·2·modes)), Xavier's, divided by
      in_channels·out_channels (Cao 2021, arXiv:2105.14995, public code).
    """

    def __init__(
        self, *, in_channels: int, out_channels: int, modes: int, initialisation: Literal["li", "cao"]
    ) -> None:
        super().__init__()
        self.modes = modes
        self.weight = nn.Parameter(torch.empty(modes, in_channels, out_channels, 2))
        gain = 1 / (in_channels * out_channels)
        if initialisation == "li":
            nn.init.uniform_(self.weight, 0.0, gain)
        else:
            nn.init.normal_(self.weight, std=gain * math.sqrt(2 / ((in_channels + out_channels) * 2 * modes)))

    def forward(self, u: Float[Tensor, "batch n in_channels"]) -> Float[Tensor, "batch n out_channels"]:
        """Convolve along the points, in the weights' precision regardless of autocast.

        Raises `ValueError` if the grid is too coarse for `modes`.
        """
        batch, n, _ = u.shape
        if self.modes > n // 2 + 1:
            raise ValueError(f"{self.modes} modes need at least {2 * self.modes - 2} points; got n={n}")
        with without_autocast(u.device):
            analysis, synthesis = truncated_fourier_matrices(n, self.modes, u.device, self.weight.dtype)
            # (batch, 2·modes, channels): real parts above, imaginary parts below
            parts = (analysis @ u.to(self.weight.dtype)).view(batch, 2, self.modes, -1)
            coefficients = torch.view_as_complex(parts.permute(0, 2, 3, 1).contiguous())
            product = torch.einsum("bki,kio->bko", coefficients, torch.view_as_complex(self.weight))
            parts = torch.view_as_real(product).permute(0, 3, 1, 2)
            return synthesis @ parts.reshape(batch, 2 * self.modes, -1)


@cached
def truncated_fourier_matrices(
    n: int, modes: int, device: torch.device, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Return real matrices of `rfft` truncated to the first modes, (2·modes, n), and `irfft`, (n, 2·modes).

    For few modes two matrix products, in the layout of the pointwise layers, are faster than a full FFT with
    transpositions: 3 times at n = 512 and 5 times at n = 8192 for 64 channels and 16 modes on one core.
    Results agree up to rounding (4e-7 relative in float32). Normalisation is "ortho".
    """
    # Created outside inference mode, since the cached matrices may be used in a training step.
    with torch.inference_mode(False):
        k = torch.arange(modes)[:, None]
        angle = (k * torch.arange(n) % n).to(torch.float64) * (2 * math.pi / n)
        waves = torch.cat([torch.cos(angle), -torch.sin(angle)]) / math.sqrt(n)
        # A mode counts twice, for its conjugate, except the constant and, if n is even, the Nyquist mode.
        multiplicity = torch.where((k == 0) | (2 * k == n), 1.0, 2.0).repeat(2, 1)
        synthesis = (multiplicity * waves).T.contiguous()
        return waves.to(device, dtype), synthesis.to(device, dtype)


class SpectralLayer(nn.Module):
    """Spectral convolution plus a pointwise affine map, no activation: (batch, n, in) -> (batch, n, out).

    The layer of the Fourier neural operator (Li et al. 2021, eq. 2, before the activation). `convolution` are
    the keywords of `convolution_class`.
    """

    convolution_class: type[nn.Module] = SpectralConvolution

    def __init__(self, *, in_channels: int, out_channels: int, **convolution) -> None:
        super().__init__()
        self.convolution = self.convolution_class(
            in_channels=in_channels, out_channels=out_channels, **convolution
        )
        self.pointwise = nn.Linear(in_channels, out_channels)

    def forward(self, u: Input) -> Output:
        return self.convolution(u) + self.pointwise(u)


class Band(NamedTuple):
    """Numbers of retained k₁ ≥ 0, k₁ < 0 and k₂ ≥ 0."""

    positive: int
    negative: int
    columns: int

    @property
    def rows(self) -> int:
        """Return the number of values of |k₁|, including 0."""
        return max(self.positive, self.negative + 1)


class SpectralConvolution2d(nn.Module):
    """v̂_k = û_k W_k for k₁ = -modes..modes-1 and k₂ = 0..modes-1, and v̂_k = 0 elsewhere (Li et al. 2021).

    These are the two corner blocks of `rfft2` in Li et al. and Cao (2021, arXiv:2105.14995); the other half
    plane follows, since v is real. W_k is a dense complex in_channels × out_channels matrix, stored as real
    pairs: `weight[k₁, k₂]`, with Python's negative indices for negative k₁, in an array of shape (2·modes,
    modes, in_channels, out_channels, 2). There is no bias.

    `initialisation` names the distribution of the weights, as in one dimension:

    - "li": Unif[0, 1)/(in_channels·out_channels) (Li et al. 2021, arXiv:2010.08895, public code);
    - "cao": normal with standard deviation 1/(in_channels·out_channels·modes): Xavier's for a block, times
      √(in_channels + out_channels)/(in_channels·out_channels) (Cao 2021, public code).

    `maps` is the number of convolutions of the same function that are computed together, concatenated in
    out_channels: each has out_channels/maps channels, and the initial weights for that number.

    `band` determines the treatment of modes that a grid of n1 × n2 points does not resolve:

    - "whole": they are an error;
    - "resolved": they are dropped; k₁ runs over -min(modes, ⌊n1/2⌋)..min(modes, ⌈n1/2⌉)-1, k₂ over
      0..min(modes, ⌊n2/2⌋+1)-1. Every mode of the grid occurs at most once.

    `extension` is for functions on a rectangle that are not periodic (Calvello et al. 2024, arXiv:2406.06486,
    section 6.2, mention the idea without a construction):

    - "none": the function is treated as periodic;
    - "even": u is mirrored at the sides of the rectangle, half a cell outside its first and last points,
      which makes it continuous with twice the period; its convolution, with modes of the doubled period, is
      restricted to the rectangle. The extension is built into the Fourier matrices and never formed.

    The coefficients are products with truncated Fourier matrices, axis by axis, and equal a full FFT up to
    rounding. Speed-up over a full FFT, forward and backward, batch 4, 32 channels, 12 modes, one core: 1 at
    32², 2 at 64², 4 at 128², 6 at 256², and 7 to 16 at 85², 141², 211² and 421², which have large prime
    factors.
    """

    def __init__(
        self,
        *,
        in_channels: int,
        out_channels: int,
        modes: int,
        initialisation: Literal["li", "cao"],
        maps: int = 1,
        band: Literal["whole", "resolved"] = "whole",
        extension: Literal["none", "even"] = "none",
    ) -> None:
        super().__init__()
        self.modes, self.band = modes, band
        self.periods = {"none": 1, "even": 2}[extension]
        self.weight = nn.Parameter(torch.empty(2 * modes, modes, in_channels, out_channels, 2))
        gain = maps / (in_channels * out_channels)
        if initialisation == "li":
            nn.init.uniform_(self.weight, 0.0, gain)
        else:
            nn.init.normal_(self.weight, std=gain / modes)

    def forward(
        self, u: Float[Tensor, "batch n1 n2 in_channels"]
    ) -> Float[Tensor, "batch n1 n2 out_channels"]:
        """Convolve over the grid, in the weights' precision regardless of autocast.

        Raises `ValueError` if the grid is too coarse for the modes and `band` is "whole".
        """
        _, n1, n2, _ = u.shape
        band = self._band(n1, n2)
        with without_autocast(u.device):
            coefficients = self._analyse(u.to(self.weight.dtype), band)
            product = torch.einsum("bkli,klio->bklo", coefficients, self._weights_of(band))
            return self._synthesise(product, band, n1, n2)

    def _band(self, n1: int, n2: int) -> Band:
        modes = self.modes
        if self.band == "resolved":
            n1, n2 = self.periods * n1, self.periods * n2
            return Band(min(modes, (n1 + 1) // 2), min(modes, n1 // 2), min(modes, n2 // 2 + 1))
        least = (2 * modes // self.periods, (2 * modes - 2) // self.periods)
        if n1 < least[0] or n2 < least[1]:
            raise ValueError(f"{modes} modes need at least {least[0]} x {least[1]} points; got {n1} x {n2}")
        return Band(modes, modes, modes)

    def _weights_of(self, band: Band) -> Tensor:
        """Return the band's W_k, complex."""
        weight = torch.view_as_complex(self.weight)
        if band == (self.modes,) * 3:
            return weight
        return torch.cat([weight[: band.positive], weight[len(weight) - band.negative :]])[:, : band.columns]

    def _analyse(self, u: Tensor, band: Band) -> Tensor:
        """Return the band's û_k: (batch, positive + negative, columns, channels), k₁ as in `weight`."""
        batch, n1, n2, channels = u.shape
        first, second = self._analysis(n1, band.rows, u), self._analysis(n2, band.columns, u)
        parts = (first @ u.reshape(batch, n1, -1)).view(batch, -1, n2, channels)
        parts = (second @ parts).view(batch, 2, band.rows, 2, band.columns, channels)
        cosine, sine = torch.view_as_complex(parts.permute(0, 1, 2, 4, 5, 3).contiguous()).unbind(1)
        # `sine` holds -sin(k₁x₁), so exp(-ik₁x₁) = cosine + i sine and exp(ik₁x₁) = cosine - i sine.
        upper, lower = cosine + 1j * sine, cosine - 1j * sine
        return torch.cat([upper[:, : band.positive], lower[:, 1 : band.negative + 1].flip(1)], dim=1)

    def _analysis(self, n: int, modes: int, like: Tensor) -> Tensor:
        """Return the map from n values along an axis to coefficients: (2·modes, n)."""
        waves, _ = truncated_fourier_matrices(self.periods * n, modes, like.device, like.dtype)
        return waves if self.periods == 1 else waves[:, :n] + waves[:, n:].flip(1)

    def _synthesise(self, product: Tensor, band: Band, n1: int, n2: int) -> Tensor:
        """Return the real function with these coefficients, as `irfft2`: (batch, n1, n2, channels)."""
        batch, _, _, channels = product.shape
        rows, like = band.rows, (product.device, self.weight.dtype)
        first = truncated_fourier_matrices(self.periods * n1, rows, *like)[0].T[:n1]
        second = truncated_fourier_matrices(self.periods * n2, band.columns, *like)[1][:n2]
        # Pad with zeros to k₁ = 0..rows-1 and k₁ = 0..1-rows.
        upper = functional.pad(product[:, : band.positive], (0, 0, 0, 0, 0, rows - band.positive))
        lower = product[:, band.positive :].flip(1)
        lower = functional.pad(lower, (0, 0, 0, 0, 1, rows - 1 - band.negative))
        waves = torch.stack([upper + lower, 1j * (lower - upper)], dim=1)  # of cos and -sin
        parts = torch.view_as_real(waves).permute(0, 1, 2, 5, 3, 4)
        values = second @ parts.reshape(batch, 2 * rows, 2 * band.columns, channels)
        return (first @ values.view(batch, 2 * rows, -1)).view(batch, n1, n2, channels)


class SpectralLayer2d(SpectralLayer):
    """Spectral convolution plus a pointwise affine map: (batch, n1, n2, in) -> (batch, n1, n2, out)."""

    convolution_class = SpectralConvolution2d


class SpectralConvolution3d(nn.Module):
    """v̂_k = û_k W_k for k₁, k₂ = -modes..modes-1, k₃ = 0..modes-1; v̂_k = 0 elsewhere (Li et al. 2021).

    As in two dimensions: dense complex matrices W_k as real pairs, `weight[k₁, k₂, k₃]` with Python's
    negative indices for negative wavenumbers, (2·modes, 2·modes, modes, in_channels, out_channels, 2), no
    bias. Initial weights are Unif[0, 1)/(in_channels·out_channels), "li", the only `initialisation`.
    """

    def __init__(
        self, *, in_channels: int, out_channels: int, modes: int, initialisation: Literal["li"]
    ) -> None:
        super().__init__()
        self.modes = modes
        self.weight = nn.Parameter(torch.empty(2 * modes, 2 * modes, modes, in_channels, out_channels, 2))
        nn.init.uniform_(self.weight, 0.0, 1 / (in_channels * out_channels))

    def forward(
        self, u: Float[Tensor, "batch n1 n2 n3 in_channels"]
    ) -> Float[Tensor, "batch n1 n2 n3 out_channels"]:
        """Convolve over the grid, in the weights' precision regardless of autocast.

        Raises `ValueError` if the grid is too coarse for the modes.
        """
        sides, modes = tuple(u.shape[1:4]), self.modes
        if min(sides) < 2 * modes:
            raise ValueError(
                f"{modes} modes need at least {2 * modes} points along an axis; got "
                f"{' x '.join(map(str, sides))}"
            )
        with without_autocast(u.device):
            # Axis by axis, so that each transform only includes the remaining modes.
            v = torch.fft.rfft(u.to(self.weight.dtype), dim=3, norm="forward")[:, :, :, :modes]
            for axis in (2, 1):
                v = torch.fft.fft(v, dim=axis, norm="forward")
                v = torch.cat(
                    [v.narrow(axis, 0, modes), v.narrow(axis, sides[axis - 1] - modes, modes)], axis
                )
            v = torch.einsum("bklmi,klmio->bklmo", v, torch.view_as_complex(self.weight))
            for axis in (1, 2):
                gap = list(v.shape)
                gap[axis] = sides[axis - 1] - 2 * modes
                parts = v.narrow(axis, 0, modes), v.new_zeros(gap), v.narrow(axis, modes, modes)
                v = torch.fft.ifft(torch.cat(parts, axis), dim=axis, norm="forward")
            return torch.fft.irfft(v, n=sides[2], dim=3, norm="forward")


class SpectralLayer3d(SpectralLayer):
    """Spectral convolution plus a pointwise affine map: (batch, n1, n2, n3, in) -> (batch, …, out)."""

    convolution_class = SpectralConvolution3d
