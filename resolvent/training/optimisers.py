"""Optimisers of a training: torch's Adam, and the Adam of torch 1.8 for numbers of 2021."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import nn
from torch.optim import Adam, Optimizer

from resolvent.models.build import real_pairs
from resolvent.training.settings import TrainingSettings


def build_optimiser(operator: nn.Module, settings: TrainingSettings) -> Optimizer:
    """Return the optimiser of the settings for all parameters of an operator."""
    if settings.optimiser == "adam_torch_1_8":
        return AdamOfTorch18(
            operator.parameters(),
            real_pairs(operator),
            lr=settings.learning_rate,
            weight_decay=settings.weight_decay,
        )
    return Adam(
        operator.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
    )


class AdamOfTorch18(Optimizer):
    """Emulate Adam as torch had it until 1.9, whose second moment of complex weights has no conjugate.

    With the gradient g of a weight w, weight decay included,

        m ← β₁m + (1 - β₁)g,   v ← β₂v + (1 - β₂)g²,   w ← w - lr/(1 - β₁ᵗ) · m/(√v/√(1 - β₂ᵗ) + ε).

    For a real weight this is Adam. For a complex weight g² is a complex number where today's torch has the
    squares of both parts, so v is small if phases of gradients differ from step to step, and the step turns
    the direction of m (pytorch issue 59998; mended by pull request 62946, August 2021). Only for comparison
    with numbers computed by such a version: a spectral layer trains worse with it (docs/why-they-differ.md).

    parameters  all parameters.
    pairs       those that hold complex weights as real pairs, (..., 2).
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        pairs: set[nn.Parameter],
        *,
        lr: float,
        weight_decay: float,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        super().__init__(parameters, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
        self.pairs = pairs

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Change every parameter that has a gradient, in place."""
        for group in self.param_groups:
            first_beta, second_beta = group["betas"]
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                if not state:  # real pairs, since torch restores a state in the type of its parameter
                    state.update(step=0, m=torch.zeros_like(parameter), v=torch.zeros_like(parameter))
                state["step"] += 1
                weight, gradient, m, v = parameter, parameter.grad, state["m"], state["v"]
                if parameter in self.pairs:
                    weight, gradient, m, v = map(torch.view_as_complex, (weight, gradient, m, v))
                gradient = gradient.add(weight, alpha=group["weight_decay"])
                m.mul_(first_beta).add_(gradient, alpha=1 - first_beta)
                v.mul_(second_beta).addcmul_(gradient, gradient, value=1 - second_beta)
                size = v.sqrt().div_(math.sqrt(1 - second_beta ** state["step"])).add_(group["eps"])
                weight.addcdiv_(m, size, value=-group["lr"] / (1 - first_beta ** state["step"]))
