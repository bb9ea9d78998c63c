"""What is measured: operators at the paper's widths (Cao 2021, arXiv:2105.14995), ours and the public code's.

Both have the same weights, the same scaling and no dropout, and so the same outputs up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.build import build
from models.encoder import Encoder
from models.grid_sizes import downsampled_sizes
from models.resampling import interpolate
from models.settings import Transformer1dSettings

ENCODER_ONLY = {"width": 128, "num_heads": 1, "num_layers": 4, "feedforward_width": 256}


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


@dataclass(frozen=True)
class Learner:
    """`predict(u)` is the output for the input `u`; `target` has its shape."""

    module: nn.Module
    predict: Callable[[Tensor], Tensor]
    u: Tensor
    target: Tensor


def learner(case: Case, device: torch.device) -> Learner:
    """The operator of a case, with weights and data that depend on its sizes alone."""
    module, predict = OPERATORS[case.problem](case, device)
    channels = ENCODER_ONLY["width"] if case.problem == "encoder" else 1
    grid = (case.n, case.n) if case.problem == "transformer2d" else (case.n,)
    generator = torch.Generator().manual_seed(0)
    u, target = (torch.randn(case.batch, *grid, channels, generator=generator).to(device) for _ in range(2))
    return Learner(module, predict, u, target)


def transformer1d(case: Case, device: torch.device) -> tuple[nn.Module, Callable[[Tensor], Tensor]]:
    module = build("transformer1d", _settings(case), seed=0)
    x = torch.arange(case.n)[:, None] / case.n
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
    settings = Transformer1dSettings(**_settings(case), **ENCODER_ONLY)
    names = set(Transformer1dSettings.model_fields) - {
        "in_channels", "out_channels", "decoder_width", "decoder_layers", "modes", "coordinates",
        "input_coordinates",
    }  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module = Encoder(**settings.model_dump(include=names), coordinate_dim=2)
        x = torch.rand(case.n, 2)
    if case.public:
        from benchmarks.training import public_code

        network = public_code.PublicEncoder(module, case.attention, settings.width, settings.num_heads, 2)
        network = _prepared(network, case, device)
        x = x.expand(case.batch, -1, -1).contiguous().to(device)
        return network, lambda y: network(y, x)
    operator, x = _prepared(module, case, device), x.to(device)
    return operator, lambda y: operator(y, x)


OPERATORS = {"transformer1d": transformer1d, "transformer2d": transformer2d, "encoder": encoder}


def _settings(case: Case) -> dict:
    # Projections of the size of y, so that the outputs tell whether the attentions agree.
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


def training_step(learner: Learner) -> Callable[[], Tensor]:
    """A function that does one step, and returns the loss: forward, backward, clipping, Adam."""
    parameters = list(learner.module.parameters())
    optimiser = torch.optim.Adam(parameters, lr=1e-4)

    def step() -> Tensor:
        optimiser.zero_grad()
        loss = (learner.predict(learner.u) - learner.target).square().mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 0.999)
        optimiser.step()
        return loss.detach()

    return step


def backpropagation(learner: Learner) -> Callable[[], Tensor]:
    """A function that does forward and backward, and returns the loss: what Table 1 of the paper profiles."""

    def step() -> Tensor:
        learner.module.zero_grad()
        loss = (learner.predict(learner.u) - learner.target).square().mean()
        loss.backward()
        return loss.detach()

    return step
