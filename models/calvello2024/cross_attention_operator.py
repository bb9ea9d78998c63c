"""Cross-attention from the points of an output function to the points of an input function, on a square."""

from jaxtyping import Float
from torch import Tensor, nn

from resolvent.models.calvello2024.transformer_neural_operator import TransformerLayer
from resolvent.models.layers.common import Input, Points, pointwise_network, with_coordinates
from resolvent.models.layers.continuum_attention import trapezoid_log_weights
from resolvent.models.layers.grid_sizes import downsampled_sizes
from resolvent.models.layers.resampling import interpolate


class CrossAttentionOperator2d(nn.Module):
    """Layers of continuum cross-attention (Calvello et al. 2024, arXiv:2406.06486, definitions 10 and 11).

    w = affine(GELU(affine(u, x))) on the grid of u;   v = affine(y) at the points y of the output
    v ← LN(v + A(v, w)); v ← LN(v + F(v))              `num_layers` times
    affine to `out_channels`

    A has Q from v, and K and V from w, with trapezoidal weights. The points of the output attend only to
    points of the input, so the output is a function of y that can be evaluated anywhere (`at`). The paper
    defines the attention, but trains no such operator; this arrangement is ours. n output points cost
    O(n·n1·n2).

    `forward` evaluates on the coarse grid of `models.layers.grid_sizes.downsampled_sizes`, which has the same
    corners as the grid of u. `layer` are keywords of `TransformerLayer`. With d = width, f =
    feedforward_width, c_in and c_out channels: (c_in + 3)f + (f + 1)d + 3d + L(4(d² + d) + 2df + f + d + 4d)
    + (d + 1)c_out parameters.
    """

    discretisation_invariant = True

    def __init__(
        self,
        *,
        in_channels: int,
        out_channels: int,
        width: int,
        num_layers: int,
        feedforward_width: int,
        downsampling_factor: float,
        **layer,
    ) -> None:
        super().__init__()
        self.factor = downsampling_factor
        self.lifting = pointwise_network(in_channels + 2, feedforward_width, width)
        self.queries = nn.Linear(2, width)
        self.layers = nn.ModuleList(
            TransformerLayer(width=width, feedforward_width=feedforward_width, **layer)
            for _ in range(num_layers)
        )
        self.projection = nn.Linear(width, out_channels)

    def forward(self, u: Input, x: Points) -> Float[Tensor, "batch *coarse out_channels"]:
        """Return the output function on the coarse grid.

        Raises `ValueError` if the grid is too small for `downsampling_factor`, and as `at`.
        """
        n1, n2, _ = x.shape
        coarse = downsampled_sizes(n1, self.factor)[1], downsampled_sizes(n2, self.factor)[1]
        y = interpolate(x[None], coarse)[0]
        return self.at(u, x, y.flatten(0, 1)).unflatten(1, coarse)

    def at(
        self, u: Input, x: Points, y: Float[Tensor, "points dim"]
    ) -> Float[Tensor, "batch points out_channels"]:
        """Return the output function at the points y. Raises `ValueError` as `trapezoid_weights`."""
        w = self.lifting(with_coordinates(u, x)).flatten(1, 2)
        log_weights = trapezoid_log_weights(x)
        v = self.queries(y).expand(len(u), -1, -1)
        for layer in self.layers:
            v = layer(v, log_weights, attended=w)
        return self.projection(v)
