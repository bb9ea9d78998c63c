"""What the patched architectures of Calvello et al. 2024 (arXiv:2406.06486) can be asked for, and AFNO.

No torch here.
"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from resolvent.models.cost import Cost, cost_of_layers, transformer_flop
from resolvent.models.settings import (
    EncoderLayers,
    EncoderWidth,
    EqualLayers,
    FeedforwardWidth,
    Heads,
    Modes,
    Rate,
    Settings,
    Side,
    check_divides,
    check_points,
)

PATCH_MODES = (
    "{} on a patch: k₁ = -modes..modes-1 and k₂ = 0..modes-1, in cycles per patch (two patches with "
    "periodic_extension), or those of them that its points resolve"
)


class PatchedSettings(Settings):
    """What both transformers on patches can be asked for; the modes have no common default."""

    dimension = 2

    patches: Side = Field(13, description="patches along each axis; the sides of the grid must be multiples")
    width: EncoderWidth = 128
    num_layers: EncoderLayers = 6
    num_heads: Heads = 8
    feedforward_width: FeedforwardWidth = 128
    equal_layers: EqualLayers = False
    periodic_extension: bool = Field(
        False,
        description="convolve the even extension of each patch, which is periodic, and cut it back",
    )
    dropout: Rate = Field(
        1e-4, description="dropout on the attention matrix, both residual branches and in the feed-forward"
    )
    smoother: Literal["none", "learned", "inverse_laplacian"] = Field(
        "learned",
        description="last layer; learned: z + its spectral convolution, inverse_laplacian: (I - εΔ)^(-α) z",
    )
    smoother_modes: Modes = Field(
        64, description="learned: Fourier modes of the whole grid, which needs twice as many points a side"
    )
    smoother_epsilon: Annotated[float, Field(gt=0.0, le=10.0)] = Field(
        1e-3, description="inverse_laplacian: ε, in the square of the coordinates' unit"
    )
    smoother_exponent: Annotated[float, Field(gt=0.0, le=10.0)] = Field(
        1.001, description="inverse_laplacian: α"
    )
    smoother_boundary: Literal["periodic", "even"] = Field(
        "periodic",
        description="inverse_laplacian: even for functions that are not periodic, mirrored at the boundary",
    )
    checkpointing: bool = Field(
        False, description="compute each layer again in the backward pass instead of keeping what it needs"
    )

    @model_validator(mode="after")
    def _consistent(self) -> "PatchedSettings":
        check_divides(self.width, "num_heads", self.num_heads)
        return self

    def check_grid(self, points: int) -> None:
        if points % self.patches:
            near = max(1, round(points / self.patches)) * self.patches
            raise ValueError(f"patches {self.patches} do not divide {points} points; {near} would do")
        if self.smoother == "learned":
            check_points(self.smoother_modes, points, 2 * self.smoother_modes)

    def cost(self, points: int) -> Cost:
        return self._cost(points)

    def _cost(self, points: int, weights: int = 8) -> Cost:
        return cost_of_layers(
            points**2,
            width=self.width,
            num_layers=self.num_layers,
            layer_flop=transformer_flop(self.width, self.feedforward_width, self.patches**2),
            weights=weights,
        )


class ViTNeuralOperatorSettings(PatchedSettings):
    """Vision transformer neural operator, ViT-NO (Calvello et al. 2024, section 4.3)."""

    operator = "resolvent.models.calvello2024.vit_neural_operator:ViTNeuralOperator"

    modes: Modes = Field(12, description=PATCH_MODES.format("Fourier modes of the lifting"))


class FourierAttentionNeuralOperatorSettings(PatchedSettings):
    """Fourier attention neural operator, FANO (Calvello et al. 2024, section 4.4)."""

    operator = (
        "resolvent.models.calvello2024.fourier_attention_neural_operator:FourierAttentionNeuralOperator"
    )

    modes: Modes = Field(9, description=PATCH_MODES.format("Fourier modes of Q, K and V"))

    def cost(self, points: int) -> Cost:
        return self._cost(points, weights=8 + 12 * self.modes**2)  # complex ones of Q, K and V
