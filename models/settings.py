"""Base class of the settings of all architectures.

Does not import torch, since the workflow parses and checks configurations without it.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from resolvent.common.settings import Settings as StrictSettings
from resolvent.models.cost import Cost, cost_of_layers, transformer_flop

Channels = Annotated[int, Field(ge=1, le=64)]
Width = Annotated[int, Field(ge=1, le=4096)]
Modes = Annotated[int, Field(ge=1, le=4096)]
Layers = Annotated[int, Field(ge=1, le=64)]
Rate = Annotated[float, Field(ge=0.0, lt=1.0)]
Scale = Annotated[float, Field(ge=0.0, le=10.0)]
Side = Annotated[int, Field(ge=1, le=4096)]
MODES_2D_DESCRIPTION = "Fourier modes kept, k₁ = -modes..modes-1 and k₂ = 0..modes-1"
Coordinates = Annotated[
    Literal["grid", "linspace"],
    Field(
        description="grid: the coordinates as given; linspace: from 0 at the first point of each axis to 1 "
        "at the last, as in the public codes of Cao (2021) and Li et al. (2021)"
    ),
]
Boundary = Annotated[
    Literal["periodic", "edges"],
    Field(
        description="periodic: the last point of an axis is next to the first; edges: the function ends there"
    ),
]
# Settings of architectures with an encoder, each with its own default.
EncoderWidth = Annotated[Width, Field(description="channels of the hidden function")]
EncoderLayers = Annotated[Layers, Field(description="encoder layers")]
Heads = Annotated[int, Field(ge=1, le=64, description="attention heads; they divide width")]
FeedforwardWidth = Annotated[Width, Field(description="hidden width of a layer's feed-forward network")]
Factor = Annotated[
    float,
    Field(
        gt=0.0, le=1.0, description="r: n points per side become ⌊n r⌋ and then ⌊⌊n r⌋ r⌋, the coarse grid"
    ),
]
EqualLayers = Annotated[
    bool,
    Field(description="all layers start as copies of one layer, as in the papers' public codes"),
]
Epsilon = Annotated[float, Field(gt=0.0, le=1.0, description="added to the variances in the layer norms")]

SMALL_ENCODER = {"width": 16, "num_layers": 2, "num_heads": 2, "feedforward_width": 24}  # for examples


class Settings(StrictSettings):
    """Description of an architecture: module, settings, cost, and appearance in figures.

    A class that a configuration may name sets

    operator       "module:Class" of its torch module, which is imported only when built, with the settings as
                   keywords.
    dimension      number of variables of the functions: 1, 2 or 3.
    coarse_output  whether its output is on a coarser grid than its input.
    any_nodes      whether it accepts functions on unevenly spaced points, such as trajectories.
    one_grid       whether it accepts only one grid, given by its setting `points`, an integer, or a list for
                   rectangular grids.
    trapezoidal    whether it weights the points by the trapezoidal rule, for grids with both ends.
    all_pairs      whether all points attend to all points, for the cost.
    version        version of its numbers: raised by hand whenever they change (docs/jobs.md).
    order          order in the spacing of the difference between outputs on two grids, if it is invariant.
    recordable     whether a GPU may record a training step and replay it (`training.recorded.Recorded`), for
                   an architecture elsewhere; ours all may.
    packages       PyPI packages whose code is the network: another version is another model.
    look           colour, "#rrggbb", and marker in figures; None: an unused colour.
    example        small settings, for tests and measurements of invariance.
    variants       settings that change the example, by their names in tables.
    """

    operator: ClassVar[str]
    dimension: ClassVar[int]
    version: ClassVar[int] = 1
    coarse_output: ClassVar[bool] = False
    any_nodes: ClassVar[bool] = False
    one_grid: ClassVar[bool] = False
    trapezoidal: ClassVar[bool] = False
    all_pairs: ClassVar[bool] = False
    order: ClassVar[int] = 1
    recordable: ClassVar[bool] = False
    packages: ClassVar[tuple[str, ...]] = ()
    look: ClassVar[tuple[str, str] | None] = None
    example: ClassVar[dict[str, Any]] = {}
    variants: ClassVar[dict[str, dict[str, Any]]] = {"": {}}

    in_channels: Channels = Field(1, description="channels of the input function")
    out_channels: Channels = Field(1, description="channels of the output function")

    def check_grid(self, sides: tuple[int, ...]) -> None:
        """Raise `ValueError` if the architecture does not support a grid with these sides.

        Reports before any training what the module would raise for this grid.
        """

    def coarse_points(self, points: int) -> int | None:
        """Return the points along each axis of the coarser grid of the layers, or None."""
        return None

    def cut_off(self) -> float | None:
        """Return the largest wavenumber along an axis that a layer retains, in cycles, or None."""
        return None

    def cost(self, points: int) -> Cost:
        """Predict the cost of one output on a grid of `points` along each axis, for planning jobs.

        For rectangular grids `points` is the geometric mean of the sides.

        The default assumes layers of four affine maps and a feed-forward network at each point, by the
        settings `width`, `num_layers` and `feedforward_width`, if they exist; else 128, 4 and the width. Set
        `all_pairs` if all points attend to all points.
        """
        whole, width = points**self.dimension, getattr(self, "width", 128)
        hidden = getattr(self, "feedforward_width", width)
        return layers_cost(self, whole, transformer_flop(width, hidden, whole if self.all_pairs else 0))


def layers_cost(settings: Settings, points: int, layer_flop: int | float, **more: Any) -> Cost:
    """Return `cost_of_layers` by the settings `width` and `num_layers`, if they exist; else 128 and 4."""
    width, num_layers = getattr(settings, "width", 128), getattr(settings, "num_layers", 4)
    return cost_of_layers(points, width=width, num_layers=num_layers, layer_flop=layer_flop, **more)


def divides_width(name: str) -> Any:
    """Return a validator for a settings class: `name` divides `width`."""

    def check(self: Any) -> Any:
        parts = getattr(self, name)
        if self.width % parts:
            raise ValueError(f"width {self.width} is not divisible by {name} {parts}")
        return self

    return model_validator(mode="after")(check)


def along_y_and_x(name: str) -> Any:
    """Return a validator for a settings class: `name` is one number, or two."""

    def check(self: Any) -> Any:
        value = getattr(self, name)
        if isinstance(value, list) and len(value) != 2:
            raise ValueError(f"{name} {value}; accepted: a number, or one along y and one along x")
        return self

    return model_validator(mode="after")(check)


def pair(value: int | list[int]) -> tuple[int, int]:
    """Return the values of such a setting along y and x."""
    along_y, along_x = value if isinstance(value, list) else (value, value)
    return along_y, along_x


def check_points(modes: int, sides: tuple[int, ...], least: int | None = None) -> None:
    """Raise `ValueError` if a side of the grid has fewer than `least` points, which `modes` need.

    By default as for the spectral convolutions of `models.layers`.
    """
    if least is None:
        least = 2 * modes - 2 if len(sides) == 1 else 2 * modes
    if min(sides) < least:
        got = " x ".join(map(str, sides if len(set(sides)) > 1 else sides[:1]))
        raise ValueError(f"{modes} modes need at least {least} points; got {got}")
