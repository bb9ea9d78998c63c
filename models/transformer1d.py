"""Fourier, Galerkin, softmax and linear transformers in one dimension."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from models.coordinates import place
from models.encoder import EncoderLayer
from models.spectral_convolution import SpectralLayer


class Transformer1d(nn.Module):
    """Attention-based operator learner of Example 1 (Cao 2021, arXiv:2105.14995, figure 4 and table 5).

    u → affine to `width` → `num_layers` encoder layers, which see the coordinates in every head
    → `decoder_layers` spectral layers to and at `decoder_width`, SiLU after each
    → affine, SiLU, affine to `out_channels`.

    No normaliser and no boundary condition. Width 96, 1 head, 4 layers, decoder 48, 16 modes: 530,305
    parameters for each of the four attentions and either place of the layer norm.
    """

    discretisation_invariant = True

    def __init__(
        self,
        *,
        in_channels: int,
        out_channels: int,
        attention: Literal["galerkin", "fourier", "softmax", "linear"],
        layer_norm: Literal["projection", "regular"],
        width: int,
        num_layers: int,
        num_heads: int,
        feedforward_width: int,
        decoder_width: int,
        decoder_layers: int,
        modes: int,
        projection_gain: float,
        projection_diagonal: float,
        residual_dropout: float,
        feedforward_dropout: float,
        attention_dropout: float,
        attention_dropout_in_evaluation: bool,
        public_code_scaling: bool,
        contraction: Literal["linear", "quadratic"],
        coordinates: Literal["grid", "linspace"],
        input_coordinates: bool,
    ) -> None:
        super().__init__()
        self.coordinates = coordinates
        self.input_coordinates = input_coordinates
        if attention == "linear" and public_code_scaling:
            self.discretisation_invariant = False  # its attention is O(1/n)
        self.lifting = nn.Linear(in_channels + int(input_coordinates), width)
        self.encoder = nn.ModuleList(
            EncoderLayer(
                width=width,
                num_heads=num_heads,
                coordinate_dim=1,
                feedforward_width=feedforward_width,
                attention=attention,
                layer_norm=layer_norm,
                projection_gain=projection_gain,
                projection_diagonal=projection_diagonal,
                residual_dropout=residual_dropout,
                feedforward_dropout=feedforward_dropout,
                attention_dropout=attention_dropout,
                attention_dropout_in_evaluation=attention_dropout_in_evaluation,
                public_code_scaling=public_code_scaling,
                contraction=contraction,
            )
            for _ in range(num_layers)
        )
        self.decoder = nn.ModuleList(
            SpectralLayer(
                in_channels=decoder_width if index else width,
                out_channels=decoder_width,
                modes=modes,
                initialisation="cao",
            )
            for index in range(decoder_layers)
        )
        self.projection = nn.Sequential(
            nn.Linear(decoder_width, decoder_width), nn.SiLU(), nn.Linear(decoder_width, out_channels)
        )

    def forward(
        self, u: Float[Tensor, "batch n in_channels"], x: Float[Tensor, "n 1"]
    ) -> Float[Tensor, "batch n out_channels"]:
        """Output function at the same points. Raises `ValueError` if n is too small for the modes."""
        x = place(x, self.coordinates)
        if self.input_coordinates:
            u = torch.cat([u, x.expand(len(u), -1, -1)], dim=-1)
        y = self.lifting(u)
        for layer in self.encoder:
            y = layer(y, x)
        for layer in self.decoder:
            y = nn.functional.silu(layer(y))
        return self.projection(y)
