"""Settings of the architectures of Calvello et al. 2024 (arXiv:2406.06486). Does not import torch."""

import math
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from resolvent.models.cost import Cost, transformer_flop
from resolvent.models.layers.grid_sizes import coarse_points, downsampled_sizes
from resolvent.models.settings import (
    MODES_2D_DESCRIPTION,
    SMALL_ENCODER,
    EncoderLayers,
    EncoderWidth,
    Epsilon,
    EqualLayers,
    Factor,
    FeedforwardWidth,
    Heads,
    Modes,
    Rate,
    Settings,
    Side,
    Width,
    along_y_and_x,
    check_points,
    divides_width,
    layers_cost,
    pair,
)

Quadrature = Annotated[
    Literal["trapezoid", "none"],
    Field(
        description="weights of the points in the attention; none: equal weights, the transformer of "
        "Vaswani et al. (2017)"
    ),
]


class TransformerNeuralOperatorSettings(Settings):
    """Transformer neural operator, in any dimension (Calvello et al. 2024, section 4.2)."""

    trapezoidal = all_pairs = any_nodes = True
    order = 2
    example = {**SMALL_ENCODER, "residual_dropout": 0.0}

    width: EncoderWidth = 128
    num_layers: EncoderLayers = 6
    num_heads: Heads = 8
    feedforward_width: FeedforwardWidth = 128
    equal_layers: EqualLayers = False
    quadrature: Quadrature = "trapezoid"
    scaled_scores: bool = Field(
        True, description="divide the scores by √d_K, as in the public code, but not in the paper"
    )
    layer_norm_epsilon: Epsilon = 1e-5
    residual_dropout: Rate = Field(1e-4, description="dropout on both residual branches of a layer")
    attention_dropout: Rate = Field(
        0.0,
        description="dropout on the attention's probabilities, an n×n array; the public code has 0.1 in one "
        "dimension, whatever its configuration says",
    )
    checkpointing: bool = Field(
        False, description="recompute each layer in the backward pass: less memory, more time"
    )

    _heads = divides_width("num_heads")


class TransformerNeuralOperator1dSettings(TransformerNeuralOperatorSettings):
    """Transformer neural operator in one dimension, on any increasing points (Calvello et al. 2024)."""

    version = 1
    operator = "resolvent.models.calvello2024.transformer_neural_operator:TransformerNeuralOperator1d"
    dimension = 1
    look = "#0072b2", "o"
    variants = {"": {}, "equal weights": {"quadrature": "none"}}

    initial_channels: int = Field(
        0, ge=0, le=63, description="how many of the last in_channels are constants (initial values)"
    )
    initial_values: Literal["first_token", "every_time"] = Field(
        "first_token",
        description="use of the initial channels; first_token: only at the first point, as in the paper, "
        "which is not discretisation-invariant; every_time: as channels of every point",
    )

    @model_validator(mode="after")
    def _a_function_is_left(self) -> "TransformerNeuralOperator1dSettings":
        if self.initial_channels >= self.in_channels:
            raise ValueError(
                f"initial_channels {self.initial_channels} leave no function among "
                f"in_channels {self.in_channels}"
            )
        return self


class TransformerNeuralOperator2dSettings(TransformerNeuralOperatorSettings):
    """Transformer neural operator in two dimensions (Calvello et al. 2024)."""

    version = 1
    operator = "resolvent.models.calvello2024.transformer_neural_operator:TransformerNeuralOperator2d"
    dimension = 2
    look = "#b0418a", "D"


class CrossAttentionOperator2dSettings(Settings):
    """Cross-attention from the points of a coarse grid to the input's points (Calvello et al. 2024)."""

    version = 1
    operator = "resolvent.models.calvello2024.cross_attention_operator:CrossAttentionOperator2d"
    dimension = 2
    coarse_output = True
    trapezoidal = True
    order = 2
    example = {**SMALL_ENCODER, "downsampling_factor": 0.7}

    width: EncoderWidth = 128
    num_layers: EncoderLayers = 4
    num_heads: Heads = 8
    feedforward_width: FeedforwardWidth = 128
    downsampling_factor: Factor = 0.51
    layer_norm_epsilon: Epsilon = 1e-5
    residual_dropout: Rate = Field(0.0, description="dropout on both residual branches of a layer")
    attention_dropout: Rate = Field(
        0.0, description="dropout on the attention's probabilities, an array of coarse × fine points"
    )

    def check_grid(self, sides: tuple[int, ...]) -> None:
        for points in sides:
            downsampled_sizes(points, self.downsampling_factor)

    def coarse_points(self, points: int) -> int:
        return coarse_points(points, self.downsampling_factor)

    def cost(self, points: int) -> Cost:
        fine, coarse = points**2, self.coarse_points(points) ** 2
        asked = coarse * transformer_flop(self.width, self.feedforward_width, fine)
        return layers_cost(self, fine, 4 * self.width**2 + asked / fine)

    _heads = divides_width("num_heads")


class CodomainAttentionOperator2dSettings(Settings):
    """Attention between the channels of the hidden function (Calvello et al. 2024, remark 16)."""

    version = 1
    operator = "resolvent.models.calvello2024.codomain_attention_operator:CodomainAttentionOperator2d"
    dimension = 2
    example = {"width": 8, "num_layers": 2, "features": 3, "modes": 4, "feedforward_width": 12}

    width: EncoderWidth = 32
    num_layers: EncoderLayers = 4
    features: Width = Field(8, description="components of Q and K of a channel")
    modes: Modes = Field(12, description=f"of Q, K and V: {MODES_2D_DESCRIPTION}")
    feedforward_width: FeedforwardWidth = 64
    layer_norm_epsilon: Epsilon = 1e-5

    def check_grid(self, sides: tuple[int, ...]) -> None:
        check_points(self.modes, sides)

    def cost(self, points: int) -> Cost:
        width, parts = self.width, 2 * self.features + 1
        compared = 2 * parts * width**2 + 4 * width * self.feedforward_width
        convolved = 8 * self.modes * width * parts
        return layers_cost(self, points**2, compared + convolved)


