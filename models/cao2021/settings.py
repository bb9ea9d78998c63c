"""Settings of the architectures of Cao 2021 (arXiv:2105.14995). Does not import torch."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from resolvent.models.cost import Cost, transformer_flop
from resolvent.models.layers.grid_sizes import coarse_points, downsampled_sizes
from resolvent.models.settings import (
    MODES_2D_DESCRIPTION,
    SMALL_ENCODER,
    Coordinates,
    EncoderLayers,
    EncoderWidth,
    Epsilon,
    EqualLayers,
    Factor,
    FeedforwardWidth,
    Heads,
    Layers,
    Modes,
    Rate,
    Scale,
    Settings,
    Width,
    check_points,
    divides_width,
    layers_cost,
)

# Number of entries of an n×n attention matrix under dropout with as much memory as one hidden value: measured
# at n = 2048, where a step keeps 10 to 13 bytes per entry (fourier, softmax) and 80 per hidden value.
KEPT_ENTRIES = 6

SamplerWidth = Annotated[EncoderWidth, Field(ge=3)]  # the down-sampler splits it into three parts
DownsamplingActivation = Annotated[
    Literal["relu", "silu"], Field(description="activation of the down-sampler; relu for a rough input")
]


class EncoderSettings(Settings):
    """Settings of the encoder, in any dimension; the sizes have no common default."""

    attention: Literal["galerkin", "fourier", "softmax", "linear", "none"] = Field(
        "galerkin",
        description="GT, FT, ST and LT of the paper; none: only the feed-forward networks, as an ablation of "
        "attention",
    )
    layer_norm: Literal["projection", "regular"] = Field(
        "projection",
        description="projection: normalise only two of Q, K, V before the product (eqs. 5-6); "
        "regular: normalise the layer's output after each residual sum (eq. 7)",
    )
    layer_norm_epsilon: Epsilon
    width: EncoderWidth
    num_layers: EncoderLayers
    num_heads: Heads
    feedforward_width: FeedforwardWidth
    projection_gain: Scale = Field(1e-2, description="η: Xavier gain of the Q, K, V weights (eq. 17)")
    projection_diagonal: Scale = Field(
        1e-2, description="δ: added to the diagonal of the Q, K, V weights (eq. 17)"
    )
    equal_layers: EqualLayers = False
    residual_dropout: Rate = Field(0.0, description="dropout on both residual branches of an encoder layer")
    feedforward_dropout: Rate = Field(0.0, description="dropout inside the feed-forward network")
    attention_dropout: Rate = Field(
        0.0, description="dropout on the attention matrix: n×n (fourier, softmax) or e×e (galerkin, linear)"
    )
    attention_dropout_in_evaluation: bool = Field(
        False, description="keep attention_dropout in evaluation, as in the public code (with rate 0.5)"
    )
    attention_layer_scale: float | None = Field(
        None,
        gt=0.0,
        le=10.0,
        description="LayerScale of Touvron et al. (2021, arXiv:2103.17239) on the attention branch: one "
        "trained factor per channel, with this initial value; none: no such factors",
    )
    public_code_scaling: bool = Field(
        False,
        description="scaling of the public code: additional 1/√e for fourier, 1/n for linear, otherwise none",
    )
    contraction: Literal["linear", "quadratic"] = Field(
        "linear",
        description="order of fourier's products: linear, Q(KᵀV), or quadratic, (QKᵀ)V, as in the paper",
    )

    def cost(self, points: int) -> Cost:
        whole, coarse = points**self.dimension, self.coarse_points(points)
        worked = whole if coarse is None else coarse**self.dimension
        # Dropout needs the n×n attention matrix.
        forms_matrix = self.attention in ("fourier", "softmax") and self.attention_dropout > 0
        if self.attention == "softmax" or self.contraction == "quadratic" or forms_matrix:
            attended: float = worked
        else:  # attention of linear cost: as if to as many points as a head has features
            attended = 0 if self.attention == "none" else self.width / self.num_heads
        return layers_cost(
            self,
            worked,
            transformer_flop(self.width, self.feedforward_width, attended),
            layer_values=self.num_heads * worked // KEPT_ENTRIES if forms_matrix else 0,
            fine_points=None if coarse is None else whole,
        )

    _heads = divides_width("num_heads")

    @model_validator(mode="after")
    def _consistent(self) -> "EncoderSettings":
        if self.contraction == "quadratic" and self.attention != "fourier":
            raise ValueError(f"contraction 'quadratic' is for attention 'fourier', got {self.attention!r}")
        if self.attention == "none" and (self.attention_dropout or self.attention_layer_scale):
            raise ValueError("attention 'none' has no attention_dropout and no attention_layer_scale")
        return self


class Transformer1dSettings(EncoderSettings):
    """Encoder with one of four attentions and a spectral decoder, in one dimension (Cao 2021, Example 1)."""

    version = 1
    operator = "resolvent.models.cao2021.transformer1d:Transformer1d"
    dimension = 1
    example = {**SMALL_ENCODER, "decoder_width": 12, "modes": 4}
    variants = {"": {}, "linear, public scaling": {"attention": "linear", "public_code_scaling": True}}

    layer_norm_epsilon: Epsilon = 1e-5
    width: EncoderWidth = 96
    num_layers: EncoderLayers = 4
    num_heads: Heads = 1
    feedforward_width: FeedforwardWidth = 192
    decoder_width: Width = Field(48, description="channels of the spectral decoder")
    decoder_layers: Layers = Field(2, description="spectral layers of the decoder")
    modes: Modes = Field(16, description="Fourier modes the decoder keeps, k = 0..modes-1")
    coordinates: Coordinates = "grid"
    input_coordinates: bool = Field(
        False,
        description="also concatenate the coordinates to the input function, as in the paper's text; the "
        "530,305 parameters (530k in its table 5) are without",
    )

    def check_grid(self, sides: tuple[int, ...]) -> None:
        check_points(self.modes, sides)


class CoarseEncoderSettings(EncoderSettings):
    """An encoder on a coarse grid below an interpolating CNN, in two dimensions (Cao 2021, appendix B)."""

    dimension = 2

    layer_norm_epsilon: Epsilon = 1e-7
    num_layers: EncoderLayers = 6
    num_heads: Heads = 4
    downsampling_factor: Factor
    downsampling_activation: DownsamplingActivation
    downsampling_dropout: Rate = Field(0.0, description="dropout after each convolution of the down-sampler")
    upsampling_dropout: Rate = Field(
        0.0, description="dropout before both activations of the up-sampler's convolution"
    )
    hidden_dropout: Rate = Field(0.0, description="dropout on the encoder's input and on the decoder's")
    coordinates: Coordinates = "grid"

    def check_grid(self, sides: tuple[int, ...]) -> None:
        for points in sides:
            downsampled_sizes(points, self.downsampling_factor)

    def coarse_points(self, points: int) -> int:
        return coarse_points(points, self.downsampling_factor)


class Transformer2dSettings(CoarseEncoderSettings):
    """Encoder on a coarse grid, spectral decoder on the input's grid (Cao 2021, Example 2)."""

    version = 1
    operator = "resolvent.models.cao2021.transformer2d:Transformer2d"
    example = {
        **SMALL_ENCODER, "downsampling_factor": 0.7, "decoder_width": 12, "modes": 4, "projection_width": 12,
    }  # fmt: skip

    width: SamplerWidth = 128
    feedforward_width: FeedforwardWidth = 256
    downsampling_factor: Factor = 0.555
    downsampling_activation: DownsamplingActivation = "relu"
    decoder_width: Width = Field(32, description="channels of the spectral decoder")
    decoder_layers: Layers = Field(2, description="spectral layers of the decoder")
    modes: Modes = Field(12, description=f"of the decoder: {MODES_2D_DESCRIPTION}")
    projection_width: Width = Field(128, description="hidden width of the pointwise output network")

    def check_grid(self, sides: tuple[int, ...]) -> None:
        super().check_grid(sides)
        check_points(self.modes, sides)


