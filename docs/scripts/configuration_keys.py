"""Write docs/configuration.md: type, default and meaning of every key, from the settings classes."""

from __future__ import annotations

import typing
from collections import defaultdict
from typing import Any

from page_parts import planned, table
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from resolvent.datasets.imported.arrays import About, GroupSplits
from resolvent.datasets.imported.files import Credit
from resolvent.datasets.tasks import registry as equations
from resolvent.datasets.tasks.distributions import CircleDistribution, GaussianDistribution, TorusDistribution
from resolvent.datasets.tasks.settings import SplitSizes
from resolvent.datasets.tasks.trajectories import ObservationTimes
from resolvent.measurements.settings import ArchitectureCostSettings, CostSettings
from resolvent.models.registry import ARCHITECTURES, settings_class
from resolvent.planning.configuration import settings
from resolvent.training.settings import TrainingSettings

DATASET = "datasets.<name>"


def keys() -> str:
    """Return the tables of all keys, one section per settings class."""
    sections: list[tuple[str, type[BaseModel]]] = [
        ("config.yaml", settings.Configuration),
        *((f"{DATASET}, equation {name}", equations.settings_class(name)) for name in equations.EQUATIONS),
        *(
            (f"{DATASET}, equation {name}, with a source", equations.settings_class(name, imported=True))
            for name in equations.IMPORTED
        ),
        (f"{DATASET}.distribution, {DATASET}.initial_distribution", GaussianDistribution),
        (f"{DATASET}.initial_distribution, equation burgers", CircleDistribution),
        (f"{DATASET}.initial_distribution, equation kolmogorov", TorusDistribution),
        (f"{DATASET}.observations.<name>", ObservationTimes),
        (f"{DATASET}.samples", SplitSizes),
        (f"{DATASET}.groups, equation arrays", GroupSplits),
        (f"{DATASET}.about, equation arrays", About),
        (f"{DATASET}.about, equations burgers and darcy with a source", Credit),
        ("build", settings.Build),
        ("recipes.<architecture>.<paper or code>", settings.Recipe),
        ("models.<name>", settings.Model),
        *((f"models.<name>.settings, architecture {name}", settings_class(name)) for name in ARCHITECTURES),
        ("experiments.<name>", settings.Experiment),
        ("experiments.<name>.samples", settings.SampleCounts),
        ("experiments.<name>.stress", settings.Stress),
        ("experiments.<name>.scaling", settings.Scaling),
        ("experiments.<name>.sweep.<model>", settings.Sweep),
        ("experiments.<name>.tuning", settings.Tuning),
        ("experiments.<name>.training, models.<name>.training", TrainingSettings),
        ("cost", CostSettings),
        ("architecture_costs", ArchitectureCostSettings),
    ]
    return "\n\n".join([_names(), *(_section(title, model) for title, model in sections)])


def _names() -> str:
    """Return the tables of all datasets, experiments and models of the default configuration."""
    configuration, models = planned().configuration, defaultdict(list)
    for name, model in configuration.models.items():
        models[model.architecture].append(f"`{name}`")
    datasets = [(f"`{name}`", one.equation) for name, one in configuration.datasets.items()]
    experiments = [
        (f"`{name}`", one.title, f"`{one.dataset}`") for name, one in configuration.experiments.items()
    ]
    of_architectures = [(f"`{name}`", ", ".join(found)) for name, found in sorted(models.items())]
    return "\n\n".join([
        "## Names that come with Resolvent",
        table(("dataset", "equation"), datasets),
        table(("experiment", "title", "dataset"), experiments),
        table(("architecture", "models"), of_architectures),
    ])  # fmt: skip


def _section(title: str, model: type[BaseModel]) -> str:
    rows = []
    for name, field in model.model_fields.items():
        default = "required" if field.default is PydanticUndefined else f"`{field.default}`"
        if isinstance(field.default, BaseModel):
            default = "see below"
        rows.append((f"`{name}`", _type(field.annotation), default, field.description or ""))
    words, *_ = (model.__doc__ or "").splitlines()
    return f"## `{title}`\n\n{words}\n\n{table(('key', 'type', 'default', 'meaning'), rows)}"


def _type(annotation: Any) -> str:
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return " or ".join(f"`{part}`" for part in parts)
    if origin in (list, dict):
        return f"{origin.__name__} of {_type(parts[-1])}"
    if origin is typing.Annotated:
        return _type(parts[0])
    if parts:
        return " or ".join("none" if part is type(None) else _type(part) for part in parts)
    if annotation is Any:
        return "any"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "mapping"
    names = {"str": "text", "int": "integer", "float": "number", "bool": "true or false"}
    return names.get(annotation.__name__, "?")
