"""What is measured: operators at the paper's widths (Cao 2021, arXiv:2105.14995), ours and the public code's.

Both have the same weights, the same scaling and no dropout, and so the same outputs up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from resolvent.measurements import step_cost
from resolvent.measurements.step_cost import ENCODER_ONLY, Learner, random_data
from resolvent.models.build import build
from resolvent.models.layers.grid_sizes import downsampled_sizes
from resolvent.models.layers.resampling import interpolate


@dataclass(frozen=True)
class Case:
    """An operator and its input.

    `problem` is "transformer1d" (Example 1), "transformer2d" (Example 2) or "encoder": four layers of width
    128 with one head on points of the plane, as the public code profiles encoders for Table 1. `n` are the
    points of a sample, or of a side in two dimensions. `contraction` is of ours with attention "fourier".
    """

    problem: str
    attention: str
    n: int
    batch: int
    public: bool = False
    contraction: str = "linear"
    compiled: bool = False

    @property
    def name(self) -> str:
        order = f", {self.contraction} order" if self.attention == "fourier" and not self.public else ""
        return f"{self.attention}{order}"


def learner(case: Case, device: torch.device) -> Learner:
    """The operator of a case, with weights and data that depend on its sizes alone."""
    module, predict = OPERATORS[case.problem](case, device)
    grid = (case.n, case.n) if case.problem == "transformer2d" else (case.n,)
    u, target = random_data(case.problem, grid, case.batch, device)
    return Learner(module, predict, u, target)


def transformer1d(case: Case, device: torch.device) -> tuple[nn.Module, Callable[[Tensor], Tensor]]:
    module, x = step_cost.transformer1d(_settings(case), case.n)
    if case.public:
        from benchmarks.training import public_code

        network = _prepared(public_code.transformer1d(module, case.attention), case, device)
        x = x.expand(case.batch, -1, -1).contiguous().to(device)
        return network, lambda u: network(u, None, x)["preds"]
    operator, x = _prepared(module, case, device), x.to(device)
    return operator, lambda u: operator(u, x)


def transformer2d(case: Case, device: torch.device) -> tuple[nn.Module, Callable[[Tensor], Tensor]]:
    module = build("transformer2d", _settings(case), seed=0)
    side = torch.arange(case.n) / (case.n - 1)
    x = torch.stack(torch.meshgrid(side, side, indexing="ij"), dim=-1)
    if case.public:
        from benchmarks.training import public_code

        network = _prepared(public_code.transformer2d(module, case.attention, case.n), case, device)
        coarse = downsampled_sizes(case.n, module.factor)[1]
        position = interpolate(x[None], (coarse, coarse)).flatten(1, 2).expand(case.batch, -1, -1)
        position = position.contiguous().to(device)
        grid = x.expand(case.batch, -1, -1, -1).contiguous().to(device)
        return network, lambda u: network(u, None, position, grid)["preds"]
    operator, x = _prepared(module, case, device), x.to(device)
    return operator, lambda u: operator(u, x)


def encoder(case: Case, device: torch.device) -> tuple[nn.Module, Callable[[Tensor], Tensor]]:
    module, x = step_cost.encoder(_settings(case), case.n)
    if case.public:
        from benchmarks.training import public_code

        width, num_heads = ENCODER_ONLY["width"], ENCODER_ONLY["num_heads"]
        network = public_code.PublicEncoder(module, case.attention, width, num_heads, 2)
        network = _prepared(network, case, device)
        x = x.expand(case.batch, -1, -1).contiguous().to(device)
        return network, lambda y: network(y, x)
    operator, x = _prepared(module, case, device), x.to(device)
    return operator, lambda y: operator(y, x)


OPERATORS = {"transformer1d": transformer1d, "transformer2d": transformer2d, "encoder": encoder}


def _settings(case: Case) -> dict:
    # Projections of the size of y, so that the outputs show whether the attentions agree.
    return {
        "attention": case.attention,
        "contraction": case.contraction,
        "public_code_scaling": True,
        "projection_gain": 1.0,
        "projection_diagonal": 0.0,
    }


def _prepared(module: nn.Module, case: Case, device: torch.device) -> nn.Module:
    module = module.to(device).train()
    return torch.compile(module, dynamic=False) if case.compiled else module
