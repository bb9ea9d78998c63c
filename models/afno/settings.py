"""Settings of the adaptive Fourier neural operator. No torch here."""

from typing import Annotated

from pydantic import Field, model_validator

from resolvent.models.cost import Cost, cost_of_layers
from resolvent.models.settings import (
    EncoderLayers,
    EncoderWidth,
    FeedforwardWidth,
    Settings,
    Side,
    check_divides,
)


class AFNOSettings(Settings):
    """Adaptive Fourier neural operator (Guibas et al. 2022), for one grid."""

    operator = "resolvent.models.afno.afno:AFNO"
    dimension = 2
    one_grid = True

    points: Side = Field(64, description="points along each axis of the one grid that it takes")
    width: EncoderWidth = 128
    num_layers: EncoderLayers = 4
    num_blocks: Annotated[int, Field(ge=1, le=4096)] = Field(
        8, description="blocks of the complex matrices; they divide width"
    )
    feedforward_width: FeedforwardWidth = 512

    @model_validator(mode="after")
    def _consistent(self) -> "AFNOSettings":
        check_divides(self.width, "num_blocks", self.num_blocks)
        return self

    def cost(self, points: int) -> Cost:
        return cost_of_layers(
            points**2,
            width=self.width,
            num_layers=self.num_layers,
            layer_flop=4 * self.width * self.feedforward_width,
        )
