"""Settings of the Fourier neural operators of Li et al. (2021, arXiv:2010.08895). No torch here."""

from pydantic import Field

from resolvent.models.cost import Cost, spectral_cost
from resolvent.models.settings import (
    MODES_2D_DESCRIPTION,
    Coordinates,
    Layers,
    Modes,
    Settings,
    Width,
    check_points,
)


class FNO1dSettings(Settings):
    """Fourier neural operator in one dimension (Li et al. 2021; no batch normalisation, as in Cao 2021)."""

    operator = "resolvent.models.fno.fno1d:FNO1d"
    dimension = 1

    width: Width = Field(64, description="channels of the hidden function")
    num_layers: Layers = Field(4, description="spectral layers")
    modes: Modes = Field(16, description="Fourier modes kept, k = 0..modes-1")
    projection_width: Width = Field(128, description="hidden width of the pointwise output network")
    coordinates: Coordinates = "grid"

    def check_grid(self, points: int) -> None:
        check_points(self.modes, points, 2 * self.modes - 2)

    def cost(self, points: int) -> Cost:
        modes = 2 * self.modes
        return spectral_cost(points, width=self.width, num_layers=self.num_layers, mode_weights=modes)


class FNO2dSettings(Settings):
    """Fourier neural operator in two dimensions (Li et al. 2021; no batch normalisation, as in Cao 2021)."""

    operator = "resolvent.models.fno.fno2d:FNO2d"
    dimension = 2

    width: Width = Field(32, description="channels of the hidden function")
    num_layers: Layers = Field(4, description="spectral layers")
    modes: Modes = Field(12, description=MODES_2D_DESCRIPTION)
    projection_width: Width = Field(128, description="hidden width of the pointwise output network")

    def check_grid(self, points: int) -> None:
        check_points(self.modes, points, 2 * self.modes)

    def cost(self, points: int) -> Cost:
        modes = 4 * self.modes**2
        return spectral_cost(points**2, width=self.width, num_layers=self.num_layers, mode_weights=modes)
