"""Settings of the architectures of this package. Does not import torch."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from resolvent.models.cost import Cost
from resolvent.models.settings import (
    MODES_2D_DESCRIPTION,
    SMALL_ENCODER,
    Boundary,
    Coordinates,
    EncoderLayers,
    EncoderWidth,
    FeedforwardWidth,
    Heads,
    Layers,
    Modes,
    Rate,
    Settings,
    Side,
    Width,
    along_y_and_x,
    check_points,
    divides_width,
    layers_cost,
)

OCHRE = "#a87000"  # colour of all Fourier neural operators


class FNOSettings(Settings):
    """Fourier neural operator, in any dimension (Li et al. 2021, arXiv:2010.08895)."""

    look = OCHRE, "P"
    example = {"width": 8, "num_layers": 3, "modes": 4, "projection_width": 12}

    width: EncoderWidth
    num_layers: Layers = Field(4, description="spectral layers")
    modes: Modes
    projection_width: Width = Field(128, description="hidden width of the pointwise output network")

    def check_grid(self, sides: tuple[int, ...]) -> None:
        check_points(self.modes, sides)

    def cut_off(self) -> float:
        return float(self.modes)

    def cost(self, points: int) -> Cost:
        return _spectral_cost(self, points, (2 * self.modes) ** self.dimension)


class FNO1dSettings(FNOSettings):
    """Fourier neural operator in one dimension (Li et al. 2021; no batch normalisation, as in Cao 2021)."""

    version = 1
    operator = "resolvent.models.other_works.fno:FNO1d"
    dimension = 1

    width: EncoderWidth = 64
    modes: Modes = Field(16, description="Fourier modes kept, k = 0..modes-1")
    coordinates: Literal["grid", "linspace", "linspace_2pi"] = Field(
        "grid",
        description="grid: the coordinates as given; linspace: from 0 at the first point to 1 at the last, "
        "as in the public code of Li et al. (2021); linspace_2pi: from 0 to 2π, as in Cao's fork of it",
    )


class FNO2dSettings(FNOSettings):
    """Fourier neural operator in two dimensions (Li et al. 2021; no batch normalisation, as in Cao 2021)."""

    version = 1
    operator = "resolvent.models.other_works.fno:FNO2d"
    dimension = 2

    width: EncoderWidth = 32
    modes: Modes = Field(12, description=MODES_2D_DESCRIPTION)
    coordinates: Coordinates = "grid"


class FNO3dSettings(FNOSettings):
    """Fourier neural operator in three dimensions (Li et al. 2021; without batch normalisation)."""

    version = 1
    operator = "resolvent.models.other_works.fno:FNO3d"
    dimension = 3

    width: EncoderWidth = 16
    modes: Modes = Field(6, description="Fourier modes kept, k₁ and k₂ = -modes..modes-1 and k₃ = 0..modes-1")


class AFNOSettings(Settings):
    """Adaptive Fourier neural operator (Guibas et al. 2022), for a single grid."""

    version = 1
    operator = "resolvent.models.other_works.afno:AFNO"
    dimension = 2
    one_grid = True
    look = "#00805e", "^"
    example = {"points": 12, "width": 16, "num_layers": 2, "num_blocks": 2, "feedforward_width": 24}

    points: Side | list[Side] = Field(
        64, description="points along each axis of its only grid; for rectangular grids along y and x"
    )
    width: EncoderWidth = 128
    num_layers: EncoderLayers = 4
    num_blocks: Annotated[int, Field(ge=1, le=4096)] = Field(
        8, description="blocks of the complex matrices; they divide width"
    )
    feedforward_width: FeedforwardWidth = 512

    _blocks = divides_width("num_blocks")
    _sides = along_y_and_x("points")

    def cost(self, points: int) -> Cost:
        return layers_cost(self, points**2, 4 * self.width * self.feedforward_width)


class NeuralOperatorSettings(Settings):
    """Models of the package neuraloperator, in any dimension (Kossaifi et al. 2024, arXiv:2412.10354)."""

    packages = ("neuraloperator",)
    example = {"width": 8, "modes": 8, "num_layers": 3}

    width: EncoderWidth = 128
    modes: Modes = Field(
        12,
        description="number of wavenumbers of both signs along an axis, as in the package: twice the modes "
        "of `fno1d` and `fno2d`",
    )
    num_layers: Layers = Field(4, description="layers")
    options: dict[str, Any] = Field({}, description="further keywords of the package's class")

    def check_grid(self, sides: tuple[int, ...]) -> None:
        check_points(self.modes, sides, self.modes)

    def cut_off(self) -> float:
        return self.modes / 2  # the package counts negative wavenumbers too

    def cost(self, points: int) -> Cost:
        return _spectral_cost(self, points, 2 * self.modes**self.dimension)


class NeuralOperator1dSettings(NeuralOperatorSettings):
    """Models of the package neuraloperator in one dimension (Kossaifi et al. 2024, arXiv:2412.10354)."""

    version = 1
    operator = "resolvent.models.other_works.neuraloperator:NeuralOperator1d"
    dimension = 1
    variants = {"FNO": {}, "UNO": {"model": "UNO"}}

    model: Literal["FNO", "TFNO", "UNO"] = Field("FNO", description="the package's class")


class NeuralOperator2dSettings(NeuralOperatorSettings):
    """Models of the package neuraloperator in two dimensions (Kossaifi et al. 2024, arXiv:2412.10354)."""

    version = 1
    operator = "resolvent.models.other_works.neuraloperator:NeuralOperator2d"
    dimension = 2
    look = OCHRE, "P"
    variants = {model: {"model": model} for model in ("FNO", "TFNO", "UNO", "CODANO")}

    model: Literal["FNO", "TFNO", "UNO", "CODANO"] = Field("FNO", description="the package's class")

    @model_validator(mode="after")
    def _outputs_of_every_variable(self) -> "NeuralOperator2dSettings":
        if self.model == "CODANO" and self.out_channels % self.in_channels:
            raise ValueError(
                f"CODANO gives every input channel as many output channels; out_channels {self.out_channels} "
                f"is not a multiple of in_channels {self.in_channels}"
            )
        return self


def _spectral_cost(settings: FNOSettings | NeuralOperatorSettings, points: int, mode_weights: int) -> Cost:
    """Predict the cost of spectral layers between pointwise networks of 128 hidden channels.

    `mode_weights` are the real weights of a layer's modes per pair of channels. To first order, the
    convolution costs at most as much as the pointwise maps.
    """
    whole, width = points**settings.dimension, settings.width
    return layers_cost(settings, whole, 4 * width**2, outside_flop=512 * width, weights=8 + mode_weights)


Sensors = Annotated[
    int, Field(ge=2, le=4096, description="points along each axis at which the branch network sees the input")
]


class DeepONet1dSettings(Settings):
    """DeepONet in one dimension (Lu et al. 2021), with sensors interpolated from any grid."""

    version = 1
    operator = "resolvent.models.other_works.deeponet:DeepONet1d"
    dimension = 1
    any_nodes = True
    order = 2  # the sensors interpolate linearly
    example = {"width": 16, "num_layers": 3, "basis": 12, "sensors": 20}  # beside the points of every grid

    sensors: Sensors = 128
    width: Width = Field(128, description="hidden width of both networks")
    num_layers: int = Field(4, ge=2, le=64, description="affine maps of each network")
    basis: Width = Field(128, description="functions of the trunk network for each output channel")
    boundary: Boundary = "periodic"

    def cost(self, points: int) -> Cost:
        """Count the trunk network for each output, although a batch shares its values."""
        grid, width = points**self.dimension, self.width
        values, functions = self.in_channels * self.sensors**self.dimension, self.out_channels * self.basis
        inside = (self.num_layers - 2) * width**2 + width * functions
        branch, trunk = values * width + inside, self.dimension * width + inside
        return Cost(
            points=grid,
            forward_flop=2 * (branch + grid * (trunk + functions)),
            hidden_values=grid * (width * (self.num_layers - 1) + functions),
            weights=branch + trunk,
            width=width,
        )


class DeepONet2dSettings(DeepONet1dSettings):
    """DeepONet in two dimensions (Lu et al. 2021), with sensors interpolated from any grid."""

    version = 1
    operator = "resolvent.models.other_works.deeponet:DeepONet2d"
    dimension = 2
    example = {"width": 16, "num_layers": 3, "basis": 12, "sensors": 6, "boundary": "periodic"}

    sensors: Sensors = 43
    boundary: Boundary = "edges"


class UNet1dSettings(Settings):
    """U-Net in one dimension (Ronneberger et al. 2015), with group normalisation and same-sized output."""

    version = 1
    operator = "resolvent.models.other_works.unet:UNet1d"
    dimension = 1
    example = {"width": 8, "num_levels": 2}

    width: Width = Field(32, description="channels on the whole grid; twice as many on each coarser one")
    num_levels: int = Field(4, ge=1, le=8, description="times that the grid is halved")
    boundary: Boundary = "periodic"

    def check_grid(self, sides: tuple[int, ...]) -> None:
        check_levels(self.num_levels, sides)

    def cost(self, points: int) -> Cost:
        """Return the cost of the convolutions of all levels, down and up."""
        taps, halves, flop, values, weights = 3**self.dimension, 2**self.dimension, 0, 0, 0
        for level in range(self.num_levels + 1):
            grid, width = max(1, points >> level) ** self.dimension, self.width << level
            # Input channels of the two convolutions: half, then all (down); twice, then all (up).
            first = self.in_channels * width if level == 0 else width**2 // 2
            maps = taps * (first + width**2)
            if level < self.num_levels:
                maps += taps * 3 * width**2
                flop += 2 * grid * 2 * width**2  # from the coarser grid, each point from one of its points
                weights += halves * 2 * width**2
            flop, values, weights = flop + 2 * grid * maps, values + 8 * grid * width, weights + maps
        return Cost(points**self.dimension, flop, values, weights, self.width)


class UNet2dSettings(UNet1dSettings):
    """U-Net in two dimensions (Ronneberger et al. 2015), with group normalisation and same-sized output."""

    version = 1
    operator = "resolvent.models.other_works.unet:UNet2d"
    dimension = 2

    boundary: Boundary = "edges"


class UNet3dSettings(UNet2dSettings):
    """U-Net in three dimensions (Ronneberger et al. 2015), with group normalisation and same-sized output."""

    version = 1
    operator = "resolvent.models.other_works.unet:UNet3d"
    dimension = 3

    width: Width = Field(16, description="channels on the whole grid; twice as many on each coarser one")
    num_levels: int = Field(3, ge=1, le=8, description="times that the grid is halved")


def check_levels(num_levels: int, sides: tuple[int, ...]) -> None:
    """Raise `ValueError` if a grid with these sides cannot be halved `num_levels` times."""
    least = 2**num_levels
    if min(sides) < least:
        given = " x ".join(map(str, sides))
        raise ValueError(f"{num_levels} levels need at least {least} points along an axis; got {given}")


class Transolver1dSettings(Settings):
    """Transolver in one dimension (Wu et al. 2024): attention between slices of the points."""

    version = 1
    operator = "resolvent.models.other_works.transolver:Transolver1d"
    dimension = 1
    example = {**SMALL_ENCODER, "slices": 6}

    width: EncoderWidth = 128
    num_layers: EncoderLayers = 8
    num_heads: Heads = 8
    slices: Width = Field(64, description="number of slices of points in each head")
    feedforward_width: FeedforwardWidth = 128
    dropout: Rate = Field(0.0, description="dropout of the attention's matrix and of its output")

    _heads = divides_width("num_heads")

    def cost(self, points: int) -> Cost:
        width, hidden = self.width, self.feedforward_width
        weighing = 6 * width * self.slices  # into slices by weights, and back
        return layers_cost(
            self,
            points**self.dimension,
            6 * width**2 + weighing + 4 * width * hidden,
            outside_flop=4 * width * (width + self.in_channels + self.dimension),
            layer_values=3 * width + hidden + self.num_heads * self.slices,
            weights=3 + 2 * hidden // width,
        )


class Transolver2dSettings(Transolver1dSettings):
    """Transolver in two dimensions (Wu et al. 2024): attention between slices of the points."""

    version = 1
    operator = "resolvent.models.other_works.transolver:Transolver2d"
    dimension = 2
