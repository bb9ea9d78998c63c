"""The equations by name. A new one adds its module and one line here; one of your own needs no line.

An equation that lives elsewhere is named in the configuration by the module and the class of its settings,
`equation: "my_lab.heat:HeatDataset"`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, SerializeAsAny
from pydantic_core import PydanticCustomError, PydanticKnownError

from resolvent.common.outside import LOCATION, find
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
# The same for a dataset that names a `source`, files that its samples are read from.
IMPORTED = {
    "burgers": "resolvent.datasets.imported.burgers:ImportedBurgersDataset",
    "darcy": "resolvent.datasets.imported.darcy:ImportedDarcyDataset",
    "darcy_inverse": "resolvent.datasets.imported.darcy:ImportedDarcyInverseDataset",
    "arrays": "resolvent.datasets.imported.arrays:ArraysDataset",
}


def settings_class(equation: str, imported: bool = False) -> type[DatasetSettings]:
    """Find the class of the settings of `equation`, a name in `EQUATIONS` or "module:class".

    `imported`: of a dataset with the key `source`, which is read from files.

    Raises `PydanticCustomError` of type "unknown_equation" for a name that is neither;
    `ValueError` when the module cannot be imported, or has no such class of settings; when there are no files
    to import for this equation.
    """
    if imported and equation in EQUATIONS and equation not in IMPORTED:
        raise ValueError(
            f"'source' is not for equation {equation}; accepted for {', '.join(IMPORTED)}; leave it out"
        )
    if not imported and equation in IMPORTED and equation not in EQUATIONS:
        raise ValueError(f"equation {equation} is read from files; name them as 'source'")
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
    """Check `content`, a block of the configuration, of a card or of a rule, as the settings of its equation.

    Raises `ValidationError` of pydantic, with every key that is wrong; `ValueError` when there is no such
    equation.
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


# The settings of a dataset within a configuration, of whatever equation.
AnyDataset = Annotated[SerializeAsAny[DatasetSettings], BeforeValidator(settings_of)]


def build_task(settings: DatasetSettings) -> Task:
    """Build the task that `settings` describe. Its solver is imported now or later, and not before."""
    return settings.task()
