"""The table of architectures: their settings, and where they are. No torch here."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from pydantic import ValidationError

from resolvent.models.calvello2024_patched_settings import (
    AFNOSettings,
    FourierAttentionNeuralOperatorSettings,
    ViTNeuralOperatorSettings,
)
from resolvent.models.calvello2024_settings import (
    GalerkinEncoder2dSettings,
    TransformerNeuralOperator1dSettings,
    TransformerNeuralOperator2dSettings,
    UniversalApproximatorSettings,
)
from resolvent.models.cao2021_settings import (
    FNO1dSettings,
    FNO2dSettings,
    Transformer1dSettings,
    Transformer2dCoarseSettings,
    Transformer2dSettings,
)
from resolvent.models.neuraloperator_settings import NeuralOperator1dSettings, NeuralOperator2dSettings
from resolvent.models.settings import Settings

MOST_NAMES = 24  # in a message


@dataclass(frozen=True)
class Architecture:
    """What can be built.

    settings       class of its settings.
    location       of its module, "package.file:Class", which is imported only when built.
    dimension      of the functions it maps.
    coarse_output  whether its output is on a coarser grid than its input.
    any_nodes      whether it takes functions on unevenly spaced points, such as observed trajectories.
    one_grid       whether it takes functions on one grid only, told by its setting `points`.
    """

    settings: type[Settings]
    location: str
    dimension: int
    coarse_output: bool = False
    any_nodes: bool = False
    one_grid: bool = False

    @property
    def module(self) -> str:
        """Of its location."""
        return self.location.partition(":")[0]


ARCHITECTURES: dict[str, Architecture] = {
    "fno1d": Architecture(FNO1dSettings, "resolvent.models.fno1d:FNO1d", 1),
    "fno2d": Architecture(FNO2dSettings, "resolvent.models.fno2d:FNO2d", 2),
    "transformer1d": Architecture(Transformer1dSettings, "resolvent.models.transformer1d:Transformer1d", 1),
    "transformer2d": Architecture(Transformer2dSettings, "resolvent.models.transformer2d:Transformer2d", 2),
    "transformer2d_coarse": Architecture(
        Transformer2dCoarseSettings,
        "resolvent.models.transformer2d:Transformer2dCoarse",
        2,
        coarse_output=True,
    ),
    "tno1d": Architecture(
        TransformerNeuralOperator1dSettings,
        "resolvent.models.transformer_neural_operator:TransformerNeuralOperator1d",
        1,
        any_nodes=True,
    ),
    "tno2d": Architecture(
        TransformerNeuralOperator2dSettings,
        "resolvent.models.transformer_neural_operator:TransformerNeuralOperator2d",
        2,
    ),
    "galerkin_encoder2d": Architecture(
        GalerkinEncoder2dSettings, "resolvent.models.galerkin_encoder:GalerkinEncoder2d", 2
    ),
    "universal_approximator1d": Architecture(
        UniversalApproximatorSettings,
        "resolvent.models.universal_approximator:UniversalApproximator1d",
        1,
        any_nodes=True,
    ),
    "universal_approximator2d": Architecture(
        UniversalApproximatorSettings, "resolvent.models.universal_approximator:UniversalApproximator2d", 2
    ),
    "neuraloperator1d": Architecture(
        NeuralOperator1dSettings, "resolvent.models.neuraloperator:NeuralOperator1d", 1
    ),
    "neuraloperator2d": Architecture(
        NeuralOperator2dSettings, "resolvent.models.neuraloperator:NeuralOperator2d", 2
    ),
    "vit_no": Architecture(
        ViTNeuralOperatorSettings, "resolvent.models.vit_neural_operator:ViTNeuralOperator", 2
    ),
    "fano": Architecture(
        FourierAttentionNeuralOperatorSettings,
        "resolvent.models.fourier_attention_neural_operator:FourierAttentionNeuralOperator",
        2,
    ),
    "afno": Architecture(AFNOSettings, "resolvent.models.afno:AFNO", 2, one_grid=True),
}


def resolve(architecture: str, settings: dict) -> Settings:
    """Validated settings of `architecture`, defaults filled in.

    Raises `ValueError`, in one line, for an unknown architecture, an unknown key or an unaccepted value.
    """
    if architecture not in ARCHITECTURES:
        raise ValueError(unknown("architecture", architecture, ARCHITECTURES))
    settings_class = ARCHITECTURES[architecture].settings
    try:
        return settings_class.model_validate(settings)
    except ValidationError as error:
        problems = "; ".join(_problem(details, settings_class) for details in error.errors())
    raise ValueError(f"{architecture}: {problems}")


def _problem(details: dict, settings_class: type[Settings]) -> str:
    key = ".".join(str(part) for part in details["loc"])
    if details["type"] == "extra_forbidden":
        return unknown("setting", key, settings_class.model_fields)
    if details["type"] == "value_error":  # ours: the message says it all
        return str(details["ctx"]["error"])
    return f"{key}: {details['msg']}, got {details['input']!r}"


def unknown(kind: str, name: str, accepted: Iterable[str]) -> str:
    """That a name is unknown, the nearest one that is known, and those, unless they fill the screen."""
    accepted = list(accepted)
    near = get_close_matches(name, accepted, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    more = len(accepted) - MOST_NAMES
    names = ", ".join(accepted[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    return f"unknown {kind} {name!r}; {hint}accepted: {names or 'none'}"
