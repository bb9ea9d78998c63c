"""What config.yaml may say, and the messages for what it may not.

The parts live with the rooms that use them (`datasets.settings`, `models.settings`, `training.settings`);
this module puts them together and checks what only the whole can tell.
"""

from __future__ import annotations

import typing
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from datasets.settings import DatasetSettings
from datasets.tasks import TASKS
from models.grid_sizes import coarse_points, suitable_factor
from models.registry import ARCHITECTURES, resolve
from training.settings import CostSettings, TheorySettings, TrainingSettings
from workflow.messages import unknown
from workflow.shown_items import shown_faults

# Equations whose operators the models of models/ can learn.
TRAINED_ON = ("burgers", "darcy", "darcy_inverse")
# Training settings that only functions on nodes of a square can have, with the value that others have.
ON_NODES = {"normalisation": "none", "boundary": "free", "gradient_coefficient": "one"}
# Training settings of which an inverse problem accepts one value: its target jumps, and does not vanish.
OF_A_JUMP = {"gradient_weight": 0.0, "boundary": "free"}


class ConfigurationError(Exception):
    """The configuration is not acceptable; one line per fault, each naming the key."""


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Model(_Settings):
    """A row of the tables: an architecture with its settings and what it needs of its own in training."""

    label: str = Field(description="name in tables and figures")
    architecture: str = Field(description="one of models.registry.ARCHITECTURES")
    settings: dict[str, typing.Any] = Field({}, description="settings of the architecture")
    settings_at: dict[int, dict[str, typing.Any]] = Field(
        {},
        description="settings that differ at a training resolution, such as downsampling_factor",
    )
    grids: typing.Literal["stored", "fine", "coarse"] = Field(
        "stored",
        description="of input and target in an inverse problem: as stored, fine to coarse, or one for both; "
        "on the coarse one the input is what was measured at its nodes",
    )
    training: dict[str, typing.Any] = Field({}, description="training settings that differ for this model")


class SampleCounts(_Settings):
    """How many samples of each split an experiment uses: the first ones."""

    train: int | None = Field(None, ge=1, description="default: all")
    validation: int | None = Field(None, ge=1, description="default: all")
    test: int | None = Field(None, ge=1, description="default: all")


class Experiment(_Settings):
    """Models trained on one dataset and compared at every stored resolution."""

    title: str = Field(description="heading in the report")
    dataset: str = Field(description="a key of `datasets`")
    models: Annotated[list[str], Field(min_length=1)] = Field(description="keys of `models`, in table order")
    resolutions: Annotated[list[int], Field(min_length=1)] = Field(description="training resolutions")
    test_resolutions: list[int] | None = Field(
        None, description="resolutions tested on, those of training among them; default: every stored one"
    )
    test_noise: list[Annotated[float, Field(ge=0)]] | None = Field(
        None, description="levels ε of noise tested on, that of training among them; default: that one"
    )
    noise_realisations: int = Field(
        1, ge=1, description="draws of the noise on each test sample, at each level above 0"
    )
    seeds: Annotated[list[int], Field(min_length=1)] = Field([1127802], description="one run per seed")
    samples: SampleCounts = Field(SampleCounts(), description="default: every sample of the dataset")
    training: TrainingSettings = Field(TrainingSettings(), description="for every model of the experiment")
    training_at: dict[int, dict[str, typing.Any]] = Field(
        {}, description="training settings that differ at a resolution, such as a smaller batch_size"
    )
    shown: str | None = Field(
        None,
        description="the model whose predictions are drawn; default, or if not in `models`: the last of them",
    )
    shows: dict[str, list[str]] = Field(
        {}, description="tables and figures that it gives, by paper: `cao2021: [table2a, figure9]`"
    )

    @property
    def shown_model(self) -> str:
        """Key of the model whose predictions are drawn."""
        return self.shown if self.shown in self.models else self.models[-1]

    @property
    def tested_noise(self) -> list[float]:
        """Levels of noise on the test inputs."""
        return self.test_noise or [self.training.noise]


