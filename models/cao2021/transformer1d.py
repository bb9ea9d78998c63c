"""Fourier, Galerkin, softmax and linear transformers in one dimension."""

from typing import Literal

from torch import nn

from resolvent.models.cao2021.encoder import Encoder
from resolvent.models.layers.common import Input, Output, Points, place, pointwise_network, with_coordinates
from resolvent.models.layers.spectral_convolution import SpectralLayer


class Transformer1d(nn.Module):
    """Attention-based operator learner of Example 1 (Cao 2021, arXiv:2105.14995, figure 4 and table 5).

    u → affine to `width` → `num_layers` encoder layers, which see the coordinates in every head
    → `decoder_layers` spectral layers to and at `decoder_width`, SiLU after each
    → affine, SiLU, affine to `out_channels`.

    `encoder` are the remaining keywords of `Encoder`. No normaliser and no boundary condition.
    Discretisation-invariant unless `attention` is "linear" with `public_code_scaling`.
    Width 96, 1 head, 4 layers, decoder 48, 16 modes: 530,305 parameters for each of the four attentions and
    either place of the layer norm.
    """

    def __init__(
        self,
        *,
        in_channels: int,
        out_channels: int,
        width: int,
        decoder_width: int,
        decoder_layers: int,
        modes: int,
        coordinates: Literal["grid", "linspace"],
        input_coordinates: bool,
        **encoder,
    ) -> None:
        super().__init__()
        self.coordinates = coordinates
        self.input_coordinates = input_coordinates
        self.lifting = nn.Linear(in_channels + int(input_coordinates), width)
        self.encoder = Encoder(width=width, coordinate_dim=1, **encoder)
        self.discretisation_invariant = self.encoder.discretisation_invariant
        self.decoder = nn.ModuleList(
            SpectralLayer(in_channels=given, out_channels=decoder_width, modes=modes, initialisation="cao")
            for given in [width, *[decoder_width] * (decoder_layers - 1)]
        )
        self.projection = pointwise_network(decoder_width, decoder_width, out_channels, nn.SiLU)

    def forward(self, u: Input, x: Points) -> Output:
        """Return the output function. Raises `ValueError` if the points are too few for the modes."""
        x = place(x, self.coordinates)
        if self.input_coordinates:
            u = with_coordinates(u, x)
        y = self.encoder(self.lifting(u), x)
        for layer in self.decoder:
            y = nn.functional.silu(layer(y))
        return self.projection(y)
