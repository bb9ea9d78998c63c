"""The training loss of Cao 2021: relative L2 with an H1-seminorm regulariser (section 3 and C.1)."""

from __future__ import annotations

import torch
from torch import Tensor

from solvers.grid import Grid


def central_difference(values: Tensor, spacing: float, axis: int = -1) -> Tensor:
    """Second-order derivative along `axis`; the first and last value are neighbours, as on a circle."""
    return (values.roll(-1, axis) - values.roll(1, axis)) / (2 * spacing)


def interior(values: Tensor, grid: Grid) -> Tensor:
    """`values` (..., *space) where a central difference exists: everywhere on a circle, else inside."""
    if grid.kind == "periodic":
        return values
    return values[(..., *[slice(1, -1)] * grid.dimension)]


def central_gradient(values: Tensor, grid: Grid) -> Tensor:
    """Central differences in the interior: (batch, *space) → (batch, dimension, *interior), ∂/∂x first."""
    components = [central_difference(values, grid.spacing, -1 - axis) for axis in range(grid.dimension)]
    return interior(torch.stack(components, dim=1), grid)


class RelativeLoss:
    """mean_b ‖p - u‖/‖u‖ + mean_b √(γh) |p - u|/|u|, or the same with every norm squared.

    |·| is the seminorm of H1: the prediction's central differences in the interior, against the target's
    gradient. With a coefficient a (Darcy: the flux is a∇u) it is, as in the public code of Example 2,

        |p - u|² / |u|² = mean ½ |a(∇p - ∇u)|² / mean a|∇u|²

    Parameters
    ----------
    grid
        The targets' grid in training; h is its spacing.
    gradient_weight
        γ; the paper's regulariser has the weight γ h. With 0 the second term is not computed.
    squared
        Cao 2021's eq. 2 has squared norms; the public code and the reported curves have norms.
    """

    def __init__(self, grid: Grid, gradient_weight: float, squared: bool):
        self.grid, self.gradient_weight, self.squared = grid, gradient_weight, squared

    def __call__(
        self,
        prediction: Tensor,
        target: Tensor,
        gradient: Tensor | None = None,
        coefficient: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Loss and mean relative L2 error of a batch.

        `prediction`, `target` and `coefficient` are (batch, *space); `gradient`, the target's, is
        (batch, dimension, *space) and not needed when γ = 0.
        """
        ratios = _sum((prediction - target) ** 2) / _sum(target**2)
        relative_l2 = ratios.sqrt().mean()
        loss = ratios.mean() if self.squared else relative_l2
        if self.gradient_weight > 0:
            seminorms = self._seminorm_ratios(prediction, gradient, coefficient)
            gradients = self.gradient_weight * self.grid.spacing * seminorms
            loss = loss + (gradients.mean() if self.squared else gradients.sqrt().mean())
        return loss, relative_l2.detach()

    def _seminorm_ratios(self, prediction: Tensor, gradient: Tensor, coefficient: Tensor | None) -> Tensor:
        difference = central_gradient(prediction, self.grid) - interior(gradient, self.grid)
        above, below = difference**2, gradient**2
        if coefficient is not None:
            coefficient = coefficient[:, None]
            above = 0.5 * interior(coefficient, self.grid) ** 2 * above
            below = coefficient * below
        return _sum(above) / _sum(below) * (below[0].numel() / above[0].numel())


def _sum(values: Tensor) -> Tensor:
    """Sum over everything but the batch."""
    return values.flatten(1).sum(-1)
