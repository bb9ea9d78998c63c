"""Registry of architectures; user-defined ones are `module:SettingsClass`. Does not import torch."""

import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from resolvent.common.outside import find, not_imported, unknown
from resolvent.models.settings import Settings

# An architecture is represented by its settings class, which names its torch module. User-defined
# architectures are given in configurations in the same form.
ARCHITECTURES: dict[str, str] = {
    "fno1d": "resolvent.models.other_works.settings:FNO1dSettings",
    "transformer1d": "resolvent.models.cao2021.settings:Transformer1dSettings",
    "tno1d": "resolvent.models.calvello2024.settings:TransformerNeuralOperator1dSettings",
    "universal_approximator1d": "resolvent.models.calvello2024.settings:UniversalApproximator1dSettings",
    "neuraloperator1d": "resolvent.models.other_works.settings:NeuralOperator1dSettings",
    "fno2d": "resolvent.models.other_works.settings:FNO2dSettings",
    "transformer2d": "resolvent.models.cao2021.settings:Transformer2dSettings",
    "transformer2d_coarse": "resolvent.models.cao2021.settings:Transformer2dCoarseSettings",
    "tno2d": "resolvent.models.calvello2024.settings:TransformerNeuralOperator2dSettings",
    "cross_attention2d_coarse": "resolvent.models.calvello2024.settings:CrossAttentionOperator2dSettings",
    "codomain_attention2d": "resolvent.models.calvello2024.settings:CodomainAttentionOperator2dSettings",
    "galerkin_encoder2d": "resolvent.models.cao2021.settings:GalerkinEncoder2dSettings",
    "universal_approximator2d": "resolvent.models.calvello2024.settings:UniversalApproximator2dSettings",
    "neuraloperator2d": "resolvent.models.other_works.settings:NeuralOperator2dSettings",
    "vit_no": "resolvent.models.calvello2024.settings:ViTNeuralOperatorSettings",
    "fano": "resolvent.models.calvello2024.settings:FourierAttentionNeuralOperatorSettings",
    "afno": "resolvent.models.other_works.settings:AFNOSettings",
    "fno3d": "resolvent.models.other_works.settings:FNO3dSettings",
    "unet3d": "resolvent.models.other_works.settings:UNet3dSettings",
    "deeponet1d": "resolvent.models.other_works.settings:DeepONet1dSettings",
    "deeponet2d": "resolvent.models.other_works.settings:DeepONet2dSettings",
    "unet1d": "resolvent.models.other_works.settings:UNet1dSettings",
    "unet2d": "resolvent.models.other_works.settings:UNet2dSettings",
    "transolver1d": "resolvent.models.other_works.settings:Transolver1dSettings",
    "transolver2d": "resolvent.models.other_works.settings:Transolver2dSettings",
}


def examples() -> list[tuple[str, str, dict]]:
    """Return name, variant and small settings for every variant of every registered architecture.

    Leaves out architectures whose package is not installed.
    """
    return [
        (name, words, known.example | changed)
        for name in ARCHITECTURES
        for known in [settings_class(name)]
        if not missing_packages(name)
        for words, changed in known.variants.items()
    ]


def settings_class(architecture: str) -> type[Settings]:
    """Return the settings class of an architecture: a key of `ARCHITECTURES`, or "module:SettingsClass".

    Raises `ValueError`, in one line, if there is none, or if it lacks required attributes (`Settings`).
    """
    location = ARCHITECTURES.get(architecture, architecture)
    if ":" not in location:
        accepted = unknown("architecture", architecture, ARCHITECTURES)
        raise ValueError(f"{accepted}; or module:SettingsClass of your own")
    try:
        found = find(location, base=Settings)
        _check_description(found)
    except ValueError as error:
        raise type(error)(f"architecture {architecture!r}: {error}") from None
    return found


def missing_packages(architecture: str) -> str:
    """Return which of its packages are missing and how to install them, or ""."""
    missing = []
    for package in settings_class(architecture).packages:
        try:
            version(package)
        except PackageNotFoundError:
            missing.append(package)
    if not missing:
        return ""
    ours = f"-c constraints.txt -e '.[{','.join(missing)}]'"
    how = ours if architecture in ARCHITECTURES else " ".join(missing)
    return f"architecture {architecture!r} needs what is not installed: pip install {how}"


def is_architecture(architecture: str) -> bool:
    """Return whether `settings_class` finds an architecture."""
    try:
        settings_class(architecture)
    except ValueError:
        return False
    return True


def resolve(architecture: str, settings: dict) -> Settings:
    """Validate the settings of `architecture` and fill in its defaults.

    Raises `ValueError`, in one line, for an unknown architecture, an unknown key or an unaccepted value.
    """
    known = settings_class(architecture)
    try:
        return known.model_validate(settings)
    except ValidationError as error:
        problems = "; ".join(_problem(details, known) for details in error.errors())
    raise ValueError(f"{architecture}: {problems}")


def _check_description(settings: type[Settings]) -> None:
    """Raise `ValueError` unless the class has a dimension and names an existing torch module.

    The module is only located, not imported, since importing torch takes seconds.
    """
    name, operator = f"{settings.__module__}:{settings.__name__}", getattr(settings, "operator", None)
    if getattr(settings, "dimension", None) not in (1, 2, 3):
        raise ValueError(f"{name} must set `dimension`; accepted: 1, 2, 3")
    module, _, class_name = str(operator).partition(":")
    if not (module and class_name):
        raise ValueError(f"{name} must set `operator`, module:Class of its torch module; got {operator!r}")
    try:
        loaded = sys.modules.get(module)
        there = hasattr(loaded, class_name) if loaded else find_spec(module)
    except Exception as error:
        raise not_imported(module, error, f"operator {operator!r} of {name}: ") from error
    if not there:
        raise ValueError(f"operator {operator!r} of {name}: no {class_name if loaded else 'such module'}")


def _problem(details: ErrorDetails, known: type[Settings]) -> str:
    key = ".".join(str(part) for part in details["loc"])
    if details["type"] == "extra_forbidden":
        return unknown("setting", key, known.model_fields)
    if details["type"] == "value_error":  # our own errors have complete messages
        return str(details["ctx"]["error"])
    return f"{key}: {details['msg']}, got {details['input']!r}"
