"""Settings of Transolver (Wu et al. 2024, arXiv:2402.02366). No torch here."""

from pydantic import Field, model_validator

from resolvent.models.cost import Cost, cost_of_layers
from resolvent.models.settings import (
    EncoderLayers,
    EncoderWidth,
    FeedforwardWidth,
    Heads,
    Rate,
    Settings,
    Width,
    check_divides,
)


class Transolver1dSettings(Settings):
    """Transolver in one dimension (Wu et al. 2024): attention between slices of the points."""

    operator = "resolvent.models.transolver.transolver:Transolver1d"
    dimension = 1

    width: EncoderWidth = 128
    num_layers: EncoderLayers = 8
    num_heads: Heads = 8
    slices: Width = Field(64, description="slices of each head, into which the points are weighed")
    feedforward_width: FeedforwardWidth = 128
    dropout: Rate = Field(0.0, description="dropout of the attention's matrix and of its output")

    @model_validator(mode="after")
    def _heads(self) -> "Transolver1dSettings":
        check_divides(self.width, "num_heads", self.num_heads)
        return self

    def cost(self, points: int) -> Cost:
        width, hidden = self.width, self.feedforward_width
        weighing = 6 * width * self.slices  # into slices by weights, and back
        return cost_of_layers(
            points**self.dimension,
            width=width,
            num_layers=self.num_layers,
            layer_flop=6 * width**2 + weighing + 4 * width * hidden,
            outside_flop=4 * width * (width + self.in_channels + self.dimension),
            layer_values=3 * width + hidden + self.num_heads * self.slices,
            weights=3 + 2 * hidden // width,
        )


class Transolver2dSettings(Transolver1dSettings):
    """Transolver in two dimensions (Wu et al. 2024): attention between slices of the points."""

    operator = "resolvent.models.transolver.transolver:Transolver2d"
    dimension = 2
