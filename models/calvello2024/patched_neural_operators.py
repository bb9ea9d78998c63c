"""Transformers on patches by Calvello et al. (2024, arXiv:2406.06486): ViT-NO and FANO.

A function on the square is split into its restrictions to patches (eqs. 5-6), which attend to each other as
functions (section 3); an optional last layer smooths the jumps between them (remark 21).
"""

import math
from collections.abc import Callable
from typing import Literal

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from resolvent.models.calvello2024.settings import check_patches
from resolvent.models.layers.common import Input, Output, Points, stack, with_coordinates, without_autocast
from resolvent.models.layers.dropout import Dropout
from resolvent.models.layers.patched_attention import patched_attention
from resolvent.models.layers.spectral_convolution import SpectralConvolution2d
from resolvent.models.settings import pair


def split(
    u: Float[Tensor, "batch n1 n2 channels"], patches: tuple[int, int]
) -> Float[Tensor, "batch all_patches p1 p2 channels"]:
    """Split u into its restrictions to congruent patches, `patches` along each axis, row by row.

    Raises `ValueError` if `patches` do not divide the sides of the grid.
    """
    check_patches(patches, tuple(u.shape[1:3]))
    i, j = patches
    return rearrange(u, "batch (i p1) (j p2) channels -> batch (i j) p1 p2 channels", i=i, j=j)


def join(
    v: Float[Tensor, "batch all_patches p1 p2 channels"], patches: tuple[int, int]
) -> Float[Tensor, "batch n1 n2 channels"]:
    """Join the restrictions to one function; the inverse of `split`."""
    i, j = patches
    return rearrange(v, "batch (i j) p1 p2 channels -> batch (i p1) (j p2) channels", i=i, j=j)


class LearnedSmoother(nn.Module):
    """z ← z + Kz with a spectral convolution K on the whole grid (first version of the paper, remark 21).

    With one channel and 64 modes K has 8,192 complex weights, initially Unif[0, 1)/channels² in both parts.
    64 modes need at least 128 x 126 points.
    """

    def __init__(self, *, channels: int, modes: int) -> None:
        super().__init__()
        self.convolution = SpectralConvolution2d(
            in_channels=channels, out_channels=channels, modes=modes, initialisation="li"
        )

    def forward(
        self, z: Float[Tensor, "batch n1 n2 channels"], x: Float[Tensor, "n1 n2 2"]
    ) -> Float[Tensor, "batch n1 n2 channels"]:
        """Smooth z. Raises `ValueError` if the grid is too coarse for the modes."""
        return z + self.convolution(z)


class InverseLaplacianSmoother(nn.Module):
    """z ← (I - εΔ)^(-α) z (journal version, eq. 29), without parameters.

    `boundary` is the boundary condition of Δ:

    - "periodic": the Fourier coefficient of the wave vector k is multiplied by (1 + ε|k|²)^(-α). k is
      physical, 2π/L times integers on a square of side L = n times the spacing, and ε has the unit of an
      area;
    - "even": z is mirrored at the sides of the square, half a cell outside the first and last points, and has
      period 2L: cosines with zero normal derivative, without jumps for functions that are not periodic.

    The mean over the square does not change.
    """

    def __init__(self, *, epsilon: float, exponent: float, boundary: Literal["periodic", "even"]) -> None:
        super().__init__()
        self.epsilon, self.exponent, self.boundary = epsilon, exponent, boundary

    def forward(
        self, z: Float[Tensor, "batch n1 n2 channels"], x: Float[Tensor, "n1 n2 2"]
    ) -> Float[Tensor, "batch n1 n2 channels"]:
        """Smooth z in the precision of the coordinates, regardless of autocast."""
        _, n1, n2, _ = z.shape
        with without_autocast(z.device):
            z = z.to(x.dtype)
            if self.boundary == "even":
                z = torch.cat([z, z.flip(1)], dim=1)
                z = torch.cat([z, z.flip(2)], dim=2)
            sides, kind = (z.shape[1], z.shape[2]), {"device": x.device, "dtype": x.dtype}
            k1 = 2 * math.pi * torch.fft.fftfreq(sides[0], **kind) / (x[1, 0] - x[0, 0]).norm()
            k2 = 2 * math.pi * torch.fft.rfftfreq(sides[1], **kind) / (x[0, 1] - x[0, 0]).norm()
            symbol = (1 + self.epsilon * (k1[:, None] ** 2 + k2**2)) ** -self.exponent
            coefficients = symbol[..., None] * torch.fft.rfft2(z, dim=(1, 2))
            return torch.fft.irfft2(coefficients, s=sides, dim=(1, 2))[:, :n1, :n2]


