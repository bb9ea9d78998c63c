"""The interpolating CNNs against a second implementation in NumPy, and their sizes."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from resolvent.models.layers.dropout import Dropout
from resolvent.models.layers.grid_sizes import downsampled_sizes, suitable_factor, upsampled_size
from resolvent.models.layers.resampling import DownSampler, UpSampler, by_matrices

SIZES = [
    (141, 0.555, 78, 43), (211, 0.54, 113, 61), (141, 0.51, 71, 36), (211, 0.585, 123, 71),
    (85, 0.59, 50, 29),
]  # fmt: skip


@pytest.mark.parametrize(("n", "factor", "middle", "coarse"), SIZES)
def test_sizes_of_the_paper(n, factor, middle, coarse):
    assert downsampled_sizes(n, factor) == (middle, coarse)
    # No smaller multiple of 0.005 leads there.
    assert downsampled_sizes(n, factor - 0.005)[1] < coarse
    assert suitable_factor(n, coarse) == factor


def test_a_product_that_is_whole_is_not_rounded_down():
    assert math.floor(100 * 0.29) == 28  # in floating point
    assert downsampled_sizes(100, 0.29) == (29, 8)
    assert downsampled_sizes(7, 1.0) == (7, 7)
    assert suitable_factor(7, 8) is None
    assert (upsampled_size(141, 0.555), upsampled_size(211, 0.54)) == (77, 113)  # on the way up


def test_too_few_points_are_left():
    assert downsampled_sizes(8, 0.5) == (4, 2)
    with pytest.raises(ValueError, match=r"downsampling_factor 0.5 leaves 1 of 7 .* at least 2"):
        downsampled_sizes(7, 0.5)


def resized(values, sizes):
    """Piecewise linear along one axis, then the other; the ends stay where they are."""
    for axis, m in enumerate(sizes):
        nodes, targets = np.linspace(0, 1, values.shape[axis]), np.linspace(0, 1, m)
        values = np.apply_along_axis(lambda row: np.interp(targets, nodes, row), axis, values)  # noqa: B023
    return values


def convolved(values, convolution):
    """Σ W u over the nine neighbours, zero outside, no bias: (n1, n2, in) -> (n1, n2, out)."""
    weight = convolution.weight.detach().numpy()  # (out, in, 3, 3)
    assert convolution.bias is None
    n1, n2, _ = values.shape
    padded = np.pad(values, ((1, 1), (1, 1), (0, 0)))
    return sum(padded[i : i + n1, j : j + n2] @ weight[:, :, i, j].T for i in range(3) for j in range(3))


ACTIVATIONS = {"relu": lambda v: np.maximum(v, 0), "silu": lambda v: v / (1 + np.exp(-v))}


def downsampler(activation, dropout=0.0):
    torch.manual_seed(0)
    sampler = DownSampler(in_channels=2, width=8, factor=0.7, activation=activation, dropout=dropout)
    return sampler.double()


@pytest.mark.parametrize("activation", ["relu", "silu"])
def test_downsampler_is_the_naive_one(activation):
    sampler, act = downsampler(activation), ACTIVATIONS[activation]
    u = torch.randn(2, 15, 12, 2, dtype=torch.float64)
    v = sampler(u)
    assert [c.out_channels for c in sampler.stacked] == [2, 2, 4]
    for sample, ours in zip(u.numpy(), v.detach().numpy(), strict=True):
        state = act(resized(act(convolved(sample, sampler.first)), (10, 8)))
        outputs = []
        for convolution in sampler.stacked:
            state = act(convolved(state, convolution))
            outputs.append(state)
        expected = act(resized(np.concatenate(outputs, axis=-1), (7, 5)))
        np.testing.assert_allclose(ours, expected, rtol=1e-11, atol=1e-12)


def test_upsampler_is_the_naive_one():
    torch.manual_seed(0)
    sampler = UpSampler(width=4, dropout=0.0).double()
    v = torch.randn(1, 5, 6, 4, dtype=torch.float64)
    silu = ACTIVATIONS["silu"]
    state = convolved(resized(v[0].numpy(), (8, 9)), sampler.convolution[0])
    expected = resized(silu(silu(state)), (13, 11))
    ours = sampler(v, (8, 9), (13, 11))[0].detach().numpy()
    np.testing.assert_allclose(ours, expected, rtol=1e-11, atol=1e-12)


def test_dropout_comes_before_each_activation():
    """So a kept value is SiLU(v/(1 - rate)), not SiLU(v)/(1 - rate)."""
    torch.manual_seed(0)
    sampler, seen = downsampler("silu", dropout=0.5), []
    sampler.stacked[0].register_forward_hook(lambda module, inputs, output: seen.append(output))
    sampler.stacked[1].register_forward_hook(lambda module, inputs, output: seen.append(inputs[0]))
    sampler(torch.randn(1, 15, 12, 2, dtype=torch.float64))
    before, after = seen
    kept = after != 0
    assert 0.3 < kept.double().mean() < 0.7
    torch.testing.assert_close(after[kept], functional.silu(2 * before[kept]))
    up = UpSampler(width=2, dropout=0.5).convolution
    assert [type(layer) for layer in up] == [nn.Conv2d, Dropout, nn.SiLU, Dropout, nn.SiLU]


@pytest.mark.parametrize("sizes", [(7, 5), (15, 12), (23, 40), (1, 2)])
def test_interpolation_by_matrices_is_torchs(sizes):
    v = torch.randn(2, 3, 15, 12, dtype=torch.float64)
    expected = functional.interpolate(v, size=sizes, mode="bilinear", align_corners=True)
    torch.testing.assert_close(by_matrices(v, sizes), expected, rtol=1e-12, atol=1e-12)
    rounded = by_matrices(v.bfloat16(), sizes)
    assert rounded.dtype == torch.bfloat16
    torch.testing.assert_close(rounded.double(), expected, rtol=0.02, atol=0.02)
