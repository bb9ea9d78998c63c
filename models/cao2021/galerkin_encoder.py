"""The encoder of Cao (2021) alone, between affine maps, in two dimensions."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from resolvent.models.cao2021.encoder import Encoder


class GalerkinEncoder2d(nn.Module):
    """The "Galerkin transformer" of Calvello et al. (2024, arXiv:2406.06486, section 6.2.1 and table 1).

    (u, x) → affine to `width` → the layers of `Encoder` on all the points, which see the
    coordinates in every head → affine to `out_channels`. `encoder` are the remaining keywords of `Encoder`.

    Attention is compared with attention here: there is neither a convolution nor a spectral decoder. Width
    128, 6 layers, 4 heads, 128 hidden: 604,289 parameters, the 6.04e5 of table 1.
    """

    def __init__(self, *, in_channels: int, out_channels: int, width: int, **encoder) -> None:
        super().__init__()
        self.lifting = nn.Linear(in_channels + 2, width)
        self.encoder = Encoder(width=width, coordinate_dim=2, **encoder)
        self.discretisation_invariant = self.encoder.discretisation_invariant
        self.projection = nn.Linear(width, out_channels)

    def forward(
        self, u: Float[Tensor, "batch n1 n2 in_channels"], x: Float[Tensor, "n1 n2 2"]
    ) -> Float[Tensor, "batch n1 n2 out_channels"]:
        """Return the output function at the same points."""
        y = self.lifting(torch.cat([u, x.expand(len(u), -1, -1, -1)], dim=-1))
        y = self.encoder(y.flatten(1, 2), x.flatten(0, 1))
        return self.projection(y).view(*u.shape[:-1], -1)
