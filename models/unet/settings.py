"""Settings of the U-Net (Ronneberger et al. 2015, arXiv:1505.04597). No torch here."""

from pydantic import Field

from resolvent.models.cost import Cost
from resolvent.models.settings import Boundary, Settings, Width


class UNet1dSettings(Settings):
    """U-Net in one dimension (Ronneberger et al. 2015), with group normalisation and same-sized output."""

    operator = "resolvent.models.unet.unet:UNet1d"
    dimension = 1

    width: Width = Field(32, description="channels on the whole grid; twice as many on each coarser one")
    num_levels: int = Field(4, ge=1, le=8, description="times that the grid is halved")
    boundary: Boundary = "periodic"

    def check_grid(self, points: int) -> None:
        check_levels(self.num_levels, (points,) * self.dimension)

    def cost(self, points: int) -> Cost:
        """Add up the convolutions of each level, on the way down and on the way up."""
        taps, halves, flop, values, weights = 3**self.dimension, 2**self.dimension, 0, 0, 0
        for level in range(self.num_levels + 1):
            grid, width = max(1, points >> level) ** self.dimension, self.width << level
            # Down: half the channels in, then all. Up, but at the bottom: twice the channels in, then all.
            first = self.in_channels * width if level == 0 else width**2 // 2
            maps = taps * (first + width**2)
            if level < self.num_levels:
                maps += taps * 3 * width**2
                flop += 2 * grid * 2 * width**2  # from the coarser grid, each point from one of its points
                weights += halves * 2 * width**2
            flop, values, weights = flop + 2 * grid * maps, values + 8 * grid * width, weights + maps
        return Cost(
            points=points**self.dimension,
            forward_flop=flop,
            hidden_values=values,
            weights=weights,
            width=self.width,
        )


class UNet2dSettings(UNet1dSettings):
    """U-Net in two dimensions (Ronneberger et al. 2015), with group normalisation and same-sized output."""

    operator = "resolvent.models.unet.unet:UNet2d"
    dimension = 2

    boundary: Boundary = "edges"


def check_levels(num_levels: int, sides: tuple[int, ...]) -> None:
    """Raise `ValueError` unless a grid of these sides can be halved so often."""
    least = 2**num_levels
    if min(sides) < least:
        given = " x ".join(map(str, sides))
        raise ValueError(f"{num_levels} levels need at least {least} points along an axis; got {given}")
