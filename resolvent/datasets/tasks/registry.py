"""Registry of equations. A new equation adds its module and one line here.

User-defined equations need no entry: the configuration names the module and class of their settings,
`equation: "my_lab.heat:HeatDataset"`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, SerializeAsAny, ValidationError
from pydantic_core import PydanticCustomError, PydanticKnownError

from resolvent.common.outside import LOCATION, find
from resolvent.common.records import lines_of
from resolvent.datasets.errors import DatasetError, in_one_line
from resolvent.datasets.tasks.settings import DatasetSettings

if TYPE_CHECKING:
    from resolvent.datasets.tasks.task import Task

EQUATIONS = {
    "burgers": "resolvent.datasets.tasks.burgers:BurgersDataset",
    "darcy": "resolvent.datasets.tasks.darcy:DarcyDataset",
    "darcy_inverse": "resolvent.datasets.tasks.darcy:DarcyInverseDataset",
    "lorenz63": "resolvent.datasets.tasks.lorenz63:Lorenz63Dataset",
    "controlled_ode": "resolvent.datasets.tasks.controlled_ode:ControlledOdeDataset",
    "kolmogorov": "resolvent.datasets.tasks.kolmogorov:KolmogorovDataset",
}
# Equations of datasets with a `source`, whose samples are read from files.
IMPORTED = {
    "burgers": "resolvent.datasets.imported.burgers:ImportedBurgersDataset",
    "darcy": "resolvent.datasets.imported.darcy:ImportedDarcyDataset",
    "arrays": "resolvent.datasets.imported.arrays:ArraysDataset",
}


def settings_class(equation: str, imported: bool = False) -> type[DatasetSettings]:
    """Return the settings class of `equation`, a name in `EQUATIONS` or "module:class".

    `imported` is whether the dataset has the key `source` and is read from files.

    Raises `PydanticCustomError` of type "unknown_equation" for an unknown name, and `ValueError` if the
    module cannot be imported or has no such class, or if `source` does not fit the equation.
    """
    if imported and equation in EQUATIONS and equation not in IMPORTED:
        raise ValueError(
            f"'source' is not accepted for equation {equation}, only for {', '.join(IMPORTED)}; leave it out"
        )
    if not imported and equation in IMPORTED and equation not in EQUATIONS:
        raise ValueError(f"equation {equation} is read from files: set 'source' to their paths")
    location = (IMPORTED if imported else EQUATIONS).get(equation, equation)
    if not LOCATION.fullmatch(location):
        raise PydanticCustomError(
            "unknown_equation",
            "unknown equation '{equation}'; accepted: {accepted}, or module:SettingsClass",
            {"equation": equation, "accepted": ", ".join(EQUATIONS)},
        )
    try:
        return find(location, base=DatasetSettings)
    except ValueError as error:
        raise type(error)(f"equation '{equation}': {error}") from None


def settings_of(content: Any) -> DatasetSettings:
    """Validate `content` (a block of a configuration, card or rule) as the settings of its equation.

    Raises pydantic's `ValidationError` for invalid keys, and `ValueError` for an unknown equation.
    """
    if isinstance(content, DatasetSettings):
        return content
    if not isinstance(content, dict):
        raise PydanticKnownError("dict_type")
    if "equation" not in content:
        raise PydanticCustomError(
            "no_equation", "equation is required; accepted: {accepted}", {"accepted": ", ".join(EQUATIONS)}
        )
    return settings_class(str(content["equation"]), "source" in content).model_validate(content)


def settings_on(card: Mapping[str, Any], path: Path | str | None = None) -> DatasetSettings:
    """Return the settings on the dataset card in the file `path`; without one, the message names the dataset.

    Raises `DatasetError` if they are invalid.
    """
    try:
        return settings_of(card["settings"])
    except ValidationError as error:
        fault = lines_of(error, card["settings"])[0]
    except ValueError as error:
        fault = in_one_line(error)
    where = path or f"the card of the dataset {card['dataset']}, {card['settings_hash']}.json"
    raise DatasetError(f"{where}: settings: {fault}")


# The settings of a dataset of any equation, inside a configuration.
AnyDataset = Annotated[SerializeAsAny[DatasetSettings], BeforeValidator(settings_of)]


def build_task(settings: DatasetSettings) -> Task:
    """Return the task for `settings`. Imports its solver not before this call."""
    return settings.task()
