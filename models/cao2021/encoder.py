"""The encoder of Cao (2021, arXiv:2105.14995), in any dimension."""

import math
from collections.abc import Callable
from functools import partial
from typing import Literal, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from resolvent.models.layers import attention as attentions
from resolvent.models.layers.common import stack
from resolvent.models.layers.dropout import Dropout, drop


class Encoder(nn.Module):
    """`num_layers` encoder layers; `layer` are keywords of `EncoderLayer`.

    Each layer has its own initial weights; with `equal_layers` all start as copies of the first.
    """

    def __init__(self, *, num_layers: int, equal_layers: bool, **layer) -> None:
        super().__init__()
        self.layers = stack(lambda: EncoderLayer(**layer), num_layers, equal=equal_layers)
        # Linear attention with the public code's scaling is O(1/n).
        self.discretisation_invariant = not (layer["attention"] == "linear" and layer["public_code_scaling"])

    def forward(
        self, y: Float[Tensor, "batch n width"], x: Float[Tensor, "n coordinate_dim"]
    ) -> Float[Tensor, "batch n width"]:
        for layer in self.layers:
            y = layer(y, x)
        return y


class EncoderLayer(nn.Module):
    """Attention and a pointwise feed-forward network, each with a residual connection.

    With Q, K, V = affine(y), split into `num_heads` heads of h = width/num_heads features, and Z the heads'
    attentions of x⊕Q, x⊕K, x⊕V (e = h + `coordinate_dim` features), concatenated and mapped back to `width`:

    - `layer_norm="projection"` (eqs. 4-6): y ← y + Z; y ← y + F(y). Before the coordinates are appended,
      K and V (galerkin, linear) or Q and K (fourier, softmax) are normalised over the h features, each
      head and each of the two matrices with its own scale and shift. Nothing else is normalised.
    - `layer_norm="regular"` (eq. 7 as coded): y ← LN(y + Z); y ← LN(y + F(y)).

    `attention="none"` omits Z with its sum and norm: y ← y + F(y), or y ← LN(y + F(y)), a pointwise map.

    F is affine to `feedforward_width`, ReLU, dropout, affine back. `residual_dropout` acts on Z and on F(y);
    `layer_norm_epsilon` is added to the variances. Both schemes and all four attentions have the same number
    of parameters: with d = width, H heads, m coordinates and f = feedforward_width,
    3(d² + d) + (d + Hm)d + d + 2df + f + d + 4d. Without attention: 2df + f + d, and 2d more if "regular".

    With `attention_layer_scale` Z is multiplied by one trained factor per channel with this initial value
    (LayerScale, Touvron et al. 2021, arXiv:2103.17239, eq. 4, only on this branch): d more parameters.

    Initial weights of Q, K and V are η Xavier + δ identity, their biases zero (eq. 17; η = `projection_gain`,
    δ = `projection_diagonal`); everything else has torch's defaults.
    """

    def __init__(
        self,
        *,
        width: int,
        num_heads: int,
        coordinate_dim: int,
        feedforward_width: int,
        attention: Literal["galerkin", "fourier", "softmax", "linear", "none"],
        layer_norm: Literal["projection", "regular"],
        layer_norm_epsilon: float,
        projection_gain: float,
        projection_diagonal: float,
        residual_dropout: float,
        feedforward_dropout: float,
        attention_dropout: float,
        attention_dropout_in_evaluation: bool,
        attention_layer_scale: float | None,
        public_code_scaling: bool,
        contraction: Literal["linear", "quadratic"],
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        scaling = {"public_code_scaling": public_code_scaling}
        options: dict = {"fourier": {"contraction": contraction, **scaling}, "linear": scaling}
        self.attention: Callable[..., Tensor] | None = None
        if attention != "none":
            self.attention = partial(getattr(attentions, attention), **options.get(attention, {}))
        # Without softmax the sums over points can be computed first, unless dropout acts on the n×n matrix.
        self.reassociates = attention == "galerkin" or (attention == "fourier" and contraction == "linear")
        self.drops_pairs = attention != "galerkin"
        root = math.sqrt(width // num_heads + coordinate_dim)
        self.scale = root if attention == "fourier" and public_code_scaling else 1.0
        self.attention_dropout = attention_dropout
        self.attention_dropout_in_evaluation = attention_dropout_in_evaluation
        if self.attention is not None:
            # Three maps instead of one to 3·width, whose slices would have to be copied.
            projections = [nn.Linear(width, width) for _ in "QKV"]
            with torch.no_grad():
                for projection in projections:  # eq. 17
                    nn.init.xavier_uniform_(projection.weight, gain=projection_gain)
                    projection.weight.diagonal().add_(projection_diagonal)
                    projection.bias.zero_()
            self.projections = nn.ModuleList(projections)
            self.output = nn.Linear(width + num_heads * coordinate_dim, width)
        self.layer_scale: nn.Parameter | None = None
        if attention_layer_scale is not None:
            self.layer_scale = nn.Parameter(torch.full((width,), attention_layer_scale))
        self.feedforward = nn.Sequential(
            nn.Linear(width, feedforward_width),
            nn.ReLU(),  # not in place: then the backward pass would copy the linear map's output, a view
            Dropout(feedforward_dropout),
            nn.Linear(feedforward_width, width),
        )
        self.residual_dropout = Dropout(residual_dropout)

        self.projection_norm: ProjectionNorm | None = None
        self.attention_norm: nn.Module = nn.Identity()
        self.feedforward_norm: nn.Module = nn.Identity()
        if layer_norm == "regular":
            if self.attention is not None:
                self.attention_norm = nn.LayerNorm(width, eps=layer_norm_epsilon)
            self.feedforward_norm = nn.LayerNorm(width, eps=layer_norm_epsilon)
        elif self.attention is not None:
            first = 0 if attention in ("fourier", "softmax") else 1  # Q and K, or K and V
            self.projection_norm = ProjectionNorm(first, num_heads, width // num_heads, layer_norm_epsilon)

    def forward(
        self, y: Float[Tensor, "batch n width"], x: Float[Tensor, "n coordinate_dim"]
    ) -> Float[Tensor, "batch n width"]:
        """Apply the layer at the points `x`; every head gets the raw coordinates."""
        if self.attention is not None:
            y = self.attention_norm(y + self.residual_dropout(self._attend(y, x, self.attention)))
        return self.feedforward_norm(y + self.residual_dropout(self.feedforward(y)))

    def _attend(self, y: Tensor, x: Tensor, attention: Callable[..., Tensor]) -> Tensor:
        active = self.training or self.attention_dropout_in_evaluation
        dropout = self.attention_dropout if active else 0.0
        if self.reassociates and not (dropout and self.drops_pairs):
            return self._attend_reassociated(y, x, dropout)
        q, k, v = (self._located(self._features(y, index), x).transpose(1, 2) for index in range(3))
        z = attention(q, k, v, dropout=dropout)
        return functional.linear(z.transpose(1, 2).flatten(2), *self._output())

    def _output(self) -> tuple[Tensor, Tensor]:
        """Return weight (width, heads·e) and bias of the map to Z, both multiplied by the layer scale."""
        weight, bias = self.output.weight, self.output.bias
        if self.layer_scale is None:
            return weight, bias
        return self.layer_scale[:, None] * weight, self.layer_scale * bias

    def _attend_reassociated(self, y: Tensor, x: Tensor, dropout: float) -> Tensor:
        """Compute W Q(KᵀV)/n with as few products over the points as possible.

        Those of Q, K and V that are not normalised are affine in y, (x⊕1⊕y)A. Their A, and the output map W,
        are multiplied with the small matrix KᵀV, so that the sum over the points only involves x⊕1⊕y: with
        "regular" norms, for any number of heads, (x⊕1⊕y)ᵀ(x⊕1⊕y).
        """
        lifted = torch.cat([x.expand(len(y), -1, -1), y.new_ones(1).expand(*y.shape[:2], 1), y], dim=-1)
        (q, of_q), (k, of_k), (v, of_v) = (self._factors(lifted, y, x, index) for index in range(3))
        matrix = moments(k, v) / (y.shape[1] * self.scale)
        if of_k is not None:
            matrix = of_k.mT @ matrix
        if of_v is not None:
            matrix = matrix @ of_v
        matrix = drop(matrix, dropout)
        weight, bias = self._output()
        matrix = matrix @ weight.T.unflatten(0, (self.num_heads, -1))
        matrix = matrix.flatten(1, 2) if of_q is None else (of_q @ matrix).sum(dim=1)
        return torch.baddbmm(bias, q.flatten(2), matrix)

    def _factors(self, lifted: Tensor, y: Tensor, x: Tensor, index: int) -> tuple[Tensor, Tensor | None]:
        """Return Q, K or V with coordinates, (batch, n, heads, e); or, if affine, x⊕1⊕y and its A."""
        if self.projection_norm is not None and self.projection_norm.acts_on(index):
            return self._located(self._features(y, index), x), None
        projection, m = cast(nn.Linear, self.projections[index]), x.shape[-1]
        affine = torch.cat([projection.bias[None], projection.weight.T]).unflatten(1, (self.num_heads, -1))
        affine = functional.pad(affine.transpose(0, 1), (m, 0))
        copied = torch.eye(m, affine.shape[-1], dtype=affine.dtype, device=affine.device)
        return lifted[:, :, None], torch.cat([copied.expand(self.num_heads, -1, -1), affine], dim=1)

    def _features(self, y: Tensor, index: int) -> Tensor:
        """Return Q, K or V by heads, (batch, n, heads, head_width), normalised if the layer norm applies."""
        features = self.projections[index](y).unflatten(-1, (self.num_heads, -1))
        return features if self.projection_norm is None else self.projection_norm(features, index)

    def _located(self, features: Tensor, x: Tensor) -> Tensor:
        """Prepend the coordinates to every head's features: (batch, n, heads, e)."""
        place = x[:, None].expand(*features.shape[:3], -1)
        return torch.cat([place, features], dim=-1)


def moments(k: Tensor, v: Tensor) -> Tensor:
    """Return the sums of products over the points: (batch, heads, e, f).

    `k` is (batch, n, heads, e), `v` (batch, n, heads, f), or (batch, n, 1, f) for all heads.
    """
    if v.shape[2] == 1:  # one product for all heads
        return (k.flatten(2).mT @ v.squeeze(2)).unflatten(1, (k.shape[2], -1))
    return k.transpose(1, 2).mT @ v.transpose(1, 2)


class ProjectionNorm(nn.Module):
    """Layer norm of two of Q, K, V, with separate scale and shift for each of the two and each head.

    `first` is the index of the first of the two: 0 (Q and K) or 1 (K and V).
    """

    def __init__(self, first: int, num_heads: int, head_width: int, epsilon: float) -> None:
        super().__init__()
        self.first = first
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.ones(2, num_heads, head_width))
        self.bias = nn.Parameter(torch.zeros(2, num_heads, head_width))

    def acts_on(self, index: int) -> bool:
        """Return whether Q, K or V (`index` 0, 1, 2) is normalised."""
        return index in (self.first, self.first + 1)

    def forward(self, features: Tensor, index: int) -> Tensor:
        """Normalise Q, K or V, (batch, n, heads, head_width), over the last axis, if `acts_on`."""
        if not self.acts_on(index):
            return features
        weight, bias = self.weight[index - self.first], self.bias[index - self.first]
        num_heads, head_width = weight.shape
        if num_heads == 1:  # the fused kernel also scales and shifts: half the time
            return functional.layer_norm(features, (head_width,), weight[0], bias[0], eps=self.epsilon)
        features = functional.layer_norm(features, (head_width,), eps=self.epsilon)
        return torch.addcmul(bias, features, weight)
