"""What the models of the package neuraloperator can be asked for. No torch here, nor the package."""

from typing import Any, Literal

from pydantic import Field, model_validator

from resolvent.models.cost import Cost, spectral_cost
from resolvent.models.settings import EncoderWidth, Layers, Modes, Settings, check_points


class NeuralOperatorSettings(Settings):
    """Models of the package neuraloperator, in any dimension (Kossaifi et al. 2024, arXiv:2412.10354)."""

    packages = ("neuraloperator",)

    width: EncoderWidth = 128
    modes: Modes = Field(
        12,
        description="wavenumbers kept along an axis, both signs counted, as the package counts: twice what "
        "`fno1d` and `fno2d` call modes",
    )
    num_layers: Layers = Field(4, description="layers")
    options: dict[str, Any] = Field({}, description="further keywords of the package's class")

    def check_grid(self, points: int) -> None:
        check_points(self.modes, points, self.modes)

    def cost(self, points: int) -> Cost:
        return spectral_cost(
            points**self.dimension,
            width=self.width,
            num_layers=self.num_layers,
            mode_weights=2 * self.modes**self.dimension,
        )


class NeuralOperator1dSettings(NeuralOperatorSettings):
    """Models of the package neuraloperator in one dimension (Kossaifi et al. 2024, arXiv:2412.10354)."""

    operator = "resolvent.models.neuraloperator.neuraloperator:NeuralOperator1d"
    dimension = 1

    model: Literal["FNO", "TFNO", "UNO"] = Field("FNO", description="the package's class")


class NeuralOperator2dSettings(NeuralOperatorSettings):
    """Models of the package neuraloperator in two dimensions (Kossaifi et al. 2024, arXiv:2412.10354)."""

    operator = "resolvent.models.neuraloperator.neuraloperator:NeuralOperator2d"
    dimension = 2

    model: Literal["FNO", "TFNO", "UNO", "CODANO"] = Field("FNO", description="the package's class")

    @model_validator(mode="after")
    def _outputs_of_every_variable(self) -> "NeuralOperator2dSettings":
        if self.model == "CODANO" and self.out_channels % self.in_channels:
            raise ValueError(
                f"CODANO gives every input channel as many output channels; out_channels {self.out_channels} "
                f"is not a multiple of in_channels {self.in_channels}"
            )
        return self
