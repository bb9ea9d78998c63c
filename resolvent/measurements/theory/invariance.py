"""The same function on n and on 2n points a side, through every registered architecture; untrained."""

from __future__ import annotations

import numpy as np
import pandas
import torch
from torch import Tensor

from resolvent.models.build import build
from resolvent.models.registry import settings_class

SCRAMBLE = 0.1  # standard deviation of what is added to the initial weights, with which attention does little
ENCODER = {"width": 16, "num_layers": 2, "num_heads": 2, "feedforward_width": 24}
PATCHED = {**ENCODER, "patches": 2, "modes": 3, "smoother_modes": 4}
PACKAGE = {"width": 8, "modes": 8, "num_layers": 3}
APPROXIMATOR = {"width": 16, "feedforward_width": 24}
FNO = {"width": 8, "num_layers": 3, "modes": 4, "projection_width": 12}
CODOMAIN = {"width": 8, "num_layers": 2, "features": 3, "modes": 4, "feedforward_width": 12}
DECODER = {"decoder_width": 12, "modes": 4}
DEEPONET = {"width": 16, "num_layers": 3, "basis": 12}
UNET = {"width": 8, "num_levels": 2}
TRANSOLVER = {**ENCODER, "slices": 6}
# Every registered architecture, small, and the variants whose claims differ; a variant by the words it adds.
VARIANTS: list[tuple[str, str, dict]] = [
    ("fno1d", "", FNO),
    ("transformer1d", "", {**ENCODER, **DECODER}),
    (
        "transformer1d",
        "linear, public scaling",
        {**ENCODER, **DECODER, "attention": "linear", "public_code_scaling": True},
    ),
    ("tno1d", "", ENCODER),
    ("tno1d", "equal weights", {**ENCODER, "quadrature": "none"}),
    ("universal_approximator1d", "", APPROXIMATOR),
    ("neuraloperator1d", "FNO", PACKAGE),
    ("neuraloperator1d", "UNO", {**PACKAGE, "model": "UNO"}),
    ("fno2d", "", FNO),
    (
        "transformer2d",
        "",
        {**ENCODER, **DECODER, "projection_width": 12, "downsampling_factor": 0.7},
    ),
    ("transformer2d_coarse", "", {**ENCODER, "downsampling_factor": 0.7, "decoder_width": 12}),
    ("tno2d", "", ENCODER),
    ("cross_attention2d_coarse", "", {**ENCODER, "downsampling_factor": 0.7}),
    ("codomain_attention2d", "", CODOMAIN),
    ("galerkin_encoder2d", "", ENCODER),
    ("universal_approximator2d", "", APPROXIMATOR),
    *(("neuraloperator2d", model, {**PACKAGE, "model": model}) for model in ("FNO", "TFNO", "UNO", "CODANO")),
    ("vit_no", "", PATCHED),
    ("fano", "", PATCHED),
    ("afno", "", {"points": 16, "width": 16, "num_layers": 2, "num_blocks": 2, "feedforward_width": 24}),
    ("deeponet1d", "", {**DEEPONET, "sensors": 20}),
    ("deeponet2d", "", {**DEEPONET, "sensors": 6, "boundary": "periodic"}),
    ("unet1d", "", UNET),
    ("unet2d", "", UNET),
    ("transolver1d", "", TRANSOLVER),
    ("transolver2d", "", TRANSOLVER),
]
# Trapezoidal weights are for grids with both ends. In two dimensions all points attend to all.
WITH_ENDS = {
    "tno1d": 2,
    "tno2d": 2,
    "cross_attention2d_coarse": 2,
    "universal_approximator1d": 2,
    "universal_approximator2d": 2,
}
# The order in 1/n where it is not one; sensors interpolate linearly between points.
ORDERS = {**WITH_ENDS, "deeponet1d": 2, "deeponet2d": 2}


def invariance_errors(points_1d: list[int], points_2d: list[int], seed: int) -> pandas.DataFrame:
    """Return how far outputs on n and 2n intervals a side are apart, at the common points, relative L².

    Weights are the initial ones plus normal numbers, in double precision (the package neuraloperator rounds
    Fourier coefficients to single). The input is `smooth`. Grids are x = i/n, i < n, or i ≤ n for what has
    trapezoidal weights; in two dimensions those have half as many points a side. Of an architecture that
    takes one grid only, or whose output is on another, there is one row without points and error.

    Columns: `architecture`, `variant`, `dimension`, `claims` (whether the operator says that it is
    discretisation-invariant), `points` (n), `error`.
    """
    rows = []
    for architecture, variant, settings in VARIANTS:
        entry = settings_class(architecture)
        operator = scrambled(architecture, settings, seed)
        facts = {
            "architecture": architecture,
            "variant": variant,
            "dimension": entry.dimension,
            "claims": operator.discretisation_invariant,
        }
        if entry.one_grid or (entry.coarse_output and not hasattr(operator, "at")):
            rows.append({**facts, "points": None, "error": None})
            continue
        sides = points_1d if entry.dimension == 1 else points_2d
        if entry.dimension == 2 and architecture in WITH_ENDS:
            sides = [n // 2 for n in sides]
        for n in sides:
            error = refinement_error(operator, n, entry.dimension, ends=architecture in WITH_ENDS)
            rows.append({**facts, "points": n, "error": error})
    return pandas.DataFrame(rows).astype({"points": "Int64"})


@torch.no_grad()
def refinement_error(operator: torch.nn.Module, n: int, dimension: int, *, ends: bool) -> float:
    """Return ‖G_2n(u) - G_n(u)‖/‖G_2n(u)‖ on the points of the coarser grid.

    An operator whose output may be asked for anywhere (`at`) is asked there, whatever the grid of u.
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
    """Return an operator in evaluation and double precision, off its initial weights."""
    operator = build(architecture, settings, seed).double().eval().requires_grad_(False)
    generator = torch.Generator().manual_seed(seed)
    for parameter in operator.parameters():
        parameter += SCRAMBLE * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return operator


def smooth(x: Tensor) -> Tensor:
    """Return a smooth function at x (…, dimension), different at opposite ends: (…)."""
    return torch.cos(3 * x[..., 0] + 0.3) * torch.exp(-x[..., -1]) + torch.sin(4 * x.sum(-1))


def grid(n: int, dimension: int, ends: bool) -> Tensor:
    """Return x = i/n, i < n or, with `ends`, i ≤ n, along every axis: (n or n + 1, …, dimension)."""
    axis = torch.from_numpy(np.arange(n + ends) / n)
    return torch.stack(torch.meshgrid(*[axis] * dimension, indexing="ij"), dim=-1)
