"""Apply every registered architecture, untrained, to a function on n and on 2n points per side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import torch
from torch import Tensor

from resolvent.models.build import build
from resolvent.models.registry import settings_class

SCRAMBLE = 0.1  # standard deviation of noise on the initial weights: without it, attention has little effect


def invariance_errors(
    cases: list[tuple[str, str, dict]], points_1d: list[int], points_2d: list[int], seed: int
) -> pandas.DataFrame:
    """Return relative L² differences of outputs on n and 2n intervals per side, at the common points.

    `cases` come from `models.registry.examples`: architecture, name of a variant, settings. Weights are
    initial weights plus normal noise, in double precision (the package neuraloperator rounds Fourier
    coefficients to single precision). The input is `smooth`. Grids are x = i/n, i < n, or i ≤ n with
    trapezoidal weights, which have half as many points per side in two dimensions; in three dimensions, only
    the first two grids are used. An architecture with a fixed grid, or with its output on another grid, has
    one row without points and error. `claims`: whether the operator claims discretisation invariance.
    """
    rows: list[tuple] = []
    for architecture, variant, settings in cases:
        entry = settings_class(architecture)
        operator = scrambled(architecture, settings, seed)
        facts = (architecture, variant, entry.dimension, operator.discretisation_invariant)
        if entry.one_grid or (entry.coarse_output and not hasattr(operator, "at")):
            rows.append((*facts, None, None))
            continue
        sides = points_1d if entry.dimension == 1 else points_2d
        if entry.dimension == 3 or (entry.dimension == 2 and entry.trapezoidal):
            sides = [n // 2 for n in sides][: 2 if entry.dimension == 3 else None]
        for n in sides:
            rows.append((*facts, n, refinement_error(operator, n, entry.dimension, ends=entry.trapezoidal)))
    columns = ["architecture", "variant", "dimension", "claims", "points", "error"]
    return pandas.DataFrame(rows, columns=columns).astype({"points": "Int64"})


@torch.no_grad()
def refinement_error(operator: Any, n: int, dimension: int, *, ends: bool) -> float:
    """Return ‖G_2n(u) - G_n(u)‖/‖G_2n(u)‖ on the points of the coarser grid.

    Operators that can be evaluated at any point (`at`) are evaluated there.
    """
    grids = [grid(m, dimension, ends) for m in (n, 2 * n)]
    if hasattr(operator, "at"):
        asked = grids[0].flatten(0, -2)
        coarse, common = (operator.at(smooth(x)[None, ..., None], x, asked) for x in grids)
    else:
        coarse, fine = (operator(smooth(x)[None, ..., None], x) for x in grids)
        common = fine[(slice(None), *[slice(None, None, 2)] * dimension)]
    return float((common - coarse).norm() / common.norm())


def scrambled(architecture: str, settings: dict, seed: int) -> torch.nn.Module:
    """Return an operator with perturbed initial weights, in double precision and evaluation mode."""
    operator = build(architecture, settings, seed).double().eval().requires_grad_(False)
    generator = torch.Generator().manual_seed(seed)
    for parameter in operator.parameters():
        parameter.add_(SCRAMBLE * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return operator


def smooth(x: Tensor) -> Tensor:
    """Return values (…) at x (…, dimension) of a smooth, non-periodic function."""
    return torch.cos(3 * x[..., 0] + 0.3) * torch.exp(-x[..., -1]) + torch.sin(4 * x.sum(-1))


def grid(n: int, dimension: int, ends: bool) -> Tensor:
    """Return x = i/n, i < n or, with `ends`, i ≤ n, along every axis: (n or n + 1, …, dimension)."""
    axis = torch.from_numpy(np.arange(n + ends) / n)
    return torch.stack(torch.meshgrid(*[axis] * dimension, indexing="ij"), dim=-1)
