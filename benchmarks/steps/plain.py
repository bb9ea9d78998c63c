"""Operators of Calvello et al. 2024 (arXiv:2406.06486) with the arithmetic of the papers' public code.

Each uses the weights of one of our operators, and differs from it only in the order of the arithmetic: scores
are computed for all pairs, Q, K and V are three products, and every head has its own transforms.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from resolvent.models.calvello2024.patched_neural_operators import (
    PatchConvolution,
    PatchedNeuralOperator,
    join,
    split,
)
from resolvent.models.calvello2024.transformer_neural_operator import TransformerNeuralOperator
from resolvent.models.layers.continuum_attention import trapezoid_log_weights


class PlainTransformerNeuralOperator(nn.Module):
    """Attention by integrals over pairs of neighbouring points, eqs. 58-59; `ours` lends its weights.

    In one dimension e^s is formed for all pairs of points and divided by its own trapezoidal rule,
    ½ Σ Δ_l (e_l + e_{l+1}); two products with the values, weighted by ½Δ, at the left and at the right ends
    of the intervals, are the integral. On the plane the matrix of probabilities is a softmax.
    """

    def __init__(self, ours: TransformerNeuralOperator):
        super().__init__()
        self.ours = ours

    def forward(self, u: Tensor, x: Tensor) -> Tensor:
        ours = self.ours
        v = ours._embed(u.flatten(1, -2), x.flatten(0, -2))
        for layer in ours.layers:
            v = layer.attention_norm(v + self._attend(layer.attention, v, x))
            v = layer.feedforward_norm(v + layer.feedforward(v))
        return ours.projection(v).view(*u.shape[:-1], -1)

    def _attend(self, attention: nn.Module, v: Tensor, x: Tensor) -> Tensor:
        weights, biases = attention.projection.weight.chunk(3), attention.projection.bias.chunk(3)
        q, k, values = (
            nn.functional.linear(v, weight, bias).unflatten(-1, (attention.num_heads, -1)).transpose(1, 2)
            for weight, bias in zip(weights, biases, strict=True)
        )
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if x.shape[-1] == 1:
            density = torch.exp(scores)
            halves = x[:, 0].diff() / 2
            mean = (halves * (density[..., :-1] + density[..., 1:])).sum(dim=-1, keepdim=True)
            density = density / mean
            weighted = halves[:, None] * values[..., :-1, :], halves[:, None] * values[..., 1:, :]
            z = density[..., :-1] @ weighted[0] + density[..., 1:] @ weighted[1]
        else:
            if self.ours.weighted:
                scores = scores + trapezoid_log_weights(x)[None]  # torch.compile fails on a vector
            z = scores.softmax(dim=-1) @ values
        return attention.output(z.transpose(1, 2).flatten(2))


class PlainPatchedNeuralOperator(nn.Module):
    """Attention between patches with an inner product for each pair; the weights are those of `ours`."""

    def __init__(self, ours: PatchedNeuralOperator):
        super().__init__()
        self.ours = ours

    def forward(self, u: Tensor, x: Tensor) -> Tensor:
        ours = self.ours
        volume = 1 / (u.shape[1] * u.shape[2])
        patches = split(torch.cat([u, x.expand(len(u), -1, -1, -1)], dim=-1), ours.patches)
        y = _convolved(ours.lifting, patches, 1) if _is_convolution(ours.lifting) else ours.lifting(patches)
        for layer in ours.layers:
            y = layer.attention_norm(y + self._attend(layer, y, volume))
            y = layer.feedforward_norm(y + layer.feedforward(y))
        z = join(ours.projection(y), ours.patches)
        return z if ours.smoother is None else ours.smoother(z, x)

    def _attend(self, layer: nn.Module, y: Tensor, volume: float) -> Tensor:
        if _is_convolution(layer.projections):
            projected = _convolved(layer.projections, y, 3 * layer.num_heads)
        else:
            maps = zip(layer.projections.weight.chunk(3), layer.projections.bias.chunk(3), strict=True)
            projected = torch.cat([nn.functional.linear(y, weight, bias) for weight, bias in maps], dim=-1)
        q, k, v = projected.unflatten(-1, (3, layer.num_heads, -1)).unbind(-3)
        weights = (torch.einsum("bjpqhe,bkpqhe->bhjk", q, k) * volume).softmax(dim=-1)
        z = torch.einsum("bhjk,bkpqhe->bjpqhe", weights, v)
        return layer.output(z.flatten(-2))


def _is_convolution(module: nn.Module) -> bool:
    return isinstance(module, PatchConvolution)


def _convolved(module: PatchConvolution, y: Tensor, maps: int) -> Tensor:
    """Apply each map with its own FFT and inverse FFT, and a truncation of the full spectrum."""
    weight = torch.view_as_complex(module.convolution.weight)
    functions, modes = y.flatten(0, 1), module.convolution.modes
    n1, n2 = functions.shape[1:3]
    outputs = []
    for part in weight.chunk(maps, dim=-1):
        coefficients = torch.fft.rfft2(functions, dim=(1, 2))
        spectrum = coefficients.new_zeros(*coefficients.shape[:3], part.shape[-1])
        for rows in (slice(0, modes), slice(-modes, None)):
            spectrum[:, rows, :modes] = torch.einsum(
                "bkli,klio->bklo", coefficients[:, rows, :modes], part[rows]
            )
        outputs.append(torch.fft.irfft2(spectrum, s=(n1, n2), dim=(1, 2)))
    return torch.cat(outputs, dim=-1).unflatten(0, y.shape[:2])
