"""What the settings of every architecture have in common.

No torch here: the workflow parses and checks a configuration without importing it.
"""

import re
import types
import typing
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

Channels = Annotated[int, Field(ge=1, le=64)]
Width = Annotated[int, Field(ge=1, le=4096)]
Modes = Annotated[int, Field(ge=1, le=4096)]
Layers = Annotated[int, Field(ge=1, le=64)]
Rate = Annotated[float, Field(ge=0.0, lt=1.0)]
Scale = Annotated[float, Field(ge=0.0, le=10.0)]
# What the architectures with an encoder have, each with its own default.
EncoderWidth = Annotated[Width, Field(description="channels of the hidden function")]
EncoderLayers = Annotated[Layers, Field(description="encoder layers")]
Heads = Annotated[int, Field(ge=1, le=64, description="attention heads; they divide width")]
FeedforwardWidth = Annotated[Width, Field(description="hidden width of a layer's feed-forward network")]
Epsilon = Annotated[float, Field(gt=0.0, le=1.0, description="added to the variances in the layer norms")]


class Settings(BaseModel):
    """Base: unknown keys are errors, numbers are finite, "64" is not an integer, and true is not a number.

    YAML 1.1 reads `1e-2` as text, so a number (unlike an integer) may be written as text.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    in_channels: Channels = Field(1, description="channels of the input function")
    out_channels: Channels = Field(1, description="channels of the output function")

    @model_validator(mode="before")
    @classmethod
    def _numbers_in_text(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        fields = cls.model_fields
        return {
            key: _read_numbers(value, fields[key].annotation) if key in fields else value
            for key, value in given.items()
        }

    def check_grid(self, points: int) -> None:
        """Raise `ValueError` if the architecture cannot take a grid of `points` along each axis.

        It says before anything is trained what the architecture would say when it meets the grid.
        """


def _read_numbers(value: Any, annotation: Any) -> Any:
    """Replace text such as "1e-2" by the number, wherever `annotation` says that one belongs."""
    kind, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is float and isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value)
    if kind is list and isinstance(value, list):
        return [_read_numbers(one, parts[0]) for one in value]
    if kind is dict and isinstance(value, dict):
        return {key: _read_numbers(one, parts[1]) for key, one in value.items()}
    if kind in (typing.Annotated, typing.Union, types.UnionType):
        for part in parts[:1] if kind is typing.Annotated else parts:
            value = _read_numbers(value, part)
    return value


def check_divides(settings: Settings, name: str) -> None:
    """Raise `ValueError` unless the setting `name` divides the width."""
    parts = getattr(settings, name)
    if settings.width % parts:
        raise ValueError(f"width {settings.width} is not divisible by {name} {parts}")


def check_points(modes: int, points: int, least: int) -> None:
    """Raise `ValueError` unless a grid with `points` along an axis, at least `least`, carries `modes`."""
    if points < least:
        raise ValueError(f"{modes} modes need at least {least} points; got {points}")