class UniversalApproximatorSettings(Settings):
    """One attention between pointwise networks, with proven universal approximation (section 5)."""

    trapezoidal = all_pairs = any_nodes = True
    order = 2
    num_layers: ClassVar[int] = 1
    example = {"width": 16, "feedforward_width": 24}

    width: EncoderWidth = 128
    feedforward_width: Width = Field(128, description="hidden width of the three pointwise networks")


class UniversalApproximator1dSettings(UniversalApproximatorSettings):
    """One attention between pointwise networks, with proven universal approximation, in one dimension."""

    version = 1
    operator = "resolvent.models.calvello2024.universal_approximator:UniversalApproximator1d"
    dimension = 1


class UniversalApproximator2dSettings(UniversalApproximatorSettings):
    """One attention between pointwise networks, with proven universal approximation, in two dimensions."""

    version = 1
    operator = "resolvent.models.calvello2024.universal_approximator:UniversalApproximator2d"
    dimension = 2


PATCH_MODES = (
    "{} on a patch: k₁ = -modes..modes-1 and k₂ = 0..modes-1, in cycles per patch (two patches with "
    "periodic_extension), or those of them that its points resolve"
)


class PatchedSettings(Settings):
    """Common settings of both transformers on patches; the modes have no common default."""

    dimension = 2
    example = {
        **SMALL_ENCODER, "patches": 2, "modes": 3, "dropout": 0.0, "smoother_modes": 4,
    }  # fmt: skip

    patches: Side | list[Side] = Field(
        13,
        description="patches along each axis, or [along y, along x]; the sides of the grid must be multiples",
    )
    width: EncoderWidth = 128
    num_layers: EncoderLayers = 6
    num_heads: Heads = 8
    feedforward_width: FeedforwardWidth = 128
    equal_layers: EqualLayers = False
    periodic_extension: bool = Field(
        False, description="convolve the even extension of each patch, which is periodic, and crop it"
    )
    dropout: Rate = Field(
        1e-4, description="dropout on the attention matrix, both residual branches and in the feed-forward"
    )
    smoother: Literal["none", "learned", "inverse_laplacian"] = Field(
        "learned",
        description="last layer; learned: z + its spectral convolution, inverse_laplacian: (I - εΔ)^(-α) z",
    )
    smoother_modes: Modes = Field(
        64, description="learned: Fourier modes of the whole grid, which needs twice as many points per side"
    )
    smoother_epsilon: Annotated[float, Field(gt=0.0, le=10.0)] = Field(
        1e-3, description="inverse_laplacian: ε, in the square of the coordinates' unit"
    )
    smoother_exponent: Annotated[float, Field(gt=0.0, le=10.0)] = Field(
        1.001, description="inverse_laplacian: α"
    )
    smoother_boundary: Literal["periodic", "even"] = Field(
        "periodic",
        description="inverse_laplacian: even (mirrored at the boundary) for functions that are not periodic",
    )
    checkpointing: bool = Field(
        False, description="recompute each layer in the backward pass: less memory, more time"
    )

    _heads = divides_width("num_heads")
    _patches = along_y_and_x("patches")

    def check_grid(self, sides: tuple[int, ...]) -> None:
        check_patches(pair(self.patches), sides)
        if self.smoother == "learned":
            check_points(self.smoother_modes, sides)

    def cost(self, points: int) -> Cost:
        attended = math.prod(pair(self.patches))
        return layers_cost(self, points**2, transformer_flop(self.width, self.feedforward_width, attended))


def check_patches(patches: tuple[int, int], sides: tuple[int, ...]) -> None:
    """Raise `ValueError` if `patches` along each axis do not divide the sides of the grid."""
    if any(points % along for points, along in zip(sides, patches, strict=True)):
        near = (max(1, round(points / along)) * along for points, along in zip(sides, patches, strict=True))
        raise ValueError(
            f"{patches[0]} x {patches[1]} patches need sides that they divide, such as "
            f"{' x '.join(map(str, near))}; got {sides[0]} x {sides[1]}"
        )


class ViTNeuralOperatorSettings(PatchedSettings):
    """Vision transformer neural operator, ViT-NO (Calvello et al. 2024, section 4.3)."""

    version = 1
    operator = "resolvent.models.calvello2024.patched_neural_operators:ViTNeuralOperator"
    look = "#d55e00", "s"

    modes: Modes = Field(12, description=PATCH_MODES.format("Fourier modes of the lifting"))


class FourierAttentionNeuralOperatorSettings(PatchedSettings):
    """Fourier attention neural operator, FANO (Calvello et al. 2024, section 4.4)."""

    version = 1
    operator = "resolvent.models.calvello2024.patched_neural_operators:FourierAttentionNeuralOperator"
    look = "#0072b2", "o"

    modes: Modes = Field(9, description=PATCH_MODES.format("Fourier modes of Q, K and V"))

    def cost(self, points: int) -> Cost:
        convolved = 12 * self.modes**2  # complex weights of Q, K and V
        return replace(super().cost(points), weights=self.num_layers * self.width**2 * (8 + convolved))
