"""Training losses: relative L2 with Cao 2021's regulariser, relative H1, and a user's own.

Predictions and targets are (batch, ...space), or (batch, channels, ...space) of several functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from resolvent.common.outside import find
from resolvent.solvers.common.grid import Grid, Nodes
from resolvent.training.errors import TrainingError
from resolvent.training.settings import TrainingSettings


def central_difference(values: Tensor, spacing: float, axis: int = -1) -> Tensor:
    """Return the second-order derivative along `axis`; the last value is followed by the first."""
    return (values.roll(-1, axis) - values.roll(1, axis)) / (2 * spacing)


def inside(values: Tensor, dimension: int) -> Tensor:
    """Return `values` (..., *space) without the first and the last point of every axis."""
    for axis in range(-dimension, 0):
        values = values.narrow(axis, 1, values.shape[axis] - 2)
    return values


def interior(values: Tensor, grid: Grid) -> Tensor:
    """Return `values` (..., *space) where central differences exist: on a circle all, else those inside."""
    return values if grid.kind == "periodic" else inside(values, grid.dimension)


def central_gradient(values: Tensor, grid: Grid) -> Tensor:
    """Return central differences inside: (batch, *space) → (batch, dimension, *interior), ∂/∂x first."""
    components = [central_difference(values, grid.spacing, -1 - axis) for axis in range(grid.dimension)]
    return interior(torch.stack(components, dim=1), grid)


def relative_l2(prediction: Tensor, target: Tensor) -> Tensor:
    """Return ‖p - u‖/‖u‖ of each sample, with equal weights at all points: (batch, ...) → (batch,).

    The loss and the errors of `history.csv` are this one, as in the papers' codes; the errors of `errors.csv`
    have the weights of the grid's quadrature (`resolvent.common.norms`), which differ on nodes, where the
    boundary counts less, and on uneven times.
    """
    return (_sum((prediction - target) ** 2) / _sum(target**2)).sqrt()


@dataclass(frozen=True)
class RelativeLoss:
    """mean_b ‖p - u‖/‖u‖ + mean_b √(γh) |p - u|/|u|, or the same with every norm squared (Cao 2021).

    |·| is the seminorm of H1: the prediction's central differences in the interior, against the target's
    gradient. With a coefficient a (Darcy: the flux is a∇u) it is, as in the public code of Example 2,

        |p - u|² / |u|² = mean ½ |a(∇p - ∇u)|² / mean a|∇u|²

    grid             of the targets in training; h is its spacing.
    gradient_weight  γ; the paper's regulariser has the weight γ h. With 0 the second term is not computed.
    squared          Cao 2021's eq. 2 has squared norms; the public code and the reported curves have norms.
    without_ends     on a circle, leave the first and the last point out of |p - u|, and not out of |u|: the
                     public code of Example 1, to which [0, 1] is an interval.
    """

    grid: Grid | Nodes
    gradient_weight: float
    squared: bool
    without_ends: bool = False

    def __call__(
        self,
        prediction: Tensor,
        target: Tensor,
        gradient: Tensor | None = None,
        coefficient: Tensor | None = None,
    ) -> Tensor:
        """Return the loss of a batch; `gradient`, the target's, is (batch, dimension, *space)."""
        errors = relative_l2(prediction, target)
        loss = (errors**2 if self.squared else errors).mean()
        if self.gradient_weight == 0:
            return loss
        grid = self.grid
        assert isinstance(grid, Grid)
        assert gradient is not None
        above, below = (central_gradient(prediction, grid) - interior(gradient, grid)) ** 2, gradient**2
        if self.without_ends:
            ratios = _sum(inside(above, grid.dimension)) / _sum(below)
        else:
            if coefficient is not None:
                coefficient = coefficient[:, None]
                above = 0.5 * interior(coefficient, grid) ** 2 * above
                below = coefficient * below
            ratios = _sum(above) / _sum(below) * (below[0].numel() / above[0].numel())
        gradients = self.gradient_weight * grid.spacing * ratios
        return loss + (gradients.mean() if self.squared else gradients.sqrt().mean())


