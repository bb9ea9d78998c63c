"""What one output of an operator takes, predicted from its settings, so that jobs can be planned. No torch.

Formulas count products of matrices to first order. Those of the registered architectures are within a factor
of three of torch's own count, and a test holds them to it.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """What one output on one grid takes.

    points            points of the whole grid.
    forward_flop      operations, a multiplication and an addition being two.
    hidden_values     values of the hidden functions of all layers.
    weights           parameters.
    width             channels of the hidden function.
    resampled_points  points of a grid that is resampled to a coarser one, on which the layers work; else 0.
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
    """Add up equal layers that work on `points`.

    `layer_flop` are the operations of a layer at a point, `outside_flop` those of lifting and projection at a
    point; `layer_values` are what a layer forms at a point beside `width` channels, such as a row of the
    attention matrix. `weights` are a layer's, in units of width². `fine_points` are those of the whole grid
    where `points` are a coarser one's, which convolutional samplers go to and come from.
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
    """Count the operations of an encoder layer at a point that attends to `attended` points.

    For attention of linear cost `attended` is what costs as much: the features of a head.
    """
    return 8 * width**2 + 4 * width * feedforward_width + 4 * width * attended
