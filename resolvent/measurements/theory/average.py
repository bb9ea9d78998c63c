"""The layer that universal approximation is proved with (Calvello et al. 2024, theorem 22), in float64.

With Q = K = 0, V = W₃ = W₄ = I, W₂ = 0 and b₂ = 0 the layer of eq. 34 is v ↦ f(W₁v + b₁ + mean of v), eq. 37.
On points the mean is a quadrature.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import torch
from torch import Tensor
from torch.nn import functional

from resolvent.measurements.theory.continuum import gauss_legendre
from resolvent.models.build import build
from resolvent.models.layers.continuum_attention import trapezoid_log_weights

WIDTH = 4
NODES = {"trapezoid": lambda dimension: 2 / dimension, "monte_carlo": lambda dimension: 0.5}  # with the order


def average_errors(sides: list[int], draws: int, seed: int) -> pandas.DataFrame:
    """Compare the layer on side² points with eq. 37, its mean by Gauss-Legendre quadrature.

    `trapezoid`: an evenly spaced grid with the ends, in one dimension or two, and the rule's weights;
    `monte_carlo`: independent uniform points, equal weights, means over the draws. `error` is sup over the
    points of the difference, relative; `rounding` the same against eq. 37 with the mean over the points
    themselves, which the layer should reproduce to rounding (largest over the draws).
    """
    rows = []
    for dimension in (1, 2):
        layer = construction(dimension, seed)
        nodes, weights = (torch.from_numpy(array) for array in gauss_legendre(dimension))
        mean = weights @ latent(nodes)
        for side in sides:
            for name in NODES:
                x, log_weights = placed(name, dimension, side, draws, seed)
                v = latent(x)
                z = layer.encode(v, log_weights)
                shares = log_weights.softmax(0)[:, None]
                discrete = closed_form(layer, v, (shares * v).sum(1, keepdim=True))
                error = float(supremum(z, closed_form(layer, v, mean)).mean())
                rounding = float(supremum(z, discrete).max())
                rows.append((dimension, name, x.shape[1], len(x), error, rounding))
    columns = ["dimension", "nodes", "points", "draws", "error", "rounding"]
    return pandas.DataFrame(rows, columns=columns)


def construction(dimension: int, seed: int) -> Any:
    """Build the universal approximator whose layer is eq. 37, with random W₁ and b₁; nothing is trained."""
    settings = {"width": WIDTH, "feedforward_width": WIDTH}
    operator: Any = build(f"universal_approximator{dimension}d", settings, seed)
    operator.double().requires_grad_(False)
    identity = torch.eye(WIDTH, dtype=torch.float64)
    operator.attention.weight.copy_(torch.cat([0 * identity, 0 * identity, identity]))
    operator.feedforward[0].weight.copy_(identity)
    operator.feedforward[2].weight.copy_(identity)
    operator.feedforward[2].bias.zero_()
    operator.feedforward_skip.weight.zero_()
    return operator


def closed_form(layer: Any, v: Tensor, mean: Tensor) -> Tensor:
    """Return f(W₁v + b₁ + mean) at the points of v (sets, points, width)."""
    return functional.gelu(v @ layer.attention_skip.weight.T + layer.feedforward[0].bias + mean)


def latent(x: Tensor) -> Tensor:
    """Return a smooth function at x (…, dimension), different on opposite sides: (…, 4)."""
    total = x.sum(-1)
    return torch.stack([torch.cos(3 * total), torch.exp(-total), x.prod(-1), torch.sin(2 * x[..., 0])], -1)


def placed(name: str, dimension: int, side: int, draws: int, seed: int) -> tuple[Tensor, Tensor]:
    """Return the points (sets, side², dimension), and log-weights (side²,) up to a common term."""
    if name == "monte_carlo":
        generator = np.random.default_rng([seed, side, dimension])
        x = torch.from_numpy(generator.uniform(size=(draws, side**2, dimension)))
        return x, x.new_zeros(side**2)
    axis = torch.linspace(0, 1, side if dimension == 2 else side**2, dtype=torch.float64)
    x = torch.stack(torch.meshgrid(*[axis] * dimension, indexing="ij"), dim=-1)
    return x.flatten(0, -2)[None], trapezoid_log_weights(x)


def supremum(z: Tensor, exact: Tensor) -> Tensor:
    """Return sup over the points of |z - exact| (sets, points, width), relative to `exact`: (sets,)."""
    return (z - exact).norm(dim=-1).amax(-1) / exact.norm(dim=-1).amax(-1)