class RelativeH1Loss:
    """mean_b ‖p - u‖/‖u‖ in the norm of H1, ‖v‖² + ‖∇v‖²: second-order differences, the grid's weights.

    `unit_spacing` is the public code of Calvello et al. 2024 (arXiv:2406.06486): ‖v‖ + ‖Dv‖ with root mean
    squares for norms and D the differences of neighbours, one-sided at the rim, as if they were 1 apart. On
    a fine grid that is nearly the L2 norm.
    """

    def __init__(self, grid: Grid | Nodes, unit_spacing: bool):
        self.grid, self.unit_spacing = grid, unit_spacing
        self.weights = torch.from_numpy(grid.weights).float()  # of the device that was last computed on

    def __call__(self, prediction: Tensor, target: Tensor, gradient=None, coefficient=None) -> Tensor:
        """Return the loss of a batch; the gradient is that of the target's own differences."""
        return (self._norm(prediction - target) / self._norm(target)).mean()

    def _norm(self, values: Tensor) -> Tensor:
        space = tuple(range(-self.grid.dimension, 0))
        if self.unit_spacing:
            slope = _square(torch.gradient(values, dim=space))
            return values.square().flatten(1).mean(1).sqrt() + slope.flatten(1).mean(1).sqrt()
        assert isinstance(self.grid, Grid)
        if self.grid.kind == "periodic":
            slope = _square([central_difference(values, self.grid.spacing, axis) for axis in space])
        else:
            slope = _square(torch.gradient(values, spacing=self.grid.spacing, dim=space, edge_order=2))
        square = values.square() + slope
        self.weights = self.weights.to(values.device)  # a copy would have to be waited for in every step
        return _sum(self.weights * square).sqrt()


class OwnLoss:
    """The mean over a batch of a user's function.

    It takes predictions, targets and their grid, and returns a loss for each sample: (batch, ...) → (batch,).
    """

    def __init__(self, location: str, grid: Grid | Nodes):
        try:
            self.function: Callable[[Tensor, Tensor, Grid | Nodes], Tensor] = find(location)
        except ValueError as error:
            raise TrainingError(f"training.loss: {error}") from None
        self.location, self.grid = location, grid

    def __call__(self, prediction: Tensor, target: Tensor, gradient=None, coefficient=None) -> Tensor:
        """Return the loss. Raises `TrainingError` unless the function returns a number for each sample."""
        losses = self.function(prediction, target, self.grid)
        if not isinstance(losses, Tensor) or losses.shape != (len(target),):
            found = tuple(losses.shape) if isinstance(losses, Tensor) else type(losses).__name__
            raise TrainingError(
                f"training.loss: {self.location} returned {found} for a batch of {len(target)}; expected: "
                f"a tensor of shape ({len(target)},), a loss for each sample"
            )
        return losses.mean()


def build_loss(grid: Grid | Nodes, settings: TrainingSettings) -> RelativeLoss | RelativeH1Loss | OwnLoss:
    """Return the loss that `settings` ask for, of functions on `grid`."""
    if ":" in settings.loss:
        return OwnLoss(settings.loss, grid)
    if settings.loss.startswith("h1"):
        return RelativeH1Loss(grid, settings.loss == "h1_unit_spacing")
    return RelativeLoss(
        grid,
        settings.gradient_weight,
        squared=settings.loss == "squared_norms",
        without_ends=grid.kind == "periodic" and settings.target_gradient == "public_code",
    )


def _square(components: Sequence[Tensor]) -> Tensor:
    """Return the square of a vector's length: its components' squares, added up."""
    total = components[0].square()
    for component in components[1:]:
        total = total + component.square()
    return total


def _sum(values: Tensor) -> Tensor:
    """Return the sum over everything but the batch: (batch, ...) → (batch,)."""
    return values.flatten(1).sum(-1)
