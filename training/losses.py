"""The training loss of Cao 2021: relative L2 with an H1-seminorm regulariser (section 3 and C.1)."""

from __future__ import annotations

import torch
from torch import Tensor


def central_difference(values: Tensor, spacing: float) -> Tensor:
    """Second-order derivative of `values` (..., points) on a periodic grid; the ends are neighbours."""
    return (values.roll(-1, -1) - values.roll(1, -1)) / (2 * spacing)


class RelativeLoss:
    """mean_b ‖p - u‖/‖u‖ + mean_b √(γh) ‖Dp - u'‖/‖u'‖, or the same with every norm squared.

    Parameters
    ----------
    spacing
        h of the training grid (periodic).
    gradient_weight
        γ; the paper's regulariser has the weight γ h. With 0 the second term is not computed.
    squared
        Cao 2021's eq. 2 has squared norms; the public code and the reported curves have norms.
    """

    def __init__(self, spacing: float, gradient_weight: float, squared: bool):
        self.spacing, self.gradient_weight, self.squared = spacing, gradient_weight, squared

    def __call__(self, prediction: Tensor, target: Tensor, derivative: Tensor) -> tuple[Tensor, Tensor]:
        """Loss and mean relative L2 error of a batch; all arguments are (batch, points).

        `derivative` is the target's exact derivative, against which the prediction's central difference
        is held.
        """
        ratios = _relative_squares(prediction - target, target)
        relative_l2 = ratios.sqrt().mean()
        loss = ratios.mean() if self.squared else relative_l2
        if self.gradient_weight > 0:
            difference = central_difference(prediction, self.spacing) - derivative
            gradients = self.gradient_weight * self.spacing * _relative_squares(difference, derivative)
            loss = loss + (gradients.mean() if self.squared else gradients.sqrt().mean())
        return loss, relative_l2.detach()


def _relative_squares(difference: Tensor, reference: Tensor) -> Tensor:
    return torch.sum(difference**2, -1) / torch.sum(reference**2, -1)