class Configuration(_Settings):
    """The whole of config.yaml with its overlays."""

    name: str = Field(pattern=r"^[a-z0-9_]+$", description="results go to <results_root>/<name>")
    data_root: str = Field("data", description="folder of the stores; shared by all configurations")
    results_root: str = Field("results", description="folder of runs, tables and reports")
    training_threads: int = Field(
        1, ge=1, description="CPU threads of a training job; changes the last digits"
    )
    datasets: dict[str, DatasetSettings] = Field(description="what to solve")
    models: dict[str, Model] = Field(description="what to train")
    experiments: dict[str, Experiment] = Field(description="what to compare")
    theory: TheorySettings = Field(TheorySettings(), description="sizes at which theory is measured")
    cost: CostSettings = Field(CostSettings(), description="sizes at which the cost of a step is measured")


def load_configuration(content: dict) -> Configuration:
    """Check `content`, the merged YAML files; an overlay drops a dataset, model or experiment by `null`.

    Raises
    ------
    ConfigurationError
        With one line per fault: where, what, and what is accepted.
    """
    try:
        configuration = Configuration.model_validate({key: _without_dropped(v) for key, v in content.items()})
    except ValidationError as error:
        raise ConfigurationError("\n".join(_explain(Configuration, error))) from None
    faults = list(dict.fromkeys(_faults(configuration)))
    if faults:
        raise ConfigurationError("\n".join(faults))
    return configuration


def _without_dropped(value: object) -> object:
    """A mapping without its entries that an overlay has set to null."""
    if not isinstance(value, dict):
        return value
    return {name: entry for name, entry in value.items() if entry is not None}


def model_settings(model: Model, resolution: int) -> BaseModel:
    """Validated settings of the model's architecture, trained at `resolution`, defaults filled in."""
    return resolve(model.architecture, {**model.settings, **model.settings_at.get(resolution, {})})


def training_settings(experiment: Experiment, model: Model, resolution: int) -> TrainingSettings:
    """The experiment's settings, overridden at the resolution, overridden by the model."""
    at_resolution = experiment.training_at.get(resolution, {})
    return TrainingSettings.model_validate(
        {**experiment.training.model_dump(), **at_resolution, **model.training}
    )


def _faults(configuration: Configuration) -> typing.Iterator[str]:
    """What no single key can tell: names that refer to nothing, sizes that do not fit."""
    for name, model in configuration.models.items():
        yield from _model_faults(name, model)
        yield from _partial_faults(model.training, ("models", name, "training"))
    for name, experiment in configuration.experiments.items():
        yield from _experiment_faults(configuration, name, experiment)
    yield from shown_faults(configuration.experiments)


def _model_faults(name: str, model: Model) -> typing.Iterator[str]:
    try:
        resolve(model.architecture, model.settings)
    except ValueError as error:
        yield f"models.{name}: {error}"
        return
    for resolution in model.settings_at:
        try:
            model_settings(model, resolution)
        except ValueError as error:
            yield f"models.{name}.settings_at.{resolution}: {error}"


def _experiment_faults(
    configuration: Configuration, name: str, experiment: Experiment
) -> typing.Iterator[str]:
    at = f"experiments.{name}"
    for resolution, settings in experiment.training_at.items():
        yield from _partial_faults(settings, ("experiments", name, "training_at", resolution))
    for model in experiment.models:
        if model not in configuration.models:
            yield f"{at}.models: {unknown('model', model, configuration.models)}"
    if experiment.shown not in (None, *configuration.models):
        yield f"{at}.shown: {unknown('model', experiment.shown, configuration.models)}"
    if experiment.dataset not in configuration.datasets:
        yield f"{at}.dataset: {unknown('dataset', experiment.dataset, configuration.datasets)}"
        return
    dataset = configuration.datasets[experiment.dataset]
    if dataset.equation not in TRAINED_ON:
        yield (
            f"{at}.dataset: '{experiment.dataset}' solves equation {dataset.equation}; models train on "
            f"{', '.join(TRAINED_ON)} so far"
        )
        return
    tested = experiment.test_resolutions
    for resolution in dict.fromkeys([*experiment.resolutions, *experiment.training_at, *(tested or [])]):
        if resolution not in dataset.resolutions:
            yield (
                f"{at}: resolution {resolution} is not stored; dataset '{experiment.dataset}' has "
                f"{', '.join(map(str, dataset.resolutions))}"
            )
    if tested is not None and dataset.inverse:
        yield f"{at}.test_resolutions: an inverse problem is tested on the grids of training; leave it out"
    elif tested is not None:
        for resolution in experiment.resolutions:
            if resolution not in tested:
                yield f"{at}.test_resolutions: {tested} lacks the training resolution {resolution}"
    for split, wanted in experiment.samples.model_dump().items():
        available = getattr(dataset.samples, split)
        if wanted is not None and wanted > available:
            yield f"{at}.samples.{split}: {wanted} asked for; dataset '{experiment.dataset}' has {available}"
    models = {key: configuration.models[key] for key in experiment.models if key in configuration.models}
    yield from _architecture_faults(at, experiment.dataset, dataset, models)
    yield from _grids_faults(experiment, dataset, models)
    yield from _training_faults(at, experiment, dataset, models)
    yield from _noise_faults(at, experiment, dataset)


