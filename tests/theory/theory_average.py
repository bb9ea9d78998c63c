"""The layer in the proof of universal approximation (Calvello et al. 2024, theorem 22), in float64.

With Q = K = 0, V = W₃ = W₄ = I, W₂ = 0 and b₂ = 0 the layer of eq. 34 is v ↦ f(W₁v + b₁ + mean of v), eq. 37.
On a set of points the mean is a quadrature.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import torch
from theory_continuum import gauss_legendre
from torch import Tensor
from torch.nn import functional

from resolvent.models.build import build
from resolvent.models.layers.continuum_attention import trapezoid_log_weights

WIDTH = 4
NODES = {"trapezoid": lambda dimension: 2 / dimension, "monte_carlo": lambda dimension: 0.5}  # orders


def average_errors(sides: list[int], draws: int, seed: int) -> pandas.DataFrame:
    """Compare the layer on side² points with eq. 37, using Gauss-Legendre quadrature for the mean.

    `trapezoid`: an evenly spaced grid with both ends, in one or two dimensions, and trapezoidal weights;
    `monte_carlo`: independent uniform points with equal weights, averaged over the draws. `error` is the
    relative sup over the points of the difference. `rounding` is the same for eq. 37 with the mean over the
    points, which the layer should reproduce up to rounding; the largest over the draws.
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
                of_points = (log_weights.softmax(0)[:, None] * v).sum(1, keepdim=True)
                error = float(supremum(z, closed_form(layer, v, mean)).mean())
                rounding = float(supremum(z, closed_form(layer, v, of_points)).max())
                rows.append((dimension, name, x.shape[1], len(x), error, rounding))
    columns = ["dimension", "nodes", "points", "draws", "error", "rounding"]
    return pandas.DataFrame(rows, columns=columns)


def construction(dimension: int, seed: int) -> Any:
    """Return an untrained universal approximator with the layer of eq. 37 and random W₁ and b₁."""
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
    """Return values (…, 4) at x (…, dimension) of a smooth function that is not periodic."""
    total = x.sum(-1)
    return torch.stack([torch.cos(3 * total), torch.exp(-total), x.prod(-1), torch.sin(2 * x[..., 0])], -1)


def placed(name: str, dimension: int, side: int, draws: int, seed: int) -> tuple[Tensor, Tensor]:
    """Return points (sets, side², dimension), and log-weights (side²,) up to a constant."""
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
