"""Transformer neural operator: attention between all points of a function, in one or two dimensions."""

from functools import partial
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from resolvent.models.layers.common import Input, Output, Points, pointwise_network, stack
from resolvent.models.layers.continuum_attention import ContinuumAttention, trapezoid_log_weights
from resolvent.models.layers.dropout import Dropout


class TransformerNeuralOperator(nn.Module):
    """Encoder of continuum attention (Calvello et al. 2024, arXiv:2406.06486, section 4.2 and appendix B.1).

    (u, x) → affine to `width` → `num_layers` layers → affine to `out_channels`, on the points of
    `dimension` variables, all n of them attending to all: cost O(n²).

    `quadrature="trapezoid"`: integrals in the attention use the trapezoidal rule on the given points, evenly
    spaced or not (eqs. 58-59), in two dimensions with products of the axes' weights. "none": equal weights,
    the transformer of Vaswani et al. (2017), in which denser points have more weight.

    `initial_channels` k, in one dimension: the last k input channels are constants, the initial values of an
    equation. `initial_values` is how they are used:

    "first_token"  only at the first point, as in the paper: a separate affine map embeds all channels and x
                   there, and the other points embed the remaining channels and x. The first point's weight is
                   half its distance to the next, so the influence of these values vanishes with that
                   distance: this form is not discretisation-invariant.
    "every_time"   ours: every point embeds all channels and x, by one map.

    `checkpointing` recomputes each layer in the backward pass instead of storing its activations.

    Width 128, 6 layers, 8 heads, 128 hidden: 598,145 parameters in two dimensions with one input and output
    channel; 598,786 in one dimension with one input channel, two initial channels and two output channels.
    (The public code has 256 more, in a map that it does not use.)
    """

    def __init__(
        self,
        *,
        in_channels: int,
        out_channels: int,
        dimension: int,
        width: int,
        num_layers: int,
        equal_layers: bool,
        quadrature: Literal["trapezoid", "none"],
        checkpointing: bool,
        initial_channels: int = 0,
        initial_values: Literal["first_token", "every_time"] = "first_token",
        **layer,
    ) -> None:
        super().__init__()
        self.weighted = quadrature == "trapezoid"
        self.checkpointing = checkpointing
        self.initial_values = initial_values if initial_channels else "every_time"
        self.discretisation_invariant = self.weighted and self.initial_values != "first_token"
        at_first = initial_channels if self.initial_values == "first_token" else 0
        self.embedded_channels = in_channels - at_first
        self.lifting = nn.Linear(self.embedded_channels + dimension, width)
        self.initial_lifting = nn.Linear(in_channels + dimension, width) if at_first else None
        self.layers = stack(lambda: TransformerLayer(width=width, **layer), num_layers, equal=equal_layers)
        self.projection = nn.Linear(width, out_channels)

    def forward(self, u: Input, x: Points) -> Output:
        """Return the output function. Raises `ValueError` as `trapezoid_weights`."""
        log_weights = self.log_weights(x)
        v = self._embed(u.flatten(1, -2), x.flatten(0, -2))
        for layer in self.layers:
            if self.checkpointing and torch.is_grad_enabled():
                v = checkpoint(layer, v, log_weights, use_reentrant=False)
            else:
                v = layer(v, log_weights)
        return self.projection(v).view(*u.shape[:-1], -1)

    def log_weights(self, x: Points) -> Float[Tensor, " points"] | None:
        """Return the log-weights of the points in the attention, up to a constant; None for equal weights."""
        return trapezoid_log_weights(x) if self.weighted else None

    def _embed(self, u: Tensor, x: Tensor) -> Tensor:
        """Lift the function to `width` channels, (batch, points, width)."""
        place = x.expand(len(u), -1, -1)
        function = torch.cat([u[..., : self.embedded_channels], place], dim=-1)
        if self.initial_lifting is None:
            return self.lifting(function)
        first = self.initial_lifting(torch.cat([u[:, :1], place[:, :1]], dim=-1))
        return torch.cat([first, self.lifting(function[:, 1:])], dim=1)


TransformerNeuralOperator1d = partial(TransformerNeuralOperator, dimension=1)
TransformerNeuralOperator2d = partial(TransformerNeuralOperator, dimension=2)


class TransformerLayer(nn.Module):
    """v ← LN(v + A(v)); v ← LN(v + F(v)) with F affine to `feedforward_width`, GELU, affine back (eq. 10).

    W₁ and W₂ of eq. 10 are identities, as in all experiments of the paper. `residual_dropout` acts on A(v)
    and F(v), `attention_dropout` on the probabilities; `layer_norm_epsilon` is added to the variances;
    without `scaled_scores` the scores are not divided by √d_K. 4(d² + d) + 2df + f + d + 4d parameters with d
    = width and f = feedforward_width.
    """

    def __init__(
        self,
        *,
        width: int,
        num_heads: int,
        feedforward_width: int,
        layer_norm_epsilon: float,
        residual_dropout: float,
        attention_dropout: float,
        scaled_scores: bool = True,
    ) -> None:
        super().__init__()
        self.attention = ContinuumAttention(
            width=width, num_heads=num_heads, dropout=attention_dropout, scaled=scaled_scores
        )
        self.attention_norm = nn.LayerNorm(width, eps=layer_norm_epsilon)
        self.feedforward = pointwise_network(width, feedforward_width, width)
        self.feedforward_norm = nn.LayerNorm(width, eps=layer_norm_epsilon)
        self.residual_dropout = Dropout(residual_dropout)

    def forward(
        self,
        v: Float[Tensor, "batch points width"],
        log_weights: Float[Tensor, " nodes"] | None,
        attended: Float[Tensor, "batch nodes width"] | None = None,
    ) -> Float[Tensor, "batch points width"]:
        """Apply the layer, with `log_weights` of the attended points, or None for equal weights.

        `attended` is another function on its own nodes, to which v attends; by default v attends to itself.
        """
        z = self.attention(v, v if attended is None else attended, log_weights)
        v = self.attention_norm(v + self.residual_dropout(z))
        return self.feedforward_norm(v + self.residual_dropout(self.feedforward(v)))
