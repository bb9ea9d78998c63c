"""Operators of Cao's public code, `galerkin-transformer` on PyPI, with the weights of our operators.

Its attention always drops half of the attention matrix, in training and in evaluation, and softmax and linear
always drop a tenth of the residuals. All dropout is disabled here, as in ours.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch
from torch import Tensor, nn

from resolvent.measurements.step_cost import ENCODER_ONLY
from resolvent.models.cao2021.encoder import Encoder
from resolvent.models.cao2021.transformer1d import Transformer1d
from resolvent.models.cao2021.transformer2d import Transformer2d
from resolvent.models.layers.grid_sizes import downsampled_sizes, upsampled_size
from resolvent.models.layers.resampling import interpolate

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it imports from numpy.core
    from galerkin_transformer import model as public

OFF = ("batch_norm", "symmetric_init", "return_attn_weight", "spacial_residual")  # read without a default
COMMON = {
    "node_feats": 1, "n_targets": 1, "num_feat_layers": 0, "n_freq_targets": 0, "num_regressor_layers": 2,
    "layer_norm": False, "attn_norm": True, "xavier_init": 1e-2, "diagonal_weight": 1e-2,
    **dict.fromkeys(("dropout", "encoder_dropout", "ffn_dropout", "decoder_dropout"), 0.0),
    **dict.fromkeys(OFF, False), **dict.fromkeys(("feat_extract_type", "bulk_regression", "debug"), None),
}  # fmt: skip


def peer(
    architecture: str, ours: nn.Module, attention: str, x: Tensor, batch: int
) -> tuple[nn.Module, Callable[[nn.Module, Tensor], Tensor]]:
    """Return the public code's network with the weights of `ours`, and a function that calls it.

    The public code's datasets repeat coordinates for every sample of a batch.
    """
    repeated = x.expand(batch, *x.shape).contiguous()
    if architecture == "encoder":
        width, heads = ENCODER_ONLY["width"], ENCODER_ONLY["num_heads"]
        return PublicEncoder(ours, attention, width, heads, 2), lambda network, y: network(y, repeated)
    if architecture == "transformer1d":
        return transformer1d(ours, attention), lambda network, u: network(u, None, repeated)["preds"]
    coarse = downsampled_sizes(len(x), ours.factor)[1]
    position = interpolate(x[None], (coarse, coarse)).flatten(1, 2).expand(batch, -1, -1).contiguous()
    network = transformer2d(ours, attention, len(x))
    return network, lambda network, u: network(u, None, position, repeated)["preds"]


class PublicEncoder(nn.Module):
    """Only the encoder layers of the public code, as in its encoder_memory_profile.py."""

    def __init__(
        self, ours: Encoder, attention: str, width: int, num_heads: int, coordinate_dim: int
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            public.SimpleTransformerEncoderLayer(
                d_model=width, pos_dim=coordinate_dim, n_head=num_heads, dim_feedforward=2 * width,
                attention_type=attention, layer_norm=False, attn_norm=True, dropout=0.0,
            )
            for _ in ours.layers
        )  # fmt: skip
        copy_encoder(ours, self.layers)

    def forward(self, y: Tensor, x: Tensor) -> Tensor:
        """Apply the layers to y (batch, n, width) at coordinates x (batch, n, m), equal for all samples."""
        for layer in self.layers:
            y = layer(y, x)
        return y


def transformer1d(ours: Transformer1d, attention: str) -> nn.Module:
    """Return the public code's SimpleTransformer of Example 1 at the paper's widths, with our weights."""
    network = public.SimpleTransformer(
        **COMMON, attention_type=attention, pos_dim=1, n_hidden=96, n_head=1, num_encoder_layers=4,
        dim_feedforward=192, decoder_type="ifft", freq_dim=48, fourier_modes=16,
    )  # fmt: skip
    copy_linear(ours.lifting, network.feat_extract.id)
    copy_encoder(ours.encoder, network.encoder_layers)
    copy_decoder(ours, network.regressor)
    return network


def transformer2d(ours: Transformer2d, attention: str, n: int) -> nn.Module:
    """Return its FourierTransformer2D of Example 2 on n² points at the paper's widths, with our weights.

    Its normaliser and boundary values are omitted, because our operator also leaves them to the training.
    """
    middle, coarse = downsampled_sizes(n, ours.factor)
    middle_up = upsampled_size(n, ours.factor)
    network = public.FourierTransformer2D(
        **COMMON, attention_type=attention, pos_dim=2, n_hidden=128, n_head=4, num_encoder_layers=6,
        dim_feedforward=256, norm_eps=1e-7,
        downsample_mode="interp", downscaler_size=((middle, middle), (coarse, coarse)),
        downscaler_activation="relu", downscaler_dropout=0.0,
        upsample_mode="interp", upscaler_size=((middle_up, middle_up), (n, n)),
        upscaler_activation="silu", upscaler_dropout=0.0,
        decoder_type="ifft2", spacial_dim=2, spacial_fc=True, freq_dim=32, fourier_modes=12,
        last_activation=True,
    )  # fmt: skip
    down = network.downscaler.downsample
    sampler = ours.encoder.downsampler
    for convolution, block in zip(
        [sampler.first, *sampler.stacked], [down.conv0, down.conv1, down.conv2, down.conv3], strict=True
    ):
        copy(convolution.weight, block.conv[0].weight)
    copy(ours.upsampler.convolution[0].weight, network.upscaler.upsample.conv[0].conv[0].weight)
    copy_encoder(ours.encoder.encoder, network.encoder_layers)
    copy_linear(ours.lifting, network.regressor.fc)
    copy_decoder(ours, network.regressor)
    return network


def copy_encoder(ours: Encoder, layers: nn.ModuleList) -> None:
    """Copy the weights of every layer, and disable all dropout, also dropout without a setting."""
    for layer, theirs in zip(ours.layers, layers, strict=True):
        for projection, linear in zip(layer.projections, theirs.attn.linears, strict=True):
            copy_linear(projection, linear)
        of_queries = hasattr(theirs.attn, "norm_Q")
        names = ("norm_Q", "norm_K") if of_queries else ("norm_K", "norm_V")
        norm = layer.projection_norm
        for weights, biases, name in zip(norm.weight, norm.bias, names, strict=True):
            for weight, bias, head in zip(weights, biases, getattr(theirs.attn, name), strict=True):
                copy(weight, head.weight)
                copy(bias, head.bias)
        copy_linear(layer.output, theirs.attn.fc)
        copy_linear(layer.feedforward[0], theirs.ff.lr1)
        copy_linear(layer.feedforward[3], theirs.ff.lr2)
        theirs.attn.dropout = None
        theirs.dropout1.p = theirs.dropout2.p = theirs.ff.dropout.p = 0.0


def copy_decoder(ours: Transformer1d | Transformer2d, regressor: nn.Module) -> None:
    """Copy the decoder's weights.

    Modes are the first axes in ours and the last in theirs; in two dimensions, theirs are separate arrays for
    k₁ ≥ 0 and k₁ < 0.
    """
    for layer, theirs in zip(ours.decoder, regressor.spectral_conv, strict=True):
        copy_linear(layer.pointwise, theirs.linear)
        weight, modes = layer.convolution.weight, theirs.fourier_weight
        if isinstance(modes, nn.ParameterList):
            for half, parameter in zip(weight.split(layer.convolution.modes), modes, strict=True):
                copy(half.permute(2, 3, 0, 1, 4), parameter)
        else:
            copy(weight.permute(1, 2, 0, 3), modes)
    copy_linear(ours.projection[0], regressor.regressor[0])
    copy_linear(ours.projection[2], regressor.regressor[2])


def copy_linear(ours: nn.Linear, theirs: nn.Linear) -> None:
    copy(ours.weight, theirs.weight)
    copy(ours.bias, theirs.bias)


def copy(ours: Tensor, theirs: Tensor) -> None:
    with torch.no_grad():
        if ours.shape != theirs.shape:
            raise ValueError(f"weights of shape {tuple(ours.shape)} do not fit {tuple(theirs.shape)}")
        theirs.copy_(ours)
