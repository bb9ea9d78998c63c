"""Fourier neural operator in one dimension."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from resolvent.models.layers.coordinates import place
from resolvent.models.layers.spectral_convolution import SpectralLayer


class FNO1d(nn.Module):
    """Fourier neural operator (Li et al. 2021, arXiv:2010.08895, eqs. 2-5 and appendix A.3).

    (u, x) → affine to `width` → `num_layers` spectral layers with ReLU after all but the last
    → affine to `projection_width`, ReLU → affine to `out_channels`.

    There is no batch normalisation: Cao (2021, arXiv:2105.14995, appendix B) takes it out of the 2020 code,
    and the later code of Li et al. has none. Width 64, 4 layers, 16 modes: 549,569 parameters.
    """

    discretisation_invariant = True

    def __init__(
        self,
        *,
        in_channels: int,
        out_channels: int,
        width: int,
        num_layers: int,
        modes: int,
        projection_width: int,
        coordinates: Literal["grid", "linspace"],
    ) -> None:
        super().__init__()
        self.coordinates = coordinates
        self.lifting = nn.Linear(in_channels + 1, width)
        self.layers = nn.ModuleList(
            SpectralLayer(in_channels=width, out_channels=width, modes=modes, initialisation="li")
            for _ in range(num_layers)
        )
        self.projection = nn.Sequential(
            nn.Linear(width, projection_width), nn.ReLU(), nn.Linear(projection_width, out_channels)
        )

    def forward(
        self, u: Float[Tensor, "batch n in_channels"], x: Float[Tensor, "n 1"]
    ) -> Float[Tensor, "batch n out_channels"]:
        """Return the output function at the same points.

        Raises `ValueError` if n is too small for the modes.
        """
        x = place(x, self.coordinates)
        v = self.lifting(torch.cat([u, x.expand(len(u), -1, -1)], dim=-1))
        for index, layer in enumerate(self.layers):
            v = layer(v)
            if index < len(self.layers) - 1:
                v = torch.relu(v)
        return self.projection(v)
