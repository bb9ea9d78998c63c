"""What the two-dimensional transformers add to the encoder: grids, coordinates, decoders, dropouts."""

import pytest
import torch
from model_variants import SMALL, grid
from torch.nn import functional

from resolvent.models.build import build

U, X = torch.randn(2, 18, 16, 1, generator=torch.Generator().manual_seed(0)), grid(18, dim=2)[:, :16]


def small(architecture, **settings):
    return build(architecture, SMALL[architecture] | settings, 0)


@pytest.mark.parametrize("architecture", ["transformer2d", "transformer2d_coarse"])
def test_encoder_sees_the_coordinates_of_the_coarse_grid(architecture):
    """Its corners are those of the fine grid, its spacing (18-1)/(8-1) and (16-1)/(7-1) of the fine one's."""
    encoder, seen = small(architecture).encoder, []
    encoder.encoder.register_forward_hook(lambda module, inputs, output: seen.extend(inputs))
    y, x = encoder(U, X)
    assert y.shape == (2, 8, 7, 16)
    expected = torch.stack(
        torch.meshgrid(torch.linspace(0, 17 / 18, 8), torch.linspace(0, 15 / 18, 7), indexing="ij"), dim=-1
    )
    torch.testing.assert_close(x, expected)
    assert torch.equal(seen[1], x.reshape(56, 2))
    assert torch.equal(seen[0], encoder.downsampler(U).reshape(2, 56, 16))


def test_spectral_decoder_on_the_fine_grid():
    operator = small("transformer2d")
    y, _ = operator.encoder(U, X)
    y = operator.upsampler(y, (12, 10), (18, 16))  # round(0.7·18) - 1 = 12, round(0.7·16) - 1 = 10
    v = operator.lifting(torch.cat([y, X.expand(2, -1, -1, -1)], dim=-1))
    for layer in operator.decoder:
        v = functional.silu(layer.convolution(v) + layer.pointwise(v))
    first, last = operator.projection[0], operator.projection[2]
    assert torch.equal(operator(U, X), last(functional.silu(first(v))))


def test_pointwise_decoder_on_the_coarse_grid():
    operator = small("transformer2d_coarse", decoder_layers=2)
    y, x = operator.encoder(U, X)
    y = functional.silu(functional.silu(operator.upsampler.convolution[0](y.permute(0, 3, 1, 2))))
    v = operator.lifting(torch.cat([y.permute(0, 2, 3, 1), x.expand(2, -1, -1, -1)], dim=-1))
    for index in (0, 3):
        v = functional.silu(operator.decoder[index](v))
    torch.testing.assert_close(operator(U, X), operator.projection(v))


def test_hidden_dropout_acts_before_the_encoder_and_before_the_decoder():
    operator = small("transformer2d", hidden_dropout=0.5)
    assert operator.encoder.hidden_dropout.p == operator.hidden_dropout.p == 0.5
    torch.manual_seed(0)
    seen = []
    for module in (operator.encoder.encoder, operator.lifting):
        module.register_forward_hook(lambda module, inputs, output: seen.append(inputs[0]))
    operator(U, X)
    for features in seen:
        assert 0.4 < (features[..., :16] == 0).float().mean() < 0.9  # ReLU's zeros are there as well
    assert (seen[1][..., 16:] == X).all()  # the coordinates are spared


def test_down_sampler_activation():
    relu, silu = (small("transformer2d", downsampling_activation=name) for name in ("relu", "silu"))
    assert (relu.encoder.downsampler(U) >= 0).all()
    assert (silu.encoder.downsampler(U) < 0).any()
