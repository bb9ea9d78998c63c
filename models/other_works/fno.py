"""Fourier neural operator, in one, two and three dimensions."""

from functools import partial
from typing import Literal

import torch
from torch import nn

from resolvent.models.layers.common import Input, Output, Points, place, pointwise_network, with_coordinates
from resolvent.models.layers.spectral_convolution import SpectralLayer, SpectralLayer2d, SpectralLayer3d


class FNO(nn.Module):
    """Fourier neural operator (Li et al. 2021, arXiv:2010.08895, eqs. 2-5 and appendix A.3).

    (u, x) → affine to `width` → `num_layers` spectral layers with ReLU after all but the last
    → affine to `projection_width`, ReLU → affine to `out_channels`.

    Without batch normalisation: Cao (2021, arXiv:2105.14995, appendix B) removes it from the 2020 code, and
    the later code of Li et al. has none. Also without padding; normalisers and boundary values belong to the
    training. In one dimension, width 64, 4 layers, 16 modes: 549,569 parameters; in two, width 32, 4 layers,
    12 modes: 2,368,001; in three, width 16, 4 layers, 6 modes: 1,772,945.
    """

    discretisation_invariant = True

    def __init__(
        self,
        *,
        in_channels: int,
        out_channels: int,
        dimension: int,
        width: int,
        num_layers: int,
        modes: int,
        projection_width: int,
        coordinates: Literal["grid", "linspace", "linspace_2pi"] = "grid",
    ) -> None:
        super().__init__()
        self.coordinates = coordinates
        layer = (SpectralLayer, SpectralLayer2d, SpectralLayer3d)[dimension - 1]
        self.lifting = nn.Linear(in_channels + dimension, width)
        self.layers = nn.ModuleList(
            layer(in_channels=width, out_channels=width, modes=modes, initialisation="li")
            for _ in range(num_layers)
        )
        self.projection = pointwise_network(width, projection_width, out_channels, nn.ReLU)

    def forward(self, u: Input, x: Points) -> Output:
        """Return the output function. Raises `ValueError` if the grid is too coarse for the modes."""
        v = self.lifting(with_coordinates(u, place(x, self.coordinates)))
        *layers, last = self.layers
        for layer in layers:
            v = torch.relu(layer(v))
        return self.projection(last(v))


FNO1d = partial(FNO, dimension=1)
FNO2d = partial(FNO, dimension=2)
FNO3d = partial(FNO, dimension=3)
