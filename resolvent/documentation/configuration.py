"""docs/configuration.md: every key with its type, default and meaning, from the classes that check it."""

from __future__ import annotations

import typing

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from resolvent.datasets.imported.arrays import About, GroupSplits
from resolvent.datasets.tasks import registry as equations
from resolvent.datasets.tasks.distributions import CircleDistribution, GaussianDistribution
from resolvent.datasets.tasks.settings import SplitSizes
from resolvent.datasets.tasks.trajectories import ObservationTimes
from resolvent.documentation.pages import table
from resolvent.measurements.settings import ArchitectureCostSettings, CostSettings, TheorySettings
from resolvent.models.registry import ARCHITECTURES, settings_class
from resolvent.planning.configuration.settings import (
    Build,
    Configuration,
    Experiment,
    Model,
    Recipe,
    SampleCounts,
    Stability,
)
from resolvent.planning.configuration.tuning import Tuning
from resolvent.training.settings import TrainingSettings

HEAD = """\
# Configuration

Written by `make docs` from the classes that check it; do not edit. Files are read in this order, and each
changes single keys of those before it: mappings are merged key by key, anything else is replaced.

1. `config/datasets.yaml`, `config/models/*.yaml`, `config/experiments/*.yaml`: what can be built.
2. `config.yaml`: how large it is, for a laptop.
3. The overlays, from left to right: `snakemake --configfile config/cao2021.yaml mine.yaml`.

An unknown key is an error that names the nearest. `resolvent check mine.yaml` reports all problems at once,
each with its file, line and key, before anything runs. What is not given has the default below.

**Numbers and words** mean what they look like. `8`, `-3`, `.5`, `1.0e-3` and `1e-3` are numbers, `true` and
`false` are true and false, `null` and `~` are nothing, and all else is text. What YAML 1.1 takes for another
thing is refused, and the message says what to write: `010` (8), `0x1F`, `1_000`, `1:30` (90), `yes`, `no`,
`on`, `off`, dates. In quotes they are text. Tags (`!!int`), equal keys in one mapping and `__use_yte__` are
refused, too.

**What is built.** Everything, or what is listed: `build: {experiments: [darcy], datasets: [kolmogorov]}`. The
datasets that an experiment needs are built with it. Entries that are not built need not fit each other.

**Entries like others.** A dataset, model or experiment that is `like` another one of its section takes from
it, with all overlays, every key that it does not say itself: `wide: {like: galerkin, label: Wide, settings:
{width: 192}}`. A model without a label is there for others to be like it, and is not a model.

**What wins.** Settings of a model, the last word at the end:

1. the architecture's defaults;
2. its recipe, `recipes.<architecture>.<recipe>`: `settings`, then what is there `by` a setting of the model;
3. `models.<name>.settings`;
4. `settings_at` the training resolution: first the recipe's, then `models.<name>.settings_at`.

Training of a model in an experiment:

1. the defaults;
2. `experiments.<name>.training`;
3. `experiments.<name>.training_at` the resolution;
4. the recipe's `training`, then what is there `by` a setting of the model;
5. `models.<name>.training`;
6. `experiments.<name>.training_of` the model;
7. what its `tuning` chose.

**Equal tuning.** `tuning: {learning_rate: [5.0e-4, 1.0e-3], weight_decay: [0.0, 1.0e-4], epochs: 10}` in
an experiment lists values of training settings. Every model tries every combination of them, at each
training resolution, in a short run of so many `epochs` with a schedule of that length. All short runs
have the first of the experiment's seeds; a model's recipe decides everything but the settings in the
lists. The lowest relative L² error on the validation samples chooses: of equal errors the first, and a
run that diverged counts as the worst. Where every candidate diverged, the first one is taken and the row
says so; so let the first be the most cautious. All runs of that model at that resolution are then
trained with what was chosen, from the beginning. No short run sees a test sample. Tables, `models.csv`
and the page name what was chosen and from what; `tuned.json`, above the folders of the seeds, has every
error, and `run.json` repeats it.

A short run is a job of its own (rule `train_short`), so a cluster makes all of them at once, and one
that was killed goes on; what this costs is the start of a process for each. A changed list runs the new
candidates alone, chooses again (rule `choose_settings`) and trains the experiment's runs again.

Noise on the inputs is the experiment's (`experiments.<name>.noise`): data are the same for all its models.
"""


def configuration_page() -> str:
    """Return the page: a section for each class of settings."""
    sections = [
        ("config.yaml", Configuration),
        *(
            (f"datasets.<name>, equation {name}", equations.settings_class(name))
            for name in equations.EQUATIONS
        ),
        *(
            (
                f"datasets.<name>, equation {name}, with a source",
                equations.settings_class(name, imported=True),
            )
            for name in equations.IMPORTED
        ),
        ("datasets.<name>.distribution, datasets.<name>.initial_distribution", GaussianDistribution),
        ("datasets.<name>.initial_distribution, equation burgers", CircleDistribution),
        ("datasets.<name>.observations.<name>", ObservationTimes),
        ("datasets.<name>.samples", SplitSizes),
        ("datasets.<name>.groups, equation arrays", GroupSplits),
        ("datasets.<name>.about, equation arrays", About),
        ("build", Build),
        ("recipes.<architecture>.<paper or code>", Recipe),
        ("models.<name>", Model),
        *((f"models.<name>.settings, architecture {name}", settings_class(name)) for name in ARCHITECTURES),
        ("experiments.<name>", Experiment),
        ("experiments.<name>.samples", SampleCounts),
        ("experiments.<name>.tuning", Tuning),
        ("experiments.<name>.training, models.<name>.training", TrainingSettings),
        ("stability", Stability),
        ("theory", TheorySettings),
        ("cost", CostSettings),
        ("architecture_costs", ArchitectureCostSettings),
    ]
    return HEAD + "".join(_section(title, model) for title, model in sections)


def _section(title: str, model: type[BaseModel]) -> str:
    rows = []
    for name, field in model.model_fields.items():
        default = "required" if field.default is PydanticUndefined else f"`{field.default}`"
        if isinstance(field.default, BaseModel):
            default = "see below"
        rows.append((f"`{name}`", _type(field.annotation), default, field.description or ""))
    words = model.__doc__.splitlines()[0]
    return f"\n## `{title}`\n\n{words}\n\n{table(('key', 'type', 'default', 'meaning'), rows)}\n"


def _type(annotation: object) -> str:
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return " or ".join(f"`{part}`" for part in parts)
    if origin in (list, dict):
        return f"{origin.__name__} of {_type(parts[-1])}"
    if origin is typing.Annotated:
        return _type(parts[0])
    if parts:
        return " or ".join("none" if part is type(None) else _type(part) for part in parts)
    if annotation is typing.Any:
        return "any"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "mapping"
    return {"str": "text", "int": "integer", "float": "number", "bool": "true or false"}.get(
        annotation.__name__, "?"
    )
