"""Fourier, Galerkin, softmax and linear transformers on a square: on a coarse grid, or on all points."""

from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from resolvent.models.cao2021.encoder import Encoder
from resolvent.models.layers.common import Input, Output, Points, place, pointwise_network, with_coordinates
from resolvent.models.layers.dropout import Dropout
from resolvent.models.layers.grid_sizes import upsampled_size
from resolvent.models.layers.resampling import DownSampler, UpSampler, interpolate
from resolvent.models.layers.spectral_convolution import SpectralLayer2d


class CoarseEncoder(nn.Module):
    """Down-sampler, then the encoder on the coarse grid, whose coordinates are interpolated from x.

    Only the heads get coordinates. `encoder` are keywords of `models.cao2021.encoder.Encoder`.
    """

    def __init__(
        self,
        *,
        in_channels: int,
        width: int,
        downsampling_factor: float,
        downsampling_activation: Literal["relu", "silu"],
        downsampling_dropout: float,
        hidden_dropout: float,
        **encoder,
    ) -> None:
        super().__init__()
        self.downsampler = DownSampler(
            in_channels=in_channels,
            width=width,
            factor=downsampling_factor,
            activation=downsampling_activation,
            dropout=downsampling_dropout,
        )
        self.hidden_dropout = Dropout(hidden_dropout)
        self.encoder = Encoder(width=width, coordinate_dim=2, **encoder)

    def forward(
        self, u: Input, x: Points
    ) -> tuple[Float[Tensor, "batch *coarse width"], Float[Tensor, "*coarse dim"]]:
        """Return features and coordinates on the coarse grid."""
        y = self.hidden_dropout(self.downsampler(u))
        coarse = tuple(y.shape[1:3])
        x = interpolate(x[None], coarse)[0]
        return self.encoder(y.flatten(1, 2), x.flatten(0, 1)).unflatten(1, coarse), x


class TransformerOnCoarseGrid(nn.Module):
    """Base of the operators of Examples 2 and 3: an encoder on the coarse grid, and the up-sampler.

    Normalisers and boundary values are left to the training: a pointwise normaliser would tie the operator to
    one grid. `coarse` are the remaining keywords of `CoarseEncoder`. Not discretisation-invariant, since the
    samplers' convolutions reach one point on any grid.
    """

    discretisation_invariant = False

    def __init__(
        self,
        *,
        width: int,
        upsampling_dropout: float,
        hidden_dropout: float,
        decoder_width: int,
        coordinates: Literal["grid", "linspace"] = "grid",
        **coarse,
    ) -> None:
        super().__init__()
        self.coordinates: Literal["grid", "linspace"] = coordinates
        self.encoder = CoarseEncoder(width=width, hidden_dropout=hidden_dropout, **coarse)
        self.upsampler = UpSampler(width=width, dropout=upsampling_dropout)
        self.hidden_dropout = Dropout(hidden_dropout)
        self.lifting = nn.Linear(width + 2, decoder_width)


class Transformer2d(TransformerOnCoarseGrid):
    """Attention-based operator learner of Example 2 (Cao 2021, arXiv:2105.14995, figure 5 and table 5).

    u → down-sampler to `width` channels on the coarse grid → encoder → up-sampler to the points of u
    → with x, affine to `decoder_width` → `decoder_layers` spectral layers, SiLU after each
    → affine to `projection_width`, SiLU → affine to `out_channels`.

    Width 128, 4 heads, 6 layers, decoder 32, 12 modes: 2,220,829 parameters.
    """

    def __init__(
        self,
        *,
        out_channels: int,
        downsampling_factor: float,
        decoder_width: int,
        decoder_layers: int,
        modes: int,
        projection_width: int,
        **shared,
    ) -> None:
        super().__init__(downsampling_factor=downsampling_factor, decoder_width=decoder_width, **shared)
        self.factor = downsampling_factor
        self.decoder = nn.ModuleList(
            SpectralLayer2d(
                in_channels=decoder_width, out_channels=decoder_width, modes=modes, initialisation="cao"
            )
            for _ in range(decoder_layers)
        )
        self.projection = pointwise_network(decoder_width, projection_width, out_channels, nn.SiLU)

    def forward(self, u: Input, x: Points) -> Output:
        """Return the output function. Raises `ValueError` if the grid is too small for modes or factor."""
        fine, x = tuple(u.shape[1:3]), place(x, self.coordinates)
        y, _ = self.encoder(u, x)
        y = self.upsampler(y, tuple(upsampled_size(n, self.factor) for n in fine), fine)
        y = self.lifting(with_coordinates(self.hidden_dropout(y), x))
        for layer in self.decoder:
            y = functional.silu(layer(y))
        return self.projection(y)


class Transformer2dCoarse(TransformerOnCoarseGrid):
    """Attention-based operator learner of Example 3 (Cao 2021, table 5), with output on the coarse grid.
    u → down-sampler to `width` channels on the coarse grid → encoder → the up-sampler's convolution, without
    changing the grid → with x, affine to `decoder_width`
    → `decoder_layers` times affine, SiLU, dropout → affine to `out_channels`.

    For n points per side the coarse grid has `downsampled_sizes(n, downsampling_factor)[1]`, with the same
    corners. Width 192, 4 heads, 6 layers, decoder 192: 2,383,873 parameters.
    """

    def __init__(
        self, *, out_channels: int, decoder_width: int, decoder_layers: int, decoder_dropout: float, **shared
    ) -> None:
        super().__init__(decoder_width=decoder_width, **shared)
        self.decoder = nn.Sequential()
        for _ in range(decoder_layers):
            layer = nn.Linear(decoder_width, decoder_width)
            self.decoder.extend([layer, nn.SiLU(), Dropout(decoder_dropout)])
        self.projection = nn.Linear(decoder_width, out_channels)

    def forward(self, u: Input, x: Points) -> Float[Tensor, "batch *coarse out_channels"]:
        """Return the output function. Raises `ValueError` if the grid is too small for the factor."""
        y, x = self.encoder(u, place(x, self.coordinates))
        coarse = tuple(y.shape[1:3])
        y = self.hidden_dropout(self.upsampler(y, coarse, coarse))
        return self.projection(self.decoder(self.lifting(with_coordinates(y, x))))


class GalerkinEncoder2d(nn.Module):
    """The "Galerkin transformer" of Calvello et al. (2024, arXiv:2406.06486, section 6.2.1 and table 1).

    (u, x) → affine to `width` → the layers of `Encoder` on all points, with coordinates in every head →
    affine to `out_channels`. `encoder` are the remaining keywords of `Encoder`. Without convolution or
    spectral decoder, so that attentions are compared. Width 128, 6 layers, 4 heads, 128 hidden: 604,289
    parameters, the 6.04e5 of table 1.
    """

    def __init__(self, *, in_channels: int, out_channels: int, width: int, **encoder) -> None:
        super().__init__()
        self.lifting = nn.Linear(in_channels + 2, width)
        self.encoder = Encoder(width=width, coordinate_dim=2, **encoder)
        self.discretisation_invariant = self.encoder.discretisation_invariant
        self.projection = nn.Linear(width, out_channels)

    def forward(self, u: Input, x: Points) -> Output:
        y = self.lifting(with_coordinates(u, x))
        y = self.encoder(y.flatten(1, 2), x.flatten(0, 1))
        return self.projection(y).view(*u.shape[:-1], -1)
