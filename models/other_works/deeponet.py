"""DeepONet: a network of the input's values times a network of the output's coordinates."""

from functools import partial
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn

from resolvent.models.layers.common import Input, Output, Points

ROUNDING = 1e-2  # relative to a spacing: rounding of single-precision coordinates on fine even grids


class DeepONet(nn.Module):
    """DeepONet (Lu et al. 2021, arXiv:1910.03193, eq. 2, unstacked, with bias).

    v_c(x) = b_c + Σ_k branch_kc(u at the sensors) · trunk_kc(x), k = 1..`basis`. Branch and trunk are
    `num_layers` affine maps with ReLU between them and, for the trunk, after the last. u is interpolated
    linearly to `sensors` evenly spaced points along each axis, so any grid can be used, also with uneven
    points. Initial weights are Glorot normal, biases zero, as in the authors' DeepXDE.
    """

    discretisation_invariant = True

    def __init__(
        self,
        *,
        in_channels: int,
        out_channels: int,
        dimension: int,
        sensors: int,
        width: int,
        num_layers: int,
        basis: int,
        boundary: Literal["periodic", "edges"],
    ) -> None:
        super().__init__()
        self.sensors, self.boundary = sensors, boundary
        self.functions = (basis, out_channels)
        given, hidden = in_channels * sensors**dimension, [width] * (num_layers - 1)
        self.branch = _network([given, *hidden, basis * out_channels])
        self.trunk = _network([dimension, *hidden, basis * out_channels])
        self.bias = nn.Parameter(torch.zeros(out_channels))

    def forward(self, u: Input, x: Points) -> Output:
        for axis in range(1, u.ndim - 1):
            first = x[tuple(slice(None) if one == axis else 0 for one in range(1, u.ndim - 1))]
            # Along an axis only one component varies, so the sum of all has the same differences.
            u = at_sensors(u, first.sum(-1), axis, self.sensors, self.boundary)
        factors = self.branch(u.flatten(1)).unflatten(1, self.functions)
        functions = torch.relu(self.trunk(x)).unflatten(-1, self.functions)
        return torch.einsum("bkc,...kc->b...c", factors, functions) + self.bias


DeepONet1d = partial(DeepONet, dimension=1)
DeepONet2d = partial(DeepONet, dimension=2)


def at_sensors(u: Tensor, x: Tensor, axis: int, sensors: int, boundary: str) -> Tensor:
    """Interpolate u linearly along `axis`, from its n points x to `sensors` evenly spaced ones.

    A periodic function has its sensors over one period, n spacings, with the first sensor on the first point;
    otherwise the sensors go from the first point to the last. On points that are even up to rounding,
    positions are ratios of integers, so a sensor on a point has exactly the point's value.
    """
    n = u.shape[axis]
    periodic = boundary == "periodic"
    spacings, steps = (n, sensors) if periodic else (n - 1, sensors - 1)
    number = torch.arange(sensors, device=u.device)
    left, weight = number * spacings // steps, (number * spacings % steps).to(u.dtype) / steps
    # Computed without reading values, which would wait for the GPU.
    spacing = (x[-1] - x[0]) / (n - 1)
    even = (x - x[0] - spacing * torch.arange(n, device=x.device)).abs().max() < ROUNDING * spacing
    at = x[0] + (x[-1] - x[0]) * number / (sensors - 1)
    between = ((x <= at[:, None]).sum(1) - 1).clamp(0, n - 2)
    share = ((at - x[between]) / (x[between + 1] - x[between])).clamp(0, 1).to(u.dtype)
    left, weight = torch.where(even, left, between), torch.where(even, weight, share)
    right = (left + 1) % n if periodic else (left + 1).clamp(max=n - 1)
    weight = weight.unflatten(0, [-1, *[1] * (u.ndim - 1 - axis)])
    return torch.lerp(u.index_select(axis, left), u.index_select(axis, right), weight)


def _network(widths: list[int]) -> nn.Sequential:
    maps = [nn.Linear(given, gained) for given, gained in pairwise(widths)]
    for one in maps:
        nn.init.xavier_normal_(one.weight)
        nn.init.zeros_(one.bias)
    return nn.Sequential(*[part for one in maps[:-1] for part in (one, nn.ReLU())], maps[-1])
