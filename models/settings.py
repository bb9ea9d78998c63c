"""What the settings of every architecture have in common.

No torch here: the workflow parses and checks a configuration without importing it.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Channels = Annotated[int, Field(ge=1, le=64)]
Width = Annotated[int, Field(ge=1, le=4096)]
Modes = Annotated[int, Field(ge=1, le=4096)]
Layers = Annotated[int, Field(ge=1, le=64)]
# YAML 1.1 reads `1e-2` as a string, so numbers (unlike integers and booleans) may come as text.
Rate = Annotated[float, Field(ge=0.0, lt=1.0, strict=False)]
Scale = Annotated[float, Field(ge=0.0, le=10.0, strict=False)]
# What the architectures with an encoder have, each with its own default.
EncoderWidth = Annotated[Width, Field(description="channels of the hidden function")]
EncoderLayers = Annotated[Layers, Field(description="encoder layers")]
Heads = Annotated[int, Field(ge=1, le=64, description="attention heads; they divide width")]
FeedforwardWidth = Annotated[Width, Field(description="hidden width of a layer's feed-forward network")]
Epsilon = Annotated[
    float, Field(gt=0.0, le=1.0, strict=False, description="added to the variances in the layer norms")
]


class Settings(BaseModel):
    """Base: unknown keys are errors, numbers are finite, "64" is no integer and 0 is no boolean."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    in_channels: Channels = Field(1, description="channels of the input function")
    out_channels: Channels = Field(1, description="channels of the output function")

    def check_grid(self, points: int) -> None:
        """Raise `ValueError` if the architecture cannot take a grid of `points` along each axis.

        It says before anything is trained what the architecture would say when it meets the grid.
        """


def check_divides(settings: Settings, name: str) -> None:
    """Raise `ValueError` unless the setting `name` divides the width."""
    parts = getattr(settings, name)
    if settings.width % parts:
        raise ValueError(f"width {settings.width} is not divisible by {name} {parts}")


def check_points(modes: int, points: int, least: int) -> None:
    """Raise `ValueError` unless a grid with `points` along an axis, at least `least`, carries `modes`."""
    if points < least:
        raise ValueError(f"{modes} modes need at least {least} points; got {points}")
