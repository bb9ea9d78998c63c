"""Normalisers and boundary values around an operator.

Example 2 of Cao 2021 (arXiv:2105.14995, section C.3, and public code) normalises input and target point by
point, and sets the boundary of the prediction to zero; Calvello et al. 2024 (arXiv:2406.06486, public code)
normalise every channel by one mean and one standard deviation. The operator that is trained, saved and
evaluated, from physical units to physical units, includes all this.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional

from resolvent.common.moments import Moments
from resolvent.datasets.loading import FAR, Source, blocks
from resolvent.datasets.tasks.task import Baseline
from resolvent.training.settings import TrainingSettings
from resolvent.training.tensors import function_tensor, stored_type

# Added to standard deviations, as in the papers, since they vanish where a boundary condition holds.
FLOOR = 1e-5
LARGEST_SHARE = 1e-2  # upper bound of the floor relative to a channel's deviation, for data of small size
# Relative to a mean: a smaller deviation of numbers of this type is only rounding.
ROUNDING = {torch.float32: 1e-7, torch.float64: 1e-15}


class Normaliser(nn.Module):
    """Standardisation u ↦ (u - mean) / standard deviation, and its inverse, with fixed statistics.

    mean, deviation  (n1, n2, channels), one for every point of the training grid, or (channels,). Saved with
                     the operator's weights. On other grids they are interpolated bilinearly; all grids of
                     nodes have the same corners.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, mean: Tensor, deviation: Tensor):
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("deviation", deviation)

    @classmethod
    def fitted(cls, blocks: Iterable[Tensor], normalisation: str) -> Normaliser:
        """Return the normaliser of training samples, given in blocks (samples, ...space, channels)."""
        moments, dtype = Moments(), torch.float32
        for values in blocks:
            _add(moments, values, normalisation)
            dtype = values.dtype
        return cls.of(moments, dtype)

    @classmethod
    def of(cls, moments: Moments, dtype: torch.dtype) -> Normaliser:
        """Return the normaliser with these moments; adds 1e-5 to the deviation, or less for small data.

        `dtype` is the type of the stored numbers.
        """
        mean, points = moments.mean, tuple(range(moments.mean.ndim - 1))
        deviation, size = moments.variance.sqrt(), moments.mean.abs()
        if points:
            own, size = moments.variance.mean(points).sqrt(), size.amax(points)
        else:
            own = deviation
        floor = torch.clamp(LARGEST_SHARE * own, max=FLOOR).maximum(ROUNDING[dtype] * size)
        return cls(mean, deviation + torch.where(floor > 0, floor, FLOOR))

    @property
    def far(self) -> bool:
        """Return whether a function that varies has a mean more than FAR deviations from zero."""
        points = tuple(range(self.mean.ndim - 1))
        size, deviation = self.mean.abs(), self.deviation
        if points:
            size, deviation = size.amax(points), deviation.square().mean(points).sqrt()
        varies = deviation > 2 * ROUNDING[torch.float64] * size
        return bool((varies & (size > FAR * deviation)).any())

    def normalise(self, u: Tensor) -> Tensor:
        """Convert from physical units, (batch, ...space, channels); computes in double precision."""
        normal = (u.double() - self._at(self.mean, u)) / self._at(self.deviation, u)
        return normal.to(torch.promote_types(u.dtype, torch.float32))

    def restore(self, v: Tensor) -> Tensor:
        """Convert to physical units: the inverse of `normalise`."""
        physical = v.double() * self._at(self.deviation, v) + self._at(self.mean, v)
        return physical.to(torch.promote_types(v.dtype, torch.float32))

    def _at(self, statistic: Tensor, u: Tensor) -> Tensor:
        sizes = tuple(u.shape[1:3])
        if statistic.ndim == 1 or sizes == statistic.shape[:2]:
            return statistic
        channels_first = statistic.permute(2, 0, 1)[None]
        there = functional.interpolate(channels_first, size=sizes, mode="bilinear", align_corners=True)
        return there[0].permute(1, 2, 0)


class NormalisedOperator(nn.Module):
    """An operator in physical units, from an `operator` in the units of the normalisers `input` and `output`.

    zero_boundary  whether to set the prediction to zero on the boundary.
    dtype          of the functions that it is to be given: float64 if float32 would round away the variation
                   around a large mean. It then also returns float64; the `operator` computes in float32.
    """

    def __init__(
        self, operator: nn.Module, *, input: Normaliser | None, output: Normaliser | None, zero_boundary: bool
    ):
        super().__init__()
        self.operator, self.input, self.output = operator, input, output
        self.zero_boundary = zero_boundary
        far = any(side.far for side in (input, output) if side is not None)
        self.dtype = torch.float64 if far else torch.float32

    def forward(self, u: Tensor, x: Tensor) -> Tensor:
        """Map u (batch, ...space, channels) at x (...space, dimension), all in physical units."""
        exact = self.dtype == u.dtype == torch.float64
        if self.input is not None:
            u = self.input.normalise(u)
        v = self.operator(u.float() if exact else u, x)
        if self.output is not None:
            v = self.output.restore(v.double() if exact else v)
        if self.zero_boundary:
            v = functional.pad(v[:, 1:-1, 1:-1], (0, 0, 1, 1, 1, 1))
        return v


def dtype_of(operator: nn.Module) -> torch.dtype:
    """Return the type of the functions that an operator in physical units is to be given."""
    return operator.dtype if isinstance(operator, NormalisedOperator) else torch.float32


def in_physical_units(
    operator: nn.Module, settings: TrainingSettings, train: Source, guess: Baseline | None = None
) -> nn.Module:
    """Wrap `operator` in the normalisers and boundary values of `settings`, fitted to `train`, if any.

    With a `guess` of the targets, for training without labels, that of the output is fitted to the guesses.
    """
    if settings.normalisation == "none":
        return _around(operator, settings, None, None)
    inputs, outputs = Moments(), Moments()
    for block in blocks(train):
        u = function_tensor(block.inputs, block.grid, stored_type(block.inputs))
        targets = block.targets if guess is None else guess(block.inputs, block.grid)
        v = function_tensor(targets, block.target_grid, stored_type(targets))
        _add(inputs, u, settings.normalisation)
        _add(outputs, v, settings.normalisation)
    return _around(operator, settings, Normaliser.of(inputs, u.dtype), Normaliser.of(outputs, v.dtype))


def _add(moments: Moments, values: Tensor, normalisation: str) -> None:
    """Add functions (samples, ...space, channels) to the moments, per point or per channel."""
    over = 0 if normalisation == "pointwise" else tuple(range(values.ndim - 1))
    variance, mean = torch.var_mean(values.double(), dim=over, correction=0)
    moments.add(len(values), mean, variance)


def restored(operator: nn.Module, settings: TrainingSettings, state: dict[str, Tensor]) -> nn.Module:
    """Wrap a newly built `operator` as `in_physical_units`, with weights and normalisers from `state`."""
    input = output = None
    if settings.normalisation != "none":
        input, output = (
            Normaliser(state[f"{side}.mean"], state[f"{side}.deviation"]) for side in ("input", "output")
        )
    operator = _around(operator, settings, input, output)
    operator.load_state_dict(state)
    return operator


def _around(
    operator: nn.Module, settings: TrainingSettings, input: Normaliser | None, output: Normaliser | None
) -> nn.Module:
    zero_boundary = settings.boundary == "zero"
    if input is None and not zero_boundary:
        return operator
    return NormalisedOperator(operator, input=input, output=output, zero_boundary=zero_boundary)