class Transformer2dCoarseSettings(CoarseEncoderSettings):
    """Encoder on a coarse grid, pointwise decoder on the same coarse grid (Cao 2021, Example 3)."""

    version = 1
    operator = "resolvent.models.cao2021.transformer2d:Transformer2dCoarse"
    coarse_output = True
    example = {**SMALL_ENCODER, "downsampling_factor": 0.7, "decoder_width": 12}

    width: SamplerWidth = 192
    feedforward_width: FeedforwardWidth = 384
    downsampling_factor: Factor = 0.51
    downsampling_activation: DownsamplingActivation = "silu"
    decoder_width: Width = Field(192, description="hidden width of the pointwise decoder")
    decoder_layers: Layers = Field(1, description="hidden layers of the pointwise decoder")
    decoder_dropout: Rate = Field(0.0, description="dropout after each hidden layer of the decoder")


class GalerkinEncoder2dSettings(EncoderSettings):
    """Cao's encoder (2021) between affine maps, the "Galerkin transformer" of Calvello et al. (2024)."""

    version = 1
    operator = "resolvent.models.cao2021.transformer2d:GalerkinEncoder2d"
    dimension = 2
    example = SMALL_ENCODER

    attention: Literal["galerkin", "fourier", "softmax", "linear", "none"] = Field(
        "fourier", description="attention of Cao (2021); Calvello et al. compare with fourier"
    )
    layer_norm_epsilon: Epsilon = 1e-5
    width: EncoderWidth = 128
    num_layers: EncoderLayers = 6
    num_heads: Heads = 4
    feedforward_width: FeedforwardWidth = 128
    public_code_scaling: bool = Field(
        True,
        description="scaling of galerkin-transformer: additional 1/√e for fourier, 1/n for linear",
    )