def _architecture_faults(at: str, name: str, dataset, models: dict[str, Model]) -> typing.Iterator[str]:
    """Models whose functions are not the dataset's."""
    for key, model in models.items():
        architecture = ARCHITECTURES.get(model.architecture)
        if architecture is None:
            continue  # told with the model
        if architecture.dimension != dataset.dimension:
            yield (
                f"{at}.models: '{key}' ({model.architecture}) maps functions of {architecture.dimension} "
                f"variable(s); those of dataset '{name}' have {dataset.dimension}"
            )
        elif architecture.coarse_output and not dataset.inverse:
            yield (
                f"{at}.models: '{key}' ({model.architecture}) gives functions on a coarser grid than its "
                f"input; those of dataset '{name}' are on one grid"
            )


def _grids_faults(experiment: Experiment, dataset, models: dict[str, Model]) -> typing.Iterator[str]:
    """Models that would not end on the grid of their targets."""
    for key, model in models.items():
        architecture = ARCHITECTURES.get(model.architecture)
        if architecture is None or architecture.dimension != dataset.dimension:
            continue  # told before
        accepted = ["fine", "coarse"] if dataset.inverse and not architecture.coarse_output else ["stored"]
        if model.grids not in accepted:
            yield (
                f"models.{key}.grids: '{model.grids}' is not for {model.architecture} on dataset "
                f"'{experiment.dataset}' (equation {dataset.equation}); accepted: {', '.join(accepted)}"
            )
        elif dataset.inverse and architecture.coarse_output:
            yield from _factor_faults(key, model, experiment, dataset)


def _factor_faults(key: str, model: Model, experiment: Experiment, dataset) -> typing.Iterator[str]:
    """Down-sampling factors that lead from a fine grid to another coarse grid than the stored one."""
    for fine, coarse in zip(dataset.resolutions, dataset.coarse, strict=True):
        if fine not in experiment.resolutions:
            continue
        try:
            factor = model_settings(model, fine).downsampling_factor
        except ValueError:
            continue  # told with the model
        reached = coarse_points(fine, factor)
        if reached != coarse:
            yield (
                f"models.{key}: downsampling_factor {factor} leads from {fine} points a side to {reached}; "
                f"dataset '{experiment.dataset}' has {coarse}; accepted: {suitable_factor(fine, coarse)}"
            )