class PatchConvolution(nn.Module):
    """A spectral convolution on every patch separately, with the modes that a patch resolves.

    With `periodic_extension` it acts on the even extension of each patch (section 6.2, figure 19).
    """

    def __init__(
        self, in_channels: int, out_channels: int, modes: int, periodic_extension: bool, maps: int = 1
    ) -> None:
        super().__init__()
        self.convolution = SpectralConvolution2d(
            in_channels=in_channels,
            out_channels=out_channels,
            modes=modes,
            initialisation="li",
            maps=maps,
            band="resolved",
            extension="even" if periodic_extension else "none",
        )

    def forward(
        self, v: Float[Tensor, "batch patches p1 p2 in_channels"]
    ) -> Float[Tensor, "batch patches p1 p2 out_channels"]:
        return self.convolution(v.flatten(0, 1)).unflatten(0, v.shape[:2])


class PatchedEncoderLayer(nn.Module):
    """y ← LN(y + Z), y ← LN(y + F(y)) for functions on patches; the norms are over the channels of a point.

    `projections` maps y to Q, K and V of all heads, 3·width channels. Z is `patched_attention` of each head,
    followed by an affine map of the concatenated heads. F is affine to `feedforward_width`, GELU, dropout,
    affine back. `dropout` is the common rate for the attention matrix, for Z, inside F and for F(y). The skip
    maps W₁ and W₂ of eq. 10 are identities, as in the public code.
    """

    def __init__(
        self, projections: nn.Module, *, width: int, num_heads: int, feedforward_width: int, dropout: float
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.projections = projections
        self.output = nn.Linear(width, width)
        self.attention_norm, self.feedforward_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.feedforward = nn.Sequential(
            nn.Linear(width, feedforward_width),
            nn.GELU(),
            Dropout(dropout),
            nn.Linear(feedforward_width, width),
        )
        self.dropout = Dropout(dropout)

    def forward(
        self, y: Float[Tensor, "batch patches p1 p2 width"], cell_volume: float
    ) -> Float[Tensor, "batch patches p1 p2 width"]:
        """Apply the layer; each point of a patch represents the volume `cell_volume`."""
        y = self.attention_norm(y + self.dropout(self._attend(y, cell_volume)))
        return self.feedforward_norm(y + self.dropout(self.feedforward(y)))

    def _attend(self, y: Tensor, cell_volume: float) -> Tensor:
        # Copy head by head, so that gradients are assembled in one pass, in memory order.
        heads, of_all = self.num_heads, self.projections(y).unflatten(-1, (3 * self.num_heads, -1)).unbind(-2)
        q, k, v = (torch.stack(of_all[i * heads : (i + 1) * heads], dim=1) for i in range(3))
        rate = self.dropout.p if self.training else 0.0
        z = patched_attention(q, k, v, cell_volume=cell_volume, dropout=rate)
        return self.output(rearrange(z, "batch heads patches p1 p2 e -> batch patches p1 p2 (heads e)"))


class PatchedNeuralOperator(nn.Module):
    """(u, x) → patches → `lifting` → encoder layers → affine → one function → smoother.

    A point represents the volume 1/(n1·n2): the volume of the domain is taken as one, as in eq. 63, for any
    unit of x. `projections` creates the map to Q, K, V for one layer; `layer` are keywords of
    `PatchedEncoderLayer`. `checkpointing` keeps only the input of every layer and recomputes the layer in the
    backward pass. The operator is the same on every grid that `patches` divides, if the patches resolve the
    modes.
    """

    discretisation_invariant = True

    def __init__(
        self,
        *,
        lifting: nn.Module,
        projections: Callable[[], nn.Module],
        out_channels: int,
        width: int,
        num_layers: int,
        equal_layers: bool,
        patches: int | list[int],
        checkpointing: bool,
        smoother: Literal["none", "learned", "inverse_laplacian"],
        smoother_modes: int,
        smoother_epsilon: float,
        smoother_exponent: float,
        smoother_boundary: Literal["periodic", "even"],
        **layer,
    ) -> None:
        super().__init__()
        self.patches, self.checkpointing = pair(patches), checkpointing
        self.lifting = lifting
        self.layers = stack(
            lambda: PatchedEncoderLayer(projections(), width=width, **layer), num_layers, equal=equal_layers
        )
        self.projection = nn.Linear(width, out_channels)
        self.smoother: nn.Module | None = None
        if smoother == "learned":
            self.smoother = LearnedSmoother(channels=out_channels, modes=smoother_modes)
        elif smoother == "inverse_laplacian":
            self.smoother = InverseLaplacianSmoother(
                epsilon=smoother_epsilon, exponent=smoother_exponent, boundary=smoother_boundary
            )

    def forward(self, u: Input, x: Points) -> Output:
        """Return the output function. Raises `ValueError` if patches or the smoother's modes do not fit."""
        cell_volume = 1 / (u.shape[1] * u.shape[2])
        y = self.lifting(split(with_coordinates(u, x), self.patches))
        for layer in self.layers:
            if self.checkpointing and torch.is_grad_enabled():
                y = checkpoint(layer, y, cell_volume, use_reentrant=False)
            else:
                y = layer(y, cell_volume)
        z = join(self.projection(y), self.patches)
        return z if self.smoother is None else self.smoother(z, x)


class ViTNeuralOperator(PatchedNeuralOperator):
    """ViT-NO (Calvello et al. 2024, arXiv:2406.06486, section 4.3 and appendix B.2).

    A spectral convolution lifts each patch of (u, x) to `width` channels, instead of a vision transformer's
    linear map of its pixels; Q, K and V are affine at each point. Width 128, 6 layers, 12 modes, learned
    smoother of 64 modes: 835,201 parameters, 716,417 if a complex weight counts once. `operator` are keywords
    of `PatchedNeuralOperator`.
    """

    def __init__(
        self, *, in_channels: int, width: int, modes: int, periodic_extension: bool, **operator
    ) -> None:
        super().__init__(
            lifting=PatchConvolution(in_channels + 2, width, modes, periodic_extension),
            projections=lambda: nn.Linear(width, 3 * width),
            width=width,
            **operator,
        )


class FourierAttentionNeuralOperator(PatchedNeuralOperator):
    """FANO (Calvello et al. 2024, arXiv:2406.06486, section 4.4 and appendix B.3).

    An affine map lifts each point of (u, x) to `width` channels; Q, K and V of every head and layer are
    spectral convolutions on each patch. The convolutions of a layer share one Fourier transform of their
    input, and are one product over its modes. Width 128, 8 heads, 6 layers, 9 modes, learned smoother of 64
    modes: 95,868,801 parameters, 48,084,865 if a complex weight counts once. `operator` are keywords of
    `PatchedNeuralOperator`.
    """

    def __init__(
        self,
        *,
        in_channels: int,
        width: int,
        num_heads: int,
        modes: int,
        periodic_extension: bool,
        **operator,
    ) -> None:
        super().__init__(
            lifting=nn.Linear(in_channels + 2, width),
            projections=lambda: PatchConvolution(
                width, 3 * width, modes, periodic_extension, maps=3 * num_heads
            ),
            width=width,
            num_heads=num_heads,
            **operator,
        )
