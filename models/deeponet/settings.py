"""Settings of DeepONet (Lu et al. 2021, arXiv:1910.03193). No torch here."""

from typing import Annotated

from pydantic import Field

from resolvent.models.cost import Cost
from resolvent.models.settings import Boundary, Settings, Width

Sensors = Annotated[
    int, Field(ge=2, le=4096, description="points along each axis at which the branch network sees the input")
]


class DeepONet1dSettings(Settings):
    """DeepONet in one dimension (Lu et al. 2021), whose sensors lie between the points of any grid."""

    operator = "resolvent.models.deeponet.deeponet:DeepONet1d"
    dimension = 1

    sensors: Sensors = 128
    width: Width = Field(128, description="hidden width of both networks")
    num_layers: int = Field(4, ge=2, le=64, description="affine maps of each network")
    basis: Width = Field(128, description="functions that the trunk network gives for each output channel")
    boundary: Boundary = "periodic"

    def cost(self, points: int) -> Cost:
        """Count the trunk network for each output, though all of a batch share its values."""
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
    """DeepONet in two dimensions (Lu et al. 2021), whose sensors lie between the points of any grid."""

    operator = "resolvent.models.deeponet.deeponet:DeepONet2d"
    dimension = 2

    sensors: Sensors = 43
    boundary: Boundary = "edges"
