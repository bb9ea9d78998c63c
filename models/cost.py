"""Predict the cost of one output of an operator from its settings, for planning jobs. Does not import torch.

Formulas count matrix products to first order. For registered architectures they are within a factor of three
of torch's own count, which a test checks.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """Cost of one output on one grid.

    points            points of the whole grid.
    forward_flop      operations; a multiply-add counts as two.
    hidden_values     values of the hidden functions of all layers.
    weights           parameters.
    width             channels of the hidden function.
    resampled_points  points of the fine grid if the layers work on a coarser grid; else 0.
    """

    points: int
    forward_flop: int | float
    hidden_values: int
    weights: int
    width: int
    resampled_points: int = 0


def cost_of_layers(
    points: int,
    *,
    width: int,
    num_layers: int,
    layer_flop: int | float,
    outside_flop: int = 0,
    layer_values: int = 0,
    weights: int = 8,
    fine_points: int | None = None,
) -> Cost:
    """Return the cost of equal layers that work on `points`.

    `layer_flop` are the operations of a layer per point, `outside_flop` the operations of lifting and
    projection per point; `layer_values` are the values that a layer forms per point in addition to `width`
    channels, such as a row of the attention matrix. `weights` are per layer, in units of width².
    `fine_points` are the points of the whole grid if `points` belong to a coarser grid between convolutional
    samplers.
    """
    flop = (num_layers * layer_flop + outside_flop) * points
    return Cost(
        points=points if fine_points is None else fine_points,
        forward_flop=flop + 10 * width**2 * (fine_points or 0),
        hidden_values=points * (width + layer_values) * num_layers,
        weights=num_layers * width**2 * weights,
        width=width,
        resampled_points=fine_points or 0,
    )


def transformer_flop(width: int, feedforward_width: int, attended: int | float) -> int | float:
    """Return the operations per point of an encoder layer with attention to `attended` points.

    For attention of linear cost, `attended` is the number of features of a head, which costs as much.
    """
    return 8 * width**2 + 4 * width * feedforward_width + 4 * width * attended
