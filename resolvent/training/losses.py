"""Training losses: relative L2 with Cao 2021's regulariser, relative H1, energy, and user-defined losses.

Predictions and targets are (batch, ...space), or (batch, channels, ...space) for several functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import torch
from torch import Tensor
from torch.nn.functional import pad

from resolvent.common.outside import find
from resolvent.datasets.tasks.settings import DatasetSettings
from resolvent.solvers.common.grid import AnyGrid, Grid, Nodes, Product
from resolvent.training.errors import TrainingError
from resolvent.training.settings import TrainingSettings

UNIT_ENERGY = 0.0351443  # ∫ p over the unit square for -Δp = 1, the energy of Darcy flow with a = 1


def central_difference(values: Tensor, spacing: float, axis: int = -1) -> Tensor:
    """Return the second-order central difference along `axis`, with periodic ends."""
    return (values.roll(-1, axis) - values.roll(1, axis)) / (2 * spacing)


def inside(values: Tensor, axes: Sequence[int]) -> Tensor:
    """Return `values` (..., *space) without the first and last point of `axes`."""
    for axis in axes:
        values = values.narrow(axis, 1, values.shape[axis] - 2)
    return values


def interior(values: Tensor, grid: Grid | Product) -> Tensor:
    """Return `values` (..., *space) where central differences exist: inside, or all on periodic axes."""
    kinds = zip(range(-grid.dimension, 0), grid.axes, strict=True)
    return inside(values, [at for at, axis in kinds if axis.kind != "periodic"])


def central_gradient(values: Tensor, grid: Grid | Product) -> Tensor:
    """Return central differences, (batch, *space) → (batch, dimension, *interior), ∂/∂x first."""
    components = [
        central_difference(values, axis.spacing, -1 - at)
        for at, axis in enumerate(reversed(grid.axes))
        if isinstance(axis, Grid)
    ]
    return interior(torch.stack(components, dim=1), grid)


def weights_of(grid: AnyGrid) -> Tensor | None:
    """Return the quadrature weights (*grid) for training on uneven points in space, else None.

    None means equal weights, as in the papers' codes; also for trajectories at uneven times.
    """
    uneven = isinstance(grid, Product) and not grid.even
    return torch.from_numpy(grid.weights).float() if uneven else None


def relative_l2(prediction: Tensor, target: Tensor, weights: Tensor | None = None) -> Tensor:
    """Return ‖p - u‖/‖u‖ of each sample, with the weights of `weights_of`: (batch, ...) → (batch,).

    `errors.csv` has other errors, with the grid's quadrature (`common.norms`): on nodes the boundary counts
    less there, and times may be uneven.
    """
    error, size = (prediction - target) ** 2, target**2
    if weights is not None:
        error, size = weights * error, weights * size
    return root(_sum(error) / _sum(size))


def root(squares: Tensor) -> Tensor:
    """Return the square root, with the derivative 0 at 0, where that of `Tensor.sqrt` is infinite.

    A prediction may equal its target in every digit, and 0 times infinity is NaN.
    """
    return squares.clamp_min(torch.finfo(squares.dtype).tiny).sqrt()


@dataclass(frozen=True)
class RelativeLoss:
    """mean_b ‖p - u‖/‖u‖ + mean_b √(γh) |p - u|/|u|, or the same with every norm squared (Cao 2021).

    |·| is the H1 seminorm, with central differences of the prediction in the interior and the given gradient
    of the target. With a coefficient a (Darcy: flux a∇u) it is, as in the public code of Example 2,

        |p - u|² / |u|² = mean ½ |a(∇p - ∇u)|² / mean a|∇u|²

    grid             of the training targets; h is its spacing in x.
    gradient_weight  γ; the paper's regulariser has the weight γ h. With 0 the second term is not computed.
    squared          squared norms, as in Cao 2021, eq. 2; the public code and the reported curves use norms.
    without_ends     leave the first and last point of a periodic grid out of |p - u|, but not out of |u|, as
                     in the public code of Example 1, which treats [0, 1] as an interval.
    weights          weights of the points in ‖·‖ (`weights_of`).
    """

    grid: AnyGrid
    gradient_weight: float
    squared: bool
    without_ends: bool = False
    weights: Tensor | None = None

    def __call__(
        self,
        prediction: Tensor,
        target: Tensor,
        gradient: Tensor | None = None,
        coefficient: Tensor | None = None,
    ) -> Tensor:
        """Return the loss of a batch; `gradient` (of the target) is (batch, dimension, *space)."""
        errors = relative_l2(prediction, target, self.weights)
        loss = (errors**2 if self.squared else errors).mean()
        if self.gradient_weight == 0:
            return loss
        grid = self.grid
        assert isinstance(grid, Grid | Product)
        last = grid.axes[-1]
        assert isinstance(last, Grid)
        assert gradient is not None
        above, below = (central_gradient(prediction, grid) - interior(gradient, grid)) ** 2, gradient**2
        if self.without_ends:
            ratios = _sum(inside(above, range(-grid.dimension, 0))) / _sum(below)
        else:
            if coefficient is not None:
                coefficient = coefficient[:, None]
                above = 0.5 * interior(coefficient, grid) ** 2 * above
                below = coefficient * below
            ratios = _sum(above) / _sum(below) * (below[0].numel() / above[0].numel())
        gradients = self.gradient_weight * last.spacing * ratios
        return loss + (gradients.mean() if self.squared else root(gradients).mean())


class RelativeH1Loss:
    """mean_b ‖p - u‖/‖u‖ in the H1 norm, ‖v‖² + ‖∇v‖², with second-order differences and the grid's weights.

    `unit_spacing` follows the public code of Calvello et al. 2024 (arXiv:2406.06486): ‖v‖ + ‖Dv‖ with root
    mean squares as norms, and D the differences of neighbours (one-sided at the boundary) with spacing 1. On
    a fine grid this is nearly the L2 norm.
    """

    def __init__(self, grid: AnyGrid, unit_spacing: bool):
        self.grid, self.unit_spacing = grid, unit_spacing
        # Moved to the last used device and kept there, or every step would wait for copies.
        self.weights = torch.from_numpy(grid.weights).float()
        self.points = [torch.from_numpy(axis.coordinates) for axis in grid.axes]

    def __call__(self, prediction: Tensor, target: Tensor, gradient=None, coefficient=None) -> Tensor:
        """Return the loss of a batch; `gradient` is ignored, since the target is differenced here."""
        return (self._norm(prediction - target) / self._norm(target)).mean()

    def _norm(self, values: Tensor) -> Tensor:
        space = tuple(range(-self.grid.dimension, 0))
        if self.unit_spacing:
            slope = reduce(torch.add, map(torch.square, torch.gradient(values, dim=space)))
            return root(values.square().flatten(1).mean(1)) + root(slope.flatten(1).mean(1))
        self.weights, *self.points = (array.to(values.device) for array in (self.weights, *self.points))
        axes = zip(space, self.grid.axes, self.points, strict=True)
        slopes = [_slope(values, axis, x.to(values.dtype), at) for at, axis, x in axes]
        return root(_sum(self.weights * (values.square() + reduce(torch.add, map(torch.square, slopes)))))


class EnergyLoss:
    """mean_b (pᵀ A p - 2 fᵀ p) ā/E₁, with the equations A u = f of `solvers.darcy.five_point` for f = 1.

    Since A is symmetric this is ‖p - u‖²_A ā/E₁ minus a number that does not depend on p: its gradients are
    those of the error in the energy norm, and no label is used (Dirichlet's principle). The factor of each
    sample, with the geometric mean ā of the coefficient and E₁ = `UNIT_ENERGY`, is about 1/‖u‖²_A.

    points     along each side;  grid, face_mean, stride  as for `DarcyFivePoint`.

    On nodes p is 0 on the boundary, and the predicted values there are ignored. Computes in double precision,
    since A p - f is small beside its terms.
    """

    def __init__(self, points: int, grid: str, face_mean: str, stride: int):
        self.grid, self.face_mean, self.stride = grid, face_mean, stride
        self.spacing = Grid(grid, points, dimension=2, stride=stride).spacing

    def __call__(self, prediction: Tensor, target=None, gradient=None, coefficient=None) -> Tensor:
        """Return the loss of a batch, (batch, n, n); `target` and `gradient` are not read."""
        assert coefficient is not None
        a, p = coefficient.double(), prediction.double()
        if self.grid == "nodes":
            p = inside(p, (-2, -1))
        # Outer cells of a grid with a stride are narrower (`solvers.darcy.direct.cell_widths`).
        widths = pad(p.new_ones(p.shape[-1] - 2), (1, 1), value=(1 + 1 / self.stride) / 2)
        energy = _sum(self._conductances(a, widths) * pad(p, (1, 1)).diff().square())
        energy = energy + _sum(self._conductances(a.mT, widths) * pad(p.mT, (1, 1)).diff().square())
        load = self.spacing**2 * _sum(widths[:, None] * widths * p)
        size = UNIT_ENERGY / a.log().flatten(1).mean(1).exp()
        return ((energy - 2 * load) / size).mean().to(prediction.dtype)

    def _conductances(self, a: Tensor, widths: Tensor) -> Tensor:
        """Return those of faces along the last axis, as `solvers.darcy.direct.faces_along`."""
        left, right = a[..., :-1], a[..., 1:]
        mean = 2 / (1 / left + 1 / right) if self.face_mean == "harmonic" else (left + right) / 2
        if self.grid == "nodes":
            return mean[..., 1:-1, :]
        ends = 2 * self.stride
        return torch.cat([ends * a[..., :1], mean, ends * a[..., -1:]], dim=-1) * widths[:, None]


class OwnLoss:
    """Mean over a batch of a user-defined loss (prediction, target, grid) → (batch,)."""

    def __init__(self, location: str, grid: AnyGrid):
        try:
            self.function: Callable[[Tensor, Tensor, AnyGrid], Tensor] = find(location)
        except ValueError as error:
            raise TrainingError(f"training.loss: {error}") from None
        self.location, self.grid = location, grid

    def __call__(self, prediction: Tensor, target: Tensor, gradient=None, coefficient=None) -> Tensor:
        """Return the loss. Raises `TrainingError` if the function does not return one number per sample."""
        losses = self.function(prediction, target, self.grid)
        if not isinstance(losses, Tensor) or losses.shape != (len(target),):
            returned = tuple(losses.shape) if isinstance(losses, Tensor) else type(losses).__name__
            raise TrainingError(
                f"training.loss: {self.location} returned {returned} for a batch of {len(target)}; expected: "
                f"a tensor of shape ({len(target)},), one loss per sample"
            )
        return losses.mean()


def build_loss(
    grid: AnyGrid,
    settings: TrainingSettings,
    weights: Tensor | None = None,
    equation: DatasetSettings | None = None,
) -> RelativeLoss | RelativeH1Loss | EnergyLoss | OwnLoss:
    """Return the loss chosen in `settings`, for functions on `grid` with `weights` from `weights_of`.

    Raises `TrainingError` for the loss energy if the `equation` has none.
    """
    if settings.loss == "energy":
        points = grid.shape[-1]
        scheme = None if equation is None else equation.five_point(points)
        if scheme is None:
            raise TrainingError("training.loss: energy is only for Darcy flow that is solved here")
        return EnergyLoss(points, *scheme)
    if ":" in settings.loss:
        return OwnLoss(settings.loss, grid)
    if settings.loss.startswith("h1"):
        return RelativeH1Loss(grid, settings.loss == "h1_unit_spacing")
    return RelativeLoss(
        grid,
        settings.gradient_weight,
        squared=settings.loss == "squared_norms",
        without_ends=grid.kind == "periodic" and settings.target_gradient == "public_code",
        weights=weights,
    )


def _slope(values: Tensor, axis: Grid | Nodes, x: Tensor, at: int) -> Tensor:
    """Return the second-order difference of `values` along dimension `at`, with the points x of `axis`."""
    if axis.kind == "periodic":
        assert isinstance(axis, Grid)
        return central_difference(values, axis.spacing, at)
    if isinstance(axis, Grid):
        return torch.gradient(values, spacing=axis.spacing, dim=at, edge_order=2)[0]
    if axis.period is None:
        return torch.gradient(values, spacing=(x,), dim=at, edge_order=1 if len(x) == 2 else 2)[0]
    x = torch.cat([x[-1:] - axis.period, x, x[:1] + axis.period])
    last, first = values.narrow(at, values.shape[at] - 1, 1), values.narrow(at, 0, 1)
    around = torch.cat([last, values, first], dim=at)
    return torch.gradient(around, spacing=(x,), dim=at)[0].narrow(at, 1, values.shape[at])


def _sum(values: Tensor) -> Tensor:
    """Return the sum over all axes except the batch: (batch, ...) → (batch,)."""
    return values.flatten(1).sum(-1)
