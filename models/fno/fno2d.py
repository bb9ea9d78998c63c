"""Fourier neural operator in two dimensions."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from resolvent.models.layers.spectral_convolution_2d import SpectralLayer2d


class FNO2d(nn.Module):
    """Fourier neural operator (Li et al. 2021, arXiv:2010.08895, eqs. 2-5 and appendix A.3).

    (u, x) → affine to `width` → `num_layers` spectral layers with ReLU after all but the last
    → affine to `projection_width`, ReLU → affine to `out_channels`.

    There is no batch normalisation, as in one dimension (Cao 2021, arXiv:2105.14995, appendix B), no padding,
    no normaliser and no boundary condition: the last two are the training's. Width 32, 4 layers, 12 modes:
    2,368,001 parameters.
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
    ) -> None:
        super().__init__()
        self.lifting = nn.Linear(in_channels + 2, width)
        self.layers = nn.ModuleList(
            SpectralLayer2d(in_channels=width, out_channels=width, modes=modes, initialisation="li")
            for _ in range(num_layers)
        )
        self.projection = nn.Sequential(
            nn.Linear(width, projection_width), nn.ReLU(), nn.Linear(projection_width, out_channels)
        )

    def forward(
        self, u: Float[Tensor, "batch n1 n2 in_channels"], x: Float[Tensor, "n1 n2 2"]
    ) -> Float[Tensor, "batch n1 n2 out_channels"]:
        """Return the output function at the same points.

        Raises `ValueError` if the grid cannot carry the modes.
        """
        v = self.lifting(torch.cat([u, x.expand(len(u), -1, -1, -1)], dim=-1))
        for index, layer in enumerate(self.layers):
            v = layer(v)
            if index < len(self.layers) - 1:
                v = torch.relu(v)
        return self.projection(v)