def _training_faults(
    at: str, experiment: Experiment, dataset, models: dict[str, Model]
) -> typing.Iterator[str]:
    """Merged training settings that do not fit the data; each fault once, however many models have it."""
    train = experiment.samples.train or dataset.samples.train
    faults = {}
    for resolution in experiment.resolutions:
        for model in models.values():
            try:
                settings = training_settings(experiment, model, resolution)
            except ValidationError:
                continue  # told with the part that is at fault
            if settings.batch_size > train:
                words = f"batch_size {settings.batch_size} is more than the {train} training samples"
                faults[f"{at}: {words}"] = None
            if dataset.grid_kind != "nodes":
                for key, free in ON_NODES.items():
                    if getattr(settings, key) != free:
                        words = f"{key} '{getattr(settings, key)}' is for functions on nodes of a square"
                        faults[f"{at}: {words}; those of '{experiment.dataset}' are on another grid"] = None
            for key, only in OF_A_JUMP.items() if dataset.inverse else ():
                if getattr(settings, key) != only:
                    words = f"{key} {getattr(settings, key)!r} is not for a coefficient that jumps"
                    faults[f"{at}: {words}; accepted: {only!r}"] = None
            if settings.noise != experiment.training.noise:
                words = f"noise {settings.noise} of one model or resolution; accepted: the experiment's"
                faults[f"{at}: {words}, {experiment.training.noise}"] = None
    yield from faults


def _noise_faults(at: str, experiment: Experiment, dataset) -> typing.Iterator[str]:
    """Noise where nothing is measured, or levels that leave out the one of training."""
    levels = {"training.noise": [experiment.training.noise], "test_noise": experiment.test_noise or []}
    for key, given in levels.items():
        if any(given) and not dataset.inverse:
            yield (
                f"{at}.{key}: noise is for equation darcy_inverse; dataset '{experiment.dataset}' solves "
                f"{dataset.equation}; accepted: 0"
            )
    tested = experiment.tested_noise
    if experiment.training.noise not in tested:
        yield f"{at}.test_noise: {tested} lacks the noise of training, {experiment.training.noise}"
    if len(set(tested)) < len(tested):
        yield f"{at}.test_noise: {tested} names a level twice"


def _partial_faults(settings: dict, location: tuple) -> typing.Iterator[str]:
    """Faults of training settings that override others; every key has a default, so a part is complete."""
    try:
        TrainingSettings.model_validate(settings)
    except ValidationError as error:
        yield from _explain(TrainingSettings, error, location)


def _explain(root: type[BaseModel], error: ValidationError, prefix: tuple = ()) -> typing.Iterator[str]:
    """Pydantic's faults as lines: key, what is wrong, what is accepted."""
    for fault in error.errors():
        keys, beside = _walk(root, fault["loc"])
        where = ".".join(map(str, (*prefix, *keys)))
        if fault["type"] == "extra_forbidden":
            yield f"{where}: {unknown('key', str(keys[-1]), beside)}"
        elif fault["type"] == "missing":
            yield f"{where}: required, but absent"
        elif fault["type"] == "union_tag_not_found":
            yield f"{where}.equation: required, but absent; accepted: {', '.join(TASKS)}"
        elif fault["type"] == "union_tag_invalid":
            yield f"{where}.equation: {unknown('equation', fault['ctx']['tag'], TASKS)}"
        elif fault["type"] == "value_error":
            yield f"{where}: {fault['ctx']['error']}"
        else:
            yield f"{where}: {fault['msg'][0].lower()}{fault['msg'][1:]}, got {fault['input']!r}"


def _walk(root: type[BaseModel], location: tuple) -> tuple[list, list[str]]:
    """The keys of `location` as the user wrote them, and the names accepted beside the last one.

    Pydantic puts the chosen equation into the location of a dataset's fault: it is no key, and is left out.
    """
    keys, place, accepted = [], root, []
    for part in location:
        if isinstance(place, dict):  # settings classes by equation
            place = place[part]
            continue
        keys.append(part)
        if isinstance(place, type) and issubclass(place, BaseModel):
            accepted = list(place.model_fields)
            field = place.model_fields.get(part)
            place = _inside(field.annotation) if field else None
        else:
            place = _inside(typing.get_args(place)[-1]) if typing.get_args(place) else None
    return keys, accepted


def _inside(annotation: object) -> object:
    """What stands at an annotation: a union of settings classes as a dictionary by equation."""
    if typing.get_origin(annotation) is Annotated:
        annotation = typing.get_args(annotation)[0]
    classes = [part for part in typing.get_args(annotation) if isinstance(part, type)]
    if classes and all("equation" in getattr(part, "model_fields", {}) for part in classes):
        return {typing.get_args(part.model_fields["equation"].annotation)[0]: part for part in classes}
    return annotation
