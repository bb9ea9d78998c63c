"""What the two transformers on patches of Calvello et al. (2024, arXiv:2406.06486) have in common."""

from collections.abc import Callable
from typing import Literal

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from resolvent.models.layers.patched_attention import patched_attention
from resolvent.models.layers.patches import join, split
from resolvent.models.layers.smoothers import InverseLaplacianSmoother, LearnedSmoother
from resolvent.models.layers.spectral_convolution_2d import SpectralConvolution2d
from resolvent.models.layers.stack import stack


class PatchConvolution(nn.Module):
    """One spectral convolution, with what of its band a patch resolves, on every patch for itself.

    With `periodic_extension` it acts on the even extension of each patch (section 6.2, figure 19).
    """

    def __init__(
        self, *, in_channels: int, out_channels: int, modes: int, periodic_extension: bool, maps: int = 1
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
    """y ← LN(y + Z), y ← LN(y + F(y)) on functions on patches; the norms are over the channels of a point.

    `projections` makes Q, K and V of all heads from y, as 3·width channels. Z is `patched_attention` of each
    head, and an affine map of the heads side by side. F is affine to `feedforward_width`, GELU, dropout,
    affine back. `dropout` is one rate: of the attention matrix, of Z, inside F and of F(y). The maps W₁ and
    W₂ of eq. 10 that y goes through before it is added are identities, as in the public code.
    """

    def __init__(
        self,
        projections: nn.Module,
        *,
        width: int,
        num_heads: int,
        feedforward_width: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.projections = projections
        self.output = nn.Linear(width, width)
        self.attention_norm, self.feedforward_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.feedforward = nn.Sequential(
            nn.Linear(width, feedforward_width),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(feedforward_width, width),
        )
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, y: Float[Tensor, "batch patches p1 p2 width"], cell_volume: float
    ) -> Float[Tensor, "batch patches p1 p2 width"]:
        """Apply the layer; a point of a patch stands for `cell_volume`."""
        y = self.attention_norm(y + self.dropout(self._attend(y, cell_volume)))
        return self.feedforward_norm(y + self.dropout(self.feedforward(y)))

    def _attend(self, y: Tensor, cell_volume: float) -> Tensor:
        heads = "batch patches p1 p2 (qkv heads e) -> qkv batch heads patches p1 p2 e"
        q, k, v = rearrange(self.projections(y), heads, qkv=3, heads=self.num_heads)
        rate = self.dropout.p if self.training else 0.0
        z = patched_attention(q, k, v, cell_volume=cell_volume, dropout=rate)
        return self.output(rearrange(z, "batch heads patches p1 p2 e -> batch patches p1 p2 (heads e)"))


class PatchedNeuralOperator(nn.Module):
    """(u, x) → patches → `lifting` → encoder layers → affine → one function → smoother.

    A point stands for the volume 1/(n1·n2): that of the domain is counted as one, as in eq. 63, whatever the
    unit of x. `projections` makes the Q, K, V of one layer, `layer` are `PatchedEncoderLayer`'s keywords.
    `checkpointing` keeps the input of every layer alone and computes the layer again in the backward pass.
    The same function of u on every grid that `patches` divides, as long as the patches carry the modes.
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
        patches: int,
        checkpointing: bool,
        smoother: Literal["none", "learned", "inverse_laplacian"],
        smoother_modes: int,
        smoother_epsilon: float,
        smoother_exponent: float,
        smoother_boundary: Literal["periodic", "even"],
        **layer,
    ) -> None:
        super().__init__()
        self.patches, self.checkpointing = patches, checkpointing
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

    def forward(
        self, u: Float[Tensor, "batch n1 n2 in_channels"], x: Float[Tensor, "n1 n2 2"]
    ) -> Float[Tensor, "batch n1 n2 out_channels"]:
        """Return the output function at the same points.

        Raises `ValueError` if the patches do not divide the grid, or the learned smoother's modes do not fit.
        """
        cell_volume = 1 / (u.shape[1] * u.shape[2])
        y = self.lifting(split(torch.cat([u, x.expand(len(u), -1, -1, -1)], dim=-1), self.patches))
        for layer in self.layers:
            if self.checkpointing and torch.is_grad_enabled():
                y = checkpoint(layer, y, cell_volume, use_reentrant=False)
            else:
                y = layer(y, cell_volume)
        z = join(self.projection(y), self.patches)
        return z if self.smoother is None else self.smoother(z, x)
